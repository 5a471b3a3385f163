//! Checks the estimators against the values given in their sources, and checks properties that all
//! estimators share.

use tidegate_policy::DesireState;
use tidegate_policy::desire::{ADeque, ASteal, DesirePolicy, Dws, Palirria, Seen, Steady, Wsap};

/// The length of a cycle, in nanoseconds.
const LENGTH: u64 = 5_000_000;

fn state(desire: &str) -> DesireState {
    let desire: DesirePolicy = desire.parse().unwrap();
    DesireState::new(&desire).unwrap()
}

/// Returns what the controller sees of a cycle in which `used` of `allotment` processors worked all
/// the time and the other processors were parked.
fn parked(allotment: usize, used: usize) -> Seen<'static> {
    Seen {
        length: LENGTH,
        allotment,
        usage: used,
        working: used as u64 * LENGTH,
        busy: used,
        ..Seen::default()
    }
}

/// Returns what the controller sees of a cycle in which `used` of `allotment` processors worked all
/// the time and the other processors searched without rest.
fn searching(allotment: usize, used: usize, pure_percent: u64) -> Seen<'static> {
    Seen {
        usage: allotment,
        attempts: 1_000,
        failed_empty: 10 * pure_percent,
        searching: (allotment - used) as u64 * LENGTH,
        ..parked(allotment, used)
    }
}

#[rustfmt::skip]
const ALL: [&str; 7] = [
    "steady", "wsap", "instantaneous", "a-steal", "a-deque", "palirria", "dws",
];

/// A new job desires one processor, and a job with work never desires fewer.
#[test]
fn only_workless_jobs_desire_none() {
    for name in ALL {
        let mut state = state(name);
        assert_eq!(state.desire(), 1, "{name}");
        let nothing = Seen {
            length: LENGTH,
            ..Seen::default()
        };
        assert_eq!(state.next(&nothing), 0, "{name}: idle");
        let thieves_only = searching(4, 0, 100);
        let thieves_only = Seen {
            busy: 0,
            ..thieves_only
        };
        assert_eq!(state.next(&thieves_only), 0, "{name}: only thieves");
        let waiting = Seen {
            queued: 1,
            ..nothing
        };
        assert!(state.next(&waiting) >= 1, "{name}: a task waits");
        let between = Seen {
            busy: 0,
            ..parked(1, 1)
        };
        assert!(state.next(&between) >= 1, "{name}: between two tasks");
    }
}

#[test]
fn estimators_survive_extreme_numbers() {
    let largest = Seen {
        length: u64::MAX,
        allotment: 4_096,
        usage: usize::MAX,
        attempts: u64::MAX,
        failed_empty: u64::MAX,
        lengths_seen: u64::MAX,
        working: u64::MAX,
        searching: u64::MAX,
        deques: &[usize::MAX / 2],
        queued: usize::MAX / 4,
        busy: usize::MAX,
        free: usize::MAX,
        lent: usize::MAX,
    };
    for name in ALL {
        let mut state = state(name);
        for seen in [
            Seen::default(),
            Seen {
                busy: 1,
                ..Seen::default()
            },
            Seen {
                busy: 1,
                allotment: 4_096,
                ..Seen::default()
            },
            largest,
        ] {
            state.next(&seen);
        }
    }
}

#[test]
fn wsap_reproduces_the_published_trace() {
    let mut state = state("wsap");
    for (pure, usage, desire) in [
        (15, 4, 8),
        (45, 8, 16),
        (70, 8, 5),
        (55, 5, 5),
        (50, 5, 10),
        (95, 8, 1),
    ] {
        assert_eq!(
            state.next(&searching(usage, usage, pure)),
            desire,
            "{pure} percent of {usage}"
        );
    }
    let no_requests = parked(8, 8);
    assert_eq!(state.next(&no_requests), 16);
}

#[test]
fn wsap_aims_at_its_target_efficiency() {
    let mut state = state("wsap:eta=0.75");
    assert_eq!(state.next(&searching(9, 9, 25)), 12);
    assert_eq!(state.next(&searching(12, 12, 50)), 8);
}

#[test]
fn high_targets_allow_growth_from_one() {
    for desire in ["wsap:eta=0.99", "a-steal:delta=0.99"] {
        assert_eq!(state(desire).next(&searching(1, 1, 0)), 2, "{desire}");
    }
}

