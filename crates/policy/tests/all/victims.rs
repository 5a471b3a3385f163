//! Tests which victims a thief tries: every candidate, in the right order, and no other worker.

use std::collections::BTreeSet;
use tidegate_policy::{Peers, PlaceTree, Rng, VictimPolicy, VictimState};

/// A pool whose workers a test can change.
struct Pool {
    candidates: Vec<bool>,
    last: Vec<Option<usize>>,
    tree: PlaceTree,
}

impl Pool {
    fn new(workers: usize) -> Self {
        Self {
            candidates: vec![true; workers],
            last: vec![None; workers],
            tree: PlaceTree::flat(workers),
        }
    }

    /// Returns a pool of eight workers: two groups of four, each made of two pairs.
    fn eight() -> Self {
        let pairs = (0..4).map(|i| vec![2 * i, 2 * i + 1]).collect();
        let fours = vec![vec![0, 1, 2, 3], vec![4, 5, 6, 7]];
        Self {
            tree: PlaceTree::from_groups(8, &[pairs, fours]).unwrap(),
            ..Self::new(8)
        }
    }

    fn others(&self, thief: usize) -> BTreeSet<usize> {
        (0..self.candidates.len())
            .filter(|&worker| worker != thief && self.candidates[worker])
            .collect()
    }
}

impl Peers for Pool {
    fn count(&self) -> usize {
        self.candidates.len()
    }

    fn is_candidate(&self, worker: usize) -> bool {
        self.candidates[worker]
    }

    fn distance(&self, thief: usize, victim: usize) -> u32 {
        self.tree.distance(thief, victim)
    }

    fn last_victim(&self, worker: usize) -> Option<usize> {
        self.last[worker]
    }
}

const RULES: [VictimPolicy; 4] = [
    VictimPolicy::Random,
    VictimPolicy::RoundRobin,
    VictimPolicy::LastVictim,
    VictimPolicy::Hierarchical,
];
const CIRCLES: [VictimPolicy; 3] = [
    VictimPolicy::Random,
    VictimPolicy::RoundRobin,
    VictimPolicy::LastVictim,
];

/// Returns the victims of one round in which no worker has a task.
fn round(state: &mut VictimState, pool: &Pool, rng: &mut Rng) -> Vec<usize> {
    std::iter::from_fn(|| state.next(pool, || rng.draw()))
        .take(1_000)
        .collect()
}

#[test]
fn numbered_round_asks_each_candidate_once() {
    let mut rng = Rng::new(21);
    for workers in 0..40 {
        let mut pool = Pool::new(workers);
        for candidate in &mut pool.candidates {
            *candidate = rng.below(3) > 0;
        }
        for rule in CIRCLES {
            for thief in 0..workers + 2 {
                let asked = round(&mut VictimState::new(rule, thief), &pool, &mut rng);
                assert_eq!(
                    asked.iter().copied().collect::<BTreeSet<_>>(),
                    pool.others(thief)
                );
                assert_eq!(asked.len(), pool.others(thief).len(), "no victim twice");
            }
        }
    }
}

#[test]
fn first_victim_is_uniform() {
    let mut rng = Rng::new(22);
    for rule in [
        VictimPolicy::Random,
        VictimPolicy::LastVictim,
        VictimPolicy::Hierarchical,
    ] {
        let (pool, mut asked) = (Pool::new(4), [0; 4]);
        for _ in 0..3_000 {
            asked[VictimState::new(rule, 1)
                .next(&pool, || rng.draw())
                .unwrap()] += 1;
        }
        assert_eq!(asked[1], 0);
        assert!(
            [0, 2, 3]
                .iter()
                .all(|&other| (900..1_100).contains(&asked[other])),
            "{rule}: {asked:?}"
        );
    }
}

#[test]
fn last_victim_is_asked_first() {
    let mut rng = Rng::new(23);
    let pool = Pool::new(5);
    for rule in [VictimPolicy::LastVictim, VictimPolicy::Hierarchical] {
        let mut state = VictimState::new(rule, 0);
        state.stolen_from(3);
        assert_eq!(state.last_victim(), Some(3));
        for _ in 0..10 {
            let asked = round(&mut state, &pool, &mut rng);
            assert_eq!(asked[0], 3, "{rule}");
            assert_eq!(
                asked.iter().filter(|&&victim| victim == 3).count(),
                1,
                "{rule}"
            );
        }
    }
}

