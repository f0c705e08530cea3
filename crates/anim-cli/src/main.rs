//! The command line of anim.

fn main() {}
