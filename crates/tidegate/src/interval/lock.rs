//! Locks that intervals hold from before their start until after their end. docs/intervals.md
//! describes the protocol.

use super::Scope;
use super::failure::{UsageError, UsageErrorKind};
use super::life;
use super::node::Core;
use super::ready::Ready;
use std::collections::VecDeque;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;
use tidegate_core::door::{ScopeCore, scope};
use tidegate_sync::lock::Mutex;
use tidegate_sync::serial;
use tidegate_sync::thread::{Process, abort_child};

/// A lock that one interval holds at a time, from before its start until after its end; see
/// [`IntervalBuilder::lock`](super::IntervalBuilder::lock).
///
/// Clones refer to the same lock. An interval that has requested several locks takes them in the
/// order in which the locks were created. No worker blocks while an interval waits for a lock.
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
/// use tidegate::interval::{self, Lock};
///
/// let (lock, running) = (Lock::new(), AtomicU32::new(0));
/// interval::run(|s| {
///     for _ in 0..3 {
///         // These intervals run one after another, in any order.
///         let mut next = s.interval(|_| {
///             assert_eq!(running.fetch_add(1, Relaxed), 0);
///             running.fetch_sub(1, Relaxed);
///         });
///         next.lock(&lock).unwrap();
///     }
/// })?;
/// # Ok::<(), interval::Failure>(())
/// ```
#[derive(Clone)]
pub struct Lock(Arc<Inner>);

struct Inner {
    number: u64,
    state: Mutex<State>,
}

/// The state of a lock, which a mutex guards.
#[derive(Default)]
struct State {
    /// The scope of the holder's tree.
    holder: Option<NonNull<ScopeCore>>,
    /// The process in which the holder got the lock.
    held_in: Option<Process>,
    queue: VecDeque<Waiter>,
}

impl State {
    fn set_holder(&mut self, holder: Option<NonNull<ScopeCore>>) {
        self.holder = holder;
        self.held_in = Some(Process::this());
    }

    /// Aborts a child process made by `fork` if an interval of its parent holds the lock.
    fn check_process(&self) {
        if self.held_in != Some(Process::this()) {
            abort_child(format_args!(
                "a child made by fork() needs a lock of intervals that an interval of its parent held"
            ));
        }
    }
}

/// An interval in the queue of a lock. It has a count in its scope if and only if the holder
/// belongs to another tree: then the scope waits for it even if no other task of its tree is left.
struct Waiter(NonNull<Core>);

// SAFETY: nodes in the queue have not started, and stay alive until they have; scopes are only
// compared.
unsafe impl Send for State {}

impl Waiter {
    fn scope(&self) -> NonNull<ScopeCore> {
        // SAFETY: the node waits for this lock, so it has not started.
        unsafe { self.0.as_ref() }.scope()
    }

    /// Gives the waiter its own count if the holder belongs to another tree, and takes that count
    /// if the holder belongs to the waiter's tree. Returns whether the caller now has that count,
    /// and must remove it.
    fn waits_for(&self, holder: NonNull<ScopeCore>) -> bool {
        // SAFETY: as in `scope`.
        let core = unsafe { self.0.as_ref() };
        if self.scope() == holder {
            return core.take_count();
        }
        core.count();
        false
    }
}

