//! Locks that intervals hold from before their start until after their end. The protocol is in docs/intervals.md.

use super::Scope;
use super::failure::{UsageError, UsageErrorKind};
use super::life;
use super::node::Core;
use super::ready::Ready;
use crate::scope::ScopeCore;
use std::collections::VecDeque;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;
use tidegate_sync::lock::Mutex;
use tidegate_sync::serial;
use tidegate_sync::thread::{Process, abort_child};

/// A lock that one interval at a time holds, from before its start until after its end; see [`IntervalBuilder::lock`](super::IntervalBuilder::lock).
///
/// Clones are the same lock. An interval that has requested several takes them in the order in which they were made, and no worker waits
/// meanwhile.
#[derive(Clone)]
pub struct Lock(Arc<Inner>);

struct Inner {
    number: u64,
    state: Mutex<State>,
}

/// Under the lock's own mutex.
#[derive(Default)]
struct State {
    /// The scope of the tree of the interval that holds it.
    holder: Option<NonNull<ScopeCore>>,
    /// The process in which the holder got it.
    held_in: Option<Process>,
    queue: VecDeque<Waiter>,
}

impl State {
    fn set_holder(&mut self, holder: Option<NonNull<ScopeCore>>) {
        self.holder = holder;
        self.held_in = Some(Process::this());
    }

    /// Aborts a child made by `fork` that would wait for a holder which only its parent has.
    fn check_holder(&self, core: &Core) {
        let here = Process::this();
        if self.held_in != Some(here) && !core.live_scope().pool().is_inherited() {
            abort_child(format_args!(
                "a child made by fork() needs a lock of intervals that an interval of its parent held"
            ));
        }
    }

    /// Aborts a child made by `fork` that would hand the lock to an interval of a thread which only its parent has.
    fn check_waiters(&self) {
        let here = Process::this();
        let is_foreign =
            |waiter: &Waiter| waiter.process != here && Some(waiter.scope()) != self.holder;
        if self.queue.iter().any(is_foreign) {
            abort_child(format_args!(
                "a child made by fork() gives back a lock of intervals for which a thread of its parent waits"
            ));
        }
    }
}

struct Waiter {
    node: NonNull<Core>,
    /// Its scope waits for it also while nothing else of its tree goes on.
    counted: bool,
    process: Process,
}

// SAFETY: nodes in the queue have not started and stay alive until they have; a scope is compared only.
unsafe impl Send for State {}

impl Waiter {
    fn scope(&self) -> NonNull<ScopeCore> {
        // SAFETY: it waits here, so it has not started.
        unsafe { self.node.as_ref() }.scope()
    }

    /// Has a count of its own unless it waits for its own tree.
    fn waits_for(&mut self, holder: NonNull<ScopeCore>) {
        let counts = self.scope() != holder;
        // SAFETY: as in `scope`.
        let core = unsafe { self.node.as_ref() };
        match (self.counted, counts) {
            (false, true) => core.count(),
            (true, false) => core.uncount(),
            _ => {}
        }
        self.counted = counts;
    }
}

