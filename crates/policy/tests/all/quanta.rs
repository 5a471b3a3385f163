//! Tests the dynamic quanta, with and without long quanta, on a clock that the test advances.

use tidegate_policy::{IdleState, Nanos, Rest};

const US: Nanos = 1_000;

struct Thief {
    idle: IdleState,
    now: Nanos,
}

impl Thief {
    fn new(idle: &str) -> Self {
        Self {
            idle: IdleState::new(&idle.parse().unwrap()).unwrap(),
            now: 7 * US,
        }
    }

    /// Lets an attempt fail after `time`. If the thief must sleep, it sleeps for exactly as long as
    /// the policy says, and this returns the length of the sleep.
    fn fails_after(&mut self, time: Nanos) -> Option<Nanos> {
        self.fails_and_oversleeps(time, 0)
    }

    fn fails_and_oversleeps(&mut self, time: Nanos, over: Nanos) -> Option<Nanos> {
        self.now += time;
        let sleep = match self.idle.attempt_failed(|| self.now) {
            Rest::Retry => return None,
            Rest::Sleep(sleep) => sleep,
            other => panic!("unexpected {other:?}"),
        };
        self.now += sleep + over;
        self.idle.rested(|| self.now);
        Some(sleep)
    }

    fn succeeds_after(&mut self, time: Nanos) {
        self.now += time;
        self.idle.steal_succeeded(|| self.now);
    }

    /// Lets an attempt fail every `pace` until the thief sleeps. Returns the time until the sleep
    /// and the length of the sleep.
    fn fails_until_sleep(&mut self, pace: Nanos) -> (Nanos, Nanos) {
        let start = self.now;
        for _ in 0..1_000_000 {
            if let Some(sleep) = self.fails_after(pace) {
                return (self.now - sleep - start, sleep);
            }
        }
        panic!("a thief that always fails never slept");
    }
}

/// Returns the lengths of the quanta and sleeps of a thief that makes one attempt each nanosecond,
/// all of which fail. The first attempt is left out because it begins the first quantum.
fn all_fail(idle: &str, n: usize) -> (Vec<Nanos>, Vec<Nanos>) {
    let mut thief = Thief::new(idle);
    assert_eq!(thief.fails_after(0), None);
    (0..n).map(|_| thief.fails_until_sleep(1)).unzip()
}

/// Adds one nanosecond to each length: an attempt fails every nanosecond, and a quantum ends at the
/// first failure after its minimum length.
fn just_after(lengths: &[Nanos]) -> Vec<Nanos> {
    lengths.iter().map(|length| length + 1).collect()
}

#[test]
fn inefficient_quanta_lengthen_the_sleep() {
    let (_, sleeps) = all_fail("quanta", 30);
    assert_eq!(sleeps[..4], [30 * US, 90 * US, 150 * US, 210 * US]);
    assert_eq!(sleeps[24], 1_470 * US);
    assert!(
        sleeps[25..].iter().all(|&sleep| sleep == 1_500 * US),
        "{sleeps:?}"
    );
}

#[test]
fn quanta_shrink_with_each_inefficient_one() {
    let (lengths, _) = all_fail("quanta", 4);
    assert_eq!(lengths, just_after(&[75_000, 25_000, 15_000, 10_714]));
}

/// A quantum of normal length follows every twentieth inefficient quantum.
#[test]
fn every_twentieth_quantum_is_normal() {
    let (lengths, sleeps) = all_fail("quanta", 65);
    let normal: Vec<usize> = (0..65).filter(|&k| lengths[k] == 75_001).collect();
    let short: Vec<usize> = (0..65).filter(|&k| sleeps[k] == 30 * US).collect();
    assert_eq!(normal, [0, 20, 40, 60]);
    assert_eq!(
        short, normal,
        "the sleep after an inserted quantum counts none before it"
    );
    assert_eq!(sleeps[21], 1_290 * US, "and the count goes on");
}

#[test]
fn inserted_quantum_period_is_configurable() {
    let (_, sleeps) = all_fail("quanta:insert=3", 7);
    assert_eq!(sleeps, [30, 90, 150, 30, 270, 330, 30].map(|us| us * US));
}

#[test]
fn sleep_grows_with_stealing_share() {
    let mut thief = Thief::new("quanta");
    assert_eq!(thief.fails_after(0), None);
    thief.succeeds_after(40 * US); // 40 us of stealing
    assert_eq!(thief.fails_after(20 * US), None); // 20 us of work
    assert_eq!(thief.fails_after(20 * US), Some(22_500)); // 60 of 80 us: 75 us * 0.75 * 0.4
}

