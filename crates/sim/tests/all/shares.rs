//! Several jobs on one machine.

use crate::support::{Phases, Random, desired, greedy, job, only};
use tidegate_policy::DesirePolicy;
use tidegate_sim::{Allot, Costs, JobOutcome, Nanos, Outcome, Settings, Width, WorkSpan, run};

const MS: Nanos = 1_000_000;

/// Returns the shortest time in which the machine can do the jobs' work.
fn least(outcome: &Outcome, processors: usize) -> Nanos {
    let work: Nanos = outcome.jobs.iter().map(|job| job.work).sum();
    work / processors as Nanos
}

/// Jobs arrive and end under every estimator and every allotment rule.
#[test]
fn changing_jobs_finish_every_task() {
    let mut swaps = 0;
    for rule in DesirePolicy::names() {
        for allot in Allot::names() {
            for (processors, idle) in [(2, "elastic"), (6, "linear"), (16, "yield")] {
                let settings = Settings {
                    allot: allot.parse().unwrap(),
                    cycle: MS / 10,
                    idle: idle.parse().unwrap(),
                    ..Settings::new(processors)
                };
                let jobs: Vec<_> = (0..3)
                    .map(|seed| {
                        let dag = Random {
                            rests: seed % 2 == 0,
                            levels: 4,
                            ..Random::new(100 + seed)
                        };
                        job(dag, seed * MS / 5, desired(rule))
                    })
                    .collect();
                let outcome = run(&settings, &jobs).unwrap();
                for (job, done) in jobs.iter().zip(&outcome.jobs) {
                    let begun = job.dag.begun.get();
                    let extent = WorkSpan::of(&job.dag);
                    assert_eq!((begun, done.counters.tasks), (extent.tasks, extent.tasks));
                    assert_eq!((done.work, done.span), (extent.work, extent.span));
                    assert!(done.time() >= done.span);
                    swaps += done.counters.swaps;
                }
                assert!(outcome.end() >= least(&outcome, processors));
                assert_eq!(outcome, run(&settings, &jobs).unwrap());
            }
        }
    }
    assert!(
        swaps > 50,
        "thieves met workers asleep with work {swaps} times"
    );
}

#[test]
fn excess_jobs_share_in_slices() {
    let settings = greedy(1);
    let one = || job(Phases(vec![(1, 100 * MS)]), 0, Width::Fixed(1));
    let outcome = run(&settings, &[one(), one(), one()]).unwrap();
    assert_eq!(outcome.end(), 300 * MS);
    for job in &outcome.jobs {
        assert!(job.time() >= 290 * MS, "{}", job.time());
    }
}

/// When the later job ends, the first job gets all processors back.
#[test]
fn later_job_gets_its_half() {
    let settings = Settings::new(16);
    let first = job(Phases(vec![(3_200, MS)]), 0, desired("wsap"));
    let second = job(Phases(vec![(400, MS)]), 100 * MS, desired("wsap"));
    let outcome = run(&settings, &[first, second]).unwrap();
    let [first, second] = &outcome.jobs[..] else {
        panic!("two jobs");
    };
    // The job is a loop with 400 ms of work on eight processors, and it takes 20 ms to get them.
    assert!(second.time() < 85 * MS, "{}", second.time());
    assert!(first.mean_allotment > 10.0 && first.mean_allotment < 15.0);
    assert!(outcome.end() < 3_600 * MS / 16 + 30 * MS);
}

/// Workers with long tasks leave late, because a worker leaves only at the end of a step.
#[test]
fn long_tasks_keep_the_machine_busy() {
    // Two jobs of long tasks: the first has all processors when the second arrives.
    let long = |arrives| job(Phases(vec![(64, 40 * MS)]), arrives, desired("steady"));
    let settings = Settings::new(8);
    let outcome = run(&settings, &[long(0), long(50 * MS)]).unwrap();
    for job in &outcome.jobs {
        assert_eq!(job.counters.tasks, 65);
        assert!(job.time() <= 2 * (least(&outcome, 8) + 40 * MS));
    }
    assert!(outcome.end() < least(&outcome, 8) + 100 * MS);
}

#[test]
fn workless_job_never_gets_everything() {
    let settings = Settings::new(16);
    let serial = job(Phases(vec![(1, 500 * MS)]), 0, desired("wsap"));
    let job = only(&settings, serial);
    assert_eq!(job.all_processors, None);
    assert!(job.mean_allotment < 4.0, "{}", job.mean_allotment);
}

