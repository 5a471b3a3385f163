//! Tasks ordered by *happens before*.
//!
//! An [`Interval`] is the slice of time in which one task and all intervals that it creates run; what it starts by [`spawn`](fn@crate::spawn) does not
//! count. Its two points, [start](Interval::start) and
//! [end](Interval::end), may be ordered with those of others ([`Point::before`]): whatever the order demands, and nothing else, waits. An interval may
//! hold [locks](IntervalBuilder::lock) while it lasts, run at a [place](IntervalBuilder::at), leave a [value](Interval::value) to those after it, and fail; then what
//! comes after it does not run. No worker ever waits for a point or a lock.
//!
//! ```
//! use tidegate::interval;
//!
//! let text = "to be or not to be";
//! let (mut words, mut letters) = (0, 0);
//! interval::run(|s| {
//!     let split = s.interval(|_| text.split(' ').collect::<Vec<_>>());
//!     split.then(s, |_, split| words = split.len()).unwrap();
//!     split.then(s, |_, split| letters = split.concat().len()).unwrap();
//!     // Here the drafts are dropped, and so scheduled.
//! })?;
//! assert_eq!((words, letters), (6, 13));
//! # Ok::<(), interval::Failure>(())
//! ```
//!
//! The model is that of Weibel, "An advanced scheduler for intervals", 2010, chapter 1; `docs/intervals.md` has the protocol.

mod edges;
mod failure;
mod kind;
mod life;
mod lock;
#[cfg(all(test, loom))]
mod models;
mod node;
#[cfg(feature = "drawing")]
mod picture;
mod ready;
mod record;
mod tree;

pub use failure::{Failure, UsageError, UsageErrorKind};
pub use lock::{Lock, Locked};
pub use record::{Edge, Graph, Recorder, Recording, Span};

use crate::handle::global;
use crate::place::{self, PlaceId};
use crate::pool::enter;
use crate::scope;
use crate::unwind;
use crate::worker::{FrameWorker, WorkerThread};
use edges::Place;
use failure::{BoxError, Cause};
use node::{Core, Which, mark};
use ready::Ready;
use record::Log;
use std::borrow::Cow;
use std::cell::Cell;
use std::error::Error;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;
use tidegate_sync::clock;
use tree::Tree;

/// Runs `f` as an *inline interval*, one whose call returns when it and all intervals inside of it have ended; in the pool whose task calls this, else in
/// the global one.
///
/// Inside, `f` creates intervals by the [`Scope`] that it gets. They may borrow what outlives this call.
///
/// In the body of another interval use [`Scope::inline`]: this call knows nothing of what is around it. If an interval inside requests a
/// [lock](IntervalBuilder::lock) that one around holds, it waits for ever.
///
/// # Errors
/// The first failure of an interval inside, a panic of `f` among them; or the intervals have come to wait for each other.
///
/// ```
/// use tidegate::interval;
///
/// let mut halves = [0, 0];
/// let (left, right) = halves.split_at_mut(1);
/// interval::run(|s| {
///     s.interval(|_| left[0] = 1);
///     s.interval(|_| right[0] = 2);
/// })?;
/// assert_eq!(halves, [1, 2]);
/// # Ok::<(), interval::Failure>(())
/// ```
///
/// # What the compiler refuses
/// An interval that borrows from a body, which ends before it:
/// ```compile_fail,E0597
/// tidegate::interval::run(|s| {
///     let number = 1;
///     s.interval(|_| println!("{number}"));
/// }).unwrap();
/// ```
/// A handle that leaves its inline interval:
/// ```compile_fail
/// let escaped = tidegate::interval::run(|s| s.interval(|_| 1).schedule()).unwrap();
/// println!("{:?}", escaped.value());
/// ```
pub fn run<'env, R, F>(f: F) -> Result<R, Failure>
where
    F: for<'scope> FnOnce(&Scope<'scope, 'env>) -> R + Send,
    R: Send,
{
    run_in(None, f)
}

/// With notes taken by `recorder`, if by any.
fn run_in<'env, R, F>(recorder: Option<Arc<Log>>, f: F) -> Result<R, Failure>
where
    F: for<'scope> FnOnce(&Scope<'scope, 'env>) -> R + Send,
    R: Send,
{
    let inside = |current: WorkerThread<'_>| inline_in(current, Tree::new(None, recorder), f);
    match WorkerThread::get() {
        Some(current) => inside(current),
        None => enter::take_part(global(), inside),
    }
}

