//! Decides which memory requests are granted and which are refused. docs/memory.md explains the
//! rules, and why no task waits forever.

use super::{Answer, Book, Held, Reservation, State, Task, UNDER_WAY, Until};
use alloc::vec::Vec;

impl Book {
    /// The sum of all reservations, in bytes.
    #[must_use]
    pub fn declared(&self) -> u64 {
        self.declared
    }

    /// The largest sum of all reservations so far, in bytes.
    #[must_use]
    pub fn peak(&self) -> u64 {
        self.peak
    }

    /// Sets the budget in bytes. Existing reservations stay.
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

    /// The number of bytes that the leftmost path holds: what the serial run would hold at the
    /// point that the leftmost task has reached. If `serial` is the peak of the serial run, this
    /// never exceeds it.
    #[must_use]
    pub fn reserved(&self) -> u64 {
        self.leftmost().map_or(0, |leftmost| self.path(leftmost))
    }

    /// The number of bytes that may be declared outside the leftmost path.
    fn free(&self) -> u64 {
        self.budget.saturating_sub(self.serial)
    }

    /// Returns the budget, and the part of it that is reserved for the leftmost path, in bytes.
    #[must_use]
    pub fn budget(&self) -> (u64, u64) {
        (self.budget, self.serial)
    }

    /// Requests `bytes` bytes for a task.
    pub fn ask(&mut self, task: Task, bytes: u64) -> Answer {
        self.change(task, State::Asks(bytes));
        let rank = self.rank(task);
        let comes_before = |other: &Task| self.rank(*other) < rank;
        let at = self.asking.partition_point(comes_before);
        self.asking.insert(at, task);
        self.answer(task, bytes)
    }

    /// Returns a task whose request can be answered now, with the answer. The task runs from then
    /// on.
    pub fn settle(&mut self) -> Option<(Task, Answer)> {
        for at in 0..self.asking.len() {
            let task = self.asking[at];
            let entry = &self.tasks[task.0];
            let State::Asks(bytes) = entry.state else {
                unreachable!("it is among those that ask");
            };
            let answer = if entry.buried {
                Answer::Later
            } else {
                self.answer(task, bytes)
            };
            if answer != Answer::Later {
                return Some((task, answer));
            }
        }
        None
    }

    /// The number of tasks that wait for memory.
    #[must_use]
    pub fn asking(&self) -> usize {
        self.asking.len()
    }

    /// Returns the first task, in depth-first order, that waits for memory and could resume if its
    /// request were granted.
    #[must_use]
    pub fn first_of_asking(&self) -> Option<Task> {
        let mut asking = self.asking.iter().copied();
        asking.find(|task| !self.tasks[task.0].buried)
    }

    /// Ends a reservation and makes its bytes available.
    pub fn give_back(&mut self, reservation: Reservation) {
        let Held { holder, bytes, .. } = self.reservations.take(reservation.0);
        self.declared -= bytes;
        if let Some(holder) = holder {
            let reservations = &mut self.tasks[holder.0].reservations;
            // Search from the end: the reservation is usually the last one.
            if let Some(at) = reservations.iter().rposition(|other| *other == reservation) {
                reservations.swap_remove(at);
            }
            self.step_aside(holder);
        }
        self.lower_ceiling();
    }

    /// Returns the first task in depth-first order that does not wait for anything that the book
    /// knows of. If that task is absent, the reserve is kept for it.
    #[must_use]
    pub fn leftmost(&self) -> Option<Task> {
        self.in_order().find(|task| {
            let waits = self.waits(*task) && !self.is_absent(*task);
            !waits && self.tasks[task.0].state != State::Gone
        })
    }

    /// Whether a task is absent: it will resume, but the book cannot tell which tasks must finish
    /// first. An absent task waits for an unrelated task or for something outside the book,
    /// computes without a slot, or is buried below another task.
    #[must_use]
    pub fn is_absent(&self, task: Task) -> bool {
        let entry = &self.tasks[task.0];
        match entry.state {
            State::Waits(Until::Else) => true,
            State::Waits(Until::Scope(scope)) => {
                let root = self.tasks[task.0].root;
                self.scopes[scope.0].has_unrelated_to(root)
            }
            State::Runs => entry.buried || entry.blocks,
            State::Asks(_) => entry.buried,
            State::Unstarted | State::Waits(Until::Half(_)) | State::Gone => false,
        }
    }

    /// Returns the fronts, in depth-first order. The front of a root is the first of its tasks that
    /// does not wait for anything that the book knows of. A task that waits for a task of another
    /// root may be waiting for that root's front.
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

    /// Whether the task has requested memory and could resume if the request were granted.
    fn could_have(&self, task: Task) -> bool {
        self.asks(task) && !self.tasks[task.0].buried
    }

    /// When no task runs, returns the task whose request is granted as if that task were leftmost.
    /// Requests that exceed the limit are ignored. If the leftmost task is absent, this is the
    /// first front with such a request: the absent task may be waiting for that front, whose root
    /// can do nothing else. If no task will resume unaided, this is the first task with such a
    /// request: the other tasks all wait for it to give memory back.
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

    /// If no task runs or will resume unaided, returns the first task with a request, or `None` if
    /// some front has not begun, because that front may give memory back. Only fronts are
    /// considered, unless each front is buried by a task of its own root. In that case, all tasks
    /// are considered.
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

    /// Whether no task runs and none will resume unaided.
    pub(crate) fn is_still(&self) -> bool {
        self.running == 0 && self.away == 0
    }

    /// Returns the number of bytes that the serial run would hold at the point that `task` has
    /// reached.
    fn path(&self, task: Task) -> u64 {
        let (mut sum, mut next, mut until) = (0, Some(task), UNDER_WAY);
        while let Some(task) = next {
            let entry = &self.tasks[task.0];
            let held = entry
                .reservations
                .iter()
                .map(|reservation| self.reservations[reservation.0]);
            // In the serial run, an ancestor makes its later reservations after the forked task has
            // ended.
            let before = held.filter(|held| held.at <= until);
            sum += before.map(|held| held.bytes).sum::<u64>();
            (next, until) = (entry.parent, entry.at);
        }
        sum
    }

    fn answer(&mut self, task: Task, bytes: u64) -> Answer {
        // The leftmost task may have changed since memory was last given back.
        self.lower_ceiling();
        let turn = if self.running == 0 { self.turn() } else { None };
        if self.may_have(turn == Some(task) || self.leftmost() == Some(task), bytes) {
            return Answer::Granted(self.grant(task, bytes));
        }
        // Refuse the request if it can never fit, or if all other tasks sleep and none of them can
        // be helped.
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
        // Skip the walk along the leftmost path if the request fits anyway, as it usually does.
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
