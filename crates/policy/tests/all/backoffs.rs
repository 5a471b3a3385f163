//! Checks how long the backoffs sleep, step by step, and what the policies that read no clock
//! return.

use tidegate_policy::idle::{CustomBackoff, LONGEST_SLEEP};
use tidegate_policy::{IdlePolicy, IdleState, Nanos, Rest, Rng};

fn state(idle: &str) -> IdleState {
    IdleState::new(&idle.parse().unwrap()).unwrap()
}

fn no_clock() -> Nanos {
    panic!("this policy has no use for the clock")
}

fn no_draw() -> u64 {
    panic!("there is nothing to draw")
}

/// Returns the lengths of the next `n` sleeps if all sweeps fail.
fn sleeps(state: &mut IdleState, n: usize, mut draw: impl FnMut() -> u64) -> Vec<Nanos> {
    let sleep = |rest| match rest {
        Rest::Sleep(time) => time,
        Rest::Retry => 0,
        other => panic!("expected a sleep, got {other:?}"),
    };
    (0..n)
        .map(|_| sleep(state.sweep_failed(no_clock, &mut draw)))
        .collect()
}

fn first_sleeps(idle: &str, n: usize) -> Vec<Nanos> {
    sleeps(&mut state(idle), n, || 0)
}

#[test]
fn linear_sleeps_grow_by_steps() {
    let us = [10, 60, 110, 160, 210, 260, 310, 360, 410, 460, 500, 500];
    assert_eq!(first_sleeps("linear", 12), us.map(|us| us * 1_000));
}

#[test]
fn exponential_sleeps_grow_by_a_factor() {
    let sleeps = first_sleeps("exponential", 17);
    assert_eq!(sleeps[..5], [10_000, 13_000, 16_900, 21_970, 28_561]);
    assert!(sleeps[14] < 500_000);
    assert_eq!(sleeps[15..], [500_000, 500_000]);
}

#[test]
fn exponential_linear_hits_threshold_once() {
    let us = [10, 20, 40, 80, 160, 200, 250, 300, 350, 400, 450, 500, 500];
    assert_eq!(
        first_sleeps("exponential-linear", 13),
        us.map(|us| us * 1_000)
    );
}

#[test]
fn linear_exponential_hits_threshold_once() {
    let ns = [
        10_000, 35_000, 60_000, 85_000, 100_000, 130_000, 169_000, 219_700, 285_610, 371_293,
        482_681, 500_000,
    ];
    assert_eq!(first_sleeps("linear-exponential", 12), ns);
}

/// With each of these thresholds, one of the sleeps lasts exactly as long as the threshold.
#[test]
fn published_thresholds_are_accepted() {
    assert_eq!(
        first_sleeps("exponential-linear:threshold=50us", 5),
        [10_000, 20_000, 40_000, 50_000, 100_000]
    );
    assert_eq!(
        first_sleeps("exponential-linear:threshold=400us", 8)[5..],
        [320_000, 400_000, 450_000]
    );
    assert_eq!(
        first_sleeps("linear-exponential:threshold=50us", 4),
        [10_000, 35_000, 50_000, 65_000]
    );
    assert_eq!(
        first_sleeps("linear-exponential:threshold=400us", 18)[15..],
        [385_000, 400_000, 500_000]
    );
}

#[test]
fn second_part_may_start_above_threshold() {
    let us = [10, 20, 40, 50, 120, 170].map(|us| us * 1_000);
    assert_eq!(
        first_sleeps("exponential-linear:threshold=50us,resume=120us", 6),
        us
    );
}

#[test]
fn combination_weighs_both_backoffs() {
    assert_eq!(first_sleeps("combination", 3), [10_000, 48_250, 86_725]);
    let (linear, exponential) = (first_sleeps("linear", 20), first_sleeps("exponential", 20));
    assert_eq!(first_sleeps("combination:t=1", 20), linear);
    assert_eq!(first_sleeps("combination:t=0", 20), exponential);
}

#[test]
fn a_success_starts_every_backoff_over() {
    for name in [
        "linear",
        "exponential",
        "exponential-linear",
        "linear-exponential",
        "combination",
    ] {
        let mut state = state(name);
        let first = sleeps(&mut state, 9, no_draw_matters);
        state.steal_succeeded(no_clock);
        assert_eq!(sleeps(&mut state, 9, no_draw_matters), first, "{name}");
    }
}

