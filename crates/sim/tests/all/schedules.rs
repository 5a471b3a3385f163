//! Properties of every schedule.

use crate::support::{Phases, Random, alone, desired, greedy, job, whole};
use tidegate_policy::StealAmount;
use tidegate_sim::{Dag, Outcome, Settings, Step, Width, WorkSpan, run, run_telling};

const DAGS: u64 = 40;

/// The run also has the same span as a walk through the graph.
#[test]
fn single_costless_processor_takes_work() {
    let mut tasks = 0;
    for seed in 0..DAGS {
        let extent = WorkSpan::of(&Random::new(seed));
        let job = alone(&greedy(1), Random::new(seed));
        assert_eq!((job.time(), job.work), (extent.work, extent.work));
        assert_eq!((job.span, job.depth), (extent.span, extent.depth));
        tasks += extent.tasks;
    }
    assert!(tasks > 1_000, "{tasks}");
}

#[test]
fn work_conserving_run_keeps_greedy_bound() {
    for seed in 0..DAGS {
        let extent = WorkSpan::of(&Random::new(seed));
        for processors in [2, 3, 8, 64] {
            let job = alone(&greedy(processors), Random::new(seed));
            let bound = extent.work / processors as u64 + extent.span;
            assert!(job.time() <= bound, "{seed} on {processors}");
            assert!(job.time() >= extent.span.max(extent.work / processors as u64));
        }
    }
}

/// Returns machines with all kinds of policies.
fn machines() -> Vec<Settings> {
    let mut machines = Vec::new();
    for idle in [
        "elastic",
        "none",
        "yield",
        "abp-yield",
        "exponential",
        "quanta",
        "yield-then-linear",
    ] {
        for (steal, victim) in [
            ("one", "random"),
            ("half", "last-victim"),
            ("fixed:2", "hierarchical"),
        ] {
            machines.push(Settings {
                idle: idle.parse().unwrap(),
                steal: steal.parse().unwrap(),
                victim: victim.parse().unwrap(),
                ..Settings::new(6)
            });
        }
    }
    machines
}

/// Each task begins once, and each attempt either succeeds or fails.
#[test]
fn tasks_and_attempts_count_once() {
    for settings in machines() {
        for seed in 0..DAGS / 10 {
            for rests in [false, true] {
                for width in [Width::Fixed(6), desired("wsap")] {
                    let dag = Random {
                        rests,
                        ..Random::new(seed)
                    };
                    check(&settings, dag, width);
                }
            }
        }
    }
}

fn check(settings: &Settings, dag: Random, width: Width) {
    let extent = WorkSpan::of(&dag);
    let jobs = [job(dag, 0, width)];
    let outcome = run(settings, &jobs).unwrap();
    let job = &outcome.jobs[0];
    let counters = &job.counters;
    assert_eq!(jobs[0].dag.begun.get(), extent.tasks);
    assert_eq!(counters.tasks, extent.tasks);
    assert_eq!((job.work, job.span), (extent.work, extent.span));
    let failed = counters.failed_busy + counters.failed_empty;
    assert_eq!(counters.attempts, counters.steals + failed);
}

#[test]
fn seed_determines_the_outcome() {
    let outcome = |seed| {
        let settings = Settings {
            seed,
            ..Settings::new(8)
        };
        run(&settings, &[whole(Random::new(3), &settings)]).unwrap()
    };
    assert_eq!(outcome(1), outcome(1));
    assert_ne!(outcome(1), outcome(2));
}

/// A task that waits for a disk while another works.
struct Disk;

#[derive(Clone, Copy)]
enum DiskTask {
    Both,
    Reads,
    Works,
    Ends,
}

impl Dag for Disk {
    type Task = DiskTask;

    fn root(&self) -> DiskTask {
        DiskTask::Both
    }

    fn next(&self, task: &mut DiskTask) -> Step<DiskTask> {
        match std::mem::replace(task, DiskTask::Ends) {
            DiskTask::Both => Step::Fork(DiskTask::Reads, DiskTask::Works),
            DiskTask::Reads => {
                *task = DiskTask::Works;
                Step::Rest(10_000)
            }
            DiskTask::Works => Step::Work(1_000),
            DiskTask::Ends => Step::End,
        }
    }
}

#[test]
fn resting_task_frees_its_processor() {
    let job = alone(&greedy(1), Disk);
    assert_eq!((job.work, job.span, job.time()), (2_000, 11_000, 11_000));
}

#[test]
fn steal_size_follows_its_rule() {
    for (steal, tasks) in [(StealAmount::One, 1..=1), (StealAmount::Fixed(3), 3..=3)] {
        let settings = Settings {
            steal,
            ..Settings::new(4)
        };
        let job = alone(&settings, Random::new(5));
        let counters = job.counters;
        assert!(counters.steals > 0);
        assert!(tasks.contains(&(counters.stolen_tasks / counters.steals)));
        assert_eq!(counters.stolen_tasks % counters.steals, 0);
    }
}

#[test]
fn remaining_loop_is_one_task() {
    let job = alone(&Settings::new(8), Phases(vec![(64, 50_000)]));
    assert_eq!(job.counters.stolen_tasks, job.counters.steals);
    assert!(job.counters.lengths_seen <= job.counters.attempts);
}

#[test]
fn idle_workers_are_counted_asleep() {
    let job = alone(&Settings::new(4), Phases(vec![(1, 10_000_000)]));
    let asleep = job.counters.asleep as f64 / (3.0 * job.time() as f64);
    assert!(asleep > 0.97, "{asleep}");
}

