//! A thief to whom the candidates are counted asks whom it would ask after looking at all of them.

use std::collections::BTreeSet;
use tidegate_policy::{Candidates, Census, Peers, PlaceOrder, PlaceTree, Rng, Victim, VictimState};

/// Workers of whom some are candidates.
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

/// The same, counted.
struct Counted<'a>(&'a Pool);

impl Peers for Counted<'_> {
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

    fn census(&self) -> Option<Census<'_>> {
        Some(Census {
            order: &self.0.order,
            candidates: &self.0.candidates,
        })
    }
}

/// Groups of so many and so many of these, by numbers that `at` puts anywhere.
fn tree(workers: usize, sizes: [usize; 2], at: impl Fn(usize) -> usize) -> PlaceTree {
    let levels = sizes.map(|size| {
        let all: Vec<usize> = (0..workers).map(&at).collect();
        all.chunks(size).map(<[usize]>::to_vec).collect()
    });
    PlaceTree::from_groups(workers, &levels).unwrap()
}

#[test]
fn where_groups_have_consecutive_numbers_the_same_victims_come_in_the_same_order() {
    let mut rng = Rng::new(7);
    for workers in [1, 2, 7, 63, 64, 65, 150] {
        for sizes in [[2, 8], [3, 6], [1, 150], [10, 70]] {
            let mut pool = Pool::new(workers, tree(workers, sizes, |worker| worker));
            for rule in [Victim::Random, Victim::LastVictim, Victim::Hierarchical] {
                let thief = rng.below(workers as u64 + 2) as usize;
                let mut looks = VictimState::new(rule, thief);
                let mut counts = looks.clone();
                for _ in 0..300 {
                    let draw = rng.draw();
                    let asked = looks.next(&pool, || draw);
                    assert_eq!(counts.next(&Counted(&pool), || draw), asked, "{rule}");
                    if let Some(victim) = asked.filter(|_| rng.below(3) == 0) {
                        looks.stolen_from(victim);
                        counts.stolen_from(victim);
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
fn where_they_have_not_everybody_at_a_distance_is_asked_as_often_as_any() {
    let workers = 24;
    // Neighbours are 8 apart, as threads of a core often are.
    let mut pool = Pool::new(workers, tree(workers, [3, 12], |n| n % 3 * 8 + n / 3));
    (0..workers).for_each(|worker| pool.set(worker, worker % 5 != 0));
    for thief in 0..workers {
        let sweep = |draw: u64| -> Vec<usize> {
            let mut state = VictimState::new(Victim::Hierarchical, thief);
            std::iter::from_fn(|| state.next(&Counted(&pool), || draw)).collect()
        };
        let mut asked = vec![0; workers];
        let draws = 27_720;
        for draw in 0..draws {
            for victim in sweep(draw * (u64::MAX / draws)) {
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
