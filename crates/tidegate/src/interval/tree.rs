//! Data shared by all intervals of one inline interval.

use super::failure::{Cause, Failure};
use super::lock::Lock;
use super::node::{Core, mark};
use super::record::Log;
use std::collections::HashSet;
use std::ptr::NonNull;
use std::sync::Arc;
use tidegate_core::door::{Payload, ScopeCore, UnhandledPanic, WorkerThread, unwind};
use tidegate_sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tidegate_sync::barrier;
use tidegate_sync::lock::{Mutex, MutexGuard};

/// Data shared by the intervals of a tree. It lies in the stack frame of the call that runs the
/// inline interval.
#[derive(Default)]
pub(super) struct Tree {
    /// Whether the root's end has occurred.
    ended: AtomicBool,
    /// The first failure, which also holds the number of later ones.
    failure: Mutex<Option<Failure>>,
    /// How many threads are walking from nodes up to their ancestors.
    walkers: AtomicUsize,
    /// Nodes that will be freed once no thread is walking.
    graves: Mutex<Graves>,
    /// The number of nodes in `graves`.
    buried: AtomicUsize,
    /// The locks that intervals of this tree hold.
    holds: Mutex<Vec<Lock>>,
    /// The intervals of this tree that have [`mark::WATCHED`] and have not ended.
    watched: Mutex<HashSet<NonNull<Core>>>,
    /// Whether the tree has an edge that does not lead from an older to a younger child of an
    /// interval.
    unordered: AtomicBool,
    /// Whether the process-wide barrier was available when the tree began. If so, every thread that
    /// adds an edge can rely on it.
    has_barrier: bool,
    /// Held while searching for a cycle.
    order: Mutex<()>,
    /// The interval whose body called the inline interval.
    pub(super) around: Option<NonNull<Core>>,
    /// The log of this tree, if the tree is being recorded.
    recorder: Option<Arc<Log>>,
}

// SAFETY: all fields but `around` and `watched` are Sync. Only threads inside the call follow
// `around`, and the enclosing interval waits for the call. Nodes are removed from `watched` before
// they end, and the pointers in it are followed only after the last task of a stalled tree.
unsafe impl Sync for Tree {}

#[derive(Default)]
struct Graves(Vec<NonNull<Core>>);

// SAFETY: the nodes are no longer in use, so any thread may free them.
unsafe impl Send for Graves {}

/// While a `Walk` exists, nodes that the walk may pass through are not freed.
pub(super) struct Walk<'a>(&'a Tree);

impl Tree {
    /// Creates the tree of an inline interval. `around` is the interval whose body calls it, if
    /// any.
    pub(super) fn new(around: Option<NonNull<Core>>, recorder: Option<Arc<Log>>) -> Self {
        // SAFETY: the body of `around` calls this function.
        let outer = around.and_then(|node| unsafe { node.as_ref() }.tree().recorder.clone());
        Self {
            around,
            recorder: recorder.or(outer),
            has_barrier: barrier::available() == Some(true),
            ..Self::default()
        }
    }

    /// Turns the tasks of `scope` into intervals of this tree. Must be called before the first task
    /// is created.
    ///
    /// # Safety
    /// 1. The tree outlives the scope.
    pub(super) unsafe fn hang_on(&self, scope: &ScopeCore) {
        // SAFETY: 1. the extension is a tree, and outlives the scope (1).
        unsafe { scope.set_extension(NonNull::from(self).cast()) };
    }

    /// Returns the tree whose intervals are the tasks of `scope`.
    pub(super) fn of(scope: &ScopeCore) -> &Self {
        let extension = scope.extension().expect("a scope of intervals");
        // SAFETY: an extension is a tree that outlives the scope (`ScopeCore::set_extension`).
        unsafe { extension.cast::<Self>().as_ref() }
    }

    /// Executes the light side of the barrier between threads that add edges. If the heavy side may
    /// have no effect, executes a full fence instead.
    pub(super) fn light(&self) {
        if self.has_barrier {
            barrier::light();
        } else {
            barrier::full();
        }
    }

    #[inline]
    pub(super) fn recorder(&self) -> Option<&Log> {
        self.recorder.as_deref()
    }

    pub(super) fn root_has_ended(&self) {
        // Release pairs with `has_ended`.
        self.ended.store(true, Ordering::Release);
    }

    pub(super) fn has_ended(&self) -> bool {
        // Acquire pairs with `root_has_ended`.
        self.ended.load(Ordering::Acquire)
    }

