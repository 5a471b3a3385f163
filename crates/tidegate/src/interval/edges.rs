//! Edges between points: how they are added, and which ones are refused. The rules and their argument are in docs/intervals.md.

use super::failure::{UsageError, UsageErrorKind};
use super::node::{Core, MOST_WAITING, PointWords, Which};
use super::ready::Ready;
use crate::job::blocks;
use crate::worker::WorkerThread;
use std::collections::HashSet;
use std::ptr::{NonNull, without_provenance_mut};
use tidegate_sync::atomic::{AtomicPtr, Ordering};
use tidegate_sync::barrier;

/// How many points a search looks at where it only checks what is known to hold, in debug builds.
const SEARCH_MOST: usize = 2_000;

/// A point of a live node.
pub(super) type Place = (NonNull<Core>, Which);

/// An edge, in the list of the point that it leaves.
pub(super) struct Edge {
    /// Where it goes, with the point in the lowest bit; null if it was taken back.
    pub(super) target: AtomicPtr<Core>,
    pub(super) after: AtomicPtr<Edge>,
}

impl Edge {
    /// In place of a list: the point has occurred.
    pub(super) const OCCURRED: *mut Self = without_provenance_mut(1);

    fn encode((node, which): Place) -> *mut Core {
        node.as_ptr().map_addr(|addr| addr | which as usize)
    }

    pub(super) fn decode(word: *mut Core) -> Option<Place> {
        let which = if word.addr() & 1 == 0 {
            Which::Start
        } else {
            Which::End
        };
        let node = NonNull::new(word.map_addr(|addr| addr & !1))?;
        Some((node, which))
    }

    /// # Safety
    /// 1. The edge is in no list any more, and nobody else has it.
    pub(super) unsafe fn take_out(edge: NonNull<Self>, current: Option<WorkerThread<'_>>) -> Self {
        // SAFETY: 1. placed by `push`, and ours (1).
        unsafe { blocks::take_out(edge, current.map(WorkerThread::blocks)) }
    }
}

/// Adds an edge.
///
/// # Safety
/// 1. The caller has references to both nodes.
pub(super) unsafe fn add(from: Place, to: Place) -> Result<(), UsageError> {
    // SAFETY: the caller's references (1).
    let a = unsafe { from.0.as_ref() };
    // SAFETY: as above.
    let b = unsafe { to.0.as_ref() };
    let wrong = |wrong| Err(UsageError::new(wrong, a.name(), b.name()));
    if a.scope() != b.scope() {
        return wrong(UsageErrorKind::OtherTree);
    }
    let Some(kinship) = kinship(from, to) else {
        return wrong(UsageErrorKind::Occurred);
    };
    let tree = a.tree();
    let (above, forward) = match kinship {
        Kinship::Implied => return Ok(()),
        Kinship::Reversed => return wrong(UsageErrorKind::Cycle),
        Kinship::Begun => return wrong(UsageErrorKind::Occurred),
        Kinship::Over => (None, true),
        Kinship::Apart { above, forward } => (Some(above), forward),
    };
    if !count_up(b.words(to.1)) {
        return wrong(UsageErrorKind::Occurred);
    }
    if !forward {
        tree.set_unordered();
        // Pairs with the light one below.
        let _ = barrier::heavy();
    }
    let current = WorkerThread::get();
    let mut ready = Ready::without_hand(current);
    let mut closes = false;
    match (above, push(a.words(from.1), to, current)) {
        (Some(above), Some(edge)) => {
            // Pairs with the heavy one above: of two edges of which one is not forward, that one sees the other or is seen by it.
            tree.light();
            let unordered = tree.is_unordered();
            let most = if unordered { usize::MAX } else { SEARCH_MOST };
            // While it is searched from, it does not occur.
            if (unordered || cfg!(debug_assertions)) && count_up(b.words(to.1)) {
                closes = closes_cycle(edge, from, to, (above, most));
                if closes {
                    ready.count_down(to.0, to.1, false);
                }
                ready.count_down(to.0, to.1, false);
            }
        }
        // It has occurred: there is nothing to wait for.
        (_, None) => ready.count_down(to.0, to.1, a.has_failed(from.1)),
        (None, Some(_)) => unreachable!("both points of what has ended have occurred"),
    }
    ready.settle_all();
    if closes {
        return wrong(UsageErrorKind::Cycle);
    }
    if let Some(recorder) = tree.recorder() {
        recorder.order((a, from.1), (b, to.1));
    }
    Ok(())
}

