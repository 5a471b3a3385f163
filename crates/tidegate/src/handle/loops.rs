//! Loops in a pool. Call any other loop inside [`Pool::install`].

use super::Pool;
use crate::parallel_for::{self, ParallelItems};
use tidegate_core::door;

impl Pool {
    /// Runs `f` in the pool: on the caller's stack if the pool has a free slot.
    fn enter<R: Send>(&self, f: impl FnOnce() -> R + Send) -> R {
        door::inside(self, |_, carried| carried.run(f))
    }

    /// Like [`for_each`](crate::for_each), in this pool.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(2).build()?;
    /// let mut squares: Vec<u64> = (0..100).collect();
    /// pool.for_each(&mut squares, |n| *n *= *n);
    /// assert_eq!(squares[9], 81);
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    ///
    /// # Panics
    /// Like [`for_each`](crate::for_each).
    pub fn for_each<I: ParallelItems>(&self, items: I, f: impl Fn(I::Item) + Sync) {
        self.enter(|| parallel_for::for_each(items, &f));
    }

    /// Like [`par_map`](crate::par_map), in this pool.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(2).build()?;
    /// assert_eq!(pool.par_map(["ebb", "flow"], |word| word.len()), [3, 4]);
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    ///
    /// # Panics
    /// Like [`par_map`](crate::par_map).
    #[must_use = "to visit the items without a result, use `for_each`"]
    pub fn par_map<I: ParallelItems, R: Send>(
        &self,
        items: I,
        f: impl Fn(I::Item) -> R + Sync,
    ) -> Vec<R> {
        self.enter(|| parallel_for::par_map(items, &f))
    }

    /// Like [`map_reduce`](crate::map_reduce), in this pool.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(2).build()?;
    /// let longest = pool.map_reduce(vec!["ebb", "flow"], |word| word.len(), usize::max);
    /// assert_eq!(longest, Some(4));
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    ///
    /// # Panics
    /// Like [`map_reduce`](crate::map_reduce).
    #[must_use = "to visit the items without a result, use `for_each`"]
    pub fn map_reduce<I: ParallelItems, T: Send>(
        &self,
        items: I,
        map: impl Fn(I::Item) -> T + Sync,
        reduce: impl Fn(T, T) -> T + Sync,
    ) -> Option<T> {
        self.enter(|| parallel_for::map_reduce(items, &map, &reduce))
    }
}
