//! Who is granted how much, and who is refused; the argument is docs/memory.md.

use super::{Answer, Book, Held, Reservation, State, Task, UNDER_WAY, Until};
use alloc::vec::Vec;

impl Book {
    /// All reservations together.
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
        let is_lowered = self.budget < self.ceiling && self.declared <= self.budget;
        if is_lowered && self.declared - self.reserved() <= self.free() {
            self.ceiling = self.budget;
        }
    }

    /// What the leftmost path holds. Where `serial` is the peak of the serial run, never more than that.
    #[must_use]
    pub fn reserved(&self) -> u64 {
        self.leftmost().map_or(0, |leftmost| self.path(leftmost))
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
        asking.sort_by_key(|task| self.rank(*task));
        asking.into_iter().find_map(|task| {
            let State::Asks(bytes) = self.tasks[task.0].state else {
                unreachable!("it is among those that ask");
            };
            let answer = self.answer(task, bytes);
            (answer != Answer::Later).then_some((task, answer))
        })
    }

    /// How many tasks wait for memory.
    #[must_use]
    pub fn asking(&self) -> usize {
        self.asking.len()
    }

    /// The first task in order that waits for memory and could go on if it had some.
    #[must_use]
    pub fn first_of_asking(&self) -> Option<Task> {
        let asking = self.asking.iter().copied();
        let asking = asking.filter(|task| !self.tasks[task.0].buried);
        asking.min_by_key(|task| self.rank(*task))
    }

    /// A reservation is over.
    pub fn give_back(&mut self, reservation: Reservation) {
        let Held { holder, bytes, .. } = self.reservations.take(reservation.0);
        self.declared -= bytes;
        if let Some(holder) = holder {
            let reservations = &mut self.tasks[holder.0].reservations;
            // Mostly the last one.
            if let Some(at) = reservations.iter().rposition(|other| *other == reservation) {
                reservations.swap_remove(at);
            }
            self.step_aside(holder);
        }
        self.lower_ceiling();
    }

    /// The first task in depth-first order that does not wait for what the book knows of. It may be absent: then the reserve is kept for it.
    #[must_use]
    pub fn leftmost(&self) -> Option<Task> {
        self.in_order().find(|task| {
            let waits = self.waits(*task) && !self.is_absent(*task);
            !waits && self.tasks[task.0].state != State::Gone
        })
    }

    /// Whether a task will go on, and the order cannot tell behind whom: it waits for something that the book does not know of or for strangers, computes without
    /// a slot, or is buried below another one.
    #[must_use]
    pub fn is_absent(&self, task: Task) -> bool {
        let entry = &self.tasks[task.0];
        match entry.state {
            State::Waits(Until::Else) => true,
            State::Waits(Until::Scope(scope)) => {
                let root = self.tasks[task.0].root;
                self.scopes[scope.0].has_strangers_to(root)
            }
            State::Runs => entry.buried || entry.blocks,
            State::Asks(_) => entry.buried,
            State::Unstarted | State::Waits(Until::Half(_)) | State::Gone => false,
        }
    }

    /// Of each root the first task that does not wait for what the book knows of, in order. If somebody waits for a task of another root, it may be for this one.
    pub(crate) fn fronts(&self) -> impl Iterator<Item = Task> + '_ {
        let mut roots: Vec<u64> = Vec::new();
        self.in_order().filter(move |task| {
            let waits = self.waits(*task) && !self.is_absent(*task);
            if waits || self.tasks[task.0].state == State::Gone {
                return false;
            }
            let root = self.tasks[task.0].root;
            let is_first = !roots.contains(&root);
            if is_first {
                roots.push(root);
            }
            is_first
        })
    }

    /// Whether the task has asked and could go on if it had what it wants.
    fn could_have(&self, task: Task) -> bool {
        self.asks(task) && !self.tasks[task.0].buried
    }

    /// Nobody runs: the request to be granted like one of the leftmost task, of those that fit. If that is absent it may wait for the first that is all its root can
    /// do; if nobody will go on by itself, all wait for the first to give something back.
    fn turn(&self) -> Option<Task> {
        let fits = |task: &Task| match self.tasks[task.0].state {
            State::Asks(bytes) => self.could_have(*task) && self.fits_below(self.ceiling, bytes),
            _ => false,
        };
        if self.away > 0 {
            self.leftmost().filter(|task| self.is_absent(*task))?;
            return self.fronts().find(fits);
        }
        self.stuck()?;
        self.in_order().find(fits)
    }

    /// Nobody runs, and nobody will by itself: the first request, if no root's first has yet to begin, which may give something back.
    /// Where each front is buried, by a task of its own root, any request.
    fn stuck(&self) -> Option<Task> {
        if !self.is_still() {
            return None;
        }
        let unstarted = |task: Task| self.is_unstarted(task);
        if self.fronts().any(unstarted) {
            return None;
        }
        let could = |task: &Task| unstarted(*task) || self.could_have(*task);
        let first = self.fronts().find(could);
        let first = first.or_else(|| self.in_order().find(could));
        first.filter(|task| self.asks(*task))
    }

    /// Whether nobody runs, and nobody will by itself.
    pub(crate) fn is_still(&self) -> bool {
        self.running == 0 && self.away == 0
    }

    /// What the serial run would hold where this task now is.
    fn path(&self, task: Task) -> u64 {
        let (mut sum, mut next, mut until) = (0, Some(task), UNDER_WAY);
        while let Some(task) = next {
            let entry = &self.tasks[task.0];
            let held = entry
                .reservations
                .iter()
                .map(|reservation| self.reservations[reservation.0]);
            // What it has reserved since comes behind the task in the serial run.
            let before = held.filter(|held| held.at <= until);
            sum += before.map(|held| held.bytes).sum::<u64>();
            (next, until) = (entry.parent, entry.at);
        }
        sum
    }

    fn answer(&mut self, task: Task, bytes: u64) -> Answer {
        // The leftmost task may be another one than when something was given back last.
        self.lower_ceiling();
        let turn = if self.running == 0 { self.turn() } else { None };
        if self.may_have(turn == Some(task) || self.leftmost() == Some(task), bytes) {
            return Answer::Granted(self.grant(task, bytes));
        }
        // It never fits, or the others sleep and none of them can be helped.
        let never = bytes > self.ceiling || self.declared.checked_add(bytes).is_none();
        if never || (turn.is_none() && self.stuck() == Some(task)) {
            self.no_more_asks(task);
            return Answer::Refused;
        }
        Answer::Later
    }

    fn fits_below(&self, most: u64, bytes: u64) -> bool {
        let after = self.declared.checked_add(bytes);
        after.is_some_and(|after| after <= most)
    }

    fn may_have(&self, is_leftmost: bool, bytes: u64) -> bool {
        if !self.fits_below(self.ceiling, bytes) {
            return false;
        }
        // Mostly there is no need to ask what the path holds.
        let fits = is_leftmost || self.budget == u64::MAX || self.fits_below(self.free(), bytes);
        fits || self.fits_below(self.free().saturating_add(self.reserved()), bytes)
    }

    fn grant(&mut self, task: Task, bytes: u64) -> Reservation {
        self.no_more_asks(task);
        self.declared += bytes;
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
        let reservation = Reservation(self.reservations.put(held));
        self.tasks[task.0].reservations.push(reservation);
        reservation
    }

    fn no_more_asks(&mut self, task: Task) {
        self.asking.retain(|other| *other != task);
        self.change(task, State::Runs);
    }
}