/// Whether an edge, whose target is held, lies on a cycle; then it is taken back.
fn closes_cycle(
    edge: NonNull<Edge>,
    from: Place,
    to: Place,
    (above, most): (NonNull<Core>, usize),
) -> bool {
    // SAFETY: the target is held.
    let tree = unsafe { to.0.as_ref() }.tree();
    // One at a time: what another search takes back would be gone under this one's feet.
    let _order = tree.order();
    // Pairs with itself in other threads: of several searches at once the last one sees the edges of all.
    barrier::full();
    let closes = reaches(to, from, above, most);
    if closes {
        // SAFETY: it lies on a cycle, so what it leaves has not occurred and cannot while its target is held.
        let edge = unsafe { edge.as_ref() };
        // Relaxed: passed on with the count.
        edge.target.store(std::ptr::null_mut(), Ordering::Relaxed);
    }
    closes
}

/// One point more before this one, unless it has occurred.
fn count_up(words: &PointWords) -> bool {
    let one_more = |count| {
        assert!(count < MOST_WAITING, "too many edges to one point");
        (count > 0).then_some(count + 1)
    };
    // Relaxed: who counts down later acquires and releases; a new edge says nothing of what was done.
    words
        .waiting
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more)
        .is_ok()
}

/// Whether a new interval inside of `body` may come after the end of `node`.
///
/// # Safety
/// 1. The caller has a reference to `node`, and runs `body`.
pub(super) unsafe fn check_follower(
    node: NonNull<Core>,
    body: NonNull<Core>,
) -> Result<(), UsageError> {
    // SAFETY: the caller's reference (1).
    let core = unsafe { node.as_ref() };
    let wrong = |wrong| {
        Err(UsageError::new(
            wrong,
            core.name(),
            "what was to follow".to_owned(),
        ))
    };
    let mut around = Some(body);
    while let Some(outer) = around {
        // SAFETY: what runs, or holds it and so has not ended (1).
        let ancestor = unsafe { outer.as_ref() };
        if ancestor.scope() != core.scope() {
            return wrong(UsageErrorKind::OtherTree);
        }
        if outer == node {
            return wrong(UsageErrorKind::Cycle);
        }
        around = ancestor.parent;
    }
    Ok(())
}

/// Puts an edge into the list of a point, unless that has occurred.
fn push(words: &PointWords, to: Place, current: Option<WorkerThread<'_>>) -> Option<NonNull<Edge>> {
    // Acquire: if it has occurred, what came before it is visible.
    let mut seen = words.after.load(Ordering::Acquire);
    if seen == Edge::OCCURRED {
        return None;
    }
    let edge = Edge {
        target: AtomicPtr::new(Edge::encode(to)),
        after: AtomicPtr::new(seen),
    };
    let edge = blocks::place(edge, current.map(WorkerThread::blocks));
    loop {
        // SAFETY: placed above, and in no list yet.
        let after = unsafe { &edge.as_ref().after };
        // Relaxed: released below.
        after.store(seen, Ordering::Relaxed);
        // AcqRel: releases the edge to who releases the point or searches; Acquire as above.
        let pushed = words.after.compare_exchange_weak(
            seen,
            edge.as_ptr(),
            Ordering::AcqRel,
            Ordering::Acquire,
        );
        match pushed {
            Ok(_) => return Some(edge),
            Err(Edge::OCCURRED) => {
                // SAFETY: 1. in no list.
                let _ = unsafe { Edge::take_out(edge, current) };
                return None;
            }
            Err(now) => seen = now,
        }
    }
}

/// How two points lie to each other by the tree alone.
enum Kinship {
    /// The first comes before the second anyway.
    Implied,
    /// The second comes before the first.
    Reversed,
    /// The second is the start of an interval that has begun.
    Begun,
    /// The first has occurred.
    Over,
    /// Below different children of this interval, the first one below the older child or not.
    Apart { above: NonNull<Core>, forward: bool },
}

/// None if the second point has occurred.
fn kinship(from: Place, to: Place) -> Option<Kinship> {
    // SAFETY: the caller of `add` has references to both.
    let a = unsafe { from.0.as_ref() };
    // SAFETY: as above.
    let b = unsafe { to.0.as_ref() };
    if from.0 == to.0 {
        return Some(match (from.1, to.1) {
            (Which::Start, Which::End) => Kinship::Implied,
            _ => Kinship::Reversed,
        });
    }
    if let (Some(above), true) = (a.parent, a.parent == b.parent) {
        // The most frequent case, for which nobody need be followed.
        let forward = a.number < b.number;
        // What has ended may have had another parent, at the same address: then its number says nothing. Many programs keep what has ended and order
        // the next behind it; one such edge taken for a backward one would let the whole tree search from then on.
        if !forward && a.end.has_occurred() {
            return Some(Kinship::Over);
        }
        return Some(Kinship::Apart { above, forward });
    }
    let _walk = a.tree().walk();
    // After that: whoever has not ended now, its ancestors stay where they are.
    if b.end.has_occurred() {
        return None;
    }
    if a.end.has_occurred() {
        return Some(Kinship::Over);
    }
    Some(walked(from, to))
}

