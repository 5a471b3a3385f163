//! Machines whose thieves use a custom backoff.

use crate::support::{Random, whole};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tidegate_policy::Rest;
use tidegate_policy::idle::{BackoffFactory, CustomBackoff};
use tidegate_sim::{Nanos, Outcome, Settings, run};

const SEEDS: u64 = 10;

/// Follows the same rule as the built-in `linear`, without randomness.
struct Linear {
    sleep: Nanos,
    step: Nanos,
}

const MIN: Nanos = 10_000;
const STEP: Nanos = 50_000;
const MAX: Nanos = 500_000;

impl CustomBackoff for Linear {
    fn backoff(&mut self, _: u64) -> Rest {
        let sleep = self.sleep;
        self.sleep = (sleep + self.step).min(MAX);
        Rest::Sleep(sleep)
    }

    fn reset(&mut self) {
        self.sleep = MIN;
    }
}

fn built_in_linear() -> String {
    format!("linear:min={MIN}ns,step={STEP}ns,max={MAX}ns")
}

fn linear(step: Nanos) -> BackoffFactory {
    BackoffFactory::new(move |_| Linear { sleep: MIN, step })
}

fn outcome(seed: u64, idle: &str, backoff: Option<BackoffFactory>) -> Outcome {
    let settings = Settings {
        seed,
        idle: idle.parse().unwrap(),
        backoff,
        ..Settings::new(8)
    };
    run(&settings, &[whole(Random::new(seed), &settings)]).unwrap()
}

#[test]
fn custom_linear_matches_built_in() {
    let mut naps = 0;
    for seed in 0..SEEDS {
        let built_in = outcome(seed, &built_in_linear(), None);
        naps += built_in.jobs[0].counters.naps;
        assert_eq!(outcome(seed, "elastic", Some(linear(STEP))), built_in);
    }
    assert!(naps > 0);
}

#[test]
fn another_rule_gives_another_outcome() {
    let built_in = |seed| outcome(seed, &built_in_linear(), None);
    let differs = |seed| outcome(seed, "elastic", Some(linear(STEP + 1))) != built_in(seed);
    assert!((0..SEEDS).any(differs));
}

/// A backoff that always rests in the same way.
struct Always(Rest);

impl CustomBackoff for Always {
    fn backoff(&mut self, _: u64) -> Rest {
        self.0
    }

    fn reset(&mut self) {}
}

/// A backoff that always yields matches the built-in rule `yield`, and one that never rests matches
/// `none`.
#[test]
fn constant_backoffs_match_built_in_ones() {
    for (idle, rest) in [("yield", Rest::Yield), ("none", Rest::Retry)] {
        let custom = BackoffFactory::new(move |_| Always(rest));
        // Unlike a custom backoff, the built-in rules draw no random numbers. So the outcomes can
        // be equal only on a machine whose victims are not random.
        let machine = |idle: &str, backoff| Settings {
            idle: idle.parse().unwrap(),
            victim: "round-robin".parse().unwrap(),
            backoff,
            ..Settings::new(4)
        };
        let outcome =
            |settings: Settings| run(&settings, &[whole(Random::new(1), &settings)]).unwrap();
        let built_in = outcome(machine(idle, None));
        assert_eq!(outcome(machine("elastic", Some(custom))), built_in);
    }
}

#[test]
fn parking_thieves_are_woken_for_work() {
    let parks = BackoffFactory::new(|_| Always(Rest::Park));
    let outcome = outcome(1, "none", Some(parks));
    assert!(outcome.jobs[0].counters.steals > 0);
}

#[test]
fn workers_have_separate_custom_backoffs() {
    let made: Arc<[AtomicUsize; 4]> = Arc::default();
    let counts = made.clone();
    let backoff = BackoffFactory::new(move |worker| {
        counts[worker].fetch_add(1, Ordering::Relaxed);
        Always(Rest::Yield)
    });
    let settings = Settings {
        backoff: Some(backoff),
        ..Settings::new(4)
    };
    let jobs = [1, 2].map(|seed| whole(Random::new(seed), &settings));
    run(&settings, &jobs).unwrap();
    assert!(made.iter().all(|made| made.load(Ordering::Relaxed) == 2));
}

#[test]
fn a_panic_reaches_the_caller() {
    struct Panics;
    impl CustomBackoff for Panics {
        fn backoff(&mut self, _: u64) -> Rest {
            panic!("as the test wants")
        }

        fn reset(&mut self) {}
    }
    let backoff = BackoffFactory::new(|_| Panics);
    let run = AssertUnwindSafe(|| outcome(1, "elastic", Some(backoff)));
    let payload = catch_unwind(run).unwrap_err();
    assert_eq!(payload.downcast_ref(), Some(&"as the test wants"));
}
