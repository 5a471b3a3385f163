//! Which class of tasks a pool serves next.
//!
//! A pool has tasks of up to three classes. A *dispatch* is the moment at which a worker with no
//! task in progress begins one. It serves the most urgent class that has tasks, unless a class has
//! been passed over so often that its turn has come. So no class starves, however many tasks of the
//! other classes keep arriving.
//!
//! The count is in dispatches and not in time: a pool that stands still ages no task, and a run
//! with the same tasks makes the same decisions.

use crate::tunable::{Basis, Tunable, choice, count, table, words};

/// The class of a task. The order of the variants is that of their urgency.
///
/// ```
/// use tidegate_policy::Priority;
///
/// assert_eq!(Priority::default(), Priority::Normal);
/// assert!(Priority::Background < Priority::Normal && Priority::Normal < Priority::Urgent);
/// assert_eq!("urgent".parse(), Ok(Priority::Urgent));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// Tasks that can wait, such as cleaning up or filling a cache.
    Background,
    /// All other tasks (the default).
    Normal,
    /// Tasks that a user or another program is waiting for.
    Urgent,
}

impl Priority {
    /// The number of classes.
    pub const COUNT: usize = 3;

    /// All classes, the most urgent first.
    pub const BY_URGENCY: [Self; Self::COUNT] = [Self::Urgent, Self::Normal, Self::Background];
}

impl Default for Priority {
    fn default() -> Self {
        PRIORITY.default
    }
}

words!(
    Priority,
    "priority",
    Background = "background",
    Normal = "normal",
    Urgent = "urgent"
);

table! {
    PRIORITY: Priority = choice("priority", Priority::NAMES, Priority::Normal).set_by("TIDEGATE_PRIORITY"),
        "The class of the tasks that threads outside all pools spawn into a pool.", Basis::Guessed;
    PRIORITY_AGING: usize =
        count("priority-aging", "dispatches", 3, 1_000_000, 64).set_by("TIDEGATE_PRIORITY_AGING"),
        "Within how many dispatches a pool begins a task of each class that has tasks, so that none \
        starves; about as rare as reverse-search.", Basis::Guessed;
}

/// How many dispatches before the last permitted one the turn of a class comes. The turns of the
/// others may come at the same time, and one that was given back comes a second time.
const RESERVE: usize = Priority::COUNT;

/// How often in a row each class was passed over while it had tasks.
///
/// ```
/// use tidegate_policy::Priority::{Background, Normal, Urgent};
/// use tidegate_policy::priority::Aging;
///
/// let mut aging = Aging::default();
/// let served = [(); 6].map(|()| aging.dispatch(5, |class| class != Urgent));
/// assert_eq!(served, [Normal, Normal, Background, Normal, Normal, Background].map(Some));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Aging {
    passed: [usize; Priority::COUNT],
}

impl Aging {
    /// Returns the class that the next dispatch serves, and counts the dispatch. `None` if no class
    /// has tasks.
    ///
    /// A class that has tasks is served within `within` dispatches ([`PRIORITY_AGING`]), at least
    /// 3. Its turn comes earlier, because the turns of the other classes may come at the same time.
    /// The class that was passed over most often is served first.
    pub fn dispatch(
        &mut self,
        within: usize,
        has_tasks: impl Fn(Priority) -> bool,
    ) -> Option<Priority> {
        let mut served: Option<Priority> = None;
        for class in Priority::BY_URGENCY.into_iter().filter(|c| has_tasks(*c)) {
            let passed = self.passed[class as usize];
            let most = served.map(|served| self.passed[served as usize]);
            if most.is_none_or(|most| passed + RESERVE >= within && passed > most) {
                served = Some(class);
            }
        }
        for class in Priority::BY_URGENCY {
            let passed = &mut self.passed[class as usize];
            let waits = has_tasks(class) && Some(class) != served;
            *passed = if waits { *passed + 1 } else { 0 };
        }
        served
    }

    /// Notes that a task of this class began although the dispatch had served another class, which
    /// turned out to have no task.
    pub const fn began(&mut self, class: Priority) {
        self.passed[class as usize] = 0;
    }

    /// Gives a class its turn back: a dispatch has served the class, but began none of its tasks.
    pub fn give_back(&mut self, class: Priority, within: usize) {
        let passed = &mut self.passed[class as usize];
        *passed = (*passed).max(within - RESERVE);
    }
}

#[cfg(test)]
mod tests {
    use super::Priority::{Background, Normal, Urgent};
    use super::*;
    use alloc::collections::BTreeSet;
    use alloc::vec;
    use alloc::vec::Vec;

