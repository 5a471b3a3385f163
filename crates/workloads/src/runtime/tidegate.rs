//! The adapter for Tidegate, which finds its worker in thread-local storage.

use std::io;
use std::panic::resume_unwind;
use std::time::Duration;

use tidegate::PlaceId;
use tidegate::interval::{self, Scope};
use tidegate::memory::{self, Reservation};

use super::Runtime;

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
    const SPAWNS: bool = true;
    const INTERVALS: bool = true;
    const PRIORITIES: bool = true;
    type Fork<'a> = ();
    type Reservation = Reservation;
    type Scope<'scope> = tidegate::Scope<'scope>;

    fn with_workers(workers: usize) -> io::Result<Self> {
        tidegate::Pool::builder()
            .workers(super::at_least_one(workers)?)
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
        tidegate::join(|| a(&mut ()), || b(&mut ()))
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

    #[inline]
    fn scope<'scope, T: Send>(body: impl FnOnce(&tidegate::Scope<'scope>) -> T + Send) -> T {
        tidegate::scope(body)
    }

    #[inline]
    fn spawn<'scope>(
        scope: &tidegate::Scope<'scope>,
        body: impl FnOnce(&tidegate::Scope<'scope>) + Send + 'scope,
    ) {
        scope.spawn(body);
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