/// The last of four workers waits for three others, even if the job asks for more every millisecond.
#[test]
fn series_of_wake_ups_delays_workers() {
    for width in [Width::Fixed(4), desired("wsap")] {
        let mut settings = greedy(4);
        settings.cycle = MS;
        settings.costs.wake_series = 10 * MS;
        let job = only(&settings, job(Phases(vec![(64, 100 * MS)]), 0, width));
        assert_eq!(job.all_processors.map(|time| time / MS), Some(30));
    }
}

/// A job that changes its desire during its wake-ups would leave more and more of them undone, and
/// take three times as long.
#[test]
fn desire_waits_for_wake_ups() {
    let mut settings = greedy(16);
    settings.cycle = MS;
    settings.costs.wake_series = 5 * MS;
    let phases = [(64, MS), (1, 20 * MS)].repeat(10);
    let job = only(&settings, job(Phases(phases), 0, desired("wsap")));
    assert!(job.time() < 400 * MS, "{}", job.time());
}

#[test]
fn limit_overrides_the_desire() {
    let settings = Settings::new(16);
    let rule = desired("wsap").desire().copied().unwrap();
    let limited = job(Phases(vec![(640, MS)]), 0, Width::Limited(rule, 4));
    let outcome = run(&settings, &[limited.clone(), limited]).unwrap();
    for job in &outcome.jobs {
        assert!(job.mean_allotment <= 4.0, "{}", job.mean_allotment);
        assert!(job.time() >= 160 * MS && job.time() < 200 * MS);
    }
    let none = job(Phases(vec![(1, MS)]), 0, Width::Limited(rule, 17));
    assert!(run(&settings, &[none]).is_err());
}

/// Runs a wide job that has a second of work for each of four processors. Its desire is estimated
/// once per `cycle`, and each estimate takes `estimate`.
fn estimated(cycle: Nanos, estimate: Nanos) -> JobOutcome {
    let settings = Settings {
        cycle,
        costs: Costs {
            estimate,
            ..Costs::default()
        },
        ..Settings::new(4)
    };
    let wide = job(Phases(vec![(400, 10 * MS)]), 0, desired("wsap"));
    only(&settings, wide)
}

/// This is the trade-off in figures 7-2 and 7-5 of Sen 2004.
#[test]
fn cycle_length_is_a_trade_off() {
    const US: Nanos = 1_000;
    let [short, right, long] = [100 * US, 2 * MS, 100 * MS].map(|cycle| estimated(cycle, 20 * US));
    assert!(right.time() < short.time(), "{short:?}");
    assert!(right.time() < long.time(), "{long:?}");
    assert!(right.all_processors < long.all_processors);
    let free = estimated(100 * US, 0);
    assert!(free.time() < right.time(), "{free:?}");
    assert_eq!(free.counters.held_up, 0);
}

/// An estimate on a free processor holds up no worker.
#[test]
fn estimate_may_use_a_free_processor() {
    let rule = desired("wsap").desire().copied().unwrap();
    let held_up = |processors| {
        let serial = job(Phases(vec![(1, 100 * MS)]), 0, Width::Limited(rule, 1));
        only(&Settings::new(processors), serial).counters.held_up
    };
    assert_eq!(held_up(2), 0);
    // The job runs for twenty cycles of 5 ms, and the last cycle ends with the job.
    assert_eq!(held_up(1), 20 * Costs::default().estimate);
    let fixed = || job(Phases(vec![(1, 100 * MS)]), 0, Width::Fixed(1));
    let done = run(
        &Settings::new(1),
        &[fixed(), job(Phases(vec![(1, MS)]), 0, desired("wsap"))],
    );
    assert_eq!(
        done.unwrap().jobs[0].counters.held_up,
        0,
        "it has no desire"
    );
}

#[test]
fn jobs_finish_despite_costly_estimates() {
    let settings = Settings {
        cycle: MS / 10,
        costs: Costs {
            estimate: MS / 20,
            ..Costs::default()
        },
        ..Settings::new(1)
    };
    let one = || job(Phases(vec![(1, 10 * MS)]), 0, desired("wsap"));
    let outcome = run(&settings, &[one(), one(), one()]).unwrap();
    assert!(outcome.end() < 3 * 3 * 10 * MS, "{}", outcome.end());
}