#[test]
fn parked_time_counts_as_attempts() {
    for (allotment, used) in [(8, 2), (8, 1), (16, 14), (4, 4)] {
        let pure = 100 - 100 * used as u64 / allotment as u64;
        let (mut parked_state, mut searching_state) = (state("wsap"), state("wsap"));
        assert_eq!(
            parked_state.next(&parked(allotment, used)),
            searching_state.next(&searching(allotment, used, pure)),
            "{used} of {allotment}"
        );
    }
}

/// The more of their attempts target victims without work, the more searching thieves count as
/// idle.
#[test]
fn steady_treats_luckless_thieves_as_idle() {
    let climbed = || {
        let mut state = state("steady");
        let many = Seen {
            queued: 15,
            ..parked(1, 1)
        };
        assert_eq!(state.next(&many), 16);
        state
    };
    assert_eq!(climbed().next(&searching(16, 3, 0)), 16);
    assert_eq!(climbed().next(&searching(16, 3, 100)), 6);
    assert_eq!(climbed().next(&searching(16, 3, 50)), 16);
}

#[test]
fn instantaneous_counts_what_runs_and_waits() {
    let seen = Seen {
        deques: &[0, 2, 1],
        queued: 4,
        ..parked(8, 3)
    };
    assert_eq!(state("instantaneous").next(&seen), 10);
}

#[test]
fn a_steal_oscillates_on_constant_parallelism() {
    let mut state = state("a-steal");
    let mut desire = 1;
    let desires: Vec<usize> = (0..8)
        .map(|_| {
            desire = state.next(&parked(desire, desire.min(14)));
            desire
        })
        .collect();
    assert_eq!(desires, [2, 4, 8, 16, 8, 16, 8, 16]);
}

#[test]
fn a_steal_keeps_desire_when_deprived() {
    let mut state = state("a-steal:rho=3");
    assert_eq!(state.next(&parked(1, 1)), 3);
    assert_eq!(state.next(&parked(2, 2)), 3);
    assert_eq!(state.next(&parked(3, 3)), 9);
    assert_eq!(state.next(&parked(9, 1)), 3);
}

/// In each cycle, the desire rises by 2 for each waiting task, until it settles as published.
#[test]
fn a_deque_climbs_then_settles() {
    let mut state = state("a-deque");
    let mut desire = 1;
    let desires: Vec<usize> = (0..9)
        .map(|_| {
            let one = usize::from(desire < 14);
            desire = state.next(&Seen {
                queued: one,
                ..parked(desire, desire.min(14))
            });
            desire
        })
        .collect();
    assert_eq!(desires, [3, 5, 7, 9, 11, 13, 15, 14, 14]);
}

#[test]
fn a_deque_weighs_samples_by_count() {
    // All four processors only attempted to steal, so only the tasks seen in these attempts count:
    // 2 per deque.
    let met = Seen {
        attempts: 20_000,
        lengths_seen: 40_000,
        working: 0,
        searching: 4 * LENGTH,
        ..parked(4, 4)
    };
    assert_eq!(state("a-deque").next(&met), 4 + 2 * 8);
    // With half as many attempts, the tasks in the deques at the end of the cycle have the same
    // weight as the tasks seen in attempts.
    let half = Seen {
        attempts: 10_000,
        lengths_seen: 20_000,
        working: 2 * LENGTH,
        searching: 2 * LENGTH,
        queued: 2,
        ..met
    };
    assert_eq!(state("a-deque").next(&half), 4 + (8 + 2));
    // Sleeping workers may leave tasks in their deques, so there may be more active deques than
    // slots held.
    let left = Seen {
        usage: 1,
        deques: &[1, 1],
        ..met
    };
    assert_eq!(state("a-deque").next(&left), 4 + 2 * (2 * 2));
}

/// DWS first desires the free processors, then those of its own processors that other jobs are
/// using, but never more than these.
#[test]
fn dws_prefers_free_processors() {
    let seen = |waiting, free, lent| Seen {
        queued: waiting,
        free,
        lent,
        ..parked(4, 4)
    };
    let mut state = state("dws");
    assert_eq!(state.next(&seen(12, 5, 0)), 4 + 3);
    assert_eq!(state.next(&seen(12, 1, 4)), 4 + 3);
    assert_eq!(state.next(&seen(40, 1, 4)), 4 + 5);
    assert_eq!(
        state.next(&seen(3, 9, 9)),
        4,
        "less than one task a worker calls no thread"
    );
}

