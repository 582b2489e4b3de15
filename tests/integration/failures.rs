//! Failures: causes, panics, and what is printed.

mod causes;
mod panics;
mod printed_by_main;
