//! All tests that need no global pool of their own, in one program, which is linked once.

mod hangs;
mod interface;
#[cfg(target_os = "linux")]
mod limits;
mod pools;
mod processes;
mod support;
