//! What the intervals of one inline interval have in common.

use super::failure::{Cause, Failure};
use super::lock::Lock;
use super::node::Core;
use super::record::Log;
use crate::scope::ScopeCore;
use crate::unwind::{self, Payload, UnhandledPanic};
use crate::worker::WorkerThread;
use std::ptr::NonNull;
use std::sync::Arc;
use tidegate_sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tidegate_sync::barrier;
use tidegate_sync::lock::{Mutex, MutexGuard};

/// In the frame of the inline interval's call.
#[derive(Default)]
pub(super) struct Tree {
    /// The root's end has occurred.
    ended: AtomicBool,
    /// The first failure; more are counted in it.
    failure: Mutex<Option<Failure>>,
    /// How many threads follow nodes to their ancestors.
    walkers: AtomicUsize,
    /// Nodes that were to be freed meanwhile, and how many.
    graves: Mutex<Graves>,
    buried: AtomicUsize,
    /// The locks that intervals of this tree hold.
    holds: Mutex<Vec<Lock>>,
    /// There is an edge that does not go from an older to a younger child of an interval.
    unordered: AtomicBool,
    /// The process-wide barrier was available when the tree began, so every thread that adds an edge knows that it is.
    has_barrier: bool,
    /// Whose turn it is to search for a cycle.
    order: Mutex<()>,
    /// The interval inside of whose body the inline interval was begun.
    pub(super) around: Option<NonNull<Core>>,
    /// Who takes notes of it.
    recorder: Option<Arc<Log>>,
}

// SAFETY: all parts but `around` are Sync; that is followed by who runs inside of the call, while the interval around it waits.
unsafe impl Sync for Tree {}

#[derive(Default)]
struct Graves(Vec<NonNull<Core>>);

// SAFETY: nobody uses the nodes any more; whoever has them may free them.
unsafe impl Send for Graves {}

/// While it lives, no node is freed through which one may walk.
pub(super) struct Walk<'a>(&'a Tree);

impl Tree {
    /// Of an inline interval that was begun by the body of this one, if of any.
    pub(super) fn new(around: Option<NonNull<Core>>, recorder: Option<Arc<Log>>) -> Self {
        // SAFETY: that body calls us.
        let outer = around.and_then(|node| unsafe { node.as_ref() }.tree().recorder.clone());
        Self {
            around,
            recorder: recorder.or(outer),
            has_barrier: barrier::available() == Some(true),
            ..Self::default()
        }
    }

    /// The tasks of `scope` are intervals of this tree, which outlasts the scope; said before there is one.
    ///
    /// # Safety
    /// 1. The tree outlasts the scope.
    pub(super) unsafe fn hang_on(&self, scope: &ScopeCore) {
        // SAFETY: 1. a tree, and the caller's (1).
        unsafe { scope.set_extension(NonNull::from(self).cast()) };
    }

    /// The tree of the intervals that are tasks of `scope`.
    pub(super) fn of(scope: &ScopeCore) -> &Self {
        let extension = scope.extension().expect("a scope of intervals");
        // SAFETY: an extension is a tree that outlasts the scope (`ScopeCore::set_extension`).
        unsafe { extension.cast::<Self>().as_ref() }
    }

    /// The light side of the barrier between two threads that add edges; a full fence if the heavy side may order nothing.
    pub(super) fn light(&self) {
        if self.has_barrier {
            barrier::light();
        } else {
            barrier::full();
        }
    }

    /// Who takes notes of this tree, if anybody.
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

    /// Notes that `node` has failed.
    pub(super) fn keep(&self, cause: Cause, node: &Core) {
        let mut first = self.failure.lock();
        match &mut *first {
            Some(failure) => {
                // What failed may be what leaves others waiting: that is no failure of theirs.
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

    /// A panic that the inline interval does not bring to light.
    pub(super) fn report(&self, payload: Payload, node: &Core) {
        let pool = node.live_scope().pool();
        pool.panics.report(payload, UnhandledPanic::Second);
    }

    /// See [`Walk`].
    pub(super) fn walk(&self) -> Walk<'_> {
        // Relaxed: ordered by the fence.
        self.walkers.fetch_add(1, Ordering::Relaxed);
        // Pairs with the one in `is_walked`: who frees an ancestor sees us, or we see that its descendant has ended.
        barrier::full();
        Walk(self)
    }

    /// Whether a node that had children must not be freed now.
    fn is_walked(&self) -> bool {
        // Pairs with the one in `walk`.
        barrier::full();
        // Acquire: what a walker has looked at comes before it is freed; pairs with its leaving.
        self.walkers.load(Ordering::Acquire) > 0
    }

    /// Frees a node that had children and has no reference left, at once or when nobody walks.
    pub(super) fn bury(&self, node: NonNull<Core>, current: Option<WorkerThread<'_>>) {
        // Relaxed: whoever buries looks again.
        let graves = if self.buried.load(Ordering::Relaxed) > 0 {
            let mut graves = self.graves.lock();
            self.buried.store(0, Ordering::Relaxed);
            std::mem::take(&mut *graves)
        } else {
            Graves::default()
        };
        // After they were taken: who walks now has not come to any of them.
        if self.is_walked() {
            let mut all = self.graves.lock();
            all.0.push(node);
            all.0.extend(graves.into_nodes());
            self.buried.store(all.0.len(), Ordering::Relaxed);
        } else {
            // SAFETY: 1. no reference is left, and nobody walks through it.
            unsafe { Core::free(node, current) };
        }
    }

    pub(super) fn is_unordered(&self) -> bool {
        // Relaxed: ordered by the barriers around it.
        self.unordered.load(Ordering::Relaxed)
    }

    pub(super) fn set_unordered(&self) {
        // Relaxed: as above.
        self.unordered.store(true, Ordering::Relaxed);
    }

    /// The turn to search.
    pub(super) fn order(&self) -> MutexGuard<'_, ()> {
        self.order.lock()
    }

    pub(super) fn takes(&self, lock: &Lock) {
        self.holds.lock().push(lock.clone());
    }

    pub(super) fn gives(&self, lock: &Lock) {
        let mut holds = self.holds.lock();
        // It was taken not long ago.
        if let Some(at) = holds.iter().rposition(|other| other == lock) {
            holds.swap_remove(at);
        }
    }

    /// The tree has stalled: what holds its locks never ends.
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

impl Graves {
    /// For who must not free them yet.
    fn into_nodes(mut self) -> Vec<NonNull<Core>> {
        std::mem::take(&mut self.0)
    }
}

impl Drop for Graves {
    fn drop(&mut self) {
        for node in self.0.drain(..) {
            // SAFETY: 1. buried when its last reference was gone, and nobody walks: the tree is over, or `bury` has seen so.
            unsafe { Core::free(node, WorkerThread::get()) };
        }
    }
}
