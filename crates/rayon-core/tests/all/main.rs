//! All tests that need neither a machine nor a global pool of their own, in one program, which is
//! linked once.

mod hangs;
mod interface;
mod pools;
mod processes;
#[path = "../support/mod.rs"]
mod support;
