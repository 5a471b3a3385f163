//! Checks that a thief with an index of the candidates tries the same victims as a thief that
//! checks every worker.

use std::collections::BTreeSet;
use tidegate_policy::{Census, Peers, PlaceTree, Rng, VictimPolicy, VictimState};
use tidegate_sim::distance_index::{Candidates, DistanceIndex, PlaceOrder};

/// A pool of workers. Some of them are candidates, which means that they may have tasks to steal.
struct Pool {
    is: Vec<bool>,
    last: Vec<Option<usize>>,
    tree: PlaceTree,
    order: PlaceOrder,
    candidates: Candidates,
}

impl Pool {
    fn new(workers: usize, tree: PlaceTree) -> Self {
        Self {
            is: vec![false; workers],
            last: vec![None; workers],
            order: PlaceOrder::new(&tree, workers),
            candidates: Candidates::none(workers),
            tree,
        }
    }

    fn set(&mut self, worker: usize, is: bool) {
        self.is[worker] = is;
        self.candidates.set(&self.order, worker, is);
    }

    fn indexed(&self) -> Indexed<'_> {
        let (order, candidates) = (&self.order, &self.candidates);
        Indexed(self, DistanceIndex { order, candidates })
    }
}

impl Peers for Pool {
    fn count(&self) -> usize {
        self.is.len()
    }

    fn is_candidate(&self, worker: usize) -> bool {
        self.is[worker]
    }

    fn distance(&self, thief: usize, victim: usize) -> u32 {
        self.tree.distance(thief, victim)
    }

    fn last_victim(&self, worker: usize) -> Option<usize> {
        self.last[worker]
    }
}

/// A pool that also has an index of its candidates.
struct Indexed<'a>(&'a Pool, DistanceIndex<'a>);

impl Peers for Indexed<'_> {
    fn count(&self) -> usize {
        self.0.count()
    }

    fn is_candidate(&self, worker: usize) -> bool {
        self.0.is_candidate(worker)
    }

    fn distance(&self, thief: usize, victim: usize) -> u32 {
        self.0.distance(thief, victim)
    }

    fn last_victim(&self, worker: usize) -> Option<usize> {
        self.0.last_victim(worker)
    }

    fn census(&self) -> Option<&dyn Census> {
        Some(&self.1)
    }
}

/// Returns a tree of groups of these sizes. Its `n`-th worker, from the first group to the last,
/// has the number `at(n)`.
fn tree(workers: usize, sizes: [usize; 2], at: impl Fn(usize) -> usize) -> PlaceTree {
    let levels = sizes.map(|size| {
        let all: Vec<usize> = (0..workers).map(&at).collect();
        all.chunks(size).map(<[usize]>::to_vec).collect()
    });
    PlaceTree::from_groups(workers, &levels).unwrap()
}

#[test]
fn consecutive_groups_match_a_scan() {
    let mut rng = Rng::new(7);
    for workers in [1, 2, 7, 63, 64, 65, 150] {
        for sizes in [[2, 8], [3, 6], [1, 150], [10, 70]] {
            let mut pool = Pool::new(workers, tree(workers, sizes, |worker| worker));
            for rule in [
                VictimPolicy::Random,
                VictimPolicy::LastVictim,
                VictimPolicy::Hierarchical,
            ] {
                let thief = rng.below(workers as u64 + 2) as usize;
                let mut scanning = VictimState::new(rule, thief);
                let mut indexed = scanning.clone();
                for _ in 0..300 {
                    let draw = rng.draw();
                    let asked = scanning.next(&pool, || draw);
                    assert_eq!(indexed.next(&pool.indexed(), || draw), asked, "{rule}");
                    if let Some(victim) = asked.filter(|_| rng.below(3) == 0) {
                        scanning.stolen_from(victim);
                        indexed.stolen_from(victim);
                    }
                    let worker = rng.below(workers as u64) as usize;
                    pool.set(worker, rng.below(3) > 0);
                    pool.last[worker] = Some(rng.below(workers as u64) as usize);
                }
            }
        }
    }
}

#[test]
fn scattered_groups_pick_victims_evenly() {
    let workers = 24;
    // Neighbours have numbers that differ by 8, as is common for the hardware threads of a core.
    let mut pool = Pool::new(workers, tree(workers, [3, 12], |n| n % 3 * 8 + n / 3));
    (0..workers).for_each(|worker| pool.set(worker, worker % 5 != 0));
    for thief in 0..workers {
        let round = |draw: u64| -> Vec<usize> {
            let mut state = VictimState::new(VictimPolicy::Hierarchical, thief);
            std::iter::from_fn(|| state.next(&pool.indexed(), || draw)).collect()
        };
        let mut asked = vec![0; workers];
        let draws = 27_720;
        for draw in 0..draws {
            for victim in round(draw * (u64::MAX / draws)) {
                asked[victim] += 1;
            }
        }
        for distance in 1..=pool.tree.height() {
            let there = |worker: &usize| {
                *worker != thief && pool.is[*worker] && pool.distance(thief, *worker) == distance
            };
            let often: BTreeSet<_> = (0..workers).filter(there).map(|w| asked[w] / 50).collect();
            assert!(often.len() <= 2, "{thief} at {distance}: {often:?}");
            assert!(often.iter().all(|often| *often > 0));
        }
        assert!((0..workers).all(|worker| pool.is[worker] || asked[worker] == 0));
        assert_eq!(asked[thief], 0);
    }
}