/// The same by the way from both up to the root.
fn walked(from: Place, to: Place) -> Kinship {
    let way = |node: NonNull<Core>| {
        // SAFETY: the ancestors of a node that has not ended are live, or kept by the walk.
        let parent = |node: &NonNull<Core>| unsafe { node.as_ref() }.parent;
        let mut way: Vec<_> = std::iter::successors(Some(node), parent).collect();
        way.reverse();
        way
    };
    let (a, b) = (way(from.0), way(to.0));
    let common = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    match (a.get(common), b.get(common)) {
        (None, _) if from.1 == Which::Start => Kinship::Implied,
        (None, _) => Kinship::Reversed,
        (_, None) if to.1 == Which::End => Kinship::Implied,
        (_, None) => Kinship::Begun,
        (Some(x), Some(y)) => {
            // SAFETY: as above.
            let number = |node: &NonNull<Core>| unsafe { node.as_ref() }.number;
            Kinship::Apart {
                above: a[common - 1],
                forward: number(x) < number(y),
            }
        }
    }
}

/// Whether `to` comes after `from`, as far as `most` points tell. What leaves `above` does not come back.
fn reaches(from: Place, to: Place, above: NonNull<Core>, most: usize) -> bool {
    let mut seen = HashSet::new();
    let mut next = vec![from];
    while let Some(place @ (node, which)) = next.pop() {
        if place == to {
            return true;
        }
        if seen.len() >= most || !seen.insert((node, which == Which::End)) {
            continue;
        }
        // SAFETY: it comes after `from`, which does not occur meanwhile.
        let core = unsafe { node.as_ref() };
        match which {
            Which::Start => next.push((node, Which::End)),
            Which::End => {
                let parent = core.parent.filter(|parent| *parent != above);
                next.extend(parent.map(|parent| (parent, Which::End)));
            }
        }
        // Acquire pairs with the push of each edge.
        let mut edge = core.words(which).after.load(Ordering::Acquire);
        debug_assert_ne!(edge, Edge::OCCURRED);
        // SAFETY: as above: edges of a point that does not occur stay in its list.
        while let Some(there) = unsafe { edge.as_ref() } {
            // Relaxed, both: acquired with the list.
            next.extend(Edge::decode(there.target.load(Ordering::Relaxed)));
            edge = there.after.load(Ordering::Relaxed);
        }
    }
    false
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::interval::{Interval, Scope, run};
    use std::sync::atomic::AtomicBool;
    use std::sync::{Arc, OnceLock};

    /// A new interval inside of `body`, behind `kept`.
    fn follow<'scope>(body: &Scope<'scope, '_>, kept: &Interval<'scope>) {
        let next = body.interval(|_| ());
        kept.end().before(next.start()).unwrap();
    }

    #[test]
    fn an_edge_from_what_has_ended_is_not_backward_where_its_parent_was() {
        let pool = crate::Pool::builder().workers(1).build().unwrap();
        let (reused, unordered) = (AtomicBool::new(false), AtomicBool::new(false));
        let result = pool.install(|| {
            run(|body| {
                // The last child outlives its parent, as a handle.
                let kept = Arc::new(OnceLock::new());
                let keep = kept.clone();
                let first = body.interval(move |body| {
                    body.interval(|_| ());
                    let last = body.interval(|_| ()).schedule();
                    keep.set((body.node.addr(), last)).ok();
                });
                let (reused, unordered) = (&reused, &unordered);
                let second = body.interval(move |body| {
                    for _ in 0..10 {
                        let kept = kept.clone();
                        body.interval(move |body| {
                            let (parent, last) = kept.get().unwrap();
                            follow(body, last);
                            // Relaxed, both: read when all has ended.
                            reused.fetch_or(*parent == body.node.addr(), Ordering::Relaxed);
                            let marked = body.core().tree().is_unordered();
                            unordered.fetch_or(marked, Ordering::Relaxed);
                        });
                    }
                });
                first.end().before(second.start()).unwrap();
            })
        });
        result.unwrap();
        assert!(
            reused.into_inner(),
            "no block was used again, so nothing was shown"
        );
        assert!(!unordered.into_inner());
    }
}
