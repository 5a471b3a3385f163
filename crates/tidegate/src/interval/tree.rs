//! What the intervals of one inline interval have in common.

use super::failure::{Cause, Failure};
use super::lock::Lock;
use super::node::Core;
use crate::unwind::{Payload, Stray};
use std::ptr::NonNull;
use tidegate_sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tidegate_sync::barrier;
use tidegate_sync::lock::Mutex;

/// In the frame of the inline interval's call.
#[derive(Default)]
pub(crate) struct Tree {
    /// The root's end has occurred.
    ended: AtomicBool,
    /// The first failure; more are counted in it.
    failure: Mutex<Option<Failure>>,
    /// How many threads follow nodes to their ancestors.
    walkers: AtomicUsize,
    /// Nodes that were to be freed meanwhile.
    graves: Mutex<Graves>,
    /// Locks at which a node of this tree has waited without a count.
    waited_at: Mutex<Vec<Lock>>,
}

#[derive(Default)]
struct Graves(Vec<NonNull<Core>>);

// SAFETY: nobody uses the nodes any more; whoever has them may free them.
unsafe impl Send for Graves {}

/// While it lives, no node is freed through which one may walk.
pub(super) struct Walk<'a>(&'a Tree);

impl Tree {
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
                failure.more += 1;
                drop(first);
                if let Cause::Panic(payload) = cause {
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
        // SAFETY: the scope lasts while a node of it is worked off or a handle is at hand.
        let scope = unsafe { node.scope().as_ref() };
        scope.pool().report_panic(payload, Stray::Second);
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
    pub(super) fn is_walked(&self) -> bool {
        // Pairs with the one in `walk`.
        barrier::full();
        // Acquire: what a walker has looked at comes before it is freed; pairs with its leaving.
        self.walkers.load(Ordering::Acquire) > 0
    }

    /// Keeps a node until the tree is over.
    pub(super) fn bury(&self, node: NonNull<Core>) {
        self.graves.lock().0.push(node);
    }

    pub(super) fn waits_at(&self, lock: &Lock) {
        let mut locks = self.waited_at.lock();
        if !locks.contains(lock) {
            locks.push(lock.clone());
        }
    }

    /// The tree has stalled: nodes that wait for locks never run, so they leave the queues, and so do those that hold any.
    pub(super) fn abandon_locks(&self, scope: NonNull<crate::scope::ScopeCore>) {
        for lock in self.waited_at.lock().drain(..) {
            lock.abandon(scope);
        }
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
            // SAFETY: 1. buried when its last reference was gone, and the tree is over: nobody walks.
            unsafe { Core::free(node, crate::worker::Current::get()) };
        }
    }
}