#[test]
fn random_ignores_its_last_victim() {
    let mut rng = Rng::new(24);
    let mut state = VictimState::new(VictimPolicy::Random, 0);
    state.stolen_from(3);
    let first: BTreeSet<usize> = (0..100)
        .map(|_| round(&mut state, &Pool::new(5), &mut rng)[0])
        .collect();
    assert_eq!(first, BTreeSet::from([1, 2, 3, 4]));
}

#[test]
fn round_robin_continues_after_last_victim() {
    let never = || panic!("nothing is drawn");
    let pool = Pool::new(5);
    let mut state = VictimState::new(VictimPolicy::RoundRobin, 1);
    let mut next = || state.next(&pool, never);
    assert_eq!([next(), next()], [Some(2), Some(3)]);
    state.stolen_from(3);
    let asked: Vec<_> = (0..12).map(|_| state.next(&pool, never)).collect();
    let round = [Some(4), Some(0), Some(2), Some(3), None];
    let again = [Some(4), Some(0), Some(2), Some(3), None];
    assert_eq!(
        asked,
        [&round[..], &again[..], &[Some(4), Some(0)]].concat()
    );
}

/// If a victim has no work, the thief next tries the worker that this victim last stole from.
#[test]
fn idle_victim_suggests_the_next_victim() {
    let mut rng = Rng::new(25);
    let mut pool = Pool::new(4);
    pool.last = vec![None, Some(2), Some(3), Some(0)];
    let asked = round(
        &mut VictimState::new(VictimPolicy::LastVictim, 0),
        &pool,
        &mut rng,
    );
    let follows = |victim: usize| {
        asked
            .iter()
            .position(|&v| v == victim)
            .map(|at| asked.get(at + 1).copied())
    };
    assert_eq!(follows(1), Some(Some(2)));
    // Worker 3 last stole from the thief, and the thief does not steal from itself.
    assert!(!asked.contains(&0));
}

#[test]
fn absent_last_victim_is_skipped() {
    let mut rng = Rng::new(26);
    let mut pool = Pool::new(4);
    pool.candidates[3] = false;
    pool.last = vec![None, Some(3), Some(77), None];
    for rule in [VictimPolicy::LastVictim, VictimPolicy::Hierarchical] {
        for last in [3, 99] {
            let mut state = VictimState::new(rule, 0);
            state.stolen_from(last);
            let asked = round(&mut state, &pool, &mut rng);
            assert!(
                asked.iter().all(|victim| [1, 2].contains(victim)),
                "{rule}: {asked:?}"
            );
        }
    }
}

#[test]
fn hierarchical_asks_near_victims_first() {
    let mut rng = Rng::new(27);
    let pool = Pool::eight();
    let mut state = VictimState::new(VictimPolicy::Hierarchical, 5);
    for _ in 0..100 {
        let asked = round(&mut state, &pool, &mut rng);
        let distances: Vec<u32> = asked
            .iter()
            .map(|&victim| pool.distance(5, victim))
            .collect();
        assert_eq!(distances, [1, 2, 3]);
    }
}

#[test]
fn hierarchical_returns_to_nearest_after_success() {
    let mut rng = Rng::new(28);
    let mut pool = Pool::eight();
    let mut state = VictimState::new(VictimPolicy::Hierarchical, 5);
    assert_eq!(state.next(&pool, || rng.draw()), Some(4));
    let second = state.next(&pool, || rng.draw()).unwrap();
    assert_eq!(pool.distance(5, second), 2);
    state.stolen_from(second);
    pool.candidates[second] = false; // so that the thief does not try its last victim
    assert_eq!(state.next(&pool, || rng.draw()), Some(4));
}

#[test]
fn hierarchical_skips_empty_distances() {
    let mut rng = Rng::new(29);
    let mut pool = Pool::eight();
    pool.candidates = vec![false, true, false, false, false, true, false, false];
    assert_eq!(
        round(
            &mut VictimState::new(VictimPolicy::Hierarchical, 5),
            &pool,
            &mut rng
        ),
        [1]
    );
}

