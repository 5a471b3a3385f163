//! Edges between points: how they are added, and which ones are rejected. docs/intervals.md states
//! the rules and proves them.

use super::failure::{UsageError, UsageErrorKind};
use super::node::{Core, MOST_WAITING, PointWords, Which};
use super::ready::Ready;
use std::collections::HashSet;
use std::ptr::{NonNull, null_mut, without_provenance_mut};
use tidegate_core::door::{WorkerThread, blocks};
use tidegate_sync::atomic::{AtomicPtr, Ordering};
use tidegate_sync::barrier;

/// Debug builds also check edges that cannot close a cycle. Each such search visits at most this
/// many points.
const SEARCH_MOST: usize = 2_000;

/// A point of an interval whose node is alive.
pub(super) type Place = (NonNull<Core>, Which);

/// An edge, which is kept in the list of the point from which it leads.
pub(super) struct Edge {
    /// The node that the edge leads to, with the target point ([`Which`]) in the lowest bit; null
    /// if the edge was withdrawn.
    pub(super) target: AtomicPtr<Core>,
    pub(super) after: AtomicPtr<Edge>,
}

impl Edge {
    /// Replaces the pointer to the list once the point has occurred.
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
    /// 1. The edge is no longer in any list, and no other thread refers to it.
    pub(super) unsafe fn take_out(edge: NonNull<Self>, current: Option<WorkerThread<'_>>) -> Self {
        // SAFETY: 1. placed by `push`, and only the caller refers to it (1).
        unsafe { blocks::take_out(edge, current.map(WorkerThread::blocks)) }
    }
}

/// Makes `to` wait for `from`.
///
/// # Safety
/// 1. The caller has references to both nodes.
pub(super) unsafe fn add(from: Place, to: Place) -> Result<(), UsageError> {
    // SAFETY: the caller has references to both nodes (1).
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
        // Pairs with the light barrier below.
        let _ = barrier::heavy();
    }
    let current = WorkerThread::get();
    let count_down = |failed| {
        let mut ready = Ready::without_hand(current);
        ready.count_down(to.0, to.1, failed);
        ready.settle_all();
    };
    let mut closes = false;
    match (above, push(a.words(from.1).after, to, current)) {
        (Some(above), Some(edge)) => {
            // Pairs with the heavy barrier above: suppose that two threads add edges at once, one
            // of which is not forward. Then the thread with that edge sees the second edge, or the
            // other thread sees that the tree is unordered.
            tree.light();
            let unordered = tree.is_unordered();
            let most = if unordered { usize::MAX } else { SEARCH_MOST };
            // The additional count keeps the target from occurring during the search.
            if (unordered || cfg!(debug_assertions)) && count_up(b.words(to.1)) {
                closes = closes_cycle(edge, from, to, (above, most));
                if closes {
                    count_down(false);
                }
                count_down(false);
            }
        }
        // `from` has occurred, so there is nothing to wait for.
        (_, None) => count_down(a.has_failed(from.1)),
        (None, Some(_)) => unreachable!("both points of what has ended have occurred"),
    }
    if closes {
        return wrong(UsageErrorKind::Cycle);
    }
    if let Some(recorder) = tree.recorder() {
        recorder.order((a, from.1), (b, to.1));
    }
    Ok(())
}

/// Checks whether an edge lies on a cycle, and withdraws it if so. The caller must keep the edge's
/// target from occurring.
fn closes_cycle(
    edge: NonNull<Edge>,
    from: Place,
    to: Place,
    (above, most): (NonNull<Core>, usize),
) -> bool {
    // SAFETY: the caller keeps the target from occurring.
    let tree = unsafe { to.0.as_ref() }.tree();
    // One search at a time: another search must not withdraw an edge that this search is following.
    let _order = tree.order();
    // Pairs with this same barrier in other threads: of several concurrent searches, the last one
    // sees all edges that are being added.
    barrier::full();
    let closes = reaches(to, from, above, most);
    if closes {
        // SAFETY: the edge lies on a cycle, so the point from which it leads has not occurred, and
        // cannot occur while the target is kept from occurring.
        let edge = unsafe { edge.as_ref() };
        // Relaxed: the count-down that follows publishes it.
        edge.target.store(null_mut(), Ordering::Relaxed);
    }
    closes
}

/// Increments the number of points that a point waits for. Returns `false` if the point has already
/// occurred.
fn count_up(words: PointWords<'_>) -> bool {
    let one_more = |count| {
        assert!(count < MOST_WAITING, "too many edges to one point");
        (count > 0).then_some(count + 1)
    };
    // Relaxed: the threads that count down later acquire and release. A new edge publishes no data.
    words
        .waiting
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more)
        .is_ok()
}

