//! What becomes ready when points occur, and in which order it is worked off.

use super::edges::Edge;
use super::life;
use super::node::{Core, PointWords, Which};
use crate::worker::WorkerThread;
use std::ptr::{NonNull, null_mut};
use tidegate_sync::atomic::Ordering;

/// A thread's list of what has become ready by what it does.
pub(super) struct Ready<'a> {
    current: Option<WorkerThread<'a>>,
    /// Whether the first node that may run is kept for the caller.
    has_hand: bool,
    hand: Option<NonNull<Core>>,
    rest: Vec<Todo>,
}

enum Todo {
    End(NonNull<Core>),
    Skip(NonNull<Core>),
}

impl<'a> Ready<'a> {
    /// All nodes go to the scheduler.
    pub(super) fn without_hand(current: Option<WorkerThread<'a>>) -> Self {
        Self {
            current,
            has_hand: false,
            hand: None,
            rest: Vec::new(),
        }
    }

    /// All but the first.
    pub(super) fn with_hand(current: WorkerThread<'a>) -> Self {
        let mut ready = Self::without_hand(Some(current));
        ready.has_hand = true;
        ready
    }

    pub(super) fn current(&self) -> Option<WorkerThread<'a>> {
        self.current
    }

    /// This node may run.
    pub(super) fn runs(&mut self, node: NonNull<Core>) {
        if self.has_hand && self.hand.is_none() && life::stays_in_hand(node, self.current) {
            self.hand = Some(node);
        } else {
            life::submit(node, self.current);
        }
    }

    /// This node starts, and does not run.
    pub(super) fn skips(&mut self, node: NonNull<Core>) {
        self.rest.push(Todo::Skip(node));
    }

    /// A point occurs: counts down all that are after it, in the order in which the edges were added.
    pub(super) fn release(&mut self, words: &PointWords, failed: bool) {
        // AcqRel: releases what came before the point to who finds it occurred, and acquires the edges.
        let added = words.after.swap(Edge::OCCURRED, Ordering::AcqRel);
        let mut next = reversed(added);
        while let Some(edge) = NonNull::new(next) {
            // SAFETY: 1. from the list of a point that has occurred, which is ours; each edge is in one list once.
            let Edge { target, after } = unsafe { Edge::take_out(edge, self.current) };
            // Relaxed: the list was acquired; whoever has taken an edge back comes before this point.
            next = after.load(Ordering::Relaxed);
            if let Some((node, which)) = Edge::decode(target.load(Ordering::Relaxed)) {
                self.count_down(node, which, failed);
            }
        }
    }

    /// One point less before this one.
    pub(super) fn count_down(&mut self, node: NonNull<Core>, which: Which, failed: bool) {
        // SAFETY: the point waits for what is counted down here.
        let core = unsafe { node.as_ref() };
        if failed {
            core.mark_failed(which);
        }
        // AcqRel: passes on what came before, and acquires what others passed on.
        if core.words(which).waiting.fetch_sub(1, Ordering::AcqRel) == 1 {
            match which {
                Which::Start => life::start(node, self),
                Which::End => self.rest.push(Todo::End(node)),
            }
        }
    }

    /// Works off all that has become ready, of a list without a hand.
    pub(super) fn settle_all(self) {
        debug_assert!(!self.has_hand);
        let left = self.settle();
        debug_assert!(left.is_none());
    }

    /// Works off what has become ready. What is left for the caller to run.
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

/// The list of a point the other way round: edges are put in front.
fn reversed(mut list: *mut Edge) -> *mut Edge {
    let mut turned = null_mut();
    while let Some(edge) = NonNull::new(list) {
        // SAFETY: an edge of a list that is the caller's, and lives until it is taken out.
        let after = unsafe { &edge.as_ref().after };
        // Relaxed, both: as in `release`.
        list = after.load(Ordering::Relaxed);
        after.store(turned, Ordering::Relaxed);
        turned = edge.as_ptr();
    }
    turned
}