/// Inside of the body of `around`, if of any.
pub(crate) fn inline<'env, R, F>(
    current: WorkerThread<'_>,
    around: Option<&Scope<'_, '_>>,
    f: F,
) -> Result<R, Failure>
where
    F: for<'scope> FnOnce(&Scope<'scope, 'env>) -> R,
{
    inline_in(current, Tree::new(around.map(|body| body.node), None), f)
}

fn inline_in<'env, R, F>(current: WorkerThread<'_>, tree: Tree, f: F) -> Result<R, Failure>
where
    F: for<'scope> FnOnce(&Scope<'scope, 'env>) -> R,
{
    let (result, root) = scope::scope(current, |scope| {
        let core = scope.core();
        // SAFETY: 1. the scope ends before this function does.
        unsafe { tree.hang_on(core) };
        let unused = |_: &Scope<'_, '_>| Ok::<(), BoxError>(());
        let scope = NonNull::from(core);
        // SAFETY: 1. the scope waits for all tasks, and a root that has not ended by then is followed by nobody; 2. nothing; 3. there is no parent.
        let root = unsafe { kind::create(scope, None, 0, unused, Some(current)) };
        let body = Scope::of(root, current);
        let recorder = tree.recorder().map(|recorder| (recorder, clock::now()));
        if let Some((recorder, _)) = recorder {
            // SAFETY: the body that calls us.
            recorder.create(
                body.core(),
                tree.around.map(|node| unsafe { node.as_ref() }),
            );
        }
        let result = unwind::catch(|| f(&body)).map_err(|payload| body.core().fail(payload.into()));
        if let Some((recorder, from)) = recorder {
            recorder.ran(body.core(), from, result.is_err(), Some(current));
        }
        let mut ready = Ready::without_hand(Some(current));
        life::end_body(root, body.children(), &mut ready);
        ready.settle_all();
        // The runtime's reference remains until the end.
        drop(Handle(root));
        (result.ok(), root)
    });
    if !tree.has_ended() {
        // SAFETY: it has not ended, and nothing goes on by which it could.
        let core = unsafe { root.as_ref() };
        tree.abandon_locks(core.scope());
        // Relaxed: nobody changes it any more.
        let waiting = core
            .end
            .waiting
            .load(tidegate_sync::atomic::Ordering::Relaxed);
        tree.keep(Cause::Stalled(waiting), core);
    }
    match (tree.take_failure(), result) {
        (None, Some(result)) => Ok(result),
        (Some(failure), _) => Err(failure),
        (None, None) => unreachable!("a panic is kept"),
    }
}

/// A reference to a node that is counted.
struct Handle(NonNull<Core>);

impl Handle {
    fn core(&self) -> &Core {
        // SAFETY: our reference.
        unsafe { self.0.as_ref() }
    }
}

impl Clone for Handle {
    fn clone(&self) -> Self {
        self.core().add_ref();
        Self(self.0)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: 1. our reference, and the last use of it.
        unsafe { Core::let_go(self.0, WorkerThread::get()) };
    }
}

