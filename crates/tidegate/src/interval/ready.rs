//! Nodes that become ready when points occur, and the order in which they are processed.

use super::edges::Edge;
use super::life;
use super::node::{Core, Which};
use std::ptr::{NonNull, null_mut};
use tidegate_core::door::WorkerThread;
use tidegate_sync::atomic::{AtomicPtr, Ordering};

/// The nodes that one thread has made ready.
pub(super) struct Ready<'a> {
    current: Option<WorkerThread<'a>>,
    /// Whether the first ready node is kept for the caller.
    has_hand: bool,
    hand: Option<NonNull<Core>>,
    rest: Vec<Todo>,
}

enum Todo {
    End(NonNull<Core>),
    Skip(NonNull<Core>),
}

impl<'a> Ready<'a> {
    /// Creates a list that submits all nodes to the scheduler.
    pub(super) fn without_hand(current: Option<WorkerThread<'a>>) -> Self {
        Self {
            current,
            has_hand: false,
            hand: None,
            rest: Vec::new(),
        }
    }

    /// Creates a list that keeps the first node for the caller, and submits the others to the
    /// scheduler.
    pub(super) fn with_hand(current: WorkerThread<'a>) -> Self {
        let mut ready = Self::without_hand(Some(current));
        ready.has_hand = true;
        ready
    }

    pub(super) fn current(&self) -> Option<WorkerThread<'a>> {
        self.current
    }

    /// Adds a ready node whose body must run.
    pub(super) fn runs(&mut self, node: NonNull<Core>) {
        if self.has_hand && self.hand.is_none() && life::stays_in_hand(node, self.current) {
            self.hand = Some(node);
        } else {
            life::submit(node, self.current);
        }
    }

    /// Adds a ready node whose body is skipped.
    pub(super) fn skips(&mut self, node: NonNull<Core>) {
        self.rest.push(Todo::Skip(node));
    }

    /// Marks a point as occurred, or a body as returned, and counts down all points in `list`, in
    /// the order in which the edges were added.
    pub(super) fn release(&mut self, list: &AtomicPtr<Edge>, failed: bool) {
        // AcqRel: publishes what came before the point to threads that find that it has occurred,
        // and acquires the edges.
        let added = list.swap(Edge::OCCURRED, Ordering::AcqRel);
        let mut next = reversed(added);
        while let Some(edge) = NonNull::new(next) {
            // SAFETY: 1. the point has occurred, so this thread owns its list, and each edge is in
            // only one list.
            let Edge { target, after } = unsafe { Edge::take_out(edge, self.current) };
            // Relaxed, both: the list was acquired; a thread that has withdrawn an edge did so
            // before this point occurred.
            next = after.load(Ordering::Relaxed);
            if let Some((node, which)) = Edge::decode(target.load(Ordering::Relaxed)) {
                self.count_down(node, which, failed);
            }
        }
    }

    /// Records that a point waits for one fewer point. If it now waits for none, starts or ends the
    /// interval. `failed` says whether something before the point has failed.
    pub(super) fn count_down(&mut self, node: NonNull<Core>, which: Which, failed: bool) {
        // SAFETY: the point waits for this count-down.
        let core = unsafe { node.as_ref() };
        if failed {
            core.mark_failed(which);
        }
        // AcqRel: publishes what came before, and acquires what other threads published.
        if core.words(which).waiting.fetch_sub(1, Ordering::AcqRel) == 1 {
            match which {
                Which::Start => life::start(node, self),
                Which::End => self.rest.push(Todo::End(node)),
            }
        }
    }

    /// Processes everything that has become ready. The list must not keep a node for the caller.
    pub(super) fn settle_all(self) {
        debug_assert!(!self.has_hand);
        let left = self.settle();
        debug_assert!(left.is_none());
    }

    /// Processes everything that has become ready. Returns the node that the caller must run next,
    /// if any.
    #[inline]
    pub(super) fn settle(mut self) -> Option<NonNull<Core>> {
        while let Some(todo) = self.rest.pop() {
            match todo {
                Todo::End(node) => life::end(node, &mut self),
                Todo::Skip(node) => life::skip(node, &mut self),
            }
        }
        self.hand.take()
    }
}

impl Drop for Ready<'_> {
    fn drop(&mut self) {
        debug_assert!(self.rest.is_empty() && self.hand.is_none(), "to be settled");
    }
}

/// Reverses the list of a point. Edges are pushed onto its front, so the list begins with the
/// newest one.
fn reversed(mut list: *mut Edge) -> *mut Edge {
    let mut turned = null_mut();
    while let Some(edge) = NonNull::new(list) {
        // SAFETY: the edge is in the caller's list, so it is alive until the caller takes it out.
        let after = unsafe { &edge.as_ref().after };
        // Relaxed, both: as in `release`.
        list = after.load(Ordering::Relaxed);
        after.store(turned, Ordering::Relaxed);
        turned = edge.as_ptr();
    }
    turned
}
