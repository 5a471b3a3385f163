//! Task graphs: tasks ordered by *happens before*.
//!
//! An [`Interval`] is the slice of time in which one task and all intervals that it creates run;
//! tasks that it starts with [`spawn`](fn@crate::spawn) don't count. Its two points,
//! [start](Interval::start) and [end](Interval::end), can be ordered relative to points of other
//! intervals ([`Point::before`]). An interval waits for another only if a declared order or a lock
//! requires it. An interval can hold [locks](IntervalBuilder::lock) for its whole duration, run at
//! a [place](IntervalBuilder::at), and pass a [value](Interval::value) to later intervals. If it
//! fails, intervals after it don't run. No worker ever blocks on a point or a lock.
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
//!     // When this body returns, all three are scheduled.
//! })?;
//! assert_eq!((words, letters), (6, 13));
//! # Ok::<(), interval::Failure>(())
//! ```
//!
//! The model is that of Weibel, "An advanced scheduler for intervals", 2010, chapter 1. The
//! protocol is described in `docs/intervals.md` in the repository.

mod builder;
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
mod stall;
mod tree;

pub use builder::IntervalBuilder;
pub use failure::{Failure, UsageError, UsageErrorKind};
pub use lock::{Lock, Locked};
pub use record::{Edge, Graph, Recorder, Recording, Span};

use crate::cancel::token::check_cancelled;
use edges::Place;
use failure::{BoxError, Cause};
use node::{Core, Which, mark};
use ready::Ready;
use record::Log;
use stall::Stall;
use std::cell::Cell;
use std::error::Error;
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;
use tidegate_core::door::{self, WorkerThread, carry, scope, unwind};
use tidegate_sync::clock;
use tree::Tree;

/// Whether the report of a stall lists all intervals, rather than only those with names.
const WATCHES_ALL: bool = cfg!(debug_assertions);

/// Runs `f` as an *inline interval*: the call returns when this interval and all intervals inside
/// it have ended. The interval runs in the calling task's pool, or in the global pool if the caller
/// is outside all pools.
///
/// `f` receives a [`Scope`], through which it creates intervals. They may borrow anything that
/// outlives this call. If `f` returns an `Err`, that is its result and not a failure: the intervals
/// that it has created run.
///
/// In the body of another interval, call [`Scope::inline`] instead: `run` doesn't know the
/// enclosing interval, so an interval inside the call that requested a
/// [lock](IntervalBuilder::lock) of the enclosing interval would wait forever.
///
/// # Errors
/// Returns the first failure of an interval inside, or the panic of `f`. If intervals inside can
/// never end, returns a [stall](Failure::is_stall).
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
/// # What the compiler rejects
/// An interval that borrows from a body, because the body ends before the interval:
/// ```compile_fail,E0597
/// tidegate::interval::run(|s| {
///     let number = 1;
///     s.interval(|_| println!("{number}"));
/// }).unwrap();
/// ```
/// A handle that escapes from its inline interval:
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

/// Like [`run`], but `recorder`, if any, records the intervals.
fn run_in<'env, R, F>(recorder: Option<Arc<Log>>, f: F) -> Result<R, Failure>
where
    F: for<'scope> FnOnce(&Scope<'scope, 'env>) -> R + Send,
    R: Send,
{
    let suspended = carry::carry_unless_visible();
    let inside = |current: WorkerThread<'_>| {
        let f = |scope: &Scope<'_, 'env>| suspended.carried.run(|| f(scope));
        inline_in(current, Tree::new(None, recorder), f)
    };
    door::outside("interval::run", inside)
}

/// Runs an inline interval. `around` is the scope of the enclosing interval, if any.
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
        let core = scope::core(scope);
        // SAFETY: 1. the scope ends before this function does.
        unsafe { tree.hang_on(core) };
        let unused = |_: &Scope<'_, '_>| Ok::<(), BoxError>(());
        let scope = NonNull::from(core);
        // SAFETY: 1. the scope waits for all tasks, and no pointer to a root that has not ended by
        // then is followed; 2. the body borrows nothing; 3. there is no parent.
        let root = unsafe { kind::create(scope, None, 0, None, unused, Some(current)) };
        let body = Scope::of(root);
        let recorder = tree.recorder().map(|recorder| (recorder, clock::now()));
        if let Some((recorder, _)) = recorder {
            // SAFETY: the body of the enclosing interval calls this function, so its node is alive.
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
        // The runtime's reference remains until the end has occurred.
        drop(Handle(root));
        (result.ok(), root)
    });
    if !tree.has_ended() {
        // SAFETY: the root has not ended, so the runtime's reference keeps it alive; and no task is
        // left that could end it.
        let core = unsafe { root.as_ref() };
        tree.keep(Cause::Stalled(Stall::of(&tree, core)), core);
        tree.abandon_locks(core.scope());
    }
    match (tree.take_failure(), result) {
        (None, Some(result)) => Ok(result),
        (Some(failure), _) => Err(failure),
        (None, None) => unreachable!("a panic is kept"),
    }
}