#[test]
fn impossible_runs_name_allowed_values() {
    let refusal = |settings: &Settings, width| {
        let job = job(Phases(vec![]), 0, width);
        run(settings, &[job]).unwrap_err().to_string()
    };
    let none = refusal(&Settings::new(0), Width::Fixed(1));
    assert_eq!(
        none,
        "invalid value 0 for processors: expected an integer from 1 to 65536"
    );
    let wide = refusal(&Settings::new(4), Width::Fixed(5));
    assert_eq!(wide, "job 0 has 5 processors: expected 1 to 4");
}

/// The sum of all workers' times must not overflow.
#[test]
fn overlong_runs_are_rejected() {
    let after = |processors, work| {
        let settings = Settings::new(processors);
        let job = whole(Phases(vec![(2, work)]), &settings);
        run(&settings, &[job]).map_err(|refusal| refusal.to_string())
    };
    let year = 365 * 86_400 * 1_000_000_000;
    let told = "the run takes too long: expected at most 52.125 simulated days with this number of workers, 584 years for all workers together";
    assert_eq!(after(4_096, year / 6).unwrap_err(), told);
    let job = after(4_096, year / 8).unwrap().jobs.remove(0);
    let counters = job.counters;
    let all = counters.working + counters.searching + counters.asleep;
    assert!(all as f64 > 0.99 * 4_096.0 * job.time() as f64, "{all}");
    assert!(after(1, u64::MAX).is_err());
}

/// A task that never forks, so no other worker can help.
struct Serial;

impl Dag for Serial {
    type Task = bool;

    fn root(&self) -> bool {
        false
    }

    fn next(&self, begun: &mut bool) -> Step<bool> {
        if std::mem::replace(begun, true) {
            Step::End
        } else {
            Step::Work(40_000_000)
        }
    }
}

/// Runs four jobs on four processors, with four workers each and this idle policy.
fn four_serial_jobs(idle: &str) -> Outcome {
    let jobs = [(); 4].map(|()| job(Serial, 0, Width::Fixed(4)));
    let settings = Settings {
        idle: idle.parse().unwrap(),
        ..Settings::new(4)
    };
    run(&settings, &jobs).unwrap()
}

#[test]
fn pinned_workers_alternate_on_their_processor() {
    let jobs = [(); 2].map(|()| job(Serial, 0, Width::Fixed(2)));
    let ends = [false, true].map(|pinned| {
        let settings = Settings {
            pinned,
            ..Settings::new(2)
        };
        let outcome = run(&settings, &jobs).unwrap();
        [0, 1].map(|job| outcome.jobs[job].ended)
    });
    let [free, pinned] = ends;
    assert!(free.iter().all(|&end| end < 42_000_000), "{free:?}");
    // In each job, only the first worker has work. Both first workers are pinned to the first
    // processor, so they take turns.
    let slices = 75_000_000..82_000_000;
    assert!(pinned.iter().all(|end| slices.contains(end)), "{pinned:?}");
}

#[test]
fn pinned_workers_refuse_desires() {
    let settings = Settings {
        pinned: true,
        ..Settings::new(2)
    };
    let job = job(Serial, 0, desired("steady"));
    let refused = run(&settings, &[job]).unwrap_err().to_string();
    assert!(
        refused.ends_with("a fixed number of processors"),
        "{refused}"
    );
}

#[test]
fn yielding_thief_frees_its_processor() {
    let ends = ["yield", "none"].map(|idle| four_serial_jobs(idle).end());
    assert!(ends[0] < 60_000_000 && ends[1] > 100_000_000, "{ends:?}");
}

/// A waking worker preempts another worker immediately.
#[test]
fn waking_worker_leaves_others_their_share() {
    let [seldom, often] = ["10ms", "1ns"].map(|nap| {
        let outcome = four_serial_jobs(&format!("linear:min={nap},step=1ns,max={nap}"));
        let naps: u64 = outcome.jobs.iter().map(|job| job.counters.naps).sum();
        (outcome.end(), naps)
    });
    assert!(often.1 > 20 * seldom.1, "{seldom:?} {often:?}");
    // A thief that wakes up does not wait for the end of another worker's slice.
    assert!((40_000_000..41_000_000).contains(&seldom.0), "{seldom:?}");
    // Up to four workers compete for each processor, and only one of them does a job's work.
    assert!((100_000_000..165_000_000).contains(&often.0), "{often:?}");
}

#[test]
fn sampling_does_not_change_the_run() {
    for settings in machines() {
        let sampled = Settings {
            sample: 1_000,
            ..settings.clone()
        };
        let job = |settings: &Settings| run(settings, &[whole(Random::new(1), settings)]).unwrap();
        let (plain, outcome) = (job(&settings), job(&sampled));
        assert!(plain.samples.is_empty());
        assert_eq!(plain.jobs, outcome.jobs);
        assert!(outcome.samples.len() as u64 >= outcome.jobs[0].time() / 1_000);
        for (number, sample) in (1..).zip(&outcome.samples) {
            assert_eq!(sample.time, 1_000 * number);
            assert_eq!(sample.workers.iter().sum::<u32>(), 6);
        }
        let busy = outcome.samples.iter().map(|sample| 6 - sample.workers[0]);
        assert!(busy.max().unwrap() > 1);
    }
}

/// The reports do not change the run.
#[test]
fn progress_arrives_every_million_events() {
    let settings = Settings::new(2);
    let job = || whole(Phases(vec![(1_200_000, 1)]), &settings);
    let mut heard = Vec::new();
    let mut tell = |events, time| heard.push((events, time));
    let outcome = run_telling(&settings, &[job()], &mut tell).unwrap();
    assert_eq!(outcome, run(&settings, &[job()]).unwrap());
    assert!((1_000_000..2_000_000).contains(&outcome.events));
    let [(1_000_000, time)] = heard[..] else {
        panic!("{heard:?}");
    };
    assert!(0 < time && time < outcome.end());
}
