//! Build, check and measure the workspace.

fn main() {}
