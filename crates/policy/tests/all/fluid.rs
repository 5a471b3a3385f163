//! Runs the estimators on a fluid model, in which a job's parallelism is a number that changes over
//! time. The job is alone and uses as many processors as its parallelism and its allotment allow;
//! the other processors of its allotment are parked.

use tidegate_policy::desire::Seen;
use tidegate_policy::{DesireState, Rng};

const LENGTH: u64 = 5_000_000;

/// The parallelism in the first and in the second half of a cycle. The job's state at the end of
/// the cycle results from the second half.
type Halves = [usize; 2];

/// How many of the tasks that could run are in a deque.
#[derive(Clone, Copy)]
enum Ready {
    /// All tasks that could run.
    All,
    /// One task at a time, as in a loop that spawns.
    One,
}

struct Program {
    name: &'static str,
    ready: Ready,
    parallelism: fn(usize, &mut Rng) -> Halves,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Run {
    /// The number of cycles until the job first had all processors that it could use.
    until_all: Option<usize>,
    /// The number of times that the desire changed after the tenth cycle.
    changes: usize,
    /// The number of processor-cycles that the job had but did not use.
    wasted: usize,
    /// The number of processor-cycles that the job could have used but did not have.
    missing: usize,
}

fn run(estimator: &str, program: &Program, processors: usize, cycles: usize) -> Run {
    let mut state = DesireState::new(&estimator.parse().unwrap()).unwrap();
    let mut rng = Rng::new(7);
    let (mut run, mut wasted, mut missing) = (Run::default(), 0, 0);
    for cycle in 0..cycles {
        let halves = (program.parallelism)(cycle, &mut rng);
        let allotment = state.desire().clamp(1, processors);
        let used = halves.map(|n| n.min(allotment));
        wasted += 2 * allotment - used[0] - used[1];
        missing += halves.map(|n| n.min(processors)).iter().sum::<usize>() - used[0] - used[1];
        if halves.iter().all(|n| allotment >= (*n).min(processors)) {
            run.until_all.get_or_insert(cycle);
        }
        let waiting = match program.ready {
            Ready::All => halves[1] - used[1],
            Ready::One => (halves[1] - used[1]).min(1),
        };
        let before = state.desire();
        state.next(&Seen {
            length: LENGTH,
            allotment,
            usage: used[1],
            working: (used[0] + used[1]) as u64 * LENGTH / 2,
            deques: &[waiting],
            busy: used[1],
            ..Seen::default()
        });
        run.changes += usize::from(cycle >= 10 && state.desire() != before);
    }
    (run.wasted, run.missing) = (wasted / 2, missing / 2);
    run
}

const PROGRAMS: &[Program] = &[
    Program {
        name: "14 tasks, all ready",
        ready: Ready::All,
        parallelism: |_, _| [14; 2],
    },
    Program {
        name: "14 tasks, one ready",
        ready: Ready::One,
        parallelism: |_, _| [14; 2],
    },
    Program {
        name: "a loop, one ready",
        ready: Ready::One,
        parallelism: |_, _| [1_000; 2],
    },
    Program {
        name: "32, from cycle 20 on 3",
        ready: Ready::All,
        parallelism: |cycle, _| [if cycle < 20 { 32 } else { 3 }; 2],
    },
    Program {
        name: "24, every eighth cycle 2",
        ready: Ready::All,
        parallelism: |cycle, _| [if cycle % 8 == 7 { 2 } else { 24 }; 2],
    },
    Program {
        name: "loops of 8 cycles, 8 apart",
        ready: Ready::One,
        parallelism: |cycle, _| [if cycle / 8 % 2 == 1 { 1_000 } else { 1 }; 2],
    },
    Program {
        name: "12 to 20 at random",
        ready: Ready::All,
        parallelism: |_, rng| [0; 2].map(|_| 12 + rng.below(9) as usize),
    },
    Program {
        name: "6 and 20 in every cycle",
        ready: Ready::All,
        parallelism: |_, rng| {
            if rng.below(2) == 0 { [6, 20] } else { [20, 6] }
        },
    },
    Program {
        name: "1, now and then 20 for a moment",
        ready: Ready::All,
        parallelism: |_, rng| [0; 2].map(|_| if rng.below(20) == 0 { 20 } else { 1 }),
    },
];

/// The estimators that docs/desire.md compares. Palirria needs its own victim policy and DWS needs
/// other jobs, so the model is not meaningful for them.
const COMPARED: [&str; 5] = ["steady", "wsap", "a-steal", "a-deque", "instantaneous"];

fn table() -> String {
    let mut table = format!("| parallelism | {} |\n", COMPARED.join(" | "));
    table.push_str(&format!("|---|{}\n", "---|".repeat(COMPARED.len())));
    for program in PROGRAMS {
        table.push_str(&format!("| {} |", program.name));
        for estimator in COMPARED {
            let run = run(estimator, program, 32, 80);
            let until_all = run
                .until_all
                .map_or("never".to_string(), |cycle| cycle.to_string());
            let (changes, wasted, missing) = (run.changes, run.wasted, run.missing);
            table.push_str(&format!(" {until_all}, {changes}, {wasted}, {missing} |"));
        }
        table.push('\n');
    }
    table
}

#[test]
fn documented_comparison_matches_the_model() {
    let page = include_str!("../../../../docs/desire.md").replace('\r', "");
    assert!(
        page.contains(&table()),
        "put this into docs/desire.md:\n{}",
        table()
    );
}

/// The tests with constant parallelism use every parallelism up to this value, on every machine
/// with up to `MOST_PROCESSORS` processors.
const MOST_PARALLELISM: usize = 40;
const MOST_PROCESSORS: usize = 32;

/// Returns the allotment in each cycle of a run with constant parallelism. If `parks` is false,
/// thieves keep searching instead of parking.
fn allotments(
    estimator: &str,
    parallelism: usize,
    processors: usize,
    ready: usize,
    parks: bool,
) -> Vec<usize> {
    let mut state = DesireState::new(&estimator.parse().unwrap()).unwrap();
    let cycle = |_| {
        let allotment = state.desire().min(processors);
        let used = parallelism.min(allotment);
        let idle = allotment - used;
        state.next(&Seen {
            length: LENGTH,
            allotment,
            usage: if parks { used } else { allotment },
            attempts: if parks { 0 } else { 1_000 * idle as u64 },
            // An idle worker sees `allotment - 1` other workers, of which `idle - 1` have no tasks.
            failed_empty: if parks || idle == 0 {
                0
            } else {
                1_000 * idle as u64 * (idle as u64 - 1) / (allotment as u64 - 1)
            },
            searching: if parks { 0 } else { idle as u64 * LENGTH },
            working: used as u64 * LENGTH,
            deques: &[(parallelism - used).min(ready)],
            busy: used,
            ..Seen::default()
        });
        allotment
    };
    (0..40).map(cycle).collect()
}

/// The job settles on at least as many processors as it can use, and at most a ninth more.
#[test]
fn steady_settles_close_to_parallelism() {
    for parallelism in 1..=MOST_PARALLELISM {
        for processors in 1..=MOST_PROCESSORS {
            for ready in [1, usize::MAX] {
                let case = format!("{parallelism} on {processors}, {ready} ready");
                let all = parallelism.min(processors);
                let ours = allotments("steady", parallelism, processors, ready, true);
                let rest = ours[39];
                assert!(
                    ours[12..].iter().all(|allotment| *allotment == rest),
                    "{case}: {ours:?}"
                );
                assert!(rest >= all && 9 * rest <= 10 * all, "{case}: {ours:?}");
                let searching = allotments("steady", parallelism, processors, ready, false);
                let rest = searching[39];
                assert!(
                    rest >= all && searching[12..].iter().all(|allotment| *allotment == rest),
                    "{case}, without parking: {searching:?}"
                );
            }
        }
    }
}

/// Steady reaches all usable processors no later than A-Steal, even if the deques show only one
/// task.
#[test]
fn steady_keeps_up_with_a_steal() {
    let until_all = |estimator, parallelism: usize, processors, ready| {
        let allotments = allotments(estimator, parallelism, processors, ready, true);
        let all = parallelism.min(processors);
        allotments.iter().position(|allotment| *allotment >= all)
    };
    for parallelism in 1..=MOST_PARALLELISM {
        for processors in 1..=MOST_PROCESSORS {
            for ready in [1, usize::MAX] {
                let ours = until_all("steady", parallelism, processors, ready);
                let theirs = until_all("a-steal", parallelism, processors, ready);
                assert!(
                    ours.is_some() && ours <= theirs,
                    "{parallelism} on {processors}, {ready} ready: {ours:?}, {theirs:?}"
                );
            }
        }
    }
}

/// Returns the desires of the steady estimator for these parallelisms, with all tasks in deques.
/// The estimator has first settled on the first parallelism.
fn desires(parallelism: &[usize]) -> Vec<usize> {
    let mut state = DesireState::new(&"steady".parse().unwrap()).unwrap();
    let cycle = |n: usize| {
        let allotment = state.desire().clamp(1, 32);
        let used = n.min(allotment);
        state.next(&Seen {
            length: LENGTH,
            allotment,
            usage: used,
            working: used as u64 * LENGTH,
            deques: &[n - used],
            busy: used,
            ..Seen::default()
        })
    };
    let before = [parallelism[0]; 10];
    let desires: Vec<usize> = before
        .into_iter()
        .chain(parallelism.iter().copied())
        .map(cycle)
        .collect();
    desires[10..].to_vec()
}

#[test]
fn steady_ignores_short_dips() {
    assert_eq!(desires(&[24, 2, 2, 2, 24]), [24; 5]);
    assert_eq!(desires(&[24, 2, 2, 2, 2, 2]), [24, 24, 24, 24, 2, 2]);
    assert_eq!(
        desires(&[24, 0, 0, 24]),
        [24, 0, 0, 24],
        "without work it desires nothing, but remembers"
    );
}

#[test]
fn steady_keeps_desire_while_deprived() {
    let mut state = DesireState::new(&"steady".parse().unwrap()).unwrap();
    let mut on = |allotment, used, waiting| {
        state.next(&Seen {
            length: LENGTH,
            allotment,
            usage: used,
            working: used as u64 * LENGTH,
            deques: &[waiting],
            busy: used,
            ..Seen::default()
        })
    };
    assert_eq!([on(1, 1, 9), on(4, 4, 1), on(4, 4, 0)], [10, 10, 10]);
    assert_eq!(on(10, 10, 1), 20);
}

#[test]
fn tiny_tasks_do_not_blind_steady() {
    let mut state = DesireState::new(&"steady".parse().unwrap()).unwrap();
    let seen = Seen {
        length: LENGTH,
        allotment: 8,
        usage: 8,
        working: LENGTH * 13 / 10,
        deques: &[1_000],
        busy: 8,
        ..Seen::default()
    };
    assert_eq!(state.next(&seen), 3, "twice of 1.3, in whole processors");
}

/// A job whose tasks are too short to be stolen settles on two processors.
#[test]
fn unstealable_tasks_settle_on_two() {
    let mut state = DesireState::new(&"steady".parse().unwrap()).unwrap();
    let mut cycle = |number: usize| {
        let allotment = state.desire().min(32);
        // In every third cycle, no task is left waiting at the end.
        let waiting = if number % 3 == 2 { 0 } else { 5 };
        state.next(&Seen {
            length: LENGTH,
            allotment,
            usage: 1,
            working: LENGTH,
            deques: &[waiting],
            busy: 1,
            ..Seen::default()
        })
    };
    let desires: Vec<usize> = (0..30).map(&mut cycle).collect();
    assert_eq!(desires[..3], [6, 2, 2]);
    assert!(
        desires[3..].iter().all(|desire| *desire == 2),
        "{desires:?}"
    );
}
