//! Random graphs of intervals: every edge is respected, locks exclude each other, every interval
//! runs once, and a failure skips only the intervals after it.

use crate::support::{built, soak, watched};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use tidegate::interval::{IntervalBuilder, Lock, UsageErrorKind};
use tidegate::{
    Pool,
    policy::{PlaceBy, SharePolicy},
};

/// A random number generator whose sequence depends only on its seed.
struct Rng(u64);

impl Rng {
    fn below(&mut self, bound: usize) -> usize {
        // SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
        // 2014).
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }

    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

/// An edge between two intervals. Each end of the edge is the start or the end of its interval.
#[derive(Clone, Copy)]
struct Edge {
    from: (usize, bool),
    to: (usize, bool),
}

/// The graph to build. Its intervals are created in the order of their numbers.
struct Plan {
    count: usize,
    edges: Vec<Edge>,
    locks: Vec<Vec<usize>>,
    places: Vec<Option<(usize, bool)>>,
    children: Vec<usize>,
}

const LOCKS: usize = 5;

impl Plan {
    /// Returns a random graph. With `mixed`, some edges lead from younger to older intervals.
    fn random(seed: u64, count: usize, mixed: bool) -> Self {
        let mut rng = Rng(seed);
        // Edges only lead to higher ranks, so there are no cycles.
        let mut rank: Vec<usize> = (0..count).collect();
        if mixed {
            (1..count).for_each(|i| rank.swap(i, rng.below(i + 1)));
        }
        let locks = |_| {
            let wanted = [0, 0, 0, 0, 1, 2][rng.below(6)];
            let mut locks: Vec<usize> = (0..wanted).map(|_| rng.below(LOCKS)).collect();
            locks.sort_unstable();
            locks.dedup();
            locks
        };
        let locks: Vec<_> = (0..count).map(locks).collect();
        let edges = (0..2 * count).filter_map(|_| {
            let reach = 1 + rng.below(30.min(count));
            let (a, b) = (rng.below(count), rng.below(count));
            let b = if mixed { b } else { (a + reach).min(count - 1) };
            let (low, high) = if rank[a] < rank[b] { (a, b) } else { (b, a) };
            // If an interval holds a lock, its end must not wait for an interval that may want the
            // lock.
            let points = (!rng.once_in(6), rng.once_in(6) && locks[high].is_empty());
            (a != b).then_some(Edge {
                from: (low, points.0),
                to: (high, points.1),
            })
        });
        let edges: Vec<Edge> = edges.collect();
        let mut rng = Rng(!seed);
        let place = |_| rng.once_in(4).then(|| (rng.below(2), rng.once_in(2)));
        let places = (0..count).map(place).collect();
        let children = (0..count).map(|_| [0, 0, 0, 1, 3][rng.below(5)]).collect();
        Self {
            count,
            edges,
            locks,
            places,
            children,
        }
    }

    /// Returns which intervals are skipped because they come after the end of `failed`.
    fn skipped(&self, failed: usize) -> Vec<bool> {
        // Whether each interval's start and end have failed.
        let mut points = vec![[false, false]; self.count];
        points[failed][1] = true;
        loop {
            let mut changed = false;
            for Edge { from, to } in &self.edges {
                if points[from.0][usize::from(from.1)] && !points[to.0][usize::from(to.1)] {
                    points[to.0][usize::from(to.1)] = true;
                    changed = true;
                }
            }
            for [start, end] in &mut points {
                changed |= *start && !*end;
                *end |= *start;
            }
            if !changed {
                return points.into_iter().map(|[start, _]| start).collect();
            }
        }
    }
}

/// What each interval has done.
struct Trace {
    clock: AtomicUsize,
    runs: Vec<AtomicU32>,
    began: Vec<AtomicUsize>,
    /// When each interval's body or its last child ended. The accesses are Relaxed, so they order
    /// nothing.
    ended: Vec<AtomicUsize>,
    held: Vec<AtomicBool>,
}

impl Trace {
    fn new(count: usize) -> Self {
        let words = || (0..count).map(|_| AtomicUsize::new(0)).collect();
        Self {
            clock: AtomicUsize::new(1),
            runs: (0..count).map(|_| AtomicU32::new(0)).collect(),
            began: words(),
            ended: words(),
            held: (0..LOCKS).map(|_| AtomicBool::new(false)).collect(),
        }
    }

    fn now(&self) -> usize {
        self.clock.fetch_add(1, Ordering::Relaxed)
    }

    fn run(&self, plan: &Plan, number: usize) {
        self.runs[number].fetch_add(1, Ordering::Relaxed);
        self.began[number].store(self.now(), Ordering::Relaxed);
        for lock in &plan.locks[number] {
            assert!(
                !self.held[*lock].swap(true, Ordering::Relaxed),
                "held by two"
            );
        }
        // The edges must order the accesses, because there is no other synchronisation.
        for Edge { from, to } in &plan.edges {
            if *to == (number, false) && from.1 {
                assert!(self.ended[from.0].load(Ordering::Relaxed) > 0, "not seen");
            }
        }
        for lock in &plan.locks[number] {
            self.held[*lock].store(false, Ordering::Relaxed);
        }
    }

    fn end(&self, number: usize) {
        let now = self.now();
        self.ended[number].fetch_max(now, Ordering::Relaxed);
    }