    /// Records that `node` has failed.
    pub(super) fn keep(&self, cause: Cause, node: &Core) {
        let mut first = self.failure.lock();
        match &mut *first {
            Some(failure) => {
                // A stall after a failure does not count: the failure may be the reason why the
                // other intervals wait.
                failure.more += usize::from(!matches!(cause, Cause::Stalled(_)));
                drop(first);
                let lost = match cause {
                    Cause::Panic(carried) => Err(carried.into_payload()),
                    Cause::Error(error) => unwind::catch(|| drop(error)),
                    Cause::Stalled(_) => Ok(()),
                };
                if let Err(payload) = lost {
                    self.report(payload, node);
                }
            }
            None => *first = Some(Failure::of(cause, node)),
        }
    }

    pub(super) fn take_failure(&self) -> Option<Failure> {
        self.failure.lock().take()
    }

    /// Reports a panic that the result of the inline interval does not include.
    pub(super) fn report(&self, payload: Payload, node: &Core) {
        let pool = node.live_scope().pool();
        let origin = node.origin();
        pool.panics
            .report_of(payload, UnhandledPanic::Second, origin.as_ref());
    }

    pub(super) fn walk(&self) -> Walk<'_> {
        // Relaxed: ordered by the fence.
        self.walkers.fetch_add(1, Ordering::Relaxed);
        // Pairs with the fence in `is_walked`: either a thread that frees an ancestor sees this
        // walker, or the walker sees that the descendant has ended.
        barrier::full();
        Walk(self)
    }

    /// Whether a walk may be under way, so that nodes with children must not be freed now.
    fn is_walked(&self) -> bool {
        // Pairs with the fence in `walk`.
        barrier::full();
        // Acquire: a walker's accesses come before the nodes are freed; pairs with the end of the
        // walk.
        self.walkers.load(Ordering::Acquire) > 0
    }

    /// Frees a node that had children and has no reference left: now if no thread is walking,
    /// otherwise later.
    pub(super) fn bury(&self, node: NonNull<Core>, current: Option<WorkerThread<'_>>) {
        // Relaxed: a stale value only delays the freeing, because the next call to `bury` checks
        // again.
        let mut graves = if self.buried.load(Ordering::Relaxed) > 0 {
            let mut graves = self.graves.lock();
            self.buried.store(0, Ordering::Relaxed);
            std::mem::take(&mut *graves)
        } else {
            Graves::default()
        };
        // Checked after the nodes were taken out: a walk that begins later cannot reach any of
        // them.
        if self.is_walked() {
            let mut all = self.graves.lock();
            all.0.push(node);
            all.0.append(&mut graves.0);
            self.buried.store(all.0.len(), Ordering::Relaxed);
        } else {
            // SAFETY: 1. no reference is left, and no thread walks through the node.
            unsafe { Core::free(node, current) };
        }
    }

    /// Adds a draft to the intervals that the report of a stall lists.
    pub(super) fn watch(&self, core: &Core) {
        core.mark(mark::WATCHED);
        self.watched.lock().insert(NonNull::from(core));
    }

    /// Must be called for every interval before it ends.
    pub(super) fn unwatch(&self, core: &Core) {
        if core.has(mark::WATCHED) {
            self.watched.lock().remove(&NonNull::from(core));
        }
    }

    pub(super) fn watched(&self) -> Vec<NonNull<Core>> {
        self.watched.lock().iter().copied().collect()
    }

    pub(super) fn is_unordered(&self) -> bool {
        // Relaxed: ordered by the barriers around it.
        self.unordered.load(Ordering::Relaxed)
    }

    pub(super) fn set_unordered(&self) {
        // Relaxed: as above.
        self.unordered.store(true, Ordering::Relaxed);
    }

    /// Waits until no other thread is searching for a cycle, and keeps other searches from starting
    /// until the guard is dropped.
    pub(super) fn order(&self) -> MutexGuard<'_, ()> {
        self.order.lock()
    }

    pub(super) fn takes(&self, lock: &Lock) {
        self.holds.lock().push(lock.clone());
    }

    pub(super) fn gives(&self, lock: &Lock) {
        let mut holds = self.holds.lock();
        // Searches from the end, because the lock was probably taken recently.
        if let Some(at) = holds.iter().rposition(|other| other == lock) {
            holds.swap_remove(at);
        }
    }

    /// Abandons the locks of a stalled tree, whose holders never end.
    pub(super) fn abandon_locks(&self, scope: NonNull<ScopeCore>) {
        let held = std::mem::take(&mut *self.holds.lock());
        held.iter().for_each(|lock| lock.abandon(scope));
    }
}

impl Drop for Walk<'_> {
    fn drop(&mut self) {
        // Release pairs with `is_walked`.
        self.0.walkers.fetch_sub(1, Ordering::Release);
    }
}

impl Drop for Graves {
    fn drop(&mut self) {
        for node in self.0.drain(..) {
            // SAFETY: 1. the node was buried when its last reference was gone, and no thread walks:
            // either the tree has ended, or `bury` has checked.
            unsafe { Core::free(node, WorkerThread::get()) };
        }
    }
}
