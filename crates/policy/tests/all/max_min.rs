//! Compares progressive filling with its definition, and checks its guarantees.

use tidegate_policy::Rng;
use tidegate_policy::allot::{Bound, Claim, max_min};

/// A machine with jobs and sets of jobs. The sets are nested or arbitrary, and each has a limited
/// number of processors.
struct Case {
    claims: Vec<Claim>,
    /// For each set, its number of processors and the jobs in it.
    sets: Vec<(usize, Vec<usize>)>,
}

impl Case {
    fn random(rng: &mut Rng, jobs: u64, processors: u64, weights: u64) -> Self {
        let jobs = 1 + rng.below(jobs) as usize;
        let claim = |rng: &mut Rng| Claim {
            desire: rng.below(processors + 4) as usize,
            weight: 1 + rng.below(weights) as u32,
            limit: rng.below(2 * processors) as usize,
        };
        let claims = (0..jobs).map(|_| claim(rng)).collect();
        let mut sets = vec![(1 + rng.below(processors) as usize, (0..jobs).collect())];
        for _ in 0..rng.below(6) {
            let (outer, members): &(usize, Vec<usize>) =
                &sets[rng.below(sets.len() as u64) as usize];
            let begin = rng.below(members.len() as u64) as usize;
            let end = begin + 1 + rng.below((members.len() - begin) as u64) as usize;
            let inner = members[begin..end].to_vec();
            let processors = 1 + rng.below(*outer as u64) as usize;
            sets.push((processors, inner));
        }
        Self { claims, sets }
    }

    fn computed(&self) -> Vec<usize> {
        let bounds = self.sets.iter().map(|(processors, members)| Bound {
            processors: *processors,
            members,
        });
        computed(&self.claims, &bounds.collect::<Vec<_>>())
    }

    /// Whether any two sets are disjoint or nested.
    fn is_nested(&self) -> bool {
        let nested = |a: &[usize], b: &[usize]| {
            let common = a.iter().filter(|job| b.contains(job)).count();
            common == 0 || common == a.len().min(b.len())
        };
        self.sets
            .iter()
            .all(|(_, a)| self.sets.iter().all(|(_, b)| nested(a, b)))
    }

    fn most(&self, job: usize) -> usize {
        let claim = self.claims[job];
        claim.desire.min(claim.limit.max(1))
    }

    fn is_full(&self, set: usize, allotments: &[usize]) -> bool {
        let (processors, members) = &self.sets[set];
        members.iter().map(|job| allotments[*job]).sum::<usize>() >= *processors
    }

    fn sets_of(&self, job: usize) -> impl Iterator<Item = usize> {
        (0..self.sets.len()).filter(move |set| self.sets[*set].1.contains(&job))
    }

    /// Whether `a` processors divided by the weight of `job` are less than `b` processors divided
    /// by the weight of `other`.
    fn is_less(&self, (a, job): (usize, usize), (b, other): (usize, usize)) -> bool {
        let weight = |job: usize| self.claims[job].weight as usize;
        a * weight(other) < b * weight(job)
    }

    /// Computes the allotments from their definition: assigns one processor at a time, and compares
    /// all jobs each time.
    fn by_definition(&self) -> Vec<usize> {
        let jobs = self.claims.len();
        let mut allotments: Vec<usize> = (0..jobs).map(|job| self.most(job).min(1)).collect();
        loop {
            let mut next: Option<usize> = None;
            for job in 0..jobs {
                let may = allotments[job] < self.most(job)
                    && !self.sets_of(job).any(|set| self.is_full(set, &allotments));
                let first = next.is_none_or(|other| {
                    self.is_less((allotments[job], job), (allotments[other], other))
                });
                if may && first {
                    next = Some(job);
                }
            }
            match next {
                Some(job) => allotments[job] += 1,
                None => return allotments,
            }
        }
    }
}

#[test]
fn random_machines_match_the_definition() {
    for seed in 1..=2_000 {
        let case = Case::random(&mut Rng::new(seed), 12, 24, 5);
        assert_eq!(case.computed(), case.by_definition(), "seed {seed}");
    }
}