impl Lock {
    /// A lock that nobody holds.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(Inner {
            number: serial::next(),
            state: Mutex::default(),
        }))
    }

    /// Whether the interval has it now; otherwise it is handed over later.
    fn request(&self, node: NonNull<Core>) -> bool {
        // SAFETY: it has not started.
        let core = unsafe { node.as_ref() };
        let mut state = self.0.state.lock();
        let Some(holder) = state.holder else {
            state.set_holder(Some(core.scope()));
            drop(state);
            core.tree().takes(self);
            return true;
        };
        state.check_holder(core);
        let mut waiter = Waiter {
            node,
            counted: false,
            process: Process::this(),
        };
        waiter.waits_for(holder);
        state.queue.push_back(waiter);
        false
    }

    /// Gives it to who has waited longest.
    fn hand_on(&self) -> Option<NonNull<Core>> {
        let mut state = self.0.state.lock();
        state.check_waiters();
        let (before, next) = (state.holder, state.queue.pop_front());
        state.set_holder(next.as_ref().map(Waiter::scope));
        let State { holder, queue, .. } = &mut *state;
        if let Some(holder) = holder.filter(|now| before != Some(*now)) {
            // Those that were not counted are of the tree that had it, in which the caller runs. Those that give their count back are of
            // the tree that has it now: its new holder has one, or it is the caller's.
            queue.iter_mut().for_each(|waiter| waiter.waits_for(holder));
        }
        next.map(|waiter| waiter.node)
    }

    /// The tree of this scope has stalled: whatever of it waits here never runs, and what holds the lock never ends.
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

    /// Refuses a request that an interval or one around it has made already, or that would turn the order of locks round.
    pub(super) fn check(&self, core: &Core) -> Result<(), UsageError> {
        let mut next = Some(NonNull::from(core));
        while let Some(node) = next {
            // SAFETY: a draft, or what holds it and so has not ended.
            let around = unsafe { node.as_ref() };
            let locks = || around.extras().map(|extras| extras.lock().locks.clone());
            for other in locks().unwrap_or_default() {
                if other == *self {
                    return Err(UsageError::new(
                        UsageErrorKind::LockTwice,
                        core.name(),
                        around.name(),
                    ));
                }
                if other.0.number > self.0.number && !std::ptr::eq(around, core) {
                    return Err(UsageError::new(
                        UsageErrorKind::LockOrder,
                        core.name(),
                        around.name(),
                    ));
                }
            }
            // The body that has called the inline interval goes on when that has ended.
            next = around.parent.or_else(|| around.tree().around);
        }
        Ok(())
    }

    /// Adds it to what the draft is to hold.
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

/// Takes the locks of an interval that is about to start. Whether it has them all; otherwise it goes on when it is handed the next.
pub(super) fn take(node: NonNull<Core>) -> bool {
    // SAFETY: it has not started.
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
            // From here on it belongs to who hands the lock over.
            return false;
        }
        extras.lock().held += 1;
    }
}

/// Gives the locks of an interval back whose end occurs.
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

/// An interval was handed a lock by a task of the tree of `scope`.
fn go_on(node: NonNull<Core>, scope: NonNull<ScopeCore>, ready: Option<&mut Ready<'_>>) {
    // SAFETY: it has not started.
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

/// Data that only intervals see which hold its lock.
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
    /// Data under a lock of its own.
    #[must_use]
    pub fn new(data: T) -> Self {
        Self {
            lock: Lock::new(),
            data: Mutex::new(data),
        }
    }

    /// The lock, for [`IntervalBuilder::lock`](super::IntervalBuilder::lock).
    #[must_use]
    pub fn handle(&self) -> &Lock {
        &self.lock
    }

    /// Calls `f` with the data on behalf of the interval whose body this is. Subintervals have to wait for its end for the lock, and may not
    /// request it.
    ///
    /// # Panics
    /// The interval has not requested the lock; or the call is made inside of another one.
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

    /// The data.
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

#[cfg(all(test, unix, not(any(loom, miri, tidegate_tsan))))]
mod tests {
    use super::Lock;
    use crate::fork::forks::{BADLY, End, end_of, exit, holding};

    /// A thread of the parent may have been handing it over.
    #[test]
    fn a_lost_lock_aborts_the_child() {
        let pool = crate::Pool::builder().workers(1).build().unwrap();
        let lock = Lock::new();
        let ended = pool.interval(|body| {
            let held = lock.clone();
            let held = holding(move |stay| {
                let _state = held.0.state.lock();
                stay();
            });
            let forked = held.fork();
            let mut next = body.interval(|_| ());
            next.lock(&lock).unwrap();
            next.schedule();
            forked
        });
        let Some(child) = ended.unwrap() else {
            exit(BADLY);
        };
        assert_eq!(end_of(child), End::Signal(libc::SIGABRT));
    }
}
