use super::*;
use crate::dag::Step;
use tidegate_policy::{PlaceTree, Victim};

/// Tasks that work and do nothing else.
struct Work;

impl Dag for Work {
    type Task = ();

    fn root(&self) {}

    fn next(&self, (): &mut ()) -> Step<()> {
        Step::Work(1)
    }
}

/// Whom `thief` robs first, out of four workers of whom all others have a task to rob.
fn first_victim(settings: &Settings, thief: usize) -> Option<usize> {
    let jobs = [Job {
        dag: Work,
        arrives: 0,
        width: Width::Fixed(4),
    }];
    let mut machine = Machine::new(settings, &jobs).unwrap();
    machine.arrivals();
    for other in (0..4).filter(|&other| other != thief) {
        let task = machine.frames.add((), NONE, 0);
        machine.push(other, task);
    }
    machine.search(thief, 0);
    machine.attempt(thief);
    machine.workers[thief].last_victim
}

#[test]
fn a_hierarchical_thief_robs_near_ones_first_and_on_a_flat_machine_anybody() {
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
        assert_eq!(victims(&pairs, Victim::Hierarchical), [near]);
        assert_eq!(victims(&pairs, Victim::Random), others);
        let flat = Settings::new(4).places;
        assert_eq!(victims(&flat, Victim::Hierarchical), others);
    }
}
