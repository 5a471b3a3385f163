//! The adapter for chili, which passes its scope from task to task.
//!
//! chili's threads have the standard library's default stack size, which is too small for deep
//! trees; `RUST_MIN_STACK` enlarges it.

use std::io;
use std::num::NonZero;

use super::threads::on_thread;
use super::{Runtime, without_scopes};

/// A runtime that owns a chili thread pool. The thread that `install` starts is one of the pool's
/// workers.
#[derive(Debug)]
pub struct Chili(chili::ThreadPool);

impl Runtime for Chili {
    const NAME: &'static str = "chili";
    type Fork<'a> = chili::Scope<'a>;
    without_scopes! {}

    fn with_workers(workers: usize) -> io::Result<Self> {
        let thread_count = NonZero::new(super::at_least_one(workers)?);
        Ok(Self(chili::ThreadPool::with_config(chili::Config {
            thread_count,
            ..chili::Config::default()
        })))
    }

    fn install<T: Send>(&self, body: impl FnOnce(&mut chili::Scope<'_>) -> T + Send) -> T {
        on_thread(|| body(&mut self.0.scope()), || ()).0
    }

    #[inline]
    fn join<RA: Send, RB: Send>(
        fork: &mut chili::Scope<'_>,
        a: impl FnOnce(&mut chili::Scope<'_>) -> RA + Send,
        b: impl FnOnce(&mut chili::Scope<'_>) -> RB + Send,
    ) -> (RA, RB) {
        fork.join(a, b)
    }
}
