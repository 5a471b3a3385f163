use crate::MS;
use std::collections::BTreeMap;
use tidegate_exec::outside::{Desire, Look};
use tidegate_policy::tunables::{EXEC_CYCLE, EXEC_UNBOOKED};

/// Returns the recorded looks of each program.
fn traces() -> BTreeMap<&'static str, Vec<Look>> {
    let parts = include_str!("traces.txt").split("= ").skip(1);
    parts
        .map(|part| {
            let mut lines = part.lines();
            (lines.next().unwrap(), lines.map(look).collect())
        })
        .collect()
}

fn look(line: &str) -> Look {
    let numbers: Vec<u64> = line.split(' ').map(|it| it.parse().unwrap()).collect();
    let [at, ran, delayed, runnable] = numbers[..] else {
        panic!("four numbers: {line}");
    };
    of(1000, at, ran, delayed, runnable as usize)
}

/// Returns a look with these times, in units of `unit` nanoseconds.
fn of(unit: u64, at: u64, ran: u64, delayed: u64, runnable: usize) -> Look {
    Look {
        at: at * unit,
        ran: ran * unit,
        delayed: delayed * unit,
        runnable,
    }
}

/// Returns the desires after the looks. The allotment is the desire, but at most `most`.
fn desires(looks: &[Look], most: usize) -> Vec<usize> {
    let mut desire = Desire::new();
    let mut last = 1;
    let mut next = |look: &Look| {
        last = desire.next(look, last.min(most));
        last
    };
    looks.iter().map(&mut next).collect()
}

mod recorded {
    use super::{desires, traces};
    use std::ops::RangeInclusive;

    /// `xz -T2` has a third thread that reads its input. A program with threads that sleep and wake
    /// may desire four processors for some cycles, because the estimator doubles while it climbs.
    const DESIRED: [(&str, RangeInclusive<usize>); 10] = [
        ("sleep 5", 0..=0),
        ("waking", 0..=0),
        ("waking, busy machine", 0..=1),
        ("one loop", 1..=1),
        ("one loop, busy machine", 1..=1),
        ("two loops", 2..=2),
        ("two loops on one processor, busy machine", 2..=2),
        ("xz -T2", 2..=4),
        ("xz -T2, busy machine", 2..=4),
        ("two Python processes, busy machine", 1..=4),
    ];

    #[test]
    fn programs_desire_what_they_use() {
        let traces = traces();
        assert_eq!(traces.len(), DESIRED.len());
        for (name, expected) in DESIRED {
            for most in [1, 2, 8] {
                let desires = desires(&traces[name], most);
                let settled = &desires[4..];
                assert!(
                    settled.iter().all(|d| expected.contains(d)),
                    "{name} {most}: {desires:?}"
                );
            }
        }
    }

    #[test]
    fn brief_wakers_hardly_ever_desire_one() {
        let desires = desires(&traces()["waking, busy machine"], 2);
        assert!(desires.iter().sum::<usize>() <= 3, "{desires:?}");
    }

    /// The program starts alone and later starts two processes that compute.
    #[test]
    fn late_processes_are_noticed() {
        let desires = desires(&traces()["two Python processes, busy machine"], 2);
        assert_eq!(desires[10], 1);
        assert!(
            desires[14..].iter().all(|desire| *desire >= 2),
            "{desires:?}"
        );
    }
}

mod counters {
    use super::*;

    fn look(at: u64, ran: u64, delayed: u64, runnable: usize) -> Look {
        of(MS, at, ran, delayed, runnable)
    }

    #[test]
    fn may_fall_when_a_process_ends() {
        let looks = [
            look(0, 500, 500, 1),
            look(20, 100, 0, 0),
            look(40, 120, 0, 0),
            look(60, 120, 0, 0),
        ];
        assert_eq!(desires(&looks, 2), [1, 0, 1, 0]);
    }

    #[test]
    fn with_any_value_are_accepted() {
        let most = Look {
            at: u64::MAX,
            ran: u64::MAX,
            delayed: u64::MAX,
            runnable: usize::MAX,
        };
        let looks = [Look::default(), most, most, Look::default(), most];
        assert!(desires(&looks, usize::MAX).iter().all(|desire| *desire > 0));
    }

    #[test]
    fn are_late_without_being_counted_twice() {
        let looks = [
            look(0, 0, 0, 1),
            look(20, 0, 0, 1),
            look(40, 0, 0, 1),
            look(60, 4, 56, 1),
        ];
        assert_eq!(desires(&looks, 2), [1; 4]);
    }

    /// Without the looks at which the thread was runnable, the wait counts when it ends.
    #[test]
    fn that_jump_count_at_once() {
        let looks = [look(0, 0, 0, 0), look(20, 4, 36, 0)];
        assert_eq!(desires(&looks, 2), [1, 2]);
    }

    #[test]
    fn that_stand_still_are_believed_in_the_end() {
        let cycle = EXEC_CYCLE.default / MS;
        let believed = EXEC_UNBOOKED.default / EXEC_CYCLE.default;
        let looks: Vec<Look> = (0..20).map(|times| look(times * cycle, 0, 0, 1)).collect();
        let expected: Vec<usize> = (0..20)
            .map(|times| usize::from(times <= believed))
            .collect();
        assert_eq!(desires(&looks, 2), expected);
    }

    #[test]
    fn of_waits_count_by_the_time_that_ran() {
        let cycles = |ran: u64, delayed: u64| {
            let looks = (0..10).map(|times| of(times, 20 * MS, ran, delayed, 0));
            desires(&looks.collect::<Vec<_>>(), 2)[9]
        };
        assert_eq!(cycles(MS / 10, 19 * MS), 0, "a timer on a busy machine");
        assert_eq!(cycles(MS, 5 * MS), 1);
        assert_eq!(cycles(4 * MS, 36 * MS), 2);
    }
}

mod cycles {
    use super::*;

    #[test]
    fn too_short_to_judge_are_joined() {
        let mut desire = Desire::new();
        let look = |at, ran| of(1, at, ran, 0, 0);
        let half = EXEC_CYCLE.default / 2;
        assert_eq!(desire.next(&look(0, 0), 1), 1);
        // This is still the first desire.
        assert_eq!(desire.next(&look(half - 1, 0), 1), 1);
        assert_eq!(desire.next(&look(half, 0), 1), 0);
        assert_eq!(desire.next(&look(2 * half - 1, half), 1), 0);
        assert_eq!(desire.next(&look(2 * half, half), 1), 1);
    }

    #[test]
    fn with_more_processors_than_desired_still_grow() {
        let mut desire = Desire::new();
        let look = |times| of(times, 20 * MS, 40 * MS, 0, 2);
        let desires = [0, 1, 2].map(|times| desire.next(&look(times), 2));
        assert_eq!(desires, [1, 2, 2]);
    }
}