impl Lock {
    /// Creates a lock that no interval holds.
    ///
    /// ```
    /// use tidegate::interval::Lock;
    ///
    /// let lock = Lock::new();
    /// assert_eq!(lock, lock.clone());
    /// assert_ne!(lock, Lock::new());
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(Inner {
            number: serial::next(),
            state: Mutex::default(),
        }))
    }

    /// Requests the lock for an interval. Returns whether the interval now holds the lock; if not,
    /// it is queued and gets the lock later.
    fn request(&self, node: NonNull<Core>) -> bool {
        // SAFETY: the node has not started.
        let core = unsafe { node.as_ref() };
        let mut state = self.0.state.lock();
        let Some(holder) = state.holder else {
            state.set_holder(Some(core.scope()));
            drop(state);
            core.tree().takes(self);
            return true;
        };
        state.check_process();
        let waiter = Waiter(node);
        let has_count = waiter.waits_for(holder);
        state.queue.push_back(waiter);
        drop(state);
        if has_count {
            // Another tree has handed the previous lock to the node. The count may be the last of
            // the node's tree, whose owner then looks for stalled intervals in the queue.
            // SAFETY: 1. this call has the count, and does not use the scope afterwards.
            unsafe { scope::remove_count_from_afar(holder) };
        }
        false
    }

    /// Hands the lock to the interval that has waited longest, and returns that interval.
    fn hand_on(&self) -> Option<NonNull<Core>> {
        let mut state = self.0.state.lock();
        state.check_process();
        let (before, next) = (state.holder, state.queue.pop_front());
        state.set_holder(next.as_ref().map(Waiter::scope));
        let State { holder, queue, .. } = &mut *state;
        if let Some(holder) = holder.filter(|now| before != Some(*now)) {
            // A waiter without a count belongs to the tree that held the lock until now. The caller
            // runs in that tree, so the tree's scope is alive. A waiter that loses its count
            // belongs to the tree that now holds the lock, in which the new holder has a count.
            for waiter in queue {
                if waiter.waits_for(holder) {
                    // SAFETY: as said above.
                    unsafe { holder.as_ref() }.take_one();
                }
            }
        }
        next.map(|waiter| waiter.0)
    }

    /// Removes the waiters of a stalled tree, because they will never run. If that tree holds the
    /// lock, hands the lock on, because the holder will never end.
    pub(super) fn abandon(&self, scope: NonNull<ScopeCore>) {
        let held = {
            let mut state = self.0.state.lock();
            state.queue.retain(|waiter| waiter.scope() != scope);
            state.holder == Some(scope)
        };
        if held {
            if let Some(node) = self.hand_on() {
                go_on(node, scope, None);
            }
        }
    }

    /// Rejects a lock that this interval or an enclosing one has already requested, and a lock that
    /// was created before one that an enclosing interval has requested.
    pub(super) fn check(&self, core: &Core) -> Result<(), UsageError> {
        let mut next = Some(NonNull::from(core));
        while let Some(node) = next {
            // SAFETY: the first node is a draft; each other node contains it, and so has not ended.
            let around = unsafe { node.as_ref() };
            let wrong = around.extras().and_then(|extras| {
                let extras = extras.lock();
                extras.locks.iter().find_map(|other| match other {
                    _ if other == self => Some(UsageErrorKind::LockTwice),
                    _ if std::ptr::eq(around, core) || other.0.number < self.0.number => None,
                    _ => Some(UsageErrorKind::LockOrder),
                })
            });
            if let Some(wrong) = wrong {
                return Err(UsageError::new(wrong, core.name(), around.name()));
            }
            // The body that called an inline interval resumes only when the inline interval has
            // ended, so the body's interval counts as enclosing.
            next = around.parent.or_else(|| around.tree().around);
        }
        Ok(())
    }

    /// Adds the lock to those that the draft requests, in the order of their numbers.
    pub(super) fn add_to(&self, core: &Core) {
        let locks = &mut core.extras_or_new().lock().locks;
        let at = locks.partition_point(|other| other.0.number < self.0.number);
        locks.insert(at, self.clone());
    }
}

impl PartialEq for Lock {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Lock {}

impl Default for Lock {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Lock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lock").field(&self.0.number).finish()
    }
}

/// Takes the locks of an interval that is about to start. Returns whether the interval now holds
/// them all; if not, it continues when it is handed the next lock.
pub(super) fn take(node: NonNull<Core>) -> bool {
    // SAFETY: the node has not started.
    let Some(extras) = (unsafe { node.as_ref() }).extras() else {
        return true;
    };
    loop {
        let missing = {
            let extras = extras.lock();
            extras.locks.get(extras.held).cloned()
        };
        let Some(lock) = missing else {
            return true;
        };
        if !lock.request(node) {
            // From here on, the node belongs to the thread that hands over the lock.
            return false;
        }
        extras.lock().held += 1;
    }
}

/// Releases the locks of an interval that ends.
pub(super) fn give_back(core: &Core, ready: &mut Ready<'_>) {
    let Some(extras) = core.extras() else {
        return;
    };
    let held = {
        let mut extras = extras.lock();
        let held = std::mem::take(&mut extras.held);
        extras.locks[..held].to_vec()
    };
    for lock in held {
        core.tree().gives(&lock);
        if let Some(node) = lock.hand_on() {
            go_on(node, core.scope(), Some(ready));
        }
    }
}

