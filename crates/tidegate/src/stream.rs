//! Ordered streams: a map over an iterator whose results keep the order of the source.
//!
//! The consumer, the thread that calls `next`, also reads the source. A [`Window`] holds the items
//! that it has read and not yet returned. Runners, which are detached tasks of the pool or tasks of
//! a scope, run these items, oldest first. docs/streams.md describes the protocol.

mod runners;
mod spawner;
mod window;

use spawner::{Detached, Spawner};
use std::fmt;
use std::iter::FusedIterator;
use std::panic::Location;
use std::sync::Arc;
use tidegate_core::door::{
    self, Event, Payload, PoolInner, ScopeCore, UnhandledPanic, WorkerThread, carry, enter, origin,
    unwind, wait,
};
use tidegate_core::{Origin, Pool, Scope};
use tidegate_policy::tunables::STREAM_WINDOW;
use window::{Front, Outcome, Registered, Window};

/// Maps the items of an iterator on the workers of a pool, and returns the results in the order of
/// the items.
///
/// The source may be of any length and speed. The thread that calls `next` reads it, and holds at
/// most [`window`](Stream::window) items at a time. Meanwhile the workers of the pool call the
/// function of [`map`](Stream::map).
///
/// ```
/// let squares = tidegate::stream(1..=4).map(|n| n * n).ordered();
/// assert_eq!(squares.collect::<Vec<_>>(), [1, 4, 9, 16]);
/// ```
///
/// An error is a result like any other, and keeps its place in the order:
///
/// ```
/// let lines = ["1", "2", "three", "4"];
/// let numbers = tidegate::stream(lines).map(str::parse::<u32>).ordered();
/// let read: Vec<_> = numbers.map_while(Result::ok).collect();
/// assert_eq!(read, [1, 2]);
/// ```
///
/// The source may borrow. The items, the function and its results may do so in a stream
/// [in a scope](Stream::in_scope).
///
/// # Where the items run
/// In the pool of the task that calls `next`. Outside all pools, in the global pool. To use another
/// pool, call [`Pool::stream`](crate::Pool::stream).
///
/// If no worker begins the oldest item soon, `next` runs that item itself, provided that the caller
/// is a worker of the pool or that the pool has a free slot. So a stream works inside a task, in
/// the function of another stream, and in a pool with one worker. If a worker runs the oldest item,
/// `next` waits for it; a waiting worker gives its slot to another thread.
///
/// The tasks that run the items have the [class](crate::TaskBuilder::priority) of the code that
/// called [`ordered`](Mapped::ordered).
///
/// # Context
/// The function sees the [task-local values](crate::TaskLocal) and the
/// [token](crate::CancelToken) of the code that called [`ordered`](Mapped::ordered), on whichever
/// thread it runs. A stream does not stop if the token is cancelled; the function can return the
/// error of [`check_cancelled`](crate::check_cancelled()), which then keeps its place like any
/// other.
///
/// # Back-pressure
/// Only `next` reads the source, so a slow consumer slows the source down. Each call reads one item
/// if the window has room, and reads more only until the oldest item has finished. So a slow source
/// delays a finished result by at most one read. Until a thread has begun the oldest item, `next`
/// reads no more than a window of the default size holds, or on a worker one item for each worker
/// of the pool, however large the window is. Then it runs the oldest item if it can.
///
/// If the next item of the source depends on an earlier result, use a
/// [`window`](Stream::window) of 1; otherwise `next` may wait in the source for a result that it
/// has not returned yet. If the source blocks and the caller is a worker, the worker keeps its slot
/// meanwhile, unless the source calls [`blocking`](fn@crate::blocking).
///
/// Results wait in the window until `next` returns them. If they hold a
/// [`Reservation`](crate::memory::Reservation), so does the window, and items behind them may wait
/// for that memory.
///
/// # Panics
/// If the function panics for an item, the call of `next` that would have returned the item's
/// result resumes the panic. Later calls return the results of later items.
///
/// `next` also panics if the oldest item runs in a frame below on the calling thread, because the
/// wait would never end.
///
/// If the source panics, the stream ends there: `next` first returns the results of all items
/// before, and then resumes the panic. It treats a panic of the source's destructor, which it runs
/// at the end of the source, in the same way.
///
/// # Dropping the iterator early
/// Items that no thread has begun are dropped and never run. Running items finish, and their
/// results are dropped; the drop does not wait for them. Panics that no call of `next` has resumed
/// go to [`Builder::on_panic`](crate::Builder::on_panic).
///
/// The function is dropped with the iterator, even one that has ended. But while tasks of the pool
/// are still running items, or are about to notice the end, the last of them drops the function.
#[track_caller]
pub fn stream<I: IntoIterator>(source: I) -> Stream<'static, I::IntoIter> {
    Stream::new(source, Target::Caller)
}

