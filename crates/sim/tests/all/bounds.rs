//! Checks that every run stays within its theoretical bounds, and that a broken scheduler exceeds
//! them.

use crate::support::{self, Phases, Random, alone, desired, job, only, whole, with_memory};
use std::collections::BTreeMap;
use tidegate_policy::{DesirePolicy, MemoryPolicy, Rng};
use tidegate_sim::bounds::{bounds, greedy, memory, stealing_time, waste};
use tidegate_sim::{
    Allotments, Bound, Costs, Dag, Job, JobOutcome, Settings, Step, Width, WorkSpan, run,
};
use tidegate_testkit::soak;

/// Returns a machine with random policies.
fn machine(rng: &mut Rng) -> Settings {
    let mut of = |names: &[&'static str]| names[rng.below(names.len() as u64) as usize];
    #[rustfmt::skip]
    let idle = of(&[
        "elastic", "elastic:search=0us", "none", "yield", "linear", "quanta", "exponential",
    ]);
    // Thieves that never rest cause the most events, so their machines are small.
    let largest = if ["none", "yield"].contains(&idle) {
        3
    } else {
        7
    };
    let steal = of(&["one", "one", "one", "half", "half-above:4", "fixed:2"]);
    let victim = of(&["random", "round-robin", "last-victim", "hierarchical"]);
    let allot = of(&["dp", "deq", "equi", "max-min"]);
    #[rustfmt::skip]
    let memory = of(&[
        "none", "none", "none", "hybrid:alpha=50,beta=5", "depth-first:k=200", "dfdeques:k=200",
    ]);
    // If looking takes no time, a thief that never rests looks forever.
    let free = idle.starts_with("elastic:");
    let processors = [3, 8, 2, 16, 4, 64, 200][rng.below(largest) as usize];
    Settings {
        seed: rng.draw(),
        idle: idle.parse().unwrap(),
        steal: steal.parse().unwrap(),
        victim: victim.parse().unwrap(),
        allot: allot.parse().unwrap(),
        memory: memory.parse().unwrap(),
        costs: if free { Costs::NONE } else { Costs::default() },
        cycle: 100_000 + rng.below(500_000),
        ..Settings::new(processors)
    }
}

/// Random jobs: one with all processors, or several with desires.
fn jobs(rng: &mut Rng, settings: &Settings) -> Vec<Job<Random>> {
    // Tasks are long, so that work outweighs the time to wake up, or short, so that many can be
    // stolen.
    let work = [50_000, 100, 100][rng.below(3) as usize];
    // With few tasks, no run could break a bound.
    let mut dag = || Random {
        reservations: true,
        forks: 9,
        levels: 1 + rng.below(2) as u32,
        work,
        reservation: 999,
        ..Random::new(rng.draw())
    };
    let count = if settings.memory.keeps_order() {
        0
    } else {
        dag().seed % 4
    };
    if count == 0 {
        return vec![whole(dag(), settings)];
    }
    let rule = DesirePolicy::names()[dag().seed as usize % DesirePolicy::names().len()];
    let width = desired(rule);
    (0..count)
        .map(|_| job(dag(), dag().seed % 100_000, width))
        .collect()
}

/// Returns random allotments for every third run, unless its memory policy keeps the depth-first
/// order.
fn allotments(seed: u64, settings: &Settings) -> Option<Allotments> {
    let every = [20_000, 100_000, 1_000_000][seed as usize / 3 % 3];
    let given = seed % 3 == 0 && !settings.memory.keeps_order();
    given.then_some(Allotments::Random(every))
}

fn k_of(memory: MemoryPolicy) -> u64 {
    match memory {
        MemoryPolicy::DepthFirst(policy) => policy.k as u64,
        MemoryPolicy::DfDeques(policy) => policy.k as u64,
        _ => u64::MAX,
    }
}

#[test]
fn random_runs_keep_all_bounds() {
    let mut most: Vec<Bound> = Vec::new();
    // For each bound, how often it could have been broken, and how often it was checked.
    let mut told: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    for seed in 0..soak(200, "random runs, each held against its bounds") {
        let mut rng = Rng::new(seed);
        let mut settings = machine(&mut rng);
        let jobs = jobs(&mut rng, &settings);
        settings.allotments = allotments(seed, &settings);
        let outcome = run(&settings, &jobs).unwrap();
        for (number, job) in jobs.iter().enumerate() {
            let extent = WorkSpan::with_k(&job.dag, k_of(settings.memory));
            for bound in bounds(&settings, &outcome, (number, job.width), Some(&extent)) {
                assert!(
                    bound.holds(),
                    "seed {seed}, job {number}: {bound:?}, {settings:?}, {:?}",
                    outcome.jobs[number]
                );
                let told = told.entry(bound.name).or_default();
                told[0] += u64::from(bound.can_fail());
                told[1] += 1;
                match most.iter_mut().find(|seen| seen.name == bound.name) {
                    Some(seen) if seen.value / seen.limit >= bound.value / bound.limit => {}
                    Some(seen) => *seen = bound,
                    None => most.push(bound),
                }
            }
        }
    }
    for bound in &most {
        println!("{}: {} of {}", bound.name, bound.value, bound.limit);
    }
    println!("could have been broken, of all: {told:?}");
    assert_eq!(told.len(), 5, "{told:?}");
    for (bound, [tell, all]) in told {
        assert!(4 * tell > all, "{bound}: {tell} of {all} could be broken");
    }
}

/// Runs a wide dag with these settings.
fn on(settings: &Settings, width: Width) -> JobOutcome {
    only(settings, job(Phases(vec![(5_000, 10_000); 4]), 0, width))
}

fn free(idle: &str, steal: &str) -> Settings {
    Settings {
        idle: idle.parse().unwrap(),
        steal: steal.parse().unwrap(),
        cycle: 100_000,
        ..support::greedy(16)
    }
}

#[test]
fn sleepers_beside_work_break_greedy_bound() {
    let sleepy = free("linear:min=50ms,max=200ms", "one");
    let eager = free("elastic:search=0us", "one");
    for width in [Width::Fixed(16), desired("wsap")] {
        let (lazy, bound) = (greedy(&on(&sleepy, width)), greedy(&on(&eager, width)));
        assert!(bound.holds(), "{width:?}: {bound:?}");
        assert!(!lazy.holds(), "{width:?}: {lazy:?}");
    }
}

/// Here, the plain mean of the allotment doesn't give a valid bound.
#[test]
fn trimmed_bound_survives_useless_processors() {
    let settings = Settings {
        allot: "equi".parse().unwrap(),
        ..free("elastic:search=0us", "one")
    };
    let job = |phases: &[(u64, u64)]| job(Phases(phases.to_vec()), 0, desired("instantaneous"));
    // The job shares the machine with fifteen other jobs for a cycle. When they have ended, it has
    // all processors but only a serial task left.
    let mut jobs = vec![job(&[(110, 1_000), (1, 95_000)])];
    jobs.extend((0..15).map(|_| job(&[(90, 1_000)])));
    let outcome = run(&settings, &jobs).unwrap().jobs.remove(0);
    let by_mean = outcome.work as f64 / outcome.mean_allotment + outcome.span as f64;
    assert!(outcome.time() as f64 > 1.2 * by_mean, "{outcome:?}");
    let bound = greedy(&outcome);
    assert!(bound.holds(), "{bound:?}");
}

#[test]
fn only_single_steals_have_stealing_bounds() {
    let names = |steal| {
        let settings = free("elastic:search=0us", steal);
        let jobs = [whole(Phases(vec![(50, 10_000)]), &settings)];
        let outcome = run(&settings, &jobs).unwrap();
        let bounds = bounds(&settings, &outcome, (0, jobs[0].width), None);
        bounds.iter().map(|bound| bound.name).collect::<Vec<_>>()
    };
    assert_eq!(names("one"), ["greedy", "stealing-time", "steals"]);
    assert_eq!(names("half"), ["greedy"]);
    assert_eq!(names("fixed:2"), Vec::<&str>::new());
}

#[test]
fn thieves_taking_nothing_break_stealing_bound() {
    let job = on(&free("elastic:search=0us", "fixed:1000"), Width::Fixed(16));
    let bound = stealing_time(&free("elastic:search=0us", "one"), &job);
    assert!(!bound.holds(), "{bound:?}");
}

#[test]
fn hoarding_sleepers_break_memory_bounds() {
    let dag = Random {
        reservations: true,
        levels: 7,
        ..Random::new(2)
    };
    let extent = WorkSpan::with_k(&dag, 1);
    let job = alone(&with_memory(1, "hybrid:alpha=1,beta=0"), dag);
    let budget = format!("budget:bytes={0},serial={0}", extent.peak_bytes);
    for policy in ["none", &budget] {
        let claims = with_memory(1, policy);
        let bound = claimed(&claims, &job, &extent);
        assert!(!bound.holds(), "{policy}: {bound:?}");
    }
}

/// Returns the memory bound that `settings` promise. The job ran with other settings, on one
/// processor.
fn claimed(settings: &Settings, job: &JobOutcome, extent: &WorkSpan) -> Bound {
    memory(settings, 1, job, extent).expect("it has one")
}

/// Spawns a number of tasks, each of which declares a number of bytes.
struct Wide(u64, u64);

impl Dag for Wide {
    type Task = (u64, u64);

    fn root(&self) -> (u64, u64) {
        (0, 0)
    }

    fn next(&self, (spawned, step): &mut (u64, u64)) -> Step<(u64, u64)> {
        *step += 1;
        match (*spawned, *step) {
            (0, step) if step <= self.0 => Step::Spawn((step, 0)),
            (0, step) if step == self.0 + 1 => Step::Join,
            (0, _) => Step::End,
            (_, 1 | 2) => Step::Reservation(self.1 / 2),
            (_, 3) => Step::Work(1_000),
            _ => Step::End,
        }
    }
}

#[test]
fn hoarding_sleepers_break_depth_first_bounds() {
    let dag = || Wide(1_000, 1 << 20);
    let peak = |memory| alone(&with_memory(1, memory), dag());
    let extent = WorkSpan::with_k(&dag(), 1_024);
    for policy in ["depth-first:k=1KiB", "dfdeques:k=1KiB"] {
        let claims = with_memory(1, policy);
        let bound = |memory| claimed(&claims, &peak(memory), &extent);
        let (right, wrong) = (bound(policy), bound("hybrid:alpha=1,beta=0"));
        assert!(right.holds() && right.can_fail(), "{policy}: {right:?}");
        assert!(!wrong.holds(), "{policy}: {wrong:?}");
    }
}

#[test]
fn parking_wastes_less_than_retrying() {
    let wasted = |idle: &str| {
        let settings = Settings {
            idle: idle.parse().unwrap(),
            ..Settings::new(16)
        };
        waste(&settings, &alone(&settings, Phases(vec![(1, 10_000_000)])))
    };
    let (parks, never) = (wasted("elastic"), wasted("none"));
    assert!(
        parks.holds() && parks.value < never.value / 50.0,
        "{parks:?}, {never:?}"
    );
}