/// An interval from inside: what its closure gets, to create subintervals with.
pub struct Scope<'scope, 'env: 'scope> {
    node: NonNull<Core>,
    runner: FrameWorker,
    children: Cell<u32>,
    /// Invariant in both: closures are taken and given with these lifetimes.
    marker: PhantomData<(&'scope mut &'scope (), &'env mut &'env ())>,
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// For the worker that runs this node.
    fn of(node: NonNull<Core>, current: WorkerThread<'_>) -> Self {
        Self {
            node,
            runner: FrameWorker::of(current),
            children: Cell::new(0),
            marker: PhantomData,
        }
    }

    fn core(&self) -> &Core {
        // SAFETY: it does not end before its body.
        unsafe { self.node.as_ref() }
    }

    fn children(&self) -> u32 {
        self.children.get()
    }

    /// Drafts an interval inside of this one. It begins when everything before its start has occurred, but not before its draft is
    /// [scheduled](IntervalBuilder::schedule) or dropped.
    ///
    /// A panic of `f` fails the interval.
    #[inline]
    pub fn interval<T, F>(&self, f: F) -> IntervalBuilder<'scope, T>
    where
        F: FnOnce(&Scope<'scope, 'env>) -> T + Send + 'scope,
        T: Send + 'scope,
    {
        self.draft(move |body: &Scope<'scope, 'env>| Ok(f(body)))
    }

    /// The same with an `f` that may fail. Then nothing runs that comes after the interval's end, and the inline interval returns the error.
    #[inline]
    pub fn try_interval<T, E, F>(&self, f: F) -> IntervalBuilder<'scope, T>
    where
        F: FnOnce(&Scope<'scope, 'env>) -> Result<T, E> + Send + 'scope,
        T: Send + 'scope,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        self.draft(move |body: &Scope<'scope, 'env>| f(body).map_err(Into::into))
    }

    #[inline]
    fn draft<T, F>(&self, f: F) -> IntervalBuilder<'scope, T>
    where
        F: FnOnce(&Scope<'scope, 'env>) -> Result<T, BoxError> + Send + 'scope,
        T: Send + 'scope,
    {
        let number = self.children.get() + 1;
        assert!(
            number < node::MOST_CHILDREN,
            "too many intervals inside of one"
        );
        self.children.set(number);
        let scope = self.core().scope();
        // SAFETY: 1. the scope waits for what can run, and what never can is not followed; 2. 'scope is longer than that; 3. this is the body.
        let node = unsafe { kind::create(scope, Some(self.node), number, f, WorkerThread::get()) };
        let handle = Handle(node);
        if let Some(recorder) = self.core().tree().recorder() {
            recorder.create(handle.core(), Some(self.core()));
        }
        let marker = PhantomData;
        IntervalBuilder(Some(Interval { handle, marker }))
    }

    /// Runs `f` as an interval right here, and returns when it and all intervals inside of it have ended. Its points are ordered with those of
    /// intervals inside of it only. A failure stays with the result.
    ///
    /// # Errors
    /// As [`run`].
    pub fn inline<'inner, R, F>(&self, f: F) -> Result<R, Failure>
    where
        F: for<'s> FnOnce(&Scope<'s, 'inner>) -> R,
    {
        // SAFETY: 1. the runner calls the closure that has this body, which stays on that thread and in frames above.
        let current = unsafe { self.runner.current() };
        inline(current, Some(self), f)
    }

    /// The end of the interval itself. Its start has occurred.
    #[must_use]
    pub fn end(&self) -> Point<'_> {
        Point::of(self.node, Which::End)
    }

    fn holds(&self, lock: &Lock) -> bool {
        let extras = self.core().extras();
        extras.is_some_and(|extras| extras.lock().locks.contains(lock))
    }

    fn name(&self) -> String {
        self.core().name()
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Scope").field(&self.name()).finish()
    }
}

/// An interval that is not scheduled yet: what is to come before it can be said safely. Dropping it schedules it.
pub struct IntervalBuilder<'scope, T = ()>(Option<Interval<'scope, T>>);

impl<'scope, T> IntervalBuilder<'scope, T> {
    /// Lets the interval begin when all before its start has occurred.
    pub fn schedule(mut self) -> Interval<'scope, T> {
        let interval = self.0.take().expect("until it is scheduled");
        life::schedule(interval.handle.0);
        interval
    }

    /// Gives the interval a name, for messages and pictures.
    pub fn named(self, name: impl Into<Cow<'static, str>>) -> Self {
        let core = self.core();
        core.extras_or_new().lock().name = Some(name.into());
        if let Some(recorder) = core.tree().recorder() {
            recorder.name(core);
        }
        self
    }

    /// The interval's task waits at a place; see [`PlaceId`].
    ///
    /// # Panics
    /// The place is one of another pool.
    pub fn at(self, place: PlaceId) -> Self {
        place::check_place(self.core().live_scope().pool(), place);
        self.core().extras_or_new().lock().place = Some(place);
        self
    }

    /// The interval holds the lock from before its start until after its end.
    ///
    /// A lock that is held around a call of [`run`](fn@run) must not be requested inside.
    ///
    /// # Errors
    /// It has requested the lock already, or an interval has inside of which it is, or that one has requested a lock that was made later.
    pub fn lock(&mut self, lock: &Lock) -> Result<(), UsageError> {
        lock.check(self.core())?;
        lock.add_to(self.core());
        Ok(())
    }
}

impl<'scope, T> Deref for IntervalBuilder<'scope, T> {
    type Target = Interval<'scope, T>;

