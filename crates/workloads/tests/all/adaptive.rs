//! The experiments in chapter 7 of Sen, "Dynamic processor allocation for adaptively parallel
//! work-stealing jobs", 2004, on the simulated machine with 16 processors. `cargo test
//! adaptive -- --nocapture` prints the figures.

use tidegate_policy::DesirePolicy;
use tidegate_sim::{Allot, Job, JobOutcome, Nanos, Outcome, Settings, Width, run};
use tidegate_workloads::Simulated;
use tidegate_workloads::dags::CallsDag;
use tidegate_workloads::loopy::Loopy;
use tidegate_workloads::phases::{First, Phases};
use tidegate_workloads::program::Form;

const PROCESSORS: usize = 16;
const MS: Nanos = 1_000_000;

fn desire(text: &str) -> DesirePolicy {
    text.parse().unwrap()
}

fn seconds(time: Nanos) -> f64 {
    time as f64 / 1e9
}

fn settings(seed: u64) -> Settings {
    Settings {
        seed,
        allot: Allot::Dp,
        cycle: 5 * MS,
        ..Settings::new(PROCESSORS)
    }
}

fn jobs<D>(dags: impl IntoIterator<Item = (D, Width)>) -> Vec<Job<D>> {
    let job = |(dag, width)| Job {
        dag,
        arrives: 0,
        width,
    };
    dags.into_iter().map(job).collect()
}

fn mean_response(outcome: &Outcome) -> f64 {
    let sum: Nanos = outcome.jobs.iter().map(JobOutcome::time).sum();
    seconds(sum) / outcome.jobs.len() as f64
}

/// Returns `loopy` with `n` subtasks of `steps` steps each; 600 steps take 1 µs.
fn loopy(n: usize, steps: u64) -> CallsDag<Loopy> {
    let form = Form::Spawn;
    Loopy { n, steps, form }.dag()
}

fn loopy_alone(steps: u64, width: Width) -> JobOutcome {
    let mut outcome = run(&settings(1), &jobs([(loopy(64, steps), width)])).unwrap();
    outcome.jobs.remove(0)
}

/// With this many steps, a subtask takes 4.36 s, as in the thesis, whose processors were much
/// slower.
const STEPS_OF_THE_SOURCE: u64 = 2_617_500_000;

/// The baseline is `instantaneous`, which sets a job's desire to its number of ready tasks.
#[test]
fn proactive_estimates_ramp_up_faster() {
    let all = |steps, rule: &str| {
        let job = loopy_alone(steps, Width::Desired(desire(rule)));
        let all = job.all_processors.map(seconds);
        assert!(seconds(job.time()) <= greedy_bound(&job));
        println!(
            "loopy(64), {steps} steps, {rule}: all processors after {all:?} s, T {:.4} s",
            seconds(job.time())
        );
        job.all_processors
    };
    let counting = all(STEPS_OF_THE_SOURCE, "instantaneous").unwrap();
    for rule in ["wsap:eta=0.5", "steady"] {
        let proactive = all(STEPS_OF_THE_SOURCE, rule).unwrap();
        assert!(counting as f64 >= 2.5 * proactive as f64, "{rule}");
    }
    // With a million steps, the job ends before `instantaneous` reaches all processors.
    assert_eq!(all(1_000_000, "instantaneous"), None);
    for rule in ["wsap:eta=0.5", "steady"] {
        assert!(all(1_000_000, rule).is_some(), "{rule}");
    }
}

/// Returns twice the bound for a greedy scheduler on the job's mean number of processors.
fn greedy_bound(job: &JobOutcome) -> f64 {
    2.0 * (seconds(job.work) / job.mean_allotment + seconds(job.span))
}

/// The mean response time must be a quarter shorter than if each job had half of the machine.
#[test]
fn complementary_jobs_beat_static_halves() {
    // The serial phase on one processor takes as long as the parallel phase on the other fifteen
    // processors.
    let phases = |first| Phases {
        rounds: 1,
        serial: 2_560 * MS,
        wait: 0,
        parallel: 38_400 * MS,
        tasks: 6_400,
        first,
    };
    let response = |width| {
        let dags = [First::Serial, First::Parallel].map(|first| (phases(first).dag(), width));
        let outcome = run(&settings(1), &jobs(dags)).unwrap();
        for job in &outcome.jobs {
            assert!(seconds(job.time()) <= greedy_bound(job));
        }
        mean_response(&outcome)
    };
    let fixed = response(Width::Fixed(PROCESSORS / 2));
    println!("complementary, 8 processors each: mean response {fixed:.3} s");
    // With a target efficiency of 0.5, WSAP alternates between two and four processors for one
    // serial task. Since it uses three on average, the other job gets 13 rather than 15 processors
    // and misses the goal: it gains 23 % instead of 25 %.
    for (rule, goal) in [
        ("steady", 0.75),
        ("wsap:eta=0.75", 0.75),
        ("wsap:eta=0.5", 0.79),
    ] {
        let adaptive = response(Width::Desired(desire(rule)));
        let ratio = adaptive / fixed;
        println!("complementary, dp and {rule}: mean response {adaptive:.3} s, {ratio:.3} of that");
        assert!(ratio <= goal, "{rule}: {ratio}");
    }
}

/// The mean response time of three equal jobs must not be longer than if each job had a third of
/// the machine.
#[test]
fn equal_jobs_match_static_thirds() {
    let response = |widths: [Width; 3]| {
        let dags = widths.map(|width| (loopy(3_000, 6 * MS), width));
        mean_response(&run(&settings(1), &jobs(dags)).unwrap())
    };
    let fixed = response([5, 5, 6].map(Width::Fixed));
    println!("three loopy(3000), 5, 5 and 6 processors: mean response {fixed:.3} s");
    for rule in ["wsap:eta=0.5", "steady"] {
        let adaptive = response([Width::Desired(desire(rule)); 3]);
        println!(
            "three loopy(3000), dp and {rule}: mean response {adaptive:.3} s, {:.3} of that",
            adaptive / fixed
        );
        assert!(adaptive <= fixed, "{rule}");
    }
}
