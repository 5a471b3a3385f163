//! Decides how to use a free slot.

use super::super::book::{Answer, Scope, Task};
use super::line::Givers;
use super::{Next, Parked, Plan, Rule};
use alloc::vec::Vec;

/// The possible victims of a thread with a free slot, leftmost first.
enum Victims<'a> {
    /// All threads that have a task for other threads.
    Givers(Givers<'a>),
    /// Only threads with a parked task or a task that may begin now.
    Listed(Vec<usize>),
}

impl Victims<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Givers(givers) => givers.len(),
            Self::Listed(threads) => threads.len(),
        }
    }

    fn nth(&self, nth: usize) -> Option<usize> {
        match self {
            Self::Givers(givers) => givers.nth(nth),
            Self::Listed(threads) => threads.get(nth).copied(),
        }
    }

    fn are_just(&self, thread: usize) -> bool {
        self.len() == 1 && self.nth(0) == Some(thread)
    }
}

impl<T> Plan<T> {
    /// Whether there is work for a free slot.
    #[must_use]
    pub fn has_work(&self) -> bool {
        match self.last_to_begin() {
            None => self.unstarted + self.parked > 0,
            Some(last) => {
                let fronts = self.threads.iter().filter_map(|t| t.deque.front());
                fronts.copied().any(|front| self.comes_before(front, last))
            }
        }
    }

    /// If at least as many tasks wait for memory as there are slots, returns the first waiting
    /// task. No task after it should begin: such a task would request memory as well, and would
    /// keep a thread from tasks that can run. Returns `None` if no task computes with a slot,
    /// because a waiting task may then need one of the later tasks.
    fn last_to_begin(&self) -> Option<Task> {
        let many = self.book.asking() >= self.workers.max(1);
        let computes = self.book.running() > 0;
        (many && computes).then(|| self.book.first_of_asking())?
    }

    fn comes_before(&self, one: Task, other: Task) -> bool {
        self.book.rank(one) < self.book.rank(other)
    }

    fn may_begin(&self, task: Task, last: Option<Task>) -> bool {
        last.is_none_or(|last| self.comes_before(task, last))
    }

    /// Whether the thread's topmost task must leave its slot after a fork, because enough tasks
    /// come before it to fill all slots. If so, parks the task.
    pub fn gives_way(&mut self, thread: usize) -> bool {
        let Rule::DepthFirst { .. } = self.rule else {
            return false;
        };
        let here = self.here(thread);
        let able = |task: &Task| self.book.is_unstarted(*task) || self.book.runs(*task);
        let leftmost = || self.book.in_order().filter(able).take(self.workers);
        // A task that computes without a slot has no slot to leave.
        let stays = !self.book.runs(here) || leftmost().any(|task| task == here);
        if !stays {
            let parked = Parked {
                bytes: None,
                rounds: 0,
            };
            self.park(here, parked);
        }
        !stays
    }

    /// Decides how to use the slot of a thread without frames. `draw(n)` chooses a number below
    /// `n`.
    pub fn next(&mut self, thread: usize, draw: impl FnMut(usize) -> usize) -> Option<Next<T>> {
        self.leave(thread);
        if !self.has_work() {
            return None;
        }
        match self.rule {
            Rule::DepthFirst { .. } => self.next_leftmost(thread),
            Rule::Budget | Rule::DfDeques { .. } => self.next_of_deques(thread, draw),
        }
    }

    /// Like `next`, but for a thread that waits for the tasks of a scope: begins the thread's next
    /// task if it belongs to that scope.
    pub fn next_of(&mut self, thread: usize, scope: Scope) -> Option<T> {
        let task = match self.rule {
            Rule::DepthFirst { .. } => self.leftmost_idle()?,
            Rule::Budget | Rule::DfDeques { .. } => *self.thread(thread).deque.front()?,
        };
        let own = self.book.is_unstarted(task) && self.book.scope(task) == Some(scope);
        own.then(|| self.begin(thread, task))
    }

    /// Like `next`, but for a thread that waits, in a pool in which all threads wait. If the
    /// leftmost task has not begun, begins it, because it depends only on tasks that it forks
    /// itself. Otherwise, resumes the first parked task on its own thread, or begins the first
    /// front that has not begun: an absent task may be waiting for it. No other task may begin on
    /// top of a waiting task, since it might wait for something that the task below holds. There is
    /// one exception: if no task will resume unaided, and each front is buried by a task of its own
    /// root, any unstarted task may begin.
    pub fn rescue(&mut self, thread: usize) -> Option<Next<T>> {
        let leftmost = self.book.leftmost()?;
        if !self.book.is_unstarted(leftmost) {
            if let Some(parked) = self.resume_parked() {
                return Some(parked);
            }
        }
        let unstarted = |task: &Task| self.book.is_unstarted(*task);
        let front = self.book.fronts().find(unstarted);
        let any = || self.book.in_order().find(unstarted);
        let task = front.or_else(|| self.book.is_still().then(any)?)?;
        Some(Next::Start(self.begin(thread, task), None))
    }