fn no_draw_matters() -> u64 {
    0x1234_5678_9ABC_DEF0
}

#[test]
fn slow_reset_steps_back_to_minimum() {
    let mut linear = state("linear:slow-reset=on");
    assert_eq!(sleeps(&mut linear, 3, || 0), [10_000, 60_000, 110_000]);
    linear.steal_succeeded(no_clock);
    assert_eq!(sleeps(&mut linear, 1, || 0), [110_000]);
    for _ in 0..9 {
        linear.steal_succeeded(no_clock);
    }
    assert_eq!(sleeps(&mut linear, 1, || 0), [10_000]);

    let mut exponential = state("exponential:r=2,slow-reset=on");
    assert_eq!(sleeps(&mut exponential, 3, || 0), [10_000, 20_000, 40_000]);
    exponential.steal_succeeded(no_clock);
    assert_eq!(sleeps(&mut exponential, 1, || 0), [40_000]);
}

#[test]
fn constant_jitter_is_half_linear_step() {
    let largest = u64::MAX;
    assert_eq!(
        sleeps(&mut state("linear:randomness=constant"), 2, || 0),
        [10_000, 35_000]
    );
    assert_eq!(
        sleeps(&mut state("linear:randomness=constant"), 2, || largest),
        [10_000, 85_000]
    );
    assert_eq!(
        sleeps(&mut state("linear:randomness=constant"), 2, || 1 << 63),
        [10_000, 60_000]
    );
}

#[test]
fn constant_jitter_is_half_exponential_minimum() {
    assert_eq!(
        sleeps(&mut state("exponential:randomness=constant,r=2"), 2, || 0),
        [10_000, 15_000]
    );
    assert_eq!(
        sleeps(&mut state("exponential:randomness=constant,r=2"), 2, || {
            u64::MAX
        }),
        [10_000, 25_000]
    );
}

#[test]
fn constant_randomness_never_leaves_the_limits() {
    let mut rng = Rng::new(3);
    for name in [
        "linear:randomness=constant",
        "exponential:randomness=constant,r=1",
    ] {
        let sleeps = sleeps(&mut state(name), 2_000, || rng.draw());
        assert!(
            sleeps
                .iter()
                .all(|sleep| (10_000..=500_000).contains(sleep)),
            "{name}"
        );
    }
}

/// Each sleep's length is drawn uniformly from the range up to the backoff's current time.
#[test]
fn limited_sleeps_are_uniform() {
    let mut rng = Rng::new(4);
    for (name, max) in [
        ("pheet-original", 100_000),
        ("linear:randomness=limit-max", 500_000),
    ] {
        let mut state = state(name);
        sleeps(&mut state, 30, || 0); // now the current time is the maximum
        let drawn = sleeps(&mut state, 4_000, || rng.draw());
        for quarter in 0..4 {
            let range = quarter * max / 4..=(quarter + 1) * max / 4;
            let share = drawn.iter().filter(|sleep| range.contains(*sleep)).count();
            assert!(
                (900..1_100).contains(&share),
                "{name}: {share} of 4000 in {range:?}"
            );
        }
    }
}

/// Every draw is the largest possible, so each sleep lasts as long as the limit allows.
#[test]
fn original_backoff_limit_doubles() {
    let ns = [
        100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 51_200, 100_000, 100_000,
    ];
    assert_eq!(sleeps(&mut state("pheet-original"), 12, || u64::MAX), ns);
}

#[test]
fn yield_then_yields_after_success() {
    let mut state = state("yield-then-linear");
    for _ in 0..2 {
        assert_eq!(state.sweep_failed(no_clock, no_draw), Rest::Yield);
        assert_eq!(sleeps(&mut state, 3, || 0), [10_000, 60_000, 110_000]);
        state.steal_succeeded(no_clock);
    }
}

#[test]
fn stateless_policies_always_rest_alike() {
    for (name, after_attempt, after_sweep) in [
        ("none", Rest::Retry, Rest::Retry),
        ("yield", Rest::Retry, Rest::Yield),
        ("abp-yield", Rest::Yield, Rest::Retry),
    ] {
        let mut state = state(name);
        for _ in 0..100 {
            assert_eq!(state.attempt_failed(no_clock), after_attempt, "{name}");
            assert_eq!(state.sweep_failed(no_clock, no_draw), after_sweep, "{name}");
            state.rested(no_clock);
        }
    }
}