/// Checks whether a new interval inside `body` may come after the end of `node`.
///
/// # Safety
/// 1. The caller has a reference to `node`, and runs `body`.
pub(super) unsafe fn check_follower(
    node: NonNull<Core>,
    body: NonNull<Core>,
) -> Result<(), UsageError> {
    // SAFETY: the caller has a reference to `node` (1).
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
        // SAFETY: `body` runs, and each ancestor contains it and so has not ended (1).
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

/// Pushes an edge onto the list of a point or of a body's return. Returns `None` if the point has
/// occurred or the body has returned.
pub(super) fn push(
    list: &AtomicPtr<Edge>,
    to: Place,
    current: Option<WorkerThread<'_>>,
) -> Option<NonNull<Edge>> {
    // Acquire: if the point has occurred, everything before it is visible.
    let mut seen = list.load(Ordering::Acquire);
    if seen == Edge::OCCURRED {
        return None;
    }
    let edge = Edge {
        target: AtomicPtr::new(Edge::encode(to)),
        after: AtomicPtr::new(seen),
    };
    let edge = blocks::place(edge, current.map(WorkerThread::blocks));
    loop {
        // SAFETY: the edge was placed above, and is in no list yet.
        let after = unsafe { &edge.as_ref().after };
        // Relaxed: published by the compare-exchange below.
        after.store(seen, Ordering::Relaxed);
        // AcqRel: publishes the edge to the thread that releases the point, and to searches;
        // Acquire as above.
        let pushed =
            list.compare_exchange_weak(seen, edge.as_ptr(), Ordering::AcqRel, Ordering::Acquire);
        match pushed {
            Ok(_) => return Some(edge),
            Err(Edge::OCCURRED) => {
                // SAFETY: 1. the edge is in no list.
                let _ = unsafe { Edge::take_out(edge, current) };
                return None;
            }
            Err(now) => seen = now,
        }
    }
}

/// The order of two points that follows from the nesting of their intervals, or from what has
/// already occurred. Edges are ignored.
enum Kinship {
    /// The first point comes before the second, because of how the intervals are nested.
    Implied,
    /// The second point comes before the first.
    Reversed,
    /// The second point is the start of an interval that has begun.
    Begun,
    /// The first point has occurred.
    Over,
    /// The points lie below different children of `above`. `forward` says whether the first point
    /// lies below the older child.
    Apart { above: NonNull<Core>, forward: bool },
}

/// Determines how the tree orders two points. Returns `None` if the second one has occurred.
fn kinship(from: Place, to: Place) -> Option<Kinship> {
    // SAFETY: the caller of `add` has references to both nodes.
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
        // The most frequent case. There is no need to walk up the tree.
        let forward = a.number < b.number;
        // `a` may have ended inside an earlier parent, whose memory was reused for the parent of
        // `b`; then its number is meaningless. Many programs keep handles to ended intervals and
        // order new ones after them. If such an edge were mistaken for a backward one, every later
        // edge of the whole tree would need a search.
        if !forward && a.end().has_occurred() {
            return Some(Kinship::Over);
        }
        return Some(Kinship::Apart { above, forward });
    }
    let _walk = a.tree().walk();
    // Checked after the walk has begun: if the node has not ended by now, its ancestors stay alive.
    if b.end().has_occurred() {
        return None;
    }
    if a.end().has_occurred() {
        return Some(Kinship::Over);
    }
    Some(walked(from, to))
}

/// The general case of `kinship`: walks from both nodes up to the root.
fn walked(from: Place, to: Place) -> Kinship {
    let way = |node: NonNull<Core>| {
        let (mut way, mut next) = (vec![], Some(node));
        while let Some(node) = next {
            way.push(node);
            // SAFETY: the ancestors of a node that has not ended are alive, or the walk keeps them
            // alive.
            next = unsafe { node.as_ref() }.parent;
        }
        way.reverse();
        way
    };
    let (a, b) = (way(from.0), way(to.0));
    let mut common = 0;
    while common < a.len() && a.get(common) == b.get(common) {
        common += 1;
    }
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

/// Searches at most `most` points for `to`, starting at `from`. Returns whether it found that `to`
/// comes after `from`. Paths that lead out of `above` are not followed, because none leads back
/// into it.
fn reaches(from: Place, to: Place, above: NonNull<Core>, most: usize) -> bool {
    let mut seen = HashSet::new();
    let mut next = vec![from];
    while let Some(place @ (node, which)) = next.pop() {
        if place == to {
            return true;
        }
        if seen.len() >= most || !seen.insert(place) {
            continue;
        }
        // SAFETY: the node comes after `from`, which does not occur during the search.
        let core = unsafe { node.as_ref() };
        match which {
            Which::Start => next.push((node, Which::End)),
            Which::End => {
                let parent = core.parent.filter(|parent| *parent != above);
                next.extend(parent.map(|parent| (parent, Which::End)));
            }
        }
        debug_assert!(!core.words(which).has_occurred());
        // SAFETY: 1. as above.
        next.extend(unsafe { targets(core.words(which).after) });
    }
    false
}

/// Returns the points that wait for the point that owns `list`; none if that point has occurred.
///
/// # Safety
/// 1. The point does not occur during the iteration.
pub(super) unsafe fn targets(list: &AtomicPtr<Edge>) -> impl Iterator<Item = Place> {
    // Acquire pairs with the push of each edge.
    let mut next = list.load(Ordering::Acquire);
    if next == Edge::OCCURRED {
        next = null_mut();
    }
    std::iter::from_fn(move || {
        loop {
            // SAFETY: an edge stays in the list until the point occurs (1).
            let edge = unsafe { next.as_ref() }?;
            // Relaxed, both: the values were acquired with the list.
            next = edge.after.load(Ordering::Relaxed);
            let target = Edge::decode(edge.target.load(Ordering::Relaxed));
            if target.is_some() {
                return target;
            }
        }
    })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::interval::{Interval, Scope, run};
    use std::sync::atomic::AtomicBool;
    use std::sync::{Arc, OnceLock};

    /// Creates an interval inside `body` that comes after `kept`.
    fn follow<'scope>(body: &Scope<'scope, '_>, kept: &Interval<'scope>) {
        let next = body.interval(|_| ());
        kept.end().before(next.start()).unwrap();
    }

    /// An edge from an ended interval is not backward even if the memory of that interval's parent
    /// has been reused.
    #[test]
    fn reused_node_makes_no_backward_edge() {
        let pool = crate::Pool::builder().workers(1).build().unwrap();
        let (reused, unordered) = (AtomicBool::new(false), AtomicBool::new(false));
        let result = pool.install(|| {
            run(|body| {
                // A handle keeps the last child alive after its parent has ended.
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
                            // Relaxed, both: read after everything has ended.
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