#[test]
fn quantum_outlasts_its_minimum_length() {
    let mut thief = Thief::new("quanta");
    assert_eq!(thief.fails_after(0), None);
    assert_eq!(thief.fails_after(75 * US), None);
    assert_eq!(thief.fails_after(1), Some(30 * US));
}

#[test]
fn efficient_quantum_ends_inefficient_run() {
    let mut thief = Thief::new("quanta");
    thief.fails_after(0);
    assert_eq!(thief.fails_until_sleep(US).1, 30 * US);
    assert_eq!(thief.fails_until_sleep(US).1, 90 * US);
    thief.succeeds_after(US);
    assert_eq!(thief.fails_after(10 * US), None);
    assert_eq!(thief.fails_after(5 * US), None, "stealing took 6 of 16 us");
    let (length, sleep) = thief.fails_until_sleep(1);
    assert_eq!((length, sleep), (75 * US + 1, 30 * US));
}

#[test]
fn share_at_threshold_is_efficient() {
    let mut thief = Thief::new("quanta");
    thief.fails_after(0);
    thief.succeeds_after(30 * US);
    thief.fails_after(40 * US);
    assert_eq!(thief.fails_after(10 * US), None); // 40 of 80 us
    assert_eq!(thief.fails_until_sleep(1).0, 75 * US + 1);
}

/// A quantum that is dropped at a first failure counts neither as efficient nor as inefficient.
#[test]
fn dropped_quantum_counts_neither_way() {
    let mut thief = Thief::new("quanta");
    thief.fails_after(0);
    assert_eq!(thief.fails_until_sleep(US).1, 30 * US);
    thief.succeeds_after(0);
    assert_eq!(
        thief.fails_after(10_000 * US),
        None,
        "the first failure after long work never sleeps"
    );
    // The next quantum has the minimum length of the dropped quantum, and the series of inefficient
    // quanta continues.
    assert_eq!(thief.fails_until_sleep(1), (25 * US + 1, 90 * US));
}

#[test]
fn dropped_insertion_is_repeated() {
    let mut thief = Thief::new("quanta:insert=2");
    thief.fails_after(0);
    thief.fails_until_sleep(US);
    thief.fails_until_sleep(US);
    thief.succeeds_after(0);
    assert_eq!(thief.fails_after(1_000 * US), None);
    assert_eq!(thief.fails_until_sleep(1), (75 * US + 1, 30 * US));
}

#[test]
fn unreported_rest_lasts_until_next_attempt() {
    let mut thief = Thief::new("quanta");
    thief.fails_after(0);
    thief.now += 76 * US;
    assert_eq!(
        thief.idle.attempt_failed(|| thief.now),
        Rest::Sleep(30 * US)
    );
    thief.now += 30 * US;
    assert_eq!(thief.fails_after(0), None);
    assert_eq!(thief.fails_until_sleep(1), (25 * US + 1, 90 * US));
}

#[test]
fn backward_and_ending_clocks_are_survived() {
    for name in ["quanta", "long-quanta"] {
        let mut thief = Thief::new(name);
        for now in [5_000, 100_000, 0, 90_000, u64::MAX, 3, u64::MAX] {
            thief.now = now;
            let rest = thief.idle.attempt_failed(|| now);
            assert!(matches!(rest, Rest::Retry | Rest::Sleep(_)));
            thief.idle.rested(|| now.wrapping_sub(10));
            thief.idle.steal_succeeded(|| now);
        }
    }
}

#[test]
fn first_long_quantum_halves_share() {
    let (_, sleeps) = all_fail("long-quanta", 12);
    // The first sleep is 75 us * 1 * (1 + 0) / 2 * 0.8, and each sleep is 60 us longer than the
    // previous one. After 3 ms, the first term is 75 us * 1 * 1 * 0.8.
    let us: Vec<Nanos> = sleeps.iter().map(|sleep| sleep / US).collect();
    assert_eq!(
        us,
        [30, 90, 150, 210, 270, 330, 390, 450, 510, 570, 660, 720]
    );
}

/// With long quanta, the short quanta still shrink, and quanta of normal length are still inserted.
#[test]
fn long_policy_shrinks_and_inserts_alike() {
    let (lengths, _) = all_fail("long-quanta", 21);
    assert_eq!(lengths[..4], just_after(&[75_000, 25_000, 15_000, 10_714]));
    assert_eq!(lengths[20], 75_001);
}

