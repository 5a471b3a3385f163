//! Measures the work and span of a program. It runs the parallel body in serial order and tracks
//! which pieces could have run in parallel.
//!
//! The span is the longest chain of pieces that must run one after the other, measured in seconds
//! and in actions. An action is a fork, the end of a join or scope, or a reservation. A reservation
//! of `k` or more bytes counts as an additional action for each `k` bytes, as in the bounds for
//! depth-first schedulers.

use std::cell::{Cell, RefCell};
use std::io;
use std::marker::PhantomData;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::{Counted, Runtime};

/// The length of a chain of pieces.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Length {
    /// The length in seconds.
    pub seconds: f64,
    /// The length as a number of actions.
    pub actions: u64,
}

impl Length {
    /// Returns the maximum of each field.
    fn max(self, other: Self) -> Self {
        Self {
            seconds: self.seconds.max(other.seconds),
            actions: self.actions.max(other.actions),
        }
    }
}

thread_local! {
    /// The length of the chain that ends in the current piece, up to the time `SINCE`.
    static SO_FAR: Cell<Length> = Cell::default();
    /// When time was last added to `SO_FAR`.
    static SINCE: RefCell<Option<Instant>> = const { RefCell::new(None) };
}

/// A reservation counts as an additional action for each `K` bytes.
static K: AtomicU64 = AtomicU64::new(u64::MAX);

/// Adds the elapsed time and `actions` to the current chain, and returns its length.
fn act(actions: u64) -> Length {
    let now = Instant::now();
    let before = SINCE.replace(Some(now));
    let mut here = SO_FAR.get();
    here.seconds += before.map_or(0.0, |before| (now - before).as_secs_f64());
    here.actions += actions;
    SO_FAR.set(here);
    here
}

/// A runtime that runs everything in order on the calling thread and measures the span.
#[derive(Clone, Copy, Debug, Default)]
pub struct Profiled;

impl Profiled {
    /// Calls `f`, which runs a parallel body. Returns its result and its span, in which a
    /// reservation counts as an additional action for each `k` bytes.
    pub fn span_of<T>(k: u64, f: impl FnOnce() -> T) -> (T, Length) {
        // Relaxed: only this thread reads `K`.
        K.store(k.max(1), Ordering::Relaxed);
        SO_FAR.set(Length::default());
        SINCE.replace(None);
        act(0);
        let result = f();
        (result, act(0))
    }
}

/// A scope that tracks the longest chain among its tasks.
#[derive(Debug, Default)]
pub struct Chains<'scope> {
    longest: Mutex<Length>,
    marker: PhantomData<fn(&'scope ()) -> &'scope ()>,
}

impl Runtime for Profiled {
    const NAME: &'static str = "profiled";
    const SPAWNS: bool = true;
    type Fork<'a> = ();
    type Reservation = Counted;
    type Scope<'scope> = Chains<'scope>;

    fn with_workers(workers: usize) -> io::Result<Self> {
        super::at_least_one(workers).map(|_| Self)
    }

    fn install<T: Send>(&self, body: impl FnOnce(&mut ()) -> T + Send) -> T {
        body(&mut ())
    }

    fn join<RA: Send, RB: Send>(
        fork: &mut (),
        a: impl FnOnce(&mut ()) -> RA + Send,
        b: impl FnOnce(&mut ()) -> RB + Send,
    ) -> (RA, RB) {
        let forked = act(1);
        let ra = a(fork);
        let first = act(0);
        SO_FAR.set(forked);
        let rb = b(fork);
        let second = act(0);
        SO_FAR.set(first.max(second));
        act(1);
        (ra, rb)
    }

    fn reserve(bytes: usize) -> Counted {
        // Relaxed: as in `span_of`.
        act(1 + bytes as u64 / K.load(Ordering::Relaxed));
        Counted::new(bytes)
    }

    fn scope<'scope, T: Send>(body: impl FnOnce(&Chains<'scope>) -> T + Send) -> T {
        let chains = Chains::default();
        let result = body(&chains);
        let here = act(0);
        let longest = chains.longest.into_inner().unwrap_or_default();
        SO_FAR.set(here.max(longest));
        act(1);
        result
    }

    fn spawn<'scope>(scope: &Chains<'scope>, body: impl FnOnce(&Chains<'scope>) + Send + 'scope) {
        let forked = act(1);
        body(scope);
        let end = act(0);
        if let Ok(mut longest) = scope.longest.lock() {
            *longest = longest.max(end);
        }
        SO_FAR.set(forked);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn span_of_join_is_longer_half() {
        fn reserve(times: usize) {
            (0..times).for_each(|_| drop(Profiled::reserve(1)));
        }
        let ((), span) = Profiled::span_of(10, || {
            Profiled::join(&mut (), |_| reserve(3), |_| reserve(5));
        });
        assert_eq!(span.actions, 1 + 5 + 1);
    }

    #[test]
    fn scope_tasks_count_from_their_spawn() {
        let ((), span) = Profiled::span_of(10, || {
            Profiled::scope(|scope| {
                Profiled::spawn(scope, |_| drop(Profiled::reserve(100)));
                Profiled::spawn(scope, |_| ());
            });
        });
        // The first spawn, a reservation of 10 k bytes (1 + 10 actions), and the end of the scope.
        assert_eq!(span.actions, 1 + 11 + 1);
    }
}