    /// Resumes the first parked task. Used if no thread of the pool can begin a task.
    pub fn resume_parked(&mut self) -> Option<Next<T>> {
        let parked = self.book.in_order().find(|task| self.is_parked(*task));
        parked.map(|parked| self.resume(parked))
    }

    /// Resumes a task that was just parked if its own slot would choose it next. Returns the answer
    /// to the task's request.
    pub(super) fn look_after(
        &mut self,
        thread: usize,
        mut draw: impl FnMut(usize) -> usize,
    ) -> Answer {
        let here = self.here(thread);
        let comes_next = match self.rule {
            Rule::DepthFirst { .. } => self.leftmost_idle() == Some(here),
            Rule::Budget | Rule::DfDeques { .. } => {
                self.is_parked_alone(thread) && self.victims().are_just(thread)
            }
        };
        if comes_next {
            // Resume the task: otherwise, the slot would find it again and again.
            let _ = self.resume(here);
        } else if let Rule::DfDeques { .. } = self.rule {
            while self.victim(&mut draw) == Some(thread) && self.is_parked_alone(thread) {
                if let Next::Resume(_) = self.resume_if_due(here) {
                    break;
                }
            }
        }
        self.note_of(here).answer.take().unwrap_or(Answer::Later)
    }

    fn next_leftmost(&mut self, thread: usize) -> Option<Next<T>> {
        let task = self.leftmost_idle()?;
        if self.book.is_unstarted(task) {
            return Some(Next::Start(self.begin(thread, task), None));
        }
        Some(self.resume_if_due(task))
    }

    /// Returns the first task in depth-first order that is unstarted or parked.
    fn leftmost_idle(&self) -> Option<Task> {
        let mut all = self.book.in_order();
        all.find(|task| self.book.is_unstarted(*task) || self.is_parked(*task))
    }

    /// Called when a thread with a free slot finds a parked task: either the task resumes, or one
    /// of its rounds passes.
    fn resume_if_due(&mut self, task: Task) -> Next<T> {
        // Whether all tasks that could run are parked, so that skipping this task would help no
        // other task.
        let alone = self.unstarted == 0 && self.book.running() == self.parked;
        let parked = self.note_of(task).parked.as_mut();
        let parked = parked.expect("a task that is parked");
        if parked.rounds > 0 && !alone {
            parked.rounds -= 1;
            return Next::Again;
        }
        self.resume(task)
    }

    fn next_of_deques(
        &mut self,
        thread: usize,
        mut draw: impl FnMut(usize) -> usize,
    ) -> Option<Next<T>> {
        let last = self.last_to_begin();
        let own = self.thread(thread).deque.front().copied();
        if let Some(own) = own.filter(|own| self.may_begin(*own, last)) {
            return Some(Next::Start(self.begin(thread, own), None));
        }
        let victim = self.victim(&mut draw)?;
        self.thread(thread).used = 0;
        match self.end_of(victim, last) {
            Some(task) => Some(Next::Start(self.begin(thread, task), Some(victim))),
            None => {
                let top = self.threads[victim].stack.last().copied();
                Some(self.resume_if_due(top.expect("it is parked")))
            }
        }
    }

    /// Returns the possible victims of a thread with a free slot. With n slots, these are the
    /// threads among the leftmost n with deques that have a parked task or a task for other
    /// threads. If there are none, returns the first such thread further right.
    fn victims(&self) -> Victims<'_> {
        let Some(last) = self.last_to_begin() else {
            return Victims::Givers(self.line.givers(self.workers));
        };
        let has_some =
            |v: &usize| self.is_parked_alone(*v) || self.end_of(*v, Some(last)).is_some();
        let mut victims: Vec<usize> = self.line.threads().take(self.workers).collect();
        victims.retain(has_some);
        if victims.is_empty() {
            let mut others = self.line.threads().skip(self.workers);
            victims.extend(others.find(has_some));
        }
        Victims::Listed(victims)
    }

    /// Whether a parked task is the only task that the thread has for other threads.
    fn is_parked_alone(&self, thread: usize) -> bool {
        let thread = &self.threads[thread];
        let top = thread.stack.last();
        thread.deque.is_empty() && top.is_some_and(|top| self.is_parked(*top))
    }

    fn victim(&self, draw: &mut impl FnMut(usize) -> usize) -> Option<usize> {
        let victims = self.victims();
        // Under a budget, a task further right would request memory that is not available, and
        // would occupy a thread.
        let drawn = match self.rule {
            Rule::Budget => 0,
            Rule::DepthFirst { .. } | Rule::DfDeques { .. } => draw(victims.len().max(1)),
        };
        victims.nth(drawn)
    }

    /// Returns the task that a thief would take from the victim's deque. That is the last one or,
    /// while tasks wait for memory, the first one, because the first tasks in order get memory
    /// first.
    fn end_of(&self, victim: usize, last: Option<Task>) -> Option<Task> {
        let deque = &self.threads[victim].deque;
        let end = match self.book.asking() {
            0 => deque.back(),
            _ => deque.front(),
        };
        end.copied().filter(|task| self.may_begin(*task, last))
    }
}