#[test]
fn zero_sleep_is_a_retry() {
    let mut state = state("linear:min=0ns");
    assert_eq!(state.sweep_failed(no_clock, || 0), Rest::Retry);
    assert_eq!(state.sweep_failed(no_clock, || 0), Rest::Sleep(50_000));
}

#[test]
fn backoffs_skip_rest_within_sweeps() {
    assert_eq!(state("linear").attempt_failed(no_clock), Rest::Retry);
}

#[test]
fn elastic_thief_yields_then_parks() {
    let mut state = state("elastic:search=50us");
    for start in [1_000_000, 9_000_000] {
        let mut sweep = |after: Nanos| state.sweep_failed(|| start + after, no_draw);
        assert_eq!(sweep(0), Rest::Yield);
        assert_eq!(sweep(49_999), Rest::Yield);
        assert_eq!(sweep(50_000), Rest::Park);
        state.rested(no_clock);
    }
}

#[test]
fn elastic_success_restarts_the_search() {
    let mut state = state("elastic:search=50us");
    assert_eq!(state.sweep_failed(|| 0, no_draw), Rest::Yield);
    state.steal_succeeded(no_clock);
    assert_eq!(state.sweep_failed(|| 60_000, no_draw), Rest::Yield);
    assert_eq!(state.sweep_failed(|| 110_000, no_draw), Rest::Park);
}

#[test]
fn elastic_without_search_parks_immediately() {
    assert_eq!(
        state("elastic:search=0ns").sweep_failed(|| 5, no_draw),
        Rest::Park
    );
}

#[test]
fn only_the_elastic_policy_parks() {
    let mut rng = Rng::new(9);
    for name in IdlePolicy::names() {
        let mut state = state(&name.replace("BACKOFF", "exponential"));
        let mut now = 0;
        let mut parks = 0;
        for _ in 0..10_000 {
            now += 500;
            for rest in [
                state.attempt_failed(|| now),
                state.sweep_failed(|| now, || rng.draw()),
            ] {
                parks += usize::from(rest == Rest::Park);
                if let Rest::Sleep(time) = rest {
                    now += time;
                }
                state.rested(|| now);
            }
        }
        assert_eq!(parks > 0, *name == "elastic", "{name}: {parks} parks");
    }
}

/// A worker whose attempts to steal never fail reads no clock and draws no random number.
#[test]
fn successful_worker_needs_no_clock() {
    for name in IdlePolicy::names() {
        let mut state = state(&name.replace("BACKOFF", "combination"));
        for _ in 0..1_000 {
            state.steal_succeeded(no_clock);
        }
    }
}

mod custom {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// A backoff that always returns the given rest, and counts its resets.
    struct Told(Rest, Arc<AtomicU32>);

    impl CustomBackoff for Told {
        fn backoff(&mut self, _: u64) -> Rest {
            self.0
        }

        fn reset(&mut self) {
            self.1.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn rest(told: Rest) -> Rest {
        let mut state = IdleState::custom(Box::new(Told(told, Arc::default())));
        state.sweep_failed(no_clock, || 0)
    }

    #[test]
    fn rests_are_carried_out_as_returned() {
        for told in [Rest::Retry, Rest::Yield, Rest::Park, Rest::Sleep(1)] {
            assert_eq!(rest(told), told);
        }
    }

    #[test]
    fn sleeps_are_limited() {
        assert_eq!(rest(Rest::Sleep(0)), Rest::Retry);
        let longest = Rest::Sleep(LONGEST_SLEEP);
        assert_eq!(rest(longest), longest);
        for longer in [LONGEST_SLEEP + 1, Nanos::MAX] {
            assert_eq!(rest(Rest::Sleep(longer)), longest);
        }
    }

    #[test]
    fn success_resets_and_attempts_retry() {
        let resets = Arc::new(AtomicU32::new(0));
        let backoff = Told(Rest::Park, resets.clone());
        let mut state = IdleState::custom(Box::new(backoff));
        assert_eq!(state.attempt_failed(no_clock), Rest::Retry);
        assert_eq!(resets.load(Ordering::Relaxed), 0);
        state.steal_succeeded(no_clock);
        assert_eq!(resets.load(Ordering::Relaxed), 1);
        assert_eq!(
            format!("{state:?}"),
            "IdleState { kind: Custom(CustomBackoff) }"
        );
    }
}
