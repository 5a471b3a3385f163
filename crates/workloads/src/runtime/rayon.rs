//! The adapter for rayon.

use std::io;

use rayon::iter::{IntoParallelRefMutIterator, ParallelIterator};

use super::Runtime;

/// A runtime that owns a rayon thread pool.
#[derive(Debug)]
pub struct Rayon(rayon::ThreadPool);

impl Runtime for Rayon {
    const NAME: &'static str = "rayon";
    const SPAWNS: bool = true;
    type Fork<'a> = ();
    type Reservation = super::Counted;
    type Scope<'scope> = rayon::Scope<'scope>;

    fn with_workers(workers: usize) -> io::Result<Self> {
        rayon::ThreadPoolBuilder::new()
            .num_threads(super::at_least_one(workers)?)
            .stack_size(super::STACK)
            .build()
            .map(Self)
            .map_err(io::Error::other)
    }

    fn install<T: Send>(&self, body: impl FnOnce(&mut ()) -> T + Send) -> T {
        self.0.install(|| body(&mut ()))
    }

    #[inline]
    fn join<RA: Send, RB: Send>(
        _: &mut (),
        a: impl FnOnce(&mut ()) -> RA + Send,
        b: impl FnOnce(&mut ()) -> RB + Send,
    ) -> (RA, RB) {
        rayon::join(|| a(&mut ()), || b(&mut ()))
    }

    #[inline]
    fn for_each<T: Send>(_: &mut (), items: &mut [T], body: impl Fn(&mut T) + Send + Sync) {
        items.par_iter_mut().for_each(body);
    }

    fn reserve(bytes: usize) -> super::Counted {
        super::Counted::new(bytes)
    }

    #[inline]
    fn scope<'scope, T: Send>(body: impl FnOnce(&rayon::Scope<'scope>) -> T + Send) -> T {
        rayon::scope(body)
    }

    #[inline]
    fn spawn<'scope>(
        scope: &rayon::Scope<'scope>,
        body: impl FnOnce(&rayon::Scope<'scope>) + Send + 'scope,
    ) {
        scope.spawn(body);
    }
}
