//! Checks after every event that the allotments keep the promises of their rule.

use tidegate_policy::Rng;
use tidegate_sim::allot::{Broken, Share, broken};
use tidegate_sim::{Allot, AllotState};
use tidegate_testkit::soak;

fn shares_of(state: &AllotState) -> Vec<usize> {
    let mut allotments: Vec<usize> = state.shares().iter().map(|share| share.allotment).collect();
    allotments.sort_unstable();
    allotments
}

/// The number of events in a random sequence.
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
            if let Some(what) = machine.broken() {
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

#[test]
fn allotments_keep_their_rule_promises() {
    for seed in 1..=soak(1_000, "sequences of events") {
        random_sequence(seed);
    }
}

#[test]
fn every_busy_job_gets_a_processor() {
    for name in Allot::names() {
        let mut machine = AllotState::new(name.parse().unwrap(), 4);
        for job in 0..9 {
            machine.arrive(job, 3);
        }
        machine.desire(7, 0);
        let allotments: Vec<usize> = (0..9).map(|job| machine.allotment(job)).collect();
        assert_eq!(allotments, [1, 1, 1, 1, 1, 1, 1, 0, 1], "{name}");
        for job in 0..5 {
            machine.leave(job);
        }
        assert_eq!(shares_of(&machine), [0, 1, 1, 2], "{name}");
    }
}

#[test]
fn rules_give_their_known_allotments() {
    let shared = |rule| {
        let mut machine = AllotState::new(rule, 16);
        for (job, desire) in [(1, 2), (2, 9), (3, 9), (4, 0)] {
            machine.arrive(job, desire);
        }
        [1, 2, 3, 4].map(|job| machine.allotment(job))
    };
    assert_eq!(shared(Allot::Deq), [2, 7, 7, 0]);
    assert_eq!(shared(Allot::MaxMin), [2, 7, 7, 0]);
    assert_eq!(shared(Allot::Dp), [2, 7, 7, 0]);
    assert_eq!(shared(Allot::Equi), [6, 5, 5, 0]);
}

#[test]
fn absent_jobs_have_no_effect() {
    let mut machine = AllotState::new(Allot::Dp, 4);
    machine.arrive(1, 2);
    machine.desire(2, 3);
    machine.leave(3);
    assert_eq!([machine.allotment(1), machine.allotment(2)], [2, 0]);
    assert_eq!(machine.shares().len(), 1);
    machine.arrive(1, 3);
    assert_eq!((machine.shares().len(), machine.allotment(1)), (1, 3));
}

#[test]
fn rules_round_trip_as_text() {
    for name in Allot::names() {
        assert_eq!(name.parse::<Allot>().unwrap().to_string(), *name);
    }
    let error = "fair".parse::<Allot>().unwrap_err().to_string();
    assert_eq!(
        error,
        "unknown allotment policy \"fair\": expected dp, deq, equi, max-min"
    );
}

/// Each case breaks one promise, except the last case, which keeps all of them.
#[test]
fn every_promise_can_be_broken() {
    for (rule, processors, shares, expected) in [
        (Allot::Dp, 8, &[(8, 6), (4, 2)][..], Some(Broken::Fair)),
        (Allot::Deq, 8, &[(8, 4), (8, 3)], Some(Broken::Efficient)),
        (Allot::Deq, 8, &[(8, 5), (8, 4)], Some(Broken::Efficient)),
        (Allot::Dp, 8, &[(2, 4), (4, 4)], Some(Broken::Conservative)),
        (Allot::Equi, 8, &[(2, 2), (6, 6)], Some(Broken::Equal)),
        (Allot::MaxMin, 2, &[(3, 2), (3, 0)], Some(Broken::Crowd)),
        (Allot::MaxMin, 8, &[(0, 1), (3, 3)], Some(Broken::Idle)),
        (Allot::Dp, 8, &[(8, 4), (4, 4), (0, 0)], None),
    ] {
        let share = |(job, &(desire, allotment))| Share {
            job,
            desire,
            allotment,
        };
        let shares: Vec<Share> = (0..).zip(shares).map(share).collect();
        assert_eq!(broken(rule, processors, &shares), expected, "{rule}");
    }
}
