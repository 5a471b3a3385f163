//! The costs that idle workers cause the others.

use crate::support::{Phases, alone, whole};
use tidegate_policy::Nanos;
use tidegate_sim::{Costs, Dag, JobOutcome, Settings, Step, run};

/// Runs a loop of short tasks on a machine whose thieves never rest.
fn short_tasks(settings: Settings) -> JobOutcome {
    let settings = Settings {
        idle: "none".parse().unwrap(),
        victim: "random".parse().unwrap(),
        ..settings
    };
    alone(&settings, Phases(vec![(1_000, 200)]))
}

mod looks {
    use super::*;

    /// Returns how long a loop takes on one worker. All other workers look at that worker, and none
    /// can steal from it.
    fn time(processors: usize, look: Nanos) -> Nanos {
        let costs = Costs {
            attempt: 60,
            look_again: 500,
            look,
            ..Costs::NONE
        };
        let job = short_tasks(Settings {
            steal: "fixed:1000".parse().unwrap(),
            costs,
            ..Settings::new(processors)
        });
        assert_eq!(job.counters.steals, 0);
        assert_eq!(job.counters.working, job.time());
        job.time()
    }

    #[test]
    fn slow_their_victim_down() {
        let undisturbed = time(1, 40);
        assert_eq!(time(8, 0), undisturbed);
        let times = [2, 4, 8].map(|processors| time(processors, 40));
        assert!(undisturbed < times[0], "{undisturbed}, {times:?}");
        assert!(times.is_sorted_by(|a, b| a < b), "{times:?}");
    }

    /// The owner fetches its deque's cache line back once for each push and each pop.
    #[test]
    fn cost_one_line_for_each_use() {
        let (pushes, pops) = (1_000, 1_001);
        assert!(time(64, 40) <= time(1, 40) + 40 * (pushes + pops));
    }
}

mod unwinding {
    use super::*;

    const WORK: Nanos = 10_000;

    /// A task that works for two steps of [`WORK`] while its deque holds two other tasks.
    struct Stack;

    impl Dag for Stack {
        /// How many forks and how many steps of work a task has left.
        type Task = (u32, u32);

        fn root(&self) -> (u32, u32) {
            (2, 0)
        }

        fn next(&self, (forks, steps): &mut (u32, u32)) -> Step<(u32, u32)> {
            match (*forks, *steps) {
                (0, 0) => Step::End,
                (0, _) => {
                    *steps -= 1;
                    Step::Work(WORK)
                }
                (1, _) => {
                    *forks = 0;
                    Step::Fork((0, 2), (0, 0))
                }
                _ => {
                    *forks = 0;
                    Step::Fork((1, 0), (0, 0))
                }
            }
        }
    }

    /// Returns how many tasks are stolen, how long that takes the thief, and the time of the job.
    fn time(steal: &str, unwind: Nanos) -> (u64, Nanos, Nanos) {
        let costs = Costs {
            unwind,
            ..Costs::NONE
        };
        let settings = Settings {
            steal: steal.parse().unwrap(),
            costs,
            ..Settings::new(2)
        };
        let job = alone(&settings, Stack);
        let counters = job.counters;
        (counters.stolen_tasks, counters.stealing, job.time())
    }

    #[test]
    fn takes_time_per_task_held() {
        for (steal, held) in [("one", 2 + 1), ("fixed:2", 2)] {
            for unwind in [0, 300] {
                let waits = held * unwind;
                assert_eq!(time(steal, unwind), (2, waits, 2 * WORK + waits), "{steal}");
            }
        }
    }
}

mod calls {
    use super::*;

    const WORK: Nanos = 30_000_000;

    /// Returns the mean time of `jobs` single tasks, whose thieves share two processors with them.
    fn time(idle: &str, jobs: u64, (call, forfeit): (Nanos, Nanos)) -> Nanos {
        let settings = Settings {
            idle: idle.parse().unwrap(),
            costs: Costs {
                look_again: 1_000,
                yields: 500,
                call,
                forfeit,
                ..Costs::NONE
            },
            ..Settings::new(2)
        };
        let job = |_| whole(Phases(vec![(1, WORK)]), &settings);
        let outcome = run(&settings, &(0..jobs).map(job).collect::<Vec<_>>()).unwrap();
        outcome.jobs.iter().map(JobOutcome::time).sum::<Nanos>() / jobs
    }

    #[test]
    fn hold_up_tasks_once_each() {
        // A thief that yields spends a third of its time in the system.
        for (idle, call, stall) in [("none", 600, 0), ("yield", 0, 0), ("yield", 600, WORK / 5)] {
            let time = time(idle, 1, (call, 0));
            assert!(time.abs_diff(WORK + stall) <= 300, "{idle}: {time}");
        }
    }

    /// Two tasks and two thieves share two processors. If yields are free, the thieves get as much
    /// time as the tasks.
    #[test]
    fn forfeit_their_time_if_charged() {
        assert!(time("yield", 2, (0, Costs::NONE.forfeit)) < WORK * 11 / 10);
        assert!(time("yield", 2, (0, 0)) > WORK * 15 / 10);
        // Calls cost a task nothing while it waits for a processor.
        assert!(time("yield", 2, (600, 0)) < time("yield", 2, (0, 0)) + 2 * WORK / 5);
    }
}
