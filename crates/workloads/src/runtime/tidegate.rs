//! The adapter for Tidegate, which finds its worker in thread-local storage.

use std::io;
use std::panic::resume_unwind;
use std::time::Duration;

use tidegate::PlaceId;
use tidegate::interval::{self, Scope};
use tidegate::memory::{self, Reservation};

use super::{Runtime, without_forks};

/// A runtime that owns a Tidegate pool.
pub struct Tidegate(tidegate::Pool);

impl Tidegate {
    /// Creates a runtime that runs programs on `pool`, which may have any options.
    pub fn new(pool: tidegate::Pool) -> Self {
        Self(pool)
    }

    /// Returns the pool, so that the caller can read its statistics or change its number of
    /// workers.
    pub fn pool(&self) -> &tidegate::Pool {
        &self.0
    }
}

impl Runtime for Tidegate {
    const NAME: &'static str = "tidegate";
    const INTERVALS: bool = true;
    const PRIORITIES: bool = true;
    type Reservation = Reservation;
    without_forks! {tidegate}

    fn with_workers(workers: usize) -> io::Result<Self> {
        tidegate::Pool::builder()
            .workers(super::at_least_one(workers)?)
            .build()
            .map(Self)
            .map_err(io::Error::other)
    }

    #[inline]
    fn for_each<T: Send>(_: &mut (), items: &mut [T], body: impl Fn(&mut T) + Send + Sync) {
        tidegate::for_each(items, body);
    }

    #[track_caller]
    fn reserve(bytes: usize) -> Reservation {
        // The caller that runs the program gets the error as the panic's payload and reports it
        // once, rather than once per task.
        memory::reserve(bytes).unwrap_or_else(|error| resume_unwind(Box::new(error)))
    }

    fn wait(length: Duration) {
        tidegate::blocking(|| std::thread::sleep(length));
    }

    fn places() -> Vec<PlaceId> {
        tidegate::places()
    }

    fn place() -> Option<PlaceId> {
        tidegate::current_place()
    }

    fn spawn_at<'scope>(
        scope: &tidegate::Scope<'scope>,
        place: PlaceId,
        body: impl FnOnce(&tidegate::Scope<'scope>) + Send + 'scope,
    ) {
        scope.spawn_at(place, body);
    }

    fn spawn_in_order<'scope>(
        scope: &tidegate::Scope<'scope>,
        priority: u64,
        body: impl FnOnce(&tidegate::Scope<'scope>) + Send + 'scope,
    ) {
        scope.spawn_in_order(priority, body);
    }

    fn intervals<'env, T: Send>(
        (): &mut (),
        body: impl for<'scope> FnOnce(&Scope<'scope, 'env>) -> T + Send,
    ) -> T {
        interval::run(body).unwrap_or_else(|failure| panic!("{failure}"))
    }
}