/// A source of items and the size of the window; from [`stream`](fn@crate::stream).
///
/// `S` is the [`Scope`] of a stream with [`in_scope`](Self::in_scope).
#[must_use = "a stream reads nothing until its iterator is consumed"]
pub struct Stream<'p, I, S = Detached> {
    source: I,
    target: Target<'p>,
    spawner: &'p S,
    window: Option<usize>,
    origin: Origin,
}

/// Where the items of a stream run.
#[derive(Clone, Copy)]
pub(crate) enum Target<'p> {
    /// In the pool of the consumer, or else the global pool.
    Caller,
    Pool(&'p Pool),
    Scope(&'p ScopeCore),
}

impl Target<'_> {
    fn pool(self) -> Arc<PoolInner> {
        match self {
            Target::Caller => door::pool_here("stream"),
            Target::Pool(pool) => door::used(pool).clone(),
            Target::Scope(scope) => {
                scope.pool().check_thread();
                scope.pool().as_arc()
            }
        }
    }
}

impl<'p, I: Iterator> Stream<'p, I> {
    #[track_caller]
    pub(crate) fn new(source: impl IntoIterator<IntoIter = I>, target: Target<'p>) -> Self {
        Self {
            source: source.into_iter(),
            target,
            spawner: &Detached,
            window: None,
            origin: origin::of(None, Location::caller()),
        }
    }

    /// Runs the items in tasks of `scope`, so that the items, the function and its results may
    /// borrow anything that outlives the scope.
    ///
    /// The items run in the pool of the scope, whatever pool the stream was created for and
    /// wherever `next` is called. The scope ends only after the items that have begun have
    /// finished, even if the iterator is dropped before. If the iterator is
    /// [forgotten](std::mem::forget), the scope also runs the other items that were read. The tasks
    /// wait in the scope's queue, where their [class](crate::TaskBuilder::priority) makes no
    /// difference.
    ///
    /// ```
    /// let words = ["ebb".to_owned(), "flow".to_owned()];
    /// let longest = tidegate::scope(|scope| {
    ///     let lengths = tidegate::stream(&words).in_scope(scope).map(String::len);
    ///     lengths.ordered().max()
    /// });
    /// assert_eq!(longest, Some(4));
    /// ```
    ///
    /// # Panics
    /// If the destructor of the function panics in a task of the scope, the scope resumes that
    /// panic. Panics of items are treated as in any [stream](fn@stream).
    ///
    /// # What the compiler rejects
    /// A function whose result borrows a value that ends before the scope does:
    /// ```compile_fail,E0597
    /// tidegate::scope(|scope| {
    ///     let words = ["ebb".to_owned(), "flow".to_owned()];
    ///     let trimmed = tidegate::stream(&words).in_scope(scope).map(|word| word.trim());
    ///     assert_eq!(trimmed.ordered().count(), 2);
    /// });
    /// ```
    /// An iterator that outlives the scope:
    /// ```compile_fail
    /// let results = tidegate::scope(|scope| {
    ///     tidegate::stream(0..4).in_scope(scope).map(|n| n + 1).ordered()
    /// });
    /// assert_eq!(results.sum::<u32>(), 10);
    /// ```
    pub fn in_scope<'s, 'scope>(self, scope: &'s Scope<'scope>) -> Stream<'s, I, Scope<'scope>> {
        Stream {
            source: self.source,
            target: Target::Scope(door::scope::core(scope)),
            spawner: scope,
            window: self.window,
            origin: self.origin,
        }
    }
}

impl<'p, I: Iterator, S> Stream<'p, I, S> {
    /// Sets the maximum number of items that the stream holds: read from the source, but not yet
    /// returned. The default is a multiple of the pool's number of workers (`stream-window` in
    /// `tidegate tunables`).
    ///
    /// If the window is smaller than the number of workers, some workers have no item to run. Items
    /// whose times differ widely need a larger window, because the results of later items wait for
    /// a slow one.
    ///
    /// ```
    /// let mut read = 0;
    /// let source = (0..100).inspect(|_| read += 1);
    /// let mut doubled = tidegate::stream(source).window(8).map(|n| 2 * n).ordered();
    /// assert_eq!(doubled.next(), Some(0));
    /// drop(doubled);
    /// assert!(read <= 8);
    /// ```
    ///
    /// # Panics
    /// If `items` is 0.
    #[track_caller]
    pub fn window(mut self, items: usize) -> Self {
        assert_ne!(items, 0, "a stream's window must have at least one item");
        self.window = Some(items);
        self
    }