    /// Returns all states that dispatches can reach, whichever classes have tasks at each. If
    /// `may_give_back`, each turn may be given back.
    fn reachable(within: usize, may_give_back: bool) -> BTreeSet<Aging> {
        let mut seen = BTreeSet::from([Aging::default()]);
        let mut new = vec![Aging::default()];
        while let Some(aging) = new.pop() {
            for some in 0..1 << Priority::COUNT {
                let mut next = aging.clone();
                let served = next.dispatch(within, |class| some >> class as usize & 1 > 0);
                assert_eq!(served.is_none(), some == 0);
                let mut given_back = next.clone();
                if let (Some(served), true) = (served, may_give_back) {
                    given_back.give_back(served, within);
                }
                for next in [next, given_back] {
                    if seen.insert(next.clone()) {
                        new.push(next);
                    }
                }
            }
        }
        seen
    }

    /// A class that was passed over `within - 1` times is served at the next dispatch.
    #[test]
    fn each_class_begins_within_bound() {
        for within in 3..20 {
            let most = reachable(within, true)
                .iter()
                .flat_map(|aging| aging.passed)
                .max();
            assert!(most < Some(within), "{within}: {most:?}");
        }
    }

    #[test]
    fn urgent_waits_for_two_turns_at_most() {
        for within in 6..20 {
            let waits = |aging: &Aging| aging.passed[Urgent as usize];
            assert_eq!(reachable(within, false).iter().map(waits).max(), Some(2));
        }
    }

    /// A pool of simulated workers. A worker chooses a class at its dispatch, begins the task one
    /// step later, and is free again after some steps more.
    struct Simulated {
        workers: Vec<Worker>,
        queued: [usize; Priority::COUNT],
        aging: Aging,
        begun: Vec<Priority>,
    }

    #[derive(Clone, Default)]
    struct Worker {
        chosen: Option<Priority>,
        busy_for: usize,
    }

    impl Simulated {
        fn new(workers: usize, queued: [usize; Priority::COUNT]) -> Self {
            Self {
                workers: vec![Worker::default(); workers],
                queued,
                aging: Aging::default(),
                begun: vec![],
            }
        }

        /// Lets each worker take a step. Worker `w` needs `w % 4` steps for a task.
        fn step(&mut self, within: usize) {
            for (w, worker) in self.workers.iter_mut().enumerate() {
                if let Some(class) = worker.chosen.take() {
                    self.begun.push(class);
                    worker.busy_for = w % 4;
                } else if worker.busy_for > 0 {
                    worker.busy_for -= 1;
                } else {
                    let queued = &mut self.queued;
                    let served = self
                        .aging
                        .dispatch(within, |class| queued[class as usize] > 0);
                    if let Some(class) = served {
                        queued[class as usize] -= 1;
                    }
                    worker.chosen = served;
                }
            }
        }

        /// Returns how many tasks began before the first one of `class`, from `since` on.
        fn began_before(&self, class: Priority, since: usize) -> Option<usize> {
            self.begun[since..].iter().position(|begun| *begun == class)
        }
    }

    /// A million tasks wait in the background. Only the tasks that the workers have already chosen
    /// begin before an urgent one.
    #[test]
    fn urgent_overtakes_a_million() {
        for workers in [1, 2, 7, 64] {
            let before = [0, 1, 2, 3, 63, 64, 1_000].map(|arrives| {
                let mut pool = Simulated::new(workers, [1_000_000, 0, 0]);
                (0..arrives).for_each(|_| pool.step(PRIORITY_AGING.default));
                let since = pool.begun.len();
                pool.queued[Urgent as usize] += 1;
                (0..6).for_each(|_| pool.step(PRIORITY_AGING.default));
                pool.began_before(Urgent, since).expect("it has begun")
            });
            assert!(before.iter().all(|before| *before <= workers), "{before:?}");
            assert!(before.contains(&0) && before.iter().any(|before| *before > 0));
        }
    }

    #[test]
    fn turn_given_back_is_next() {
        let mut aging = Aging::default();
        let mut dispatch = |empty: Option<Priority>| {
            let served = aging.dispatch(8, |_| true).expect("all have tasks");
            if Some(served) == empty {
                aging.give_back(served, 8);
            }
            served
        };
        let begun: Vec<_> = (0..5).map(|_| dispatch(None)).collect();
        assert_eq!(begun, [Urgent; 5]);
        assert_eq!(
            [dispatch(Some(Normal)), dispatch(None)],
            [Normal, Background]
        );
        assert_eq!([dispatch(None), dispatch(None)], [Normal, Urgent]);
    }

    #[test]
    fn background_begins_under_endless_load() {
        for (within, endless) in [(3, Normal), (64, Normal), (64, Urgent), (1_000, Normal)] {
            let mut pool = Simulated::new(1, [1, 0, 0]);
            for _ in 0..2 * within {
                pool.queued[endless as usize] = 1;
                pool.step(within);
            }
            let before = pool.began_before(Background, 0);
            assert_eq!(
                before,
                Some((within - RESERVE).max(1)),
                "the turn comes early"
            );
        }
    }
}
