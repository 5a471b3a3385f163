//! Places whose workers share a deque.

use crate::support::{Phases, Random, alone, desired, job, whole};
use tidegate_policy::{Nanos, PlaceTree};
use tidegate_sim::{Costs, Dag, Deques, Settings, Step, Width, WorkSpan, run_telling};

/// Returns a machine whose places have two workers each.
fn pairs(workers: usize) -> Settings {
    let all: Vec<usize> = (0..workers).collect();
    let pairs = all.chunks(2).map(<[usize]>::to_vec).collect();
    Settings {
        places: PlaceTree::from_groups(workers, &[pairs]).unwrap(),
        deques: Deques::Place,
        ..Settings::new(workers)
    }
}

/// Three tasks of different lengths, forked one after the other by a long task.
struct Three;

const ROOT: Nanos = 1_000_000;
/// The work of the other tasks, in the order in which they are forked.
const TASKS: [Nanos; 3] = [100_000, 10_000, 1_000];

#[derive(Clone, Copy)]
enum ThreeTask {
    /// The root, with this many tasks left to fork.
    Root(usize),
    Task(Nanos),
    Over,
}

impl Dag for Three {
    type Task = ThreeTask;

    fn root(&self) -> ThreeTask {
        ThreeTask::Root(TASKS.len())
    }

    fn next(&self, task: &mut ThreeTask) -> Step<ThreeTask> {
        match std::mem::replace(task, ThreeTask::Over) {
            ThreeTask::Root(0) => Step::Work(ROOT),
            ThreeTask::Root(left) => {
                let task = TASKS[TASKS.len() - left];
                Step::Fork(ThreeTask::Root(left - 1), ThreeTask::Task(task))
            }
            ThreeTask::Task(time) => Step::Work(time),
            ThreeTask::Over => Step::End,
        }
    }
}

/// Returns the length of the first task that a second worker runs, which is the time when the first
/// task ends.
fn first_task(settings: &Settings) -> Nanos {
    let settings = Settings {
        costs: Costs::NONE,
        sample: 500,
        ..settings.clone()
    };
    let job = [whole(Three, &settings)];
    let outcome = run_telling(&settings, &job, &mut |_, _| ()).unwrap();
    let waiting = |workers: &[u32]| {
        let tasks = workers.iter().enumerate();
        tasks.map(|(tasks, n)| tasks * *n as usize).sum::<usize>()
    };
    // There are four tasks at first: the root and three others.
    let over = outcome.samples.iter().find(|s| waiting(&s.workers) < 4);
    over.expect("tasks end").time
}

#[test]
fn neighbours_take_youngest_thieves_oldest() {
    let one_place = PlaceTree::flat(2);
    let shared = Settings {
        places: one_place,
        ..pairs(2)
    };
    let [neighbour, thief] = [
        shared.clone(),
        Settings {
            deques: Deques::Worker,
            ..shared
        },
    ]
    .map(|settings| first_task(&settings));
    let shortest = TASKS[2];
    assert!(
        (shortest..=2 * shortest).contains(&neighbour),
        "{neighbour}"
    );
    assert!(thief >= TASKS[0], "{thief}");
}

#[test]
fn worker_never_robs_its_place() {
    let settings = pairs(2);
    let job = alone(&settings, Phases(vec![(100, 10_000)]));
    assert_eq!(job.counters.attempts, 0);
    let job = alone(&pairs(4), Phases(vec![(100, 10_000)]));
    assert!(job.counters.steals > 0);
}

/// A worker that falls asleep may have a task in hand, which another worker must then find.
#[test]
fn every_task_runs_under_all_rules() {
    for seed in 0..60 {
        let dag = |seed| Random {
            rests: seed % 3 == 0,
            ..Random::new(seed)
        };
        let idle = ["elastic", "none", "yield", "linear"][seed as usize % 4];
        let steal = ["one", "half"][seed as usize / 4 % 2];
        let victim = ["random", "round-robin", "hierarchical"][seed as usize / 3 % 3];
        let width = match seed % 2 {
            0 => Width::Fixed(8),
            _ => desired("instantaneous"),
        };
        let settings = Settings {
            seed,
            idle: idle.parse().unwrap(),
            steal: steal.parse().unwrap(),
            victim: victim.parse().unwrap(),
            cycle: 100_000,
            pinned: seed % 2 == 0,
            ..pairs(8)
        };
        let jobs = [seed, seed + 1].map(|seed| job(dag(seed), 0, width));
        let mut tell = |events, _| panic!("seed {seed}: still running after {events} events");
        let outcome = run_telling(&settings, &jobs, &mut tell).unwrap();
        for (job, outcome) in jobs.iter().zip(outcome.jobs) {
            let work = WorkSpan::of(&job.dag).work;
            assert_eq!(outcome.work, work, "seed {seed}");
        }
    }
}

#[test]
fn worker_deque_settings_are_rejected() {
    let refused = |settings: &Settings| {
        let job = [whole(Phases(vec![(1, 1)]), settings)];
        let refused = run_telling(settings, &job, &mut |_, _| ()).unwrap_err();
        refused.to_string()
    };
    let ordered = Settings {
        memory: "dfdeques".parse().unwrap(),
        ..pairs(4)
    };
    let of_several = Settings {
        steal: "fixed:2".parse().unwrap(),
        ..pairs(4)
    };
    assert!(refused(&ordered).contains("the memory policy dfdeques"));
    assert!(refused(&of_several).ends_with("expected one or half"));
}
