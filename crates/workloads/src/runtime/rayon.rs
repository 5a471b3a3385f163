//! The adapter for rayon.

use std::io;

use rayon::iter::{IntoParallelRefMutIterator, ParallelIterator};

use super::{Runtime, without_forks};

/// A runtime that owns a rayon thread pool.
#[derive(Debug)]
pub struct Rayon(rayon::ThreadPool);

impl Runtime for Rayon {
    const NAME: &'static str = "rayon";
    type Reservation = super::Counted;
    without_forks! {rayon}

    fn with_workers(workers: usize) -> io::Result<Self> {
        rayon::ThreadPoolBuilder::new()
            .num_threads(super::at_least_one(workers)?)
            .stack_size(super::STACK)
            .build()
            .map(Self)
            .map_err(io::Error::other)
    }

    #[inline]
    fn for_each<T: Send>(_: &mut (), items: &mut [T], body: impl Fn(&mut T) + Send + Sync) {
        items.par_iter_mut().for_each(body);
    }

    fn reserve(bytes: usize) -> super::Counted {
        super::Counted::new(bytes)
    }
}
