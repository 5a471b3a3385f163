//! Jobs whose allotments the test dictates. The system plays the adversary described in Sen,
//! "Dynamic processor allocation for adaptively parallel work-stealing jobs", 2004, section 3.2.

use crate::support::{Phases, Random, alone, desired, greedy, job, only, whole};
use tidegate_policy::DesirePolicy;
use tidegate_sim::bounds::bounds;
use tidegate_sim::{Nanos, Settings, Width, run};

const US: Nanos = 1_000;
const MS: Nanos = 1_000_000;

fn given(allotments: &str, settings: Settings) -> Settings {
    Settings {
        allotments: Some(allotments.parse().unwrap()),
        ..settings
    }
}

/// Returns when a job that can always use all its processors would end if it had 4, then 2, then 8
/// processors.
fn ideal_end(work: Nanos) -> Nanos {
    match work / MS {
        0..40 => work / 4,
        40..70 => 10 * MS + (work - 40 * MS) / 2,
        _ => 25 * MS + (work - 70 * MS) / 8,
    }
}

/// For each amount of work, the job ends when an ideal schedule would. So at any time, the job has
/// done as much work as its allotment allowed: if it had done more it would end earlier, and if
/// less, later.
#[test]
fn parallel_job_uses_its_whole_allotment() {
    let settings = given("0ms:4,10ms:2,25ms:8", greedy(8));
    for tasks in (10..2_000).step_by(70) {
        let task = 100 * US;
        let job = alone(&settings, Phases(vec![(tasks, task)]));
        let ideal = ideal_end(tasks * task);
        assert!(job.time() >= ideal, "{tasks}: {} {ideal}", job.time());
        assert!(
            job.time() <= ideal + task,
            "{tasks}: {} {ideal}",
            job.time()
        );
    }
}

#[test]
fn long_task_pauses_and_continues() {
    let settings = given("0ms:8,10ms:1,20ms:8", greedy(8));
    let job = alone(&settings, Phases(vec![(8, 40 * MS)]));
    // When the job gets eight processors again, one task has run for 20 ms, and the others for 10
    // ms.
    assert_eq!(job.time(), 50 * MS);
    assert_eq!(job.work, 320 * MS);
    let sum = 8.0 * 10.0 + 10.0 + 8.0 * 30.0;
    assert!((job.mean_allotment - sum / 50.0).abs() < 1e-9);
}

#[test]
fn allotment_times_start_at_arrival() {
    let settings = given("0ms:4,10ms:1", greedy(8));
    let job = |arrives| job(Phases(vec![(500, 100 * US)]), arrives, Width::Fixed(8));
    let outcome = run(&settings, &[job(0), job(5 * MS)]).unwrap();
    for job in &outcome.jobs {
        assert!(!job.stood_in_line);
        assert!(
            (20 * MS..20 * MS + 100 * US).contains(&job.time()),
            "{job:?}"
        );
    }
}

/// The two limits are the job's desire and the imposed allotment.
#[test]
fn job_gets_smaller_of_both_limits() {
    let wide = || Phases(vec![(3_000, 100 * US)]);
    let serial = || Phases(vec![(1, 300 * MS)]);
    for rule in DesirePolicy::names() {
        let width = desired(rule);
        let of = |allotments, dag| {
            let settings = given(allotments, Settings::new(16));
            only(&settings, job(dag, 0, width))
        };
        let few = of("0ms:3", wide());
        assert!(few.mean_allotment <= 3.0, "{rule}: {few:?}");
        assert!(few.time() >= 100 * MS, "{rule}: {few:?}");
        let many = of("0ms:16", serial());
        assert!(many.mean_allotment < 8.0, "{rule}: {many:?}");
    }
}

/// The jobs also get no more processor time than they were allotted.
#[test]
fn random_allotments_lose_no_task() {
    for seed in 0..40 {
        let every = ["20us", "100us", "1ms"][seed as usize % 3];
        let settings = Settings {
            seed,
            idle: ["elastic", "yield", "linear", "elastic:search=0us"][seed as usize % 4]
                .parse()
                .unwrap(),
            ..given(&format!("random:{every}"), Settings::new(8))
        };
        let dag = Random {
            rests: seed % 2 == 0,
            forks: 4,
            work: 20_000,
            ..Random::new(seed)
        };
        let extent = tidegate_sim::WorkSpan::of(&dag);
        let job = alone(&settings, dag);
        let counters = &job.counters;
        assert_eq!(counters.tasks, extent.tasks);
        assert_eq!((job.work, job.span), (extent.work, extent.span));
        let busy = counters.working + counters.searching;
        let given = job.mean_allotment * job.time() as f64;
        assert!(
            busy as f64 <= given * (1.0 + 1e-9),
            "{seed}: {busy} of {given}"
        );
    }
}

/// The bound would not hold if P were the machine's eight processors.
#[test]
fn greedy_bound_uses_given_processors() {
    for (allotments, most) in [("0ms:3", 3.0), ("0ms:8,1ms:2", 2.0), ("random:100us", 8.0)] {
        let settings = given(allotments, greedy(8));
        let jobs = [whole(Phases(vec![(4_000, 10 * US); 2]), &settings)];
        let outcome = run(&settings, &jobs).unwrap();
        let job = &outcome.jobs[0];
        assert!(job.trimmed_allotment < most + 0.2, "{job:?}");
        let bounds = bounds(&settings, &outcome, (0, jobs[0].width), None);
        let greedy = bounds.iter().find(|bound| bound.name == "greedy").unwrap();
        assert!(greedy.holds() && greedy.can_fail(), "{greedy:?}");
        assert!(
            greedy.value > (job.work / 8 + job.span) as f64,
            "{greedy:?}"
        );
    }
}

#[test]
fn what_cannot_be_given_is_refused() {
    let refused = |settings: Settings| {
        let job = whole(Phases(vec![(1, 1)]), &settings);
        run(&settings, &[job]).unwrap_err().to_string()
    };
    let text = refused(given("0ms:9", Settings::new(8)));
    assert_eq!(
        text,
        "allotments: 9 processors from 0ns on: expected 1 to 8"
    );
    let pinned = Settings {
        pinned: true,
        ..given("0ms:8", Settings::new(8))
    };
    assert!(refused(pinned).contains("pinned"));
    let ordered = Settings {
        memory: "depth-first".parse().unwrap(),
        ..given("0ms:8", Settings::new(8))
    };
    assert!(refused(ordered).contains("expected none or hybrid"));
}
