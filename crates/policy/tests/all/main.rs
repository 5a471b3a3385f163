//! All tests of the decisions, in one program, which is linked once.

mod amounts;
mod architecture;
mod backoffs;
mod book;
mod desires;
mod fluid;
mod forms;
mod machine;
mod max_min;
mod memory_forms;
mod order;
mod plan;
mod programs;
mod quanta;
mod rounds;
mod slots;
mod transitions;
mod tunables;
mod victims;