    /// Sets the function that the workers call for each item. `'env` is the lifetime of the scope
    /// that was passed to [`in_scope`](Stream::in_scope), and otherwise `'static`.
    pub fn map<'env, F, T>(self, f: F) -> Mapped<'p, I, F, S>
    where
        F: Fn(I::Item) -> T + Send + Sync + 'env,
        T: Send + 'env,
        S: Spawner<'env>,
    {
        Mapped { stream: self, f }
    }
}

/// A stream and the function for its items; from [`Stream::map`].
#[must_use = "a stream reads nothing until its iterator is consumed"]
pub struct Mapped<'p, I, F, S = Detached> {
    stream: Stream<'p, I, S>,
    f: F,
}

impl<'p, I: Iterator, F, S> Mapped<'p, I, F, S> {
    /// Returns the iterator over the results, in the order of the source.
    pub fn ordered<'env, T>(self) -> Ordered<'p, I, T>
    where
        F: Fn(I::Item) -> T + Send + Sync + 'env,
        I::Item: Send + 'env,
        T: Send + 'env,
        S: Spawner<'env>,
        'env: 'p,
    {
        let Stream {
            source,
            target,
            spawner,
            window,
            origin,
        } = self.stream;
        let limit = window.unwrap_or_else(|| STREAM_WINDOW.default * target.pool().wanted());
        let (f, carried) = (self.f, carry::carry_unless_visible().carried);
        let class = carried.class();
        let f = move |item| carried.run_at(class, || f(item));
        let window = Arc::new(Window::new(class, origin, f));
        let runs = window.clone();
        Ordered {
            source: Some(source),
            source_panic: None,
            target,
            limit,
            ahead: 0,
            home: None,
            window,
            start_runner: Box::new(move |pool| runs.start_runner(spawner, pool)),
        }
    }
}

/// An iterator over the results of a stream, in the order of the source; from [`Mapped::ordered`].
///
/// [`stream`](fn@crate::stream) describes what `next` and dropping the iterator do.
#[must_use = "a stream reads nothing until its iterator is consumed"]
pub struct Ordered<'p, I: Iterator, T> {
    /// None after its end.
    source: Option<I>,
    /// The panic that has ended the source, until `next` resumes it.
    source_panic: Option<Payload>,
    target: Target<'p>,
    /// The maximum of `ahead`.
    limit: usize,
    /// The number of items that were read and not yet returned.
    ahead: usize,
    /// The pool in which runners are started. `None` until `next` first reads an item.
    home: Option<Arc<PoolInner>>,
    window: Arc<Window<'p, I::Item, T>>,
    start_runner: Box<StartRunner<'p>>,
}

/// Queues a runner in this pool.
type StartRunner<'p> = dyn Fn(&Arc<PoolInner>) + Send + Sync + 'p;