#[test]
fn no_candidate_starves_under_any_rule() {
    let mut rng = Rng::new(30);
    let pool = Pool::eight();
    for rule in RULES {
        let mut state = VictimState::new(rule, 2);
        let mut asked = [0; 8];
        for victim in (0..800).flat_map(|_| round(&mut state, &pool, &mut rng)) {
            asked[victim] += 1;
        }
        let least = pool.others(2).iter().map(|&other| asked[other]).min();
        assert!(least >= Some(150), "{rule}: {asked:?}");
    }
}

/// A worker that stays a candidate throughout the round is tried, even if other workers become
/// candidates or stop being candidates.
#[test]
fn staying_worker_is_always_asked() {
    let mut rng = Rng::new(31);
    for rule in CIRCLES {
        for _ in 0..500 {
            let mut pool = Pool::new(12);
            let mut state = VictimState::new(rule, 0);
            let mut asked = BTreeSet::new();
            let mut stayed = pool.others(0);
            while let Some(victim) = state.next(&pool, || rng.draw()) {
                assert!(pool.candidates[victim], "{victim} is gone");
                asked.insert(victim);
                let changed = rng.below(12) as usize;
                pool.candidates[changed] = !pool.candidates[changed];
                stayed.remove(&changed);
                if rng.below(8) == 0 && pool.candidates.len() < 30 {
                    pool.candidates.push(true); // one more worker
                    pool.last.push(None);
                }
            }
            assert!(stayed.is_subset(&asked), "{rule}: {stayed:?} of {asked:?}");
        }
    }
}

#[test]
fn every_round_ends_naming_only_candidates() {
    let mut rng = Rng::new(32);
    for rule in RULES {
        let mut pool = Pool::eight();
        let mut state = VictimState::new(rule, 4);
        for _ in 0..2_000 {
            let asked = std::iter::from_fn(|| {
                let worker = rng.below(8) as usize;
                pool.candidates[worker] = rng.below(2) == 0;
                pool.last[worker] = Some(rng.below(10) as usize);
                let victim = state.next(&pool, || rng.draw())?;
                assert!(victim != 4 && pool.candidates[victim]);
                Some(victim)
            });
            let attempts = asked.take(100).count();
            assert!(
                attempts <= 1 + 2 * 7,
                "{rule}: {attempts} attempts in a round"
            );
            if rng.below(4) == 0 {
                state.stolen_from(rng.below(8) as usize);
            }
        }
    }
}

#[test]
fn lone_thief_has_no_victim() {
    for rule in RULES {
        for workers in [0, 1] {
            let mut state = VictimState::new(rule, 0);
            state.stolen_from(0);
            assert_eq!(state.next(&Pool::new(workers), || u64::MAX), None, "{rule}");
        }
    }
}

#[test]
fn circle_round_draws_once() {
    let pool = Pool::new(6);
    let mut draws = 0;
    let mut state = VictimState::new(VictimPolicy::LastVictim, 0);
    while state
        .next(&pool, || {
            draws += 1;
            17
        })
        .is_some()
    {}
    assert_eq!(draws, 1);
}

/// Like `Pool`, but reports that all workers are alike.
struct Alike(Pool);

impl Peers for Alike {
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

    fn are_alike(&self) -> bool {
        true
    }
}

/// If a thief knows that all victims are alike, it skips the check of each worker but tries the
/// same victims.
#[test]
fn known_uniformity_changes_no_choice() {
    for workers in 0..12 {
        for thief in 0..=workers {
            let mut pool = Pool::new(workers);
            let mut alike = Alike(Pool::new(workers));
            let mut rng = Rng::new(31);
            let mut looks = VictimState::new(VictimPolicy::Hierarchical, thief);
            let mut knows = looks.clone();
            for _ in 0..200 {
                let draw = rng.draw();
                let asked = looks.next(&pool, || draw);
                assert_eq!(knows.next(&alike, || draw), asked);
                if let Some(victim) = asked.filter(|_| rng.below(3) == 0) {
                    looks.stolen_from(victim);
                    knows.stolen_from(victim);
                }
                if workers > 0 {
                    let worker = rng.below(workers as u64) as usize;
                    let last = Some(rng.below(workers as u64) as usize);
                    pool.last[worker] = last;
                    alike.0.last[worker] = last;
                }
            }
        }
    }
}