/// If a job gets less than it wants, it must be in a full set in which no other job has more
/// processors relative to its weight.
#[test]
fn allocation_is_conservative_efficient_and_fair() {
    for seed in 1..=5_000 {
        let case = Case::random(&mut Rng::new(seed), 20, 64, 9);
        let allotments = case.computed();
        for (job, &allotment) in allotments.iter().enumerate() {
            let most = case.most(job);
            assert!(
                allotment <= most && allotment >= most.min(1),
                "seed {seed}: job {job}"
            );
            if allotment == most {
                continue;
            }
            let mut holds = case
                .sets_of(job)
                .filter(|set| case.is_full(*set, &allotments));
            let fair = holds.any(|set| {
                case.sets[set].1.iter().all(|&other| {
                    let less = allotments[other].saturating_sub(1);
                    less == 0 || !case.is_less((allotment, job), (less, other))
                })
            });
            assert!(fair, "seed {seed}: job {job} of {allotments:?}");
        }
    }
}

/// Returns all allocations that respect every set, limit and desire, and give at least one
/// processor to each job with work.
fn feasible(case: &Case) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = vec![vec![]];
    for job in 0..case.claims.len() {
        let most = case.most(job);
        let longer = |allotments: Vec<usize>| {
            (most.min(1)..=most)
                .map(move |allotment| [allotments.clone(), vec![allotment]].concat())
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    let keeps = |allotments: &Vec<usize>| {
        let within = |(processors, members): &(usize, Vec<usize>)| {
            members.iter().map(|job| allotments[*job]).sum::<usize>() <= *processors
        };
        case.sets.iter().all(within)
    };
    all.retain(keeps);
    all
}

/// Without weights, no feasible allocation gives the poorest job more.
#[test]
fn unweighted_poorest_cannot_gain() {
    let (mut checked, mut seed) = (0, 0);
    while checked < 300 {
        seed += 1;
        let case = Case::random(&mut Rng::new(seed), 4, 6, 1);
        let sorted = |mut allotments: Vec<usize>| {
            allotments.sort_unstable();
            allotments
        };
        let best = feasible(&case).into_iter().map(sorted).max();
        if let (Some(best), true) = (best, case.is_nested()) {
            assert_eq!(sorted(case.computed()), best, "seed {seed}");
            checked += 1;
        }
    }
}

fn computed(claims: &[Claim], bounds: &[Bound<'_>]) -> Vec<usize> {
    let mut out = vec![];
    max_min(claims, bounds, &mut out);
    out
}

#[test]
fn double_weight_gets_double_share() {
    let weighted = |desire, weight| Claim {
        weight,
        ..Claim::of(desire)
    };
    let members = [0, 1, 2];
    let machine = Bound {
        processors: 12,
        members: &members,
    };
    let claims = [weighted(99, 1), weighted(99, 2), weighted(99, 3)];
    assert_eq!(computed(&claims, &[machine]), [2, 4, 6]);
    let claims = [weighted(99, 1), weighted(1, 2), weighted(99, 3)];
    assert_eq!(computed(&claims, &[machine]), [3, 1, 8]);
}

/// Each job with work gets a processor, whatever its weight, its limit and the number of
/// processors.
#[test]
fn every_busy_job_gets_one() {
    let claims = [(5, 1, 9), (5, 1_000_000, 9), (5, 1, 0), (0, 1, 9)];
    let claims = claims.map(|(desire, weight, limit)| Claim {
        desire,
        weight,
        limit,
    });
    let members = [0, 1, 2, 3];
    let tight = Bound {
        processors: 2,
        members: &members,
    };
    assert_eq!(computed(&claims, &[tight]), [1, 1, 1, 0]);
    assert_eq!(
        computed(&claims, &[]),
        [5, 5, 1, 0],
        "without bounds everybody gets all up to the limit"
    );
}

#[test]
fn confined_job_leaves_other_processors() {
    let claims = [Claim::of(9), Claim::of(9), Claim::of(9)];
    let (machine, socket) = ([0, 1, 2], [0, 1]);
    let bounds = [
        Bound {
            processors: 12,
            members: &machine,
        },
        Bound {
            processors: 5,
            members: &socket,
        },
    ];
    assert_eq!(computed(&claims, &bounds), [3, 2, 7]);
}

#[test]
fn roomy_sets_restrict_nothing() {
    let claims = [Claim::of(usize::MAX), Claim::of(usize::MAX), Claim::of(3)];
    let members = [1, 2];
    let small = Bound {
        processors: 6,
        members: &members,
    };
    assert_eq!(computed(&claims, &[small]), [usize::MAX, 3, 3]);
}

#[test]
fn unknown_member_is_ignored() {
    let members = [0, 7];
    let set = Bound {
        processors: 2,
        members: &members,
    };
    assert_eq!(computed(&[Claim::of(5)], &[set]), [2]);
    assert_eq!(computed(&[], &[set]), [0; 0]);
}
