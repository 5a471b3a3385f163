//! Under every policy, tasks that declare memory run to their end and stay within the policy's
//! bound.

use crate::support::{Random, alone, desired, job, whole, with_memory};
use tidegate_policy::{IdlePolicy, MemoryPolicy, Nanos};
use tidegate_sim::{Costs, Dag, JobOutcome, Settings, Step, WorkSpan, run, run_telling};
use tidegate_testkit::soak;

fn dag(seed: u64, rests: bool) -> Random {
    Random {
        reservations: true,
        rests,
        ..Random::new(seed)
    }
}

fn on(processors: usize, memory: &str, seed: u64, rests: bool) -> JobOutcome {
    let settings = Settings {
        seed,
        memory: memory.parse::<MemoryPolicy>().unwrap(),
        ..Settings::new(processors)
    };
    alone(&settings, dag(seed, rests))
}

#[test]
fn random_dags_respect_memory_bounds() {
    for seed in 0..soak(
        20,
        "random dags with reservations, each on 1 to 64 processors under each policy",
    ) {
        let rests = seed % 2 == 1;
        let k = [20, 60, 200][seed as usize % 3];
        let extent = WorkSpan::with_k(&dag(seed, rests), k);
        // A budget has at least one byte.
        let s1 = extent.peak_bytes.max(1);
        for processors in [1, 2, 4, 16, 64] {
            let budget = s1 + [0, 1, s1 / 10, s1][seed as usize % 4];
            let bound = s1 + k * processors as u64 * extent.depth;
            for (policy, bound) in [
                ("none".to_owned(), u64::MAX),
                ("hybrid:alpha=50,beta=5".to_owned(), u64::MAX),
                (format!("depth-first:k={k}"), bound),
                (format!("dfdeques:k={k}"), bound),
                (format!("budget:bytes={budget},serial={s1}"), budget),
            ] {
                if rests && policy.starts_with("budget") {
                    // A budget's bound doesn't hold here: while a task rests, it leaves the reserve
                    // to other tasks.
                    continue;
                }
                let job = on(processors, &policy, seed, rests);
                let what = format!("seed {seed}, {policy} on {processors}");
                assert_eq!((job.work, job.span), (extent.work, extent.span), "{what}");
                assert_eq!(job.counters.refusals, 0, "{what}");
                assert!(
                    job.peak_bytes <= bound,
                    "{what}: {} > {bound}",
                    job.peak_bytes
                );
                if processors == 1 && policy == "none" && !rests {
                    assert_eq!(job.peak_bytes, extent.peak_bytes, "{what}");
                }
            }
        }
    }
}

#[test]
fn scheduling_thread_handles_tasks_one_by_one() {
    let mut settings = with_memory(16, "depth-first:k=60");
    let time = |settings: &Settings| {
        let job = alone(settings, dag(0, false));
        (job.time(), job.counters.tasks)
    };
    let (before, tasks) = time(&settings);
    settings.costs.scheduler = 100_000;
    assert!(before < tasks * settings.costs.scheduler);
    // Each task at least ends.
    assert!(time(&settings).0 > tasks * settings.costs.scheduler);
}

mod hybrid {
    use super::*;

    const WORK: Nanos = 1_000_000;

    /// Two tasks: one holds a mebibyte while it works, and one holds nothing.
    struct Pair;

    #[derive(Clone, Copy)]
    struct PairTask {
        is_root: bool,
        bytes: u64,
        step: u32,
    }

    impl PairTask {
        fn holding(bytes: u64) -> Self {
            Self {
                is_root: false,
                bytes,
                step: 0,
            }
        }
    }

    impl Dag for Pair {
        type Task = PairTask;

        fn root(&self) -> PairTask {
            PairTask {
                is_root: true,
                bytes: 0,
                step: 0,
            }
        }

        fn next(&self, task: &mut PairTask) -> Step<PairTask> {
            task.step += 1;
            match (task.is_root, task.step) {
                (true, 1) => Step::Fork(PairTask::holding(1 << 20), PairTask::holding(0)),
                (false, 1) => Step::Reservation(task.bytes),
                (false, 2) => Step::Work(WORK),
                _ => Step::End,
            }
        }
    }

    fn settings(idle: &str) -> Settings {
        Settings {
            costs: Costs::NONE,
            idle: idle.parse::<IdlePolicy>().unwrap(),
            memory: "hybrid:alpha=64KiB,beta=0".parse().unwrap(),
            ..Settings::new(2)
        }
    }

    /// The first task sleeps, and its processor runs the second task. The other processor has
    /// nothing to do, but it cannot end the sleep, because only the clock of the first processor
    /// counts.
    #[test]
    fn sleepers_wait_for_their_own_processor() {
        for idle in ["elastic", "none", "yield", "linear"] {
            let job = alone(&settings(idle), Pair);
            assert_eq!(job.counters.sleeps, 1, "{idle}");
            assert!(job.time() >= 2 * WORK, "{idle}: {}", job.time());
        }
    }

    /// If a job has put a worker to sleep, another worker wakes that worker's sleepers.
    #[test]
    fn sleepers_without_a_processor_are_woken() {
        for seed in 0..40 {
            let settings = Settings {
                seed,
                memory: "hybrid:alpha=1,beta=0".parse().unwrap(),
                cycle: 100_000,
                ..Settings::new(8)
            };
            let jobs = [seed, seed + 1]
                .map(|seed| job(dag(seed, seed % 2 == 1), 0, desired("instantaneous")));
            let mut tell = |events, _| panic!("seed {seed}: still running after {events} events");
            let outcome = run_telling(&settings, &jobs, &mut tell).unwrap();
            for (job, outcome) in jobs.iter().zip(outcome.jobs) {
                assert_eq!(outcome.work, WorkSpan::of(&job.dag).work, "seed {seed}");
            }
        }
    }

    #[test]
    fn idle_rounds_are_skipped() {
        let settings = Settings {
            memory: "hybrid:alpha=1,beta=0".parse().unwrap(),
            ..settings("elastic:search=0us")
        };
        let job = whole(Pair, &settings);
        let outcome = run(&settings, &[job]).unwrap();
        assert!(outcome.events < 100, "{}", outcome.events);
    }
}
