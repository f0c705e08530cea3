//! Frame clocks and shutter times.
