//! Work and span of a program: its parallel body in the order of the serial run, with notes of what could have run beside what.
//!
//! The span is the longest chain of pieces that have to run one after the other, in time and in actions. An action is a fork, the end of a join or scope, or a
//! lease; a lease of more than `k` bytes is one for each `k`, as in the bounds of depth-first schedulers.

use std::cell::{Cell, RefCell};
use std::io;
use std::marker::PhantomData;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::{Counted, Runtime};

/// How long a chain is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Length {
    /// In seconds.
    pub seconds: f64,
    /// In actions.
    pub actions: u64,
}

impl Length {
    /// The longer one of each.
    fn max(self, other: Self) -> Self {
        Self {
            seconds: self.seconds.max(other.seconds),
            actions: self.actions.max(other.actions),
        }
    }
}

thread_local! {
    /// How long the chain is up to here.
    static SO_FAR: Cell<Length> = Cell::default();
    /// Since when time was not added to it.
    static SINCE: RefCell<Option<Instant>> = const { RefCell::new(None) };
}

/// So many bytes of a lease are an action.
static K: AtomicU64 = AtomicU64::new(u64::MAX);

/// So many actions more happen here. How long the chain is now.
fn act(actions: u64) -> Length {
    let now = Instant::now();
    let before = SINCE.replace(Some(now));
    let mut here = SO_FAR.get();
    here.seconds += before.map_or(0.0, |before| (now - before).as_secs_f64());
    here.actions += actions;
    SO_FAR.set(here);
    here
}

/// A runtime that runs everything in order on the calling thread, and measures the span.
#[derive(Clone, Copy, Debug, Default)]
pub struct Profiled;

impl Profiled {
    /// Calls `f`, a parallel body. What it gives, and its span; `k` bytes of a lease are an action.
    pub fn span_of<T>(k: u64, f: impl FnOnce() -> T) -> (T, Length) {
        // Relaxed: read by this very thread.
        K.store(k.max(1), Ordering::Relaxed);
        SO_FAR.set(Length::default());
        SINCE.replace(None);
        act(0);
        let result = f();
        (result, act(0))
    }
}

/// A scope: the longest chain of its tasks.
#[derive(Debug, Default)]
pub struct Chains<'scope> {
    longest: Mutex<Length>,
    marker: PhantomData<fn(&'scope ()) -> &'scope ()>,
}

impl Runtime for Profiled {
    const NAME: &'static str = "profiled";
    const SPAWNS: bool = true;
    type Fork<'a> = ();
    type Lease = Counted;
    type Scope<'scope> = Chains<'scope>;

    fn with_workers(workers: usize) -> io::Result<Self> {
        super::at_least_one(workers).map(|_| Self)
    }

    fn install<T: Send>(&self, body: impl FnOnce(&mut ()) -> T + Send) -> T {
        body(&mut ())
    }

    fn join<A, B, RA, RB>(fork: &mut (), a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut ()) -> RA + Send,
        B: FnOnce(&mut ()) -> RB + Send,
        RA: Send,
        RB: Send,
    {
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

    fn lease(bytes: usize) -> Counted {
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
    fn the_span_of_a_join_is_that_of_its_longer_half() {
        fn lease(times: usize) {
            (0..times).for_each(|_| drop(Profiled::lease(1)));
        }
        let ((), span) = Profiled::span_of(10, || {
            Profiled::join(&mut (), |_| lease(3), |_| lease(5));
        });
        assert_eq!(span.actions, 1 + 5 + 1);
    }

    #[test]
    fn tasks_of_a_scope_count_from_where_they_were_spawned() {
        let ((), span) = Profiled::span_of(10, || {
            Profiled::scope(|scope| {
                Profiled::spawn(scope, |_| drop(Profiled::lease(100)));
                Profiled::spawn(scope, |_| ());
            });
        });
        // The first spawn, and a lease of ten times k and one; then the end.
        assert_eq!(span.actions, 1 + 11 + 1);
    }
}