struct Handle(NonNull<Core>);

impl Handle {
    fn core(&self) -> &Core {
        // SAFETY: this handle's reference keeps the node alive.
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
        // SAFETY: 1. this handle owns a reference, and does not use the node afterwards.
        unsafe { Core::let_go(self.0, WorkerThread::get()) };
    }
}

/// Creates intervals inside a running interval. The closure of each interval receives the scope of
/// that interval.
///
/// ```
/// let mut halves = [0, 0];
/// let (left, right) = halves.split_at_mut(1);
/// tidegate::interval::run(|s| {
///     s.interval(|inner| {
///         inner.interval(|_| left[0] = 1); // Both lie inside the outer interval.
///         inner.interval(|_| right[0] = 2);
///     });
/// })?;
/// assert_eq!(halves, [1, 2]);
/// # Ok::<(), tidegate::interval::Failure>(())
/// ```
pub struct Scope<'scope, 'env: 'scope> {
    node: NonNull<Core>,
    children: Cell<u32>,
    /// Both lifetimes are invariant, because closures take and return values with these lifetimes.
    marker: PhantomData<(&'scope mut &'scope (), &'env mut &'env ())>,
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// Returns the scope that is passed to the body of `node`.
    fn of(node: NonNull<Core>) -> Self {
        Self {
            node,
            children: Cell::new(0),
            marker: PhantomData,
        }
    }

    fn core(&self) -> &Core {
        // SAFETY: an interval does not end before its body.
        unsafe { self.node.as_ref() }
    }

    fn children(&self) -> u32 {
        self.children.get()
    }

    /// Creates a draft of an interval inside this one. The interval begins once it is
    /// [scheduled](IntervalBuilder::schedule) and everything before its start has occurred. If the
    /// builder is dropped, the interval is scheduled when this body returns.
    ///
    /// If `f` panics, the interval fails.
    ///
    /// # Panics
    /// If this interval has already created about 2^30 intervals.
    #[inline]
    #[track_caller]
    pub fn interval<T, F>(&self, f: F) -> IntervalBuilder<'scope, T>
    where
        F: FnOnce(&Scope<'scope, 'env>) -> T + Send + 'scope,
        T: Send + 'scope,
    {
        self.draft(move |body: &Scope<'scope, 'env>| Ok(f(body)))
    }

    /// Like [`interval`](Self::interval), but `f` may fail. In that case, nothing after the
    /// interval's end runs, and the inline interval returns the error.
    #[inline]
    #[track_caller]
    pub fn try_interval<T, E, F>(&self, f: F) -> IntervalBuilder<'scope, T>
    where
        F: FnOnce(&Scope<'scope, 'env>) -> Result<T, E> + Send + 'scope,
        T: Send + 'scope,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        self.draft(move |body: &Scope<'scope, 'env>| f(body).map_err(Into::into))
    }

    #[inline]
    #[track_caller]
    fn draft<T, F>(&self, f: F) -> IntervalBuilder<'scope, T>
    where
        F: FnOnce(&Scope<'scope, 'env>) -> Result<T, BoxError> + Send + 'scope,
        T: Send + 'scope,
    {
        if let Some(current) = WorkerThread::visible() {
            return self.draft_by(Some(current), f);
        }
        let suspended = carry::carry();
        let carried = suspended.carried;
        self.draft_by(WorkerThread::get(), move |body| {
            carried.run(|| {
                check_cancelled()?;
                f(body)
            })
        })
    }

    #[inline]
    #[track_caller]
    fn draft_by<T, F>(&self, current: Option<WorkerThread<'_>>, f: F) -> IntervalBuilder<'scope, T>
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
        let (scope, at) = (self.core().scope(), Some(Location::caller()));
        // SAFETY: 1. the scope waits for all nodes that can run, and no pointer to a node that
        // never can run is followed; 2. 'scope outlives the scope; 3. this is the parent's body.
        let node = unsafe { kind::create(scope, Some(self.node), number, at, f, current) };
        let handle = Handle(node);
        let tree = self.core().tree();
        if let Some(recorder) = tree.recorder() {
            recorder.create(handle.core(), Some(self.core()));
        }
        if WATCHES_ALL {
            tree.watch(handle.core());
        }
        let marker = PhantomData;
        IntervalBuilder::of(Interval { handle, marker })
    }

    /// Runs `f` as an inline interval on this thread, and returns when the inline interval and all
    /// intervals inside it have ended. The points of the inline interval can be ordered only
    /// relative to those of intervals inside it. Its failure is returned and doesn't make the
    /// enclosing interval fail.
    ///
    /// # Errors
    /// Like [`run`].
    pub fn inline<'inner, R, F>(&self, f: F) -> Result<R, Failure>
    where
        F: for<'s> FnOnce(&Scope<'s, 'inner>) -> R,
    {
        // The body runs on a worker, except in a child that it has forked.
        let aborts = || self.core().live_scope().pool().abort_child();
        let current = WorkerThread::get().unwrap_or_else(aborts);
        let suspended = carry::carry();
        inline(current, Some(self), |scope: &Scope<'_, 'inner>| {
            suspended.carried.run(|| f(scope))
        })
    }

    /// Returns the end of this interval. (Its start has already occurred.)
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