#[test]
fn dws_returns_failing_worker_processors() {
    let seen = |failed| Seen {
        failed_empty: failed,
        ..searching(8, 2, 0)
    };
    let mut state = state("dws:t-sleep=16");
    assert_eq!(state.next(&seen(15)), 8);
    assert_eq!(state.next(&seen(3 * 16)), 5);
    assert_eq!(state.next(&seen(1_000)), 2);
}

#[test]
fn dws_counts_parked_thieves_as_gone() {
    for threshold in ["1", "1000000"] {
        let state = || state(&format!("dws:t-sleep={threshold}"));
        let failed = 1_000;
        let parked = Seen {
            failed_empty: failed,
            ..parked(8, 2)
        };
        assert_eq!(state().next(&parked), 2);
        let searching = Seen {
            failed_empty: failed,
            ..searching(8, 2, 0)
        };
        let kept = if threshold == "1" { 2 } else { 8 };
        assert_eq!(state().next(&searching), kept);
    }
}

#[test]
fn palirria_moves_by_one_zone() {
    let seen = |deques| Seen {
        deques,
        ..parked(13, 13)
    };
    let mut state = state("palirria");
    let rim_empty = [9, 9, 9, 9, 9, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(state.next(&seen(&rim_empty)), 5);
    let axes_long = [2, 2, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 1];
    assert_eq!(state.next(&seen(&axes_long)), 25);
    let one_axis_short = [2, 2, 1, 2, 2, 0, 0, 0, 0, 0, 0, 0, 1];
    assert_eq!(state.next(&seen(&one_axis_short)), 13);
}

#[test]
fn palirria_begins_with_the_source_alone() {
    let seen = |deques| Seen {
        deques,
        ..parked(1, 1)
    };
    let mut state = state("palirria");
    assert_eq!(state.next(&seen(&[0])), 1);
    assert_eq!(state.next(&seen(&[2])), 5);
    let first_zone = Seen {
        deques: &[2, 0, 0, 0, 0],
        ..parked(5, 5)
    };
    assert_eq!(state.next(&first_zone), 1);
}

#[test]
fn estimators_round_trip_as_text() {
    for text in ALL {
        assert_eq!(text.parse::<DesirePolicy>().unwrap().to_string(), text);
    }
    assert_eq!(DesirePolicy::names(), ALL);
    let changed = [
        DesirePolicy::Steady(Steady {
            high: 0.75,
            target: 0.25,
            memory: 9,
        }),
        DesirePolicy::Wsap(Wsap { eta: 0.75 }),
        DesirePolicy::ASteal(ASteal {
            delta: 0.8,
            rho: 1.5,
        }),
        DesirePolicy::ADeque(ADeque { beta: 0.5 }),
        DesirePolicy::Palirria(Palirria { threshold: 3 }),
        DesirePolicy::Dws(Dws { t_sleep: 16 }),
    ];
    for desire in changed {
        assert_eq!(desire.to_string().parse(), Ok(desire));
    }
    assert_eq!(changed[1].to_string(), "wsap:eta=0.75");
    assert_eq!(DesirePolicy::default().to_string(), "steady");
}

#[test]
fn unusable_estimator_error_lists_allowed_values() {
    #[rustfmt::skip]
    let rows = [
        ("wasp", "unknown desire policy \"wasp\"; did you mean \"wsap\"?"),
        ("instantaneous:eta=1", "unexpected parameters \"eta=1\" in instantaneous: expected no parameters"),
        ("wsap:eta=0", "invalid value \"0\" for eta in wsap: expected a number from 0.05 to 0.99"),
        ("wsap:eta=1", "invalid value \"1\" for eta in wsap: expected a number from 0.05 to 0.99"),
        ("a-steal:delta=1", "invalid value \"1\" for delta in a-steal: expected a number from 0.05 to 0.99"),
        ("a-steal:rho=1", "invalid value \"1\" for rho in a-steal: expected a number from 1.05 to 16"),
        ("steady:memory=0", "invalid value \"0\" for memory in steady: expected an integer from 1 to 1000"),
    ];
    for (text, message) in rows {
        let error = text.parse::<DesirePolicy>().expect_err(text).to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
    assert!(DesireState::new(&DesirePolicy::Wsap(Wsap { eta: f64::NAN })).is_err());
}
