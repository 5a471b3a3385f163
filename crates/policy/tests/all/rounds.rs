//! Tests the clocks and sleepers of the hybrid policy.

use tidegate_policy::memory::rounds::{Rounds, pass_for_absent};
use tidegate_policy::memory::{Hybrid, SleepFunction};

#[test]
fn sleep_grows_with_the_allocation() {
    let rounds = |size, current, (alpha, beta), workers| {
        let sleep = SleepFunction::Linear;
        Hybrid { alpha, beta, sleep }.sleep_rounds(size, current, workers)
    };
    assert_eq!(rounds(99, 0, (100, 0), 4), 0);
    assert_eq!(rounds(99, 1, (100, 0), 4), 1);
    assert_eq!(rounds(1_000, 0, (100, 25), 4), 5);
    assert_eq!(rounds(1_000, 0, (100, 25), 16), 2);
    assert_eq!(rounds(u64::MAX, u64::MAX, (0, 0), 1), u64::MAX);
    assert_eq!(rounds(7, 0, (usize::MAX, usize::MAX), 2), 0);
}

#[test]
fn functions_differ_in_length_only() {
    for (bytes, [linear, sqrt, square]) in [
        (99, [0, 0, 0]),
        (100, [1, 1, 1]),
        (399, [3, 1, 9]),
        (400, [4, 2, 16]),
        (1_280, [12, 3, 144]),
        (u64::MAX, [u64::MAX / 100, 429_496_729, u64::MAX]),
    ] {
        let rounds = |sleep| {
            let (alpha, beta) = (60, 10);
            Hybrid { alpha, beta, sleep }.sleep_rounds(bytes, 0, 4)
        };
        assert_eq!(rounds(SleepFunction::Linear), linear, "{bytes}");
        assert_eq!(rounds(SleepFunction::Sqrt), sqrt, "{bytes}");
        assert_eq!(rounds(SleepFunction::Square), square, "{bytes}");
    }
}

#[test]
fn sleepers_wake_in_round_order() {
    let mut rounds = Rounds::default();
    for (length, who) in [(3, 'c'), (1, 'a'), (1, 'b'), (9, 'd')] {
        rounds.sleep(length, who);
    }
    let woken: Vec<_> = (0..4).map(|_| rounds.pass()).collect();
    assert_eq!(woken, [Some('a'), Some('b'), Some('c'), None]);
    assert_eq!(rounds.skip(), Some('d'));
    assert!(rounds.is_empty() && rounds.skip().is_none());
    rounds.sleep(1, 'e');
    assert_eq!((rounds.pass(), rounds.pass()), (Some('e'), None));
}

#[test]
fn rounds_pass_for_absent_processors_only() {
    let mut clocks: [Rounds<char>; 3] = Default::default();
    for (clock, who) in [(0, 'a'), (2, 'c')] {
        clocks[clock].sleep(1, who);
    }
    assert_eq!(pass_for_absent(&mut clocks, |_| true), None);
    assert_eq!(
        pass_for_absent(&mut clocks, |number| number == 0),
        Some('c')
    );
    assert_eq!(pass_for_absent(&mut clocks, |number| number == 0), None);
    assert_eq!(clocks[0].pass(), Some('a'));
}
