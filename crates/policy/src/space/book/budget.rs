//! Who is granted how much, and who is refused; the argument is docs/space.md.

use super::{Answer, Book, Held, Lease, State, Task, UNDER_WAY, Until};
use alloc::vec::Vec;

impl Book {
    /// All leases together.
    #[must_use]
    pub fn declared(&self) -> u64 {
        self.declared
    }

    /// The most that they were.
    #[must_use]
    pub fn peak(&self) -> u64 {
        self.peak
    }

    /// From now on so much may be declared. What is declared already stays so.
    pub fn set_budget(&mut self, budget: u64) {
        self.budget = budget;
        self.ceiling = self.ceiling.max(budget);
        self.lower_ceiling();
    }

    fn lower_ceiling(&mut self) {
        if self.declared <= self.free() {
            self.ceiling = self.budget;
        }
    }

    /// How much may be declared apart from the leftmost path.
    fn free(&self) -> u64 {
        self.budget.saturating_sub(self.serial)
    }

    /// The budget, and what of it is kept for the leftmost path.
    #[must_use]
    pub fn budget(&self) -> (u64, u64) {
        (self.budget, self.serial)
    }

    /// A task asks for so many bytes.
    pub fn ask(&mut self, task: Task, bytes: u64) -> Answer {
        self.change(task, State::Asks(bytes));
        self.asking.push(task);
        self.answer(task, bytes)
    }

    /// A task that asked and can be answered now; then it runs.
    pub fn settle(&mut self) -> Option<(Task, Answer)> {
        if self.asking.is_empty() {
            return None;
        }
        let asking = self.asking.iter().copied();
        let mut asking: Vec<Task> = asking.filter(|task| !self.tasks[task.0].buried).collect();
        asking.sort_by(|one, other| self.compare(*one, *other));
        asking.into_iter().find_map(|task| {
            let State::Asks(bytes) = self.tasks[task.0].state else {
                unreachable!("it is among those that ask");
            };
            let answer = self.answer(task, bytes);
            (answer != Answer::Later).then_some((task, answer))
        })
    }

    /// The first task in order that waits for memory, if at least so many do.
    #[must_use]
    pub fn first_of_asking(&self, at_least: usize) -> Option<Task> {
        let asking = || self.asking.iter().copied();
        let first = || asking().min_by(|one, other| self.compare(*one, *other));
        (self.asking.len() >= at_least).then(first).flatten()
    }

    /// A lease is over.
    pub fn give_back(&mut self, lease: Lease) {
        let Held { holder, bytes, .. } = self.leases.take(lease.0);
        self.declared = self.declared.saturating_sub(bytes);
        self.lower_ceiling();
        if let Some(holder) = holder {
            let leases = &mut self.tasks[holder.0].leases;
            // Mostly the last one.
            if let Some(at) = leases.iter().rposition(|other| *other == lease) {
                leases.swap_remove(at);
            }
        }
    }

    /// The first task in depth-first order that does not wait for what the book knows of. It may be absent: then the reserve is kept for it.
    #[must_use]
    pub fn leftmost(&self) -> Option<Task> {
        self.in_order().find(|task| {
            let state = self.tasks[task.0].state;
            !matches!(
                state,
                State::Waits(Until::Half(_) | Until::Scope(_)) | State::Gone
            )
        })
    }

    /// Whether a task will go on by itself, and nobody can tell when: it waits for something that the book does not know of, or is buried below another one.
    #[must_use]
    pub fn is_absent(&self, task: Task) -> bool {
        let entry = &self.tasks[task.0];
        match entry.state {
            State::Waits(Until::Else) => true,
            State::Runs | State::Asks(_) => entry.buried,
            State::Unstarted | State::Waits(_) | State::Gone => false,
        }
    }

    /// The task in which this one was forked in the end.
    fn root_of(&self, task: Task) -> Task {
        let forebears = core::iter::successors(Some(task), |task| self.tasks[task.0].parent);
        forebears.last().unwrap_or(task)
    }

    /// Nobody runs: whether the first request of those that nobody absent has forked is this task's. Somebody absent may wait for just that one.
    fn is_awaited(&self, task: Task) -> bool {
        let absent = self.in_order().filter(|task| self.is_absent(*task));
        let absent: Vec<Task> = absent.map(|task| self.root_of(task)).collect();
        let mut asking = self
            .in_order()
            .filter(|task| matches!(self.tasks[task.0].state, State::Asks(_)));
        let first = asking
            .find(|task| !self.tasks[task.0].buried && !absent.contains(&self.root_of(*task)));
        first == Some(task)
    }

    /// What the serial run would hold where this task now is.
    fn path(&self, task: Task) -> u64 {
        let (mut sum, mut next, mut until) = (0, Some(task), UNDER_WAY);
        while let Some(task) = next {
            let entry = &self.tasks[task.0];
            let held = entry.leases.iter().map(|lease| self.leases[lease.0]);
            // What it has leased since comes behind the task in the serial run.
            let before = held.filter(|held| held.at <= until);
            sum += before.map(|held| held.bytes).sum::<u64>();
            (next, until) = (entry.parent, entry.at);
        }
        sum
    }

    fn answer(&mut self, task: Task, bytes: u64) -> Answer {
        let leftmost = self.leftmost() == Some(task);
        let first = leftmost || (self.running == 0 && self.absent > 0 && self.is_awaited(task));
        if self.may_have(first, bytes) {
            return Answer::Granted(self.grant(task, bytes));
        }
        // The others sleep, and this one cannot be helped.
        if leftmost && self.running == 0 && self.absent == 0 {
            self.no_more_asks(task);
            return Answer::Refused;
        }
        Answer::Later
    }

    fn may_have(&self, is_leftmost: bool, bytes: u64) -> bool {
        let fits = |held: u64, most: u64| held.checked_add(bytes).is_some_and(|all| all <= most);
        if self.budget == u64::MAX {
            // There is none.
            return true;
        }
        let free = self.free();
        if is_leftmost || !fits(self.declared, self.ceiling) {
            return fits(self.declared, self.ceiling);
        }
        if fits(self.declared, free) {
            return true;
        }
        let reserved = self.leftmost().map_or(0, |leftmost| self.path(leftmost));
        fits(self.declared - reserved, free)
    }

    fn grant(&mut self, task: Task, bytes: u64) -> Lease {
        self.no_more_asks(task);
        self.declared = self.declared.saturating_add(bytes);
        assert!(
            self.declared <= self.ceiling,
            "declared memory is above the budget"
        );
        self.peak = self.peak.max(self.declared);
        let held = Held {
            holder: Some(task),
            at: self.tasks[task.0].moment,
            bytes,
        };
        let lease = Lease(self.leases.put(held));
        self.tasks[task.0].leases.push(lease);
        lease
    }

    fn no_more_asks(&mut self, task: Task) {
        self.asking.retain(|other| *other != task);
        self.change(task, State::Runs);
    }
}
