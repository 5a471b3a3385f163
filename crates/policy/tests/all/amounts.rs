//! Tests how many tasks a steal takes.

use tidegate_policy::StealAmount;

#[test]
fn one_takes_a_single_task() {
    assert_eq!(
        [0, 1, 2, 100].map(|waiting| StealAmount::One.take(waiting)),
        [0, 1, 1, 1]
    );
}

#[test]
fn half_counts_the_running_task() {
    assert_eq!(
        [0, 1, 2, 3, 4, 5, 99].map(|waiting| StealAmount::Half.take(waiting)),
        [0, 1, 1, 2, 2, 3, 50]
    );
    for tasks in 1..1_000 {
        assert_eq!(StealAmount::Half.take(tasks - 1), tasks / 2);
    }
}

#[test]
fn half_above_takes_one_up_to_its_threshold() {
    assert_eq!(
        [0, 1, 16, 17, 99].map(|waiting| StealAmount::HalfAbove(16).take(waiting)),
        [0, 1, 1, 9, 50]
    );
}

#[test]
fn fixed_takes_all_or_nothing() {
    assert_eq!(
        [0, 19, 20, 21].map(|waiting| StealAmount::Fixed(20).take(waiting)),
        [0, 0, 20, 20]
    );
}

#[test]
fn no_rule_takes_more_than_waits() {
    let amounts = [
        StealAmount::One,
        StealAmount::Half,
        StealAmount::HalfAbove(7),
        StealAmount::Fixed(1),
        StealAmount::Fixed(7),
        StealAmount::Fixed(usize::MAX),
    ];
    for amount in amounts {
        for waiting in (0..200).chain([usize::MAX - 1, usize::MAX]) {
            assert!(amount.take(waiting) <= waiting, "{amount} of {waiting}");
        }
    }
}

#[test]
fn one_and_half_take_last_task() {
    let amounts = [
        StealAmount::One,
        StealAmount::Half,
        StealAmount::HalfAbove(1),
    ];
    assert_eq!(amounts.map(|amount| amount.take(1)), [1, 1, 1]);
}
