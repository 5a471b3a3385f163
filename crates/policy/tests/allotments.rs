//! What holds for allotments after every event, under every rule.

use tidegate_policy::allot::{Bound, Claim, Share, max_min};
use tidegate_policy::{Allot, AllotState, Rng};

fn shares_of(state: &AllotState) -> Vec<usize> {
    let mut allotments: Vec<usize> = state.shares().iter().map(|share| share.allotment).collect();
    allotments.sort_unstable();
    allotments
}

/// What each rule promises about shares of `processors`.
fn check(rule: Allot, processors: usize, shares: &[Share]) -> Result<(), &'static str> {
    let with_work = shares.iter().filter(|share| share.desire > 0).count();
    if shares
        .iter()
        .any(|share| share.desire == 0 && share.allotment > 0)
    {
        return Err("a job without work has a processor");
    }
    if with_work >= processors {
        let one_each = shares
            .iter()
            .all(|share| share.allotment == share.desire.min(1));
        return if one_each {
            Ok(())
        } else {
            Err("not one for every job with work")
        };
    }
    let given: usize = shares.iter().map(|share| share.allotment).sum();
    let most = shares
        .iter()
        .map(|share| share.allotment)
        .max()
        .unwrap_or(0);
    if rule == Allot::Equi {
        let mut with_work = shares.iter().filter(|share| share.desire > 0);
        return match (
            with_work.clone().count(),
            with_work.all(|share| share.allotment + 1 >= most),
        ) {
            (0, _) => Ok(()),
            (_, equal) if equal && given == processors => Ok(()),
            _ => Err("not equal"),
        };
    }
    let deprived = || shares.iter().filter(|share| share.allotment < share.desire);
    if shares.iter().any(|share| share.allotment > share.desire) {
        Err("not conservative")
    } else if given > processors || (given < processors && deprived().next().is_some()) {
        Err("not efficient")
    } else if deprived().any(|share| most > share.allotment + 1) {
        Err("not fair")
    } else {
        Ok(())
    }
}

/// Events of one sequence.
const EVENTS: usize = 40;

fn random_sequence(seed: u64) {
    let mut rng = Rng::new(seed);
    let processors = 1 + rng.below(40) as usize;
    let jobs = 1 + rng.below(12);
    let largest = 1 + rng.below(2 * processors as u64);
    let mut machines = [Allot::Dp, Allot::Deq, Allot::Equi, Allot::MaxMin]
        .map(|rule| (rule, AllotState::new(rule, processors)));
    for event in 0..EVENTS {
        let (job, desire, what) = (rng.below(jobs), rng.below(largest + 1), rng.below(4));
        for (rule, machine) in &mut machines {
            match what {
                0 => machine.leave(job),
                1 => machine.desire(job, desire as usize),
                _ => machine.arrive(job, desire as usize),
            }
            if let Err(what) = check(*rule, processors, machine.shares()) {
                panic!("seed {seed}, event {event}, {rule}: {what}: {machine:?}");
            }
        }
        let same = shares_of(&machines[0].1);
        for (rule, machine) in [&machines[1], &machines[3]] {
            assert_eq!(
                shares_of(machine),
                same,
                "seed {seed}, event {event}: {rule} and dp"
            );
        }
    }
}

/// How many sequences of a test that is also a soak, of which this is one slice; says it.
fn soak(slice: u64, what: &str) -> u64 {
    let scale: u64 = std::env::var("TIDEGATE_SOAK_SCALE").map_or(1, |text| {
        text.parse().expect("TIDEGATE_SOAK_SCALE is a number")
    });
    println!("soak: {} {what}", slice * scale);
    slice * scale
}

#[test]
fn after_every_event_allotments_are_what_their_rule_promises_and_the_fair_ones_agree() {
    let slice = if cfg!(miri) { 2 } else { 1_000 };
    for seed in 1..=soak(slice, "sequences of events") {
        random_sequence(seed);
    }
}

fn computed(claims: &[Claim], bounds: &[Bound<'_>]) -> Vec<usize> {
    let mut out = vec![];
    max_min(claims, bounds, &mut out);
    out
}

#[test]
fn a_job_of_twice_the_weight_gets_twice_as_much() {
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

#[test]
fn every_job_with_work_gets_one_whatever_its_weight_its_limit_and_the_room() {
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
fn a_job_confined_to_few_processors_leaves_the_others_to_those_that_are_not() {
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
