//! A runtime without parallelism: it runs the parallel bodies in program order on the calling
//! thread.
//!
//! Comparing it with a program's serial version shows what the parallel body itself costs.

use std::io;
use std::marker::PhantomData;

use super::{Runtime, without_scopes};

/// A runtime that runs everything in order on the calling thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct Serial;

/// The scope of a runtime that can't spawn: a spawned body runs immediately.
#[derive(Debug)]
pub struct Inline<'scope>(PhantomData<fn(&'scope ()) -> &'scope ()>);

impl<'scope> Inline<'scope> {
    pub(super) fn scope<T>(body: impl FnOnce(&Self) -> T) -> T {
        body(&Self(PhantomData))
    }
}

impl Runtime for Serial {
    const NAME: &'static str = "serial";
    type Fork<'a> = ();
    without_scopes! {}

    fn with_workers(workers: usize) -> io::Result<Self> {
        super::at_least_one(workers).map(|_| Self)
    }

    fn install<T: Send>(&self, body: impl FnOnce(&mut ()) -> T + Send) -> T {
        body(&mut ())
    }

    #[inline]
    fn join<RA: Send, RB: Send>(
        fork: &mut (),
        a: impl FnOnce(&mut ()) -> RA + Send,
        b: impl FnOnce(&mut ()) -> RB + Send,
    ) -> (RA, RB) {
        (a(fork), b(fork))
    }
}
