//! The methods of the core's pool, as methods of this one: a path such as `Pool::install` does not
//! dereference.

use super::Pool;
use tidegate_core::machine::CpuList;
use tidegate_core::trace::Trace;
use tidegate_core::{BuildError, PlaceId, Scope, Stats};

impl Pool {
    /// Runs `f` on a thread of the pool and waits for `f` to return. Inside `f`, the free functions
    /// of this crate use this pool. See [`tidegate_core::Pool::install`].
    pub fn install<R: Send>(&self, f: impl FnOnce() -> R + Send) -> R {
        self.0.install(f)
    }

    /// Runs `f` on a worker of `place`, or on another worker that has nothing else to do, and waits
    /// for `f` to return. See [`tidegate_core::Pool::install_at`].
    pub fn install_at<R: Send>(&self, place: PlaceId, f: impl FnOnce() -> R + Send) -> R {
        self.0.install_at(place, f)
    }

    /// Like [`join`](crate::join), in this pool. See [`tidegate_core::Pool::join`].
    pub fn join<RA: Send, RB: Send>(
        &self,
        a: impl FnOnce() -> RA + Send,
        b: impl FnOnce() -> RB + Send,
    ) -> (RA, RB) {
        self.0.join(a, b)
    }

    /// Like [`scope`](fn@crate::scope), in this pool. See [`tidegate_core::Pool::scope`].
    pub fn scope<'scope, R: Send>(&self, f: impl FnOnce(&Scope<'scope>) -> R + Send) -> R {
        self.0.scope(f)
    }

    /// Like [`broadcast`](fn@crate::broadcast), in this pool. See
    /// [`tidegate_core::Pool::broadcast`].
    pub fn broadcast<R: Send>(&self, f: impl Fn(usize) -> R + Sync) -> Vec<R> {
        self.0.broadcast(f)
    }

    /// Returns how many workers the pool may run at once. See [`tidegate_core::Pool::workers`].
    #[must_use]
    pub fn workers(&self) -> usize {
        self.0.workers()
    }

    /// Changes the number of workers while the pool runs. See
    /// [`tidegate_core::Pool::set_workers`].
    ///
    /// # Errors
    /// If the pool cannot have this number of workers.
    pub fn set_workers(&self, workers: usize) -> Result<(), BuildError> {
        self.0.set_workers(workers)
    }

    /// Changes the memory budget of the pool while it runs. See
    /// [`tidegate_core::Pool::set_budget`].
    ///
    /// # Errors
    /// If the pool cannot have this budget.
    pub fn set_budget(&self, bytes: usize) -> Result<(), BuildError> {
        self.0.set_budget(bytes)
    }

    /// Returns what the pool has done so far. See [`tidegate_core::Pool::stats`].
    #[must_use]
    #[inline]
    pub fn stats(&self) -> Stats {
        self.0.stats()
    }

    /// Returns the scheduling decisions of the pool so far. See [`tidegate_core::Pool::trace`].
    #[must_use]
    #[inline]
    pub fn trace(&self) -> Option<Trace> {
        self.0.trace()
    }

    /// Returns the smallest places of the pool. See [`tidegate_core::Pool::places`].
    #[must_use]
    pub fn places(&self) -> Vec<PlaceId> {
        self.0.places()
    }

    /// Returns the next larger place. See [`tidegate_core::Pool::parent_of`].
    #[must_use]
    pub fn parent_of(&self, place: PlaceId) -> Option<PlaceId> {
        self.0.parent_of(place)
    }

    /// Returns the number of workers of a place. See [`tidegate_core::Pool::workers_at`].
    #[must_use]
    pub fn workers_at(&self, place: PlaceId) -> usize {
        self.0.workers_at(place)
    }

    /// Returns the CPUs of a place. See [`tidegate_core::Pool::cpus_at`].
    #[must_use]
    pub fn cpus_at(&self, place: PlaceId) -> CpuList {
        self.0.cpus_at(place)
    }
}
