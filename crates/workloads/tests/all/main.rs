//! All tests of the programs, in one program, which is linked once.

mod adaptive;
mod dags;
mod digest;
mod forks;
mod grande;
mod intervals;
mod locality;
mod memory;
mod policies;
mod runtimes;
mod support;
