//! Checks the table of transitions: every row occurs, and no transition occurs that is not in it.

use tidegate_policy::slots::{Fit, Ledger, Status, TRANSITIONS, Verb};
use tidegate_policy::{CpuSlots, Rng};

type Row = (Status, Verb, Status);

const THREADS: usize = 6;

/// A ledger, and the rows of the table that have occurred so far.
struct Watched {
    ledger: Ledger,
    used: Vec<Row>,
}

impl Watched {
    fn new(slots: usize) -> Self {
        let mut watched = Self {
            ledger: Ledger::new(slots, THREADS).with_cpu_slots(CpuSlots::new(&[vec![0, 1, 2]])),
            used: Vec::new(),
        };
        for t in 0..THREADS {
            assert_eq!(watched.ledger.admit(), Some(t));
        }
        watched
    }

    /// Calls a function of the ledger that may use `verbs`, and records the rows of the table that
    /// the changes of status match.
    fn call<R>(&mut self, verbs: &[Verb], call: impl FnOnce(&mut Ledger) -> R) {
        let before = self.statuses();
        call(&mut self.ledger);
        for (from, to) in before.into_iter().zip(self.statuses()) {
            match (from, to) {
                _ if from == to => {}
                // A thread was started: it is admitted and then gets a slot.
                (Status::Gone, Status::Running) => {
                    self.note(Status::Gone, &[Verb::Admit], Status::Blocked);
                    self.note(Status::Blocked, verbs, Status::Running);
                }
                _ => self.note(from, verbs, to),
            }
        }
    }

    fn note(&mut self, from: Status, verbs: &[Verb], to: Status) {
        let mut rows = verbs.iter().map(|verb| (from, *verb, to));
        let row = rows.find(|row| TRANSITIONS.contains(row));
        self.used
            .push(row.unwrap_or_else(|| panic!("{from:?} to {to:?} by one of {verbs:?}")));
    }

    fn statuses(&self) -> [Status; THREADS] {
        std::array::from_fn(|t| self.ledger.status(t))
    }

    /// Calls one randomly chosen function that the runtime could call now.
    fn step(&mut self, rng: &mut Rng) {
        let t = rng.below(THREADS as u64) as usize;
        let giver = rng.below(THREADS as u64) as usize;
        let slots = 1 + rng.below(3) as usize;
        let fit = [Fit::Robs, Fit::Queued, Fit::Rescue, Fit::Never][rng.below(4) as usize];
        match rng.below(12) {
            0 => self.call(&[Verb::Admit], Ledger::admit),
            1 => self.call(&[Verb::ServeOwed], |ledger| ledger.set_slots(slots)),
            2 => self.call(&[Verb::WakeForWork], |ledger| {
                ledger.wake_for_work(|_| fit, |_| true)
            }),
            3 => self.call(&[Verb::WakeIn], |ledger| ledger.wake_in(0)),
            4 => self.call(&[Verb::Opened], |ledger| {
                ledger.opened(t, Some(giver).filter(|giver| *giver != t))
            }),
            5 => self.call(&[Verb::Rise], |ledger| ledger.rise(t)),
            6 => self.call(&[Verb::Overcommit], |ledger| ledger.overcommit(t)),
            7 => self.call(&[Verb::Repay], |ledger| ledger.repay(t)),
            8 | 9 => self.stop(t, rng),
            _ if self.ledger.status(t) == Status::Gone => {}
            _ => self.call(&[Verb::Ready], |ledger| ledger.ready(t)),
        }
    }

    fn stop(&mut self, t: usize, rng: &mut Rng) {
        let reasons: &[Status] = match self.ledger.status(t) {
            Status::Running | Status::Overcommitted => &[
                Status::Idle,
                Status::Waiting,
                Status::Owed,
                Status::Blocked,
                Status::Gone,
            ],
            Status::Idle => &[Status::Blocked, Status::Gone],
            Status::Blocked => &[Status::Gone],
            Status::Waiting | Status::Owed | Status::Gone => return,
        };
        let to = reasons[rng.below(reasons.len() as u64) as usize];
        self.call(&[Verb::Stop, Verb::ServeOwed], |ledger| ledger.stop(t, to));
    }
}

mod table {
    use super::*;

    #[test]
    fn holds_every_step_and_no_other() {
        let mut used = Vec::new();
        for seed in 0..40 {
            let mut rng = Rng::new(seed);
            let mut watched = Watched::new(1 + rng.below(3) as usize);
            (0..200).for_each(|_| watched.step(&mut rng));
            used.extend(watched.used);
        }
        for row in TRANSITIONS {
            assert!(used.contains(row), "{row:?} never happens: delete the row");
        }
    }

    #[test]
    fn names_each_step_once() {
        for (at, row) in TRANSITIONS.iter().enumerate() {
            assert!(!TRANSITIONS[..at].contains(row), "{row:?}");
        }
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "illegal: (Gone, Ready, Running)")]
    fn is_asserted_by_the_ledger() {
        let mut ledger = Ledger::new(1, 1);
        let t = ledger.admit().unwrap();
        assert_eq!(ledger.stop(t, Status::Gone), None);
        let _ = ledger.ready(t);
    }
}