    fn deref(&self) -> &Self::Target {
        self.0.as_ref().expect("until it is scheduled")
    }
}

impl<T> Drop for IntervalBuilder<'_, T> {
    fn drop(&mut self) {
        if let Some(interval) = self.0.take() {
            life::schedule(interval.handle.0);
        }
    }
}

impl<T> fmt::Debug for IntervalBuilder<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("IntervalBuilder")
            .field(&self.core().name())
            .finish()
    }
}

/// An interval, from outside.
pub struct Interval<'scope, T = ()> {
    handle: Handle,
    marker: PhantomData<(&'scope (), T)>,
}

// SAFETY: of the node a handle reaches atomics, what is under locks, and the value: by reference where `value` says so, and to drop it.
unsafe impl<T: Send> Send for Interval<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Interval<'_, T> {}

impl<'scope, T> Interval<'scope, T> {
    fn core(&self) -> &Core {
        self.handle.core()
    }

    /// When the interval begins.
    #[must_use]
    pub fn start(&self) -> Point<'_> {
        Point::of(self.handle.0, Which::Start)
    }

    /// When the interval and all inside of it have ended.
    #[must_use]
    pub fn end(&self) -> Point<'_> {
        Point::of(self.handle.0, Which::End)
    }

    /// What the body has returned, once the interval has ended; none if it failed or was skipped.
    ///
    /// An interval that comes after the end finds it there.
    #[must_use]
    pub fn value(&self) -> Option<&T>
    where
        T: Sync,
    {
        // SAFETY: 1. ours.
        let value = unsafe { Core::value(self.handle.0) }?;
        // SAFETY: of the type with which the node was made; nobody changes it before the last handle goes.
        Some(unsafe { value.cast().as_ref() })
    }

    /// Drafts an interval that comes after this one and gets its value.
    ///
    /// # Errors
    /// The body is not of the same inline interval, or what it creates comes before this interval. `f` does not run then.
    pub fn then<'env, U, F>(
        &self,
        body: &Scope<'scope, 'env>,
        f: F,
    ) -> Result<IntervalBuilder<'scope, U>, UsageError>
    where
        F: FnOnce(&Scope<'scope, 'env>, &T) -> U + Send + 'scope,
        T: Send + Sync + 'scope,
        U: Send + 'scope,
    {
        // SAFETY: 1. our reference; the body runs.
        unsafe { edges::check_follower(self.handle.0, body.node) }?;
        let from = self.clone();
        let next = body.interval(move |body| {
            let value = from.value().expect("skipped if there was none");
            f(body, value)
        });
        if let Err(misuse) = self.end().before(next.start()) {
            next.core().mark(mark::VOID);
            return Err(misuse);
        }
        Ok(next)
    }
}

impl<T> Clone for Interval<'_, T> {
    fn clone(&self) -> Self {
        Self {
            handle: self.handle.clone(),
            marker: PhantomData,
        }
    }
}

impl<T> fmt::Debug for Interval<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Interval")
            .field(&self.core().name())
            .finish()
    }
}

/// A point in time: the start or the end of an interval.
#[derive(Clone, Copy)]
pub struct Point<'a> {
    place: Place,
    marker: PhantomData<&'a ()>,
}

impl<'a> Point<'a> {
    fn of(node: NonNull<Core>, which: Which) -> Self {
        Self {
            place: (node, which),
            marker: PhantomData,
        }
    }

    /// `later` waits for this point, and sees what was done before it.
    ///
    /// Costs some twenty nanoseconds between intervals of one parent if the later one was created later. For others it is found out whether the
    /// edge would close a cycle.
    ///
    /// # Errors
    /// The order cannot be kept; see [`UsageErrorKind`]. Nothing has changed then.
    pub fn before(self, later: Point<'_>) -> Result<(), UsageError> {
        // SAFETY: 1. points borrow from handles, or from a body that runs.
        unsafe { edges::add(self.place, later.place) }
    }

    /// Whether it has occurred.
    #[must_use]
    pub fn has_occurred(self) -> bool {
        let (node, which) = self.place;
        // SAFETY: as in `before`.
        unsafe { node.as_ref() }.words(which).has_occurred()
    }
}

impl fmt::Debug for Point<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (node, which) = self.place;
        // SAFETY: as in `before`.
        let name = unsafe { node.as_ref() }.name();
        f.debug_tuple("Point").field(&which).field(&name).finish()
    }
}