    fn check_order(&self, plan: &Plan) {
        let before = |a: usize, b: usize| {
            let (ended, began) = (&self.ended[a], &self.began[b]);
            let (ended, began) = (ended.load(Ordering::Relaxed), began.load(Ordering::Relaxed));
            assert!(
                ended > 0 && ended < began,
                "{a} ended at {ended}, {b} began at {began}"
            );
        };
        for edge in plan.edges.iter().filter(|edge| edge.from.1) {
            if edge.to.1 {
                // If an edge leads to another interval's end, everything after that end also comes
                // after this interval.
                let next = plan
                    .edges
                    .iter()
                    .filter(|next| next.from == edge.to && !next.to.1);
                next.for_each(|next| before(edge.from.0, next.to.0));
            } else {
                before(edge.from.0, edge.to.0);
            }
        }
    }
}

/// Builds and runs the graph. The interval `failing` fails. Returns the error, if any.
fn run(pool: &Pool, plan: &Plan, trace: &Trace, failing: Option<usize>) -> Option<String> {
    let locks: Vec<Lock> = (0..LOCKS).map(|_| Lock::new()).collect();
    let places = pool.places();
    let result = pool.run_intervals(|s| {
        let mut drafts: Vec<IntervalBuilder<'_>> = Vec::with_capacity(plan.count);
        for number in 0..plan.count {
            let mut draft = s.try_interval(move |s| {
                trace.run(plan, number);
                for _ in 0..plan.children[number] {
                    s.interval(move |_| trace.end(number));
                }
                trace.end(number);
                if failing == Some(number) {
                    Err("on purpose")
                } else {
                    Ok(())
                }
            });
            for lock in &plan.locks[number] {
                draft.lock(&locks[*lock]).unwrap();
            }
            if let Some((place, strict)) = plan.places[number] {
                let place = places[place % places.len()];
                draft = draft.at(if strict { place.strict() } else { place });
            }
            drafts.push(draft);
        }
        let point = |(number, end): (usize, bool)| {
            if end {
                drafts[number].end()
            } else {
                drafts[number].start()
            }
        };
        for edge in &plan.edges {
            point(edge.from).before(point(edge.to)).unwrap();
        }
    });
    result.err().map(|failure| failure.to_string())
}

fn pools() -> Vec<Pool> {
    let of = |workers, places| {
        let builder = Pool::builder().workers(workers).share(SharePolicy::Off);
        built(builder.places(places))
    };
    vec![
        of(1, PlaceBy::Machine),
        of(2, PlaceBy::Each(1)),
        of(4, PlaceBy::Each(2)),
    ]
}

/// Graphs in which all edges lead to younger intervals are large. Other graphs are small, because
/// each of their edges causes a search.
#[test]
fn random_graphs_respect_order_and_locks() {
    watched(|| {
        let seeds = soak(20, "random graphs");
        let (large, small) = if cfg!(debug_assertions) {
            (400, 60)
        } else {
            (10_000, 200)
        };
        let pools = pools();
        for seed in 0..seeds as u64 {
            for (mixed, count) in [(false, large), (true, small)] {
                let (plan, trace) = (Plan::random(seed, count, mixed), Trace::new(count));
                let pool = &pools[seed as usize % pools.len()];
                assert_eq!(run(pool, &plan, &trace, None), None, "seed {seed}");
                trace.check_order(&plan);
                let once = |runs: &AtomicU32| runs.load(Ordering::Relaxed) == 1;
                assert!(trace.runs.iter().all(once), "seed {seed}");
            }
        }
    });
}

#[test]
fn failure_skips_only_what_follows() {
    watched(|| {
        let seeds = soak(4, "random graphs, failing at each interval");
        let pools = pools();
        for seed in 0..seeds as u64 {
            let plan = Plan::random(seed, 30, seed % 2 == 1);
            for failing in 0..plan.count {
                let (trace, skipped) = (Trace::new(plan.count), plan.skipped(failing));
                let pool = &pools[failing % pools.len()];
                assert!(run(pool, &plan, &trace, Some(failing)).is_some());
                for (number, runs) in trace.runs.iter().enumerate() {
                    let expected = u32::from(!skipped[number]);
                    let runs = runs.load(Ordering::Relaxed);
                    assert_eq!(runs, expected, "seed {seed}, {number} after {failing}");
                }
            }
        }
    });
}

#[test]
fn every_cycle_closing_edge_is_rejected() {
    watched(|| {
        let pool = built(Pool::builder().workers(2).share(SharePolicy::Off));
        for seed in 0..soak(30, "random graphs with edges back") as u64 {
            let plan = Plan::random(seed, 40, seed % 2 == 0);
            let mut rng = Rng(seed);
            let ran = AtomicUsize::new(0);
            pool.run_intervals(|s| {
                let drafts: Vec<IntervalBuilder<'_>> = (0..plan.count)
                    .map(|_| s.interval(|_| _ = ran.fetch_add(1, Ordering::Relaxed)))
                    .collect();
                let mut after = vec![vec![false; plan.count]; plan.count];
                for _ in 0..400 {
                    let (a, b) = (rng.below(plan.count), rng.below(plan.count));
                    let added = drafts[a].end().before(drafts[b].start());
                    let cycle = a == b || after[b][a];
                    assert_eq!(
                        added.err().map(|it| it.wrong()),
                        cycle.then_some(UsageErrorKind::Cycle)
                    );
                    if !cycle {
                        let later: Vec<usize> = (0..plan.count)
                            .filter(|c| *c == b || after[b][*c])
                            .collect();
                        for (earlier, follows) in after.iter_mut().enumerate() {
                            if earlier == a || follows[a] {
                                later.iter().for_each(|c| follows[*c] = true);
                            }
                        }
                    }
                }
            })
            .unwrap();
            assert_eq!(ran.into_inner(), plan.count);
        }
    });
}