#[test]
fn sleep_is_neither_work_nor_stealing() {
    let mut thief = Thief::new("long-quanta");
    thief.fails_after(0);
    // The thief sleeps far too long. If that time counted in the long quantum, the long quantum's
    // share would fall below 1.
    assert_eq!(thief.fails_and_oversleeps(76 * US, 900 * US), Some(30 * US));
    assert_eq!(thief.fails_after(26 * US), Some(90 * US));
}

/// The long quantum was busy, so the sleep after an idle short quantum is short.
#[test]
fn busy_long_quantum_shortens_sleep() {
    let mut thief = Thief::new("long-quanta");
    thief.fails_after(0);
    thief.succeeds_after(0);
    thief.fails_after(900 * US); // work; the short quantum is dropped, the long one continues
    assert_eq!(thief.fails_after(100 * US), Some(3 * US)); // long share 0.1: 75 us * 1 * 0.05 * 0.8
}

/// If a long quantum ends at a first failure, its share counts for the next long quantum.
#[test]
fn first_failure_passes_long_share_on() {
    let mut thief = Thief::new("long-quanta");
    thief.fails_after(0);
    thief.succeeds_after(2_000 * US);
    thief.fails_after(2_000 * US); // the long quantum ends: half of it was spent stealing
    assert_eq!(thief.fails_after(100 * US), Some(45 * US)); // 75 us * 1 * (1 + 0.5) / 2 * 0.8
}

/// If a long quantum ends during a sleep, its share immediately counts for the next long quantum.
#[test]
fn sleep_passes_long_share_on() {
    let mut thief = Thief::new("long-quanta");
    thief.fails_after(0);
    assert_eq!(
        thief.fails_and_oversleeps(76 * US, 3_000 * US),
        Some(30 * US)
    );
    assert_eq!(thief.fails_after(26 * US), Some(120 * US)); // 75 us * 1 * (1 + 1) / 2 * 0.8 + 60 us
}

#[test]
fn long_quantum_may_end_within_short() {
    let mut thief = Thief::new("long-quanta:length=5ms,long=3ms,max=1s");
    thief.fails_after(0);
    assert_eq!(thief.fails_after(4_000 * US), None);
    assert_eq!(thief.fails_after(1_001 * US), Some(4_000 * US)); // 5 ms * 1 * (1 + 1) / 2 * 0.8
}

#[test]
fn unreported_rest_lasts_until_next_success() {
    let mut thief = Thief::new("long-quanta");
    thief.fails_after(0);
    thief.now += 76 * US;
    assert_eq!(
        thief.idle.attempt_failed(|| thief.now),
        Rest::Sleep(30 * US)
    );
    thief.succeeds_after(30 * US);
    thief.fails_after(894 * US);
    // Stealing took 102 of the 996 us in which the thief was awake: 75 us * 1 * (0.1024 + 0) / 2 *
    // 0.8 + 60 us.
    assert_eq!(thief.fails_after(26 * US), Some(63_072));
}

#[test]
fn condition_selects_the_deciding_share() {
    // The share of the short quantum is 1, that of the long one (1 + 0) / 2; their mean is 0.75.
    for (condition, threshold, slept) in [
        ("short", "0.6", true),
        ("either", "0.6", true),
        ("both", "0.6", false),
        ("both", "0.4", true),
        ("mean", "0.6", true),
        ("mean", "0.8", false),
    ] {
        let mut thief = Thief::new(&format!(
            "long-quanta:inefficient={condition},threshold={threshold}"
        ));
        thief.fails_after(0);
        assert_eq!(
            thief.fails_after(76 * US).is_some(),
            slept,
            "{condition} above {threshold}"
        );
    }
}

/// Under `either`, the share of the long quantum alone can make a short quantum inefficient.
#[test]
fn long_share_alone_can_decide() {
    let ends_in_sleep = |condition: &str| {
        let mut thief = Thief::new(&format!("long-quanta:c=0,inefficient={condition}"));
        thief.fails_after(0);
        while thief.now < 4_000 * US {
            thief.fails_after(5 * US); // fills a whole long quantum with stealing
        }
        thief.succeeds_after(0);
        thief.fails_after(76 * US); // a new short quantum
        thief.succeeds_after(3 * US);
        thief.fails_after(60 * US);
        thief.fails_after(20 * US) // 23 of 83 us spent stealing: efficient
    };
    assert_eq!(ends_in_sleep("short"), None);
    assert!(ends_in_sleep("either").is_some());
}
