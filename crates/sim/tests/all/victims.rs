//! The costs that thieves cause their victims.

use crate::support::{Phases, alone};
use tidegate_policy::Nanos;
use tidegate_sim::{Costs, Dag, JobOutcome, Settings, Step};

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
