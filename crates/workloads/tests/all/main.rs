//! All tests of the programs that do not count the memory of their process, in one program, which
//! is linked once.

mod adaptive;
mod dags;
mod digest;
mod forks;
mod grande;
mod intervals;
mod locality;
mod policies;
mod runtimes;
#[path = "../support/mod.rs"]
mod support;