/// Continues starting an interval to which a task in the tree of `scope` has handed a lock.
fn go_on(node: NonNull<Core>, scope: NonNull<ScopeCore>, ready: Option<&mut Ready<'_>>) {
    // SAFETY: the node has not started.
    let core = unsafe { node.as_ref() };
    let lock = {
        let mut extras = core.extras_or_new().lock();
        extras.held += 1;
        extras.locks[extras.held - 1].clone()
    };
    core.tree().takes(&lock);
    let of_tree = core.scope() == scope;
    if take(node) {
        match ready.filter(|_| of_tree) {
            Some(ready) => ready.runs(node),
            None => life::submit_from_afar(node),
        }
    }
}

/// Data that only intervals holding its lock can access.
///
/// ```
/// use tidegate::interval::{self, Locked};
///
/// let sum = Locked::new(0);
/// let shared = &sum;
/// interval::run(|s| {
///     for number in 1..=10 {
///         let mut add = s.interval(move |s| shared.with(s, |sum| *sum += number));
///         add.lock(shared.handle()).unwrap();
///     }
/// })?;
/// assert_eq!(sum.into_inner(), 55);
/// # Ok::<(), interval::Failure>(())
/// ```
#[derive(Default)]
pub struct Locked<T> {
    lock: Lock,
    data: Mutex<T>,
}

impl<T> Locked<T> {
    /// Wraps `data` in a new lock.
    ///
    /// ```
    /// let names = tidegate::interval::Locked::new(vec!["ebb"]);
    /// assert_eq!(names.into_inner(), ["ebb"]);
    /// ```
    #[must_use]
    pub fn new(data: T) -> Self {
        Self {
            lock: Lock::new(),
            data: Mutex::new(data),
        }
    }

    /// Returns the lock, to pass to [`IntervalBuilder::lock`](super::IntervalBuilder::lock).
    ///
    /// ```
    /// use tidegate::interval::{self, Locked};
    ///
    /// let sum = Locked::new(0);
    /// let shared = &sum;
    /// interval::run(|s| {
    ///     let mut add = s.interval(|s| shared.with(s, |sum| *sum += 1));
    ///     add.lock(shared.handle()).unwrap();
    /// })?;
    /// assert_eq!(sum.into_inner(), 1);
    /// # Ok::<(), interval::Failure>(())
    /// ```
    #[must_use]
    pub fn handle(&self) -> &Lock {
        &self.lock
    }

    /// Calls `f` with the data, on behalf of the interval whose scope is `body`. Intervals inside
    /// that interval can't request the lock, because they would have to wait for the end of the
    /// interval that contains them.
    ///
    /// ```
    /// use tidegate::interval::{self, Locked};
    ///
    /// let words = Locked::new(vec![]);
    /// let shared = &words;
    /// interval::run(|s| {
    ///     let mut push = s.interval(|s| shared.with(s, |words| words.push("ebb")));
    ///     push.lock(shared.handle()).unwrap();
    /// })?;
    /// assert_eq!(words.into_inner(), ["ebb"]);
    /// # Ok::<(), interval::Failure>(())
    /// ```
    ///
    /// # Panics
    /// If the interval has not requested the lock, or if `f` calls this function again for the same
    /// data.
    pub fn with<R>(&self, body: &Scope<'_, '_>, f: impl FnOnce(&mut T) -> R) -> R {
        assert!(
            body.holds(&self.lock),
            "{} sees data whose lock it has not requested",
            body.name()
        );
        let mut data = self
            .data
            .try_lock()
            .expect("the data is in use by the interval itself");
        f(&mut data)
    }

    /// Consumes the `Locked` and returns the data.
    ///
    /// ```
    /// let sum = tidegate::interval::Locked::new(55);
    /// assert_eq!(sum.into_inner(), 55);
    /// ```
    pub fn into_inner(self) -> T {
        self.data.into_inner()
    }
}

impl<T> fmt::Debug for Locked<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Locked")
            .field("lock", &self.lock)
            .finish_non_exhaustive()
    }
}