/// A handle to an interval.
///
/// ```
/// tidegate::interval::run(|s| {
///     let number = s.interval(|_| 42).schedule();
///     number.then(s, |_, number| assert_eq!(*number, 42)).unwrap();
///     let earlier = number.clone();
///     let next = s.interval(move |_| assert_eq!(earlier.value(), Some(&42)));
///     number.end().before(next.start()).unwrap();
/// })?;
/// # Ok::<(), tidegate::interval::Failure>(())
/// ```
pub struct Interval<'scope, T = ()> {
    handle: Handle,
    marker: PhantomData<(&'scope (), T)>,
}

// SAFETY: through a handle, a thread can access atomics, data guarded by locks, and the value. Only
// `value` lends a reference to the value, and requires `T: Sync`; apart from that, the value is
// only dropped.
unsafe impl<T: Send> Send for Interval<'_, T> {}
// SAFETY: as for `Send`.
unsafe impl<T: Send> Sync for Interval<'_, T> {}

impl<'scope, T> Interval<'scope, T> {
    fn core(&self) -> &Core {
        self.handle.core()
    }

    /// Returns the start of the interval.
    #[must_use]
    pub fn start(&self) -> Point<'_> {
        Point::of(self.handle.0, Which::Start)
    }

    /// Returns the end of the interval, which comes after the ends of all intervals inside it.
    #[must_use]
    pub fn end(&self) -> Point<'_> {
        Point::of(self.handle.0, Which::End)
    }

    /// Returns the body's result, or `None` if the interval has not ended yet, has failed or was
    /// skipped.
    ///
    /// An interval ordered after this one's end always finds the value, unless this interval failed
    /// or was skipped.
    #[must_use]
    pub fn value(&self) -> Option<&T>
    where
        T: Sync,
    {
        // SAFETY: 1. this handle owns a reference to the node.
        let value = unsafe { Core::value(self.handle.0) }?;
        // SAFETY: the value has the type with which the node was created, and it isn't changed
        // before the last handle is dropped.
        Some(unsafe { value.cast().as_ref() })
    }

    /// Creates a draft of an interval that comes after this one and receives this one's value.
    ///
    /// # Errors
    /// If `body` belongs to another inline interval, or if the intervals that `body` creates come
    /// before this interval's end. In these cases, `f` doesn't run.
    #[track_caller]
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
        // SAFETY: 1. this handle owns a reference to the node, and `body` is running now.
        unsafe { edges::check_follower(self.handle.0, body.node) }?;
        let from = self.clone();
        let next = body.interval(move |body| {
            let value = from.value().expect("skipped if there was none");
            f(body, value)
        });
        if let Err(misuse) = self.end().before(next.start()) {
            next.core().mark(mark::VOID);
            next.schedule();
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
///
/// ```
/// tidegate::interval::run(|s| {
///     let (first, second) = (s.interval(|_| ()), s.interval(|_| ()));
///     first.end().before(second.start()).unwrap();
///     assert!(second.end().before(first.start()).is_err()); // This would close a cycle.
/// })?;
/// # Ok::<(), tidegate::interval::Failure>(())
/// ```
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

    /// Makes `later` wait for this point. Everything done before this point is visible after
    /// `later`.
    ///
    /// The call takes about twenty nanoseconds if both intervals have the same parent and `later`
    /// is a point of the interval that was created second. For other pairs, the call must also
    /// check whether the edge would close a cycle.
    ///
    /// # Errors
    /// If the order is impossible; see [`UsageErrorKind`]. In that case, nothing changes.
    ///
    /// # Panics
    /// If about 2^30 points were already declared to come before `later`.
    pub fn before(self, later: Point<'_>) -> Result<(), UsageError> {
        // SAFETY: 1. a point borrows from a handle, or from the scope of a running body.
        unsafe { edges::add(self.place, later.place) }
    }

    /// Whether this point has occurred. If so, everything done before it is visible to the caller.
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
