//! Different programs on one machine.

use crate::support::{Phases, Random, desired, greedy, job};
use tidegate_sim::{AnyDag, Nanos, Width, WorkSpan, run, run_mix};

const MS: Nanos = 1_000_000;

#[test]
fn each_job_runs_its_own_program() {
    let (random, phases) = (Random::new(7), Phases(vec![(5, MS)]));
    let dags: [&dyn AnyDag; 3] = [&random, &phases, &random];
    let jobs = dags.map(|dag| job(dag, 0, desired("wsap")));
    let outcome = run_mix(&greedy(4), &jobs, &mut |_, _| ()).unwrap();
    for (dag, job) in dags.iter().zip(&outcome.jobs) {
        let extent = WorkSpan::of(*dag);
        assert_eq!((job.work, job.span), (extent.work, extent.span));
        assert_eq!(job.counters.tasks, extent.tasks);
    }
    assert_ne!(outcome.jobs[0].work, outcome.jobs[1].work);
}

#[test]
fn uniform_jobs_match_a_mix() {
    let jobs = [1, 2].map(|seed| job(Random::new(seed), seed * 1_000, Width::Fixed(4)));
    let untyped = jobs
        .each_ref()
        .map(|of| job(&of.dag as &dyn AnyDag, of.arrives, of.width));
    let mixed = run_mix(&greedy(4), &untyped, &mut |_, _| ());
    assert_eq!(mixed, run(&greedy(4), &jobs));
}
