use super::*;
use crate::dag::Step;
use tidegate_policy::{PlaceTree, VictimPolicy};

/// A task that works without end.
struct Endless;

impl Dag for Endless {
    type Task = ();

    fn root(&self) {}

    fn next(&self, (): &mut ()) -> Step<()> {
        Step::Work(1)
    }
}

/// Returns the first victim of `thief` among four workers if every other worker has a task to
/// steal.
fn first_victim(settings: &Settings, thief: usize) -> Option<usize> {
    let jobs = [Job {
        dag: Endless,
        arrives: 0,
        width: Width::Fixed(4),
    }];
    let mut machine = Machine::new(settings, &untyped(&jobs)).unwrap();
    machine.arrivals();
    for other in (0..4).filter(|&other| other != thief) {
        let task = machine.frames.add(0, NONE, Chain::default());
        machine.push(other, task);
    }
    machine.search(thief, 0);
    machine.attempt(thief);
    machine.workers[thief].last_victim
}

/// On a flat machine, the thief steals from any victim.
#[test]
fn hierarchical_thief_prefers_near_victims() {
    let pairs = PlaceTree::from_groups(4, &[vec![vec![0, 2], vec![1, 3]]]).unwrap();
    for thief in 0..4 {
        let victims = |places: &PlaceTree, victim| -> Vec<usize> {
            let first = |seed| {
                let settings = Settings {
                    seed,
                    victim,
                    places: places.clone(),
                    ..Settings::new(4)
                };
                first_victim(&settings, thief).expect("somebody has work")
            };
            let mut victims: Vec<usize> = (0..50).map(first).collect();
            victims.sort_unstable();
            victims.dedup();
            victims
        };
        let others: Vec<usize> = (0..4).filter(|&other| other != thief).collect();
        let near = (thief + 2) % 4;
        assert_eq!(victims(&pairs, VictimPolicy::Hierarchical), [near]);
        assert_eq!(victims(&pairs, VictimPolicy::Random), others);
        let flat = Settings::new(4).places;
        assert_eq!(victims(&flat, VictimPolicy::Hierarchical), others);
    }
}

/// A binary tree with a little work in each leaf.
struct Tree;

impl Dag for Tree {
    type Task = (u32, bool);

    fn root(&self) -> (u32, bool) {
        (15, false)
    }

    fn next(&self, (levels, begun): &mut (u32, bool)) -> Step<(u32, bool)> {
        match (*levels, std::mem::replace(begun, true)) {
            (_, true) => Step::End,
            (0, false) => Step::Work(1_000),
            (n, false) => Step::Fork((n - 1, false), (n - 1, false)),
        }
    }
}

/// Runs a tree on 16 processors with this fault and the costs of a real machine.
fn tree(fault: Option<Fault>) -> (Settings, JobOutcome) {
    let settings = Settings::new(16);
    let jobs = [Job {
        dag: Tree,
        arrives: 0,
        width: Width::Fixed(16),
    }];
    let mut machine = Machine::new(&settings, &untyped(&jobs)).unwrap();
    machine.fault = fault;
    let job = machine.run(&mut |_, _| ()).unwrap().jobs.remove(0);
    (settings, job)
}

/// Thieves that take nothing break the work-stealing bound even with real costs.
#[test]
fn real_costs_expose_thieves_taking_nothing() {
    let time = |fault| {
        let (settings, job) = tree(fault);
        crate::bounds::stealing_time(&settings, &job)
    };
    let (right, wrong) = (time(None), time(Some(Fault::TakesNothing)));
    assert!(right.holds() && right.can_fail(), "{right:?}");
    assert!(!wrong.holds(), "{wrong:?}");
}

/// The fault gives every job all processors, regardless of its share.
#[test]
fn unfair_allotments_break_their_promise() {
    let broken = |fault, allot: &str| {
        let settings = Settings {
            allot: allot.parse().unwrap(),
            cycle: 100_000,
            ..Settings::new(16)
        };
        let job = || Job {
            dag: Tree,
            arrives: 0,
            width: Width::Desired("wsap".parse().unwrap()),
        };
        let jobs = [job(), job()];
        let mut machine = Machine::new(&settings, &untyped(&jobs)).unwrap();
        machine.fault = fault;
        machine.run(&mut |_, _| ()).unwrap().broken
    };
    for allot in ["dp", "deq", "equi", "max-min"] {
        assert_eq!(broken(None, allot), None, "{allot}");
        assert!(broken(Some(Fault::GivesAll), allot).is_some(), "{allot}");
    }
}

#[test]
fn youngest_first_thieves_break_steal_bound() {
    let steals = |fault| {
        let (settings, job) = tree(fault);
        crate::bounds::steals(&job, 16, &settings.costs)
    };
    let (right, wrong) = (steals(None), steals(Some(Fault::RobsYoungEnd)));
    assert!(right.holds() && !wrong.holds(), "{right:?}, {wrong:?}");
}