impl<I: Iterator, T> Ordered<'_, I, T> {
    /// Reads one item if the window has room, and more until the oldest item has finished, cannot
    /// be waited for, or is one of [`most_idle`](Self::most_idle) items that no thread has begun.
    fn read_ahead(&mut self) {
        if self.source.is_none() || self.ahead >= self.limit {
            return;
        }
        self.settle();
        let most_idle = self.most_idle();
        while self.ahead < self.limit {
            let Some(item) = self.read() else {
                return;
            };
            let pushed = self.window.push(item, self.home.as_deref());
            self.ahead += 1;
            if pushed.needs_runner {
                self.start_runner();
            }
            if pushed.front_is_over || pushed.idle >= most_idle {
                return;
            }
        }
    }

    /// The number of unbegun items with which reading ends although the oldest item has not
    /// finished, because perhaps only this thread can run it.
    fn most_idle(&self) -> usize {
        let workers = self.home.as_ref().map_or(1, |pool| pool.wanted());
        if self.must_run_front() {
            workers
        } else {
            STREAM_WINDOW.default * workers
        }
    }

    fn start_runner(&self) {
        let home = self.home.as_ref();
        let home = home.expect("the runner counts as queued there");
        (self.start_runner)(home);
    }

    /// Reads an item. At the end of the source, drops it.
    fn read(&mut self) -> Option<I::Item> {
        let source = self.source.as_mut()?;
        let read = unwind::catch(|| source.next());
        self.check_process();
        if let Ok(Some(item)) = read {
            return Some(item);
        }
        let source = self.source.take();
        // The destructor is user code; its panic must not overtake the results.
        let dropped = unwind::catch(|| drop(source)).err();
        self.source_panic = match (read.err(), dropped) {
            (Some(first), Some(second)) => {
                self.report(second, UnhandledPanic::Second);
                Some(first)
            }
            (first, second) => first.or(second),
        };
        None
    }

    /// Whether the consumer runs an item that no thread has begun without waiting for a runner.
    fn must_run_front(&self) -> bool {
        WorkerThread::get().is_some()
    }

    /// Runs the oldest item. Returns `None` if another thread has begun it, or if the caller can
    /// run nothing in the pool.
    fn run_front(&self) -> Option<Outcome<T>> {
        // The item gets the context of the stream, not that of the consumer.
        let _suspended = carry::carry_unless_visible();
        if !self.window.front_is_unbegun() {
            return None;
        }
        let mut outcome = None;
        enter::run_here(&self.target.pool(), || outcome = self.window.run_front());
        outcome
    }

    fn wait_for_front(&mut self) -> Outcome<T> {
        self.settle();
        let event = Arc::new(Event::for_this_thread());
        let home = self.home.as_deref();
        match self.window.take_front_or_register(&event, home) {
            Registered::Finished(outcome) => return outcome,
            Registered::Waiting { needs_runner: true } => self.start_runner(),
            Registered::Waiting { .. } => {}
        }
        if WorkerThread::get().is_none() {
            // To become a guest, or to park and be woken, takes longer than a short item.
            event.be_patient(|| false);
            if let Some(outcome) = self.run_front() {
                return outcome;
            }
        }
        wait::for_event(&event, home.expect("settled above"));
        match self.window.take_front() {
            Front::Finished(outcome) => outcome,
            Front::Unbegun | Front::Running(_) => unreachable!("waited for its end"),
        }
    }

    /// Makes the caller's pool the one in which runners are started.
    fn settle(&mut self) {
        self.home = Some(self.target.pool());
    }

    /// Reports a panic that no call of `next` resumes.
    fn report(&self, payload: Payload, from: UnhandledPanic) {
        match &self.home {
            Some(pool) => self.window.report(payload, from, pool),
            None => unwind::discard(payload),
        }
    }

    /// Aborts a child made by `fork` if its parent has read items.
    fn check_process(&self) {
        self.home.iter().for_each(|home| home.check_process());
    }
}

impl<I: Iterator, T> Iterator for Ordered<'_, I, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.check_process();
        self.read_ahead();
        if self.ahead == 0 {
            if let Some(payload) = self.source_panic.take() {
                unwind::resume(payload);
            }
            return None;
        }
        let outcome = match self.window.take_front() {
            Front::Finished(outcome) => Some(outcome),
            Front::Unbegun if self.must_run_front() => self.run_front(),
            Front::Unbegun | Front::Running(_) => None,
        };
        let outcome = outcome.unwrap_or_else(|| self.wait_for_front());
        self.ahead -= 1;
        Some(outcome.unwrap_or_else(|payload| unwind::resume(payload)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let source = self.source.as_ref();
        let (least, most) = source.map_or((0, Some(0)), I::size_hint);
        let most = most.and_then(|most| most.checked_add(self.ahead));
        (least.saturating_add(self.ahead), most)
    }
}

impl<I: Iterator, T> FusedIterator for Ordered<'_, I, T> {}

impl<I: Iterator, T> Drop for Ordered<'_, I, T> {
    fn drop(&mut self) {
        if self.home.as_ref().is_some_and(|home| home.is_inherited()) {
            return;
        }
        let panics = self.window.close().into_iter();
        for payload in panics.chain(self.source_panic.take()) {
            self.report(payload, UnhandledPanic::Task);
        }
    }
}

impl<I, S> fmt::Debug for Stream<'_, I, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream")
            .field("window", &self.window)
            .finish_non_exhaustive()
    }
}

impl<I, F, S> fmt::Debug for Mapped<'_, I, F, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mapped")
            .field("window", &self.stream.window)
            .finish_non_exhaustive()
    }
}

impl<I: Iterator, T> fmt::Debug for Ordered<'_, I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ordered")
            .field("window", &self.limit)
            .field("ahead", &self.ahead)
            .finish_non_exhaustive()
    }
}
