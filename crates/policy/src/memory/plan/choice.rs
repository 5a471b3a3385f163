//! What a free slot is to be used for.

use super::super::book::{Answer, Scope, Task};
use super::line::Givers;
use super::{Next, Parked, Plan, Rule};
use alloc::vec::Vec;

/// Threads that a slot could rob, the leftmost first.
enum Victims<'a> {
    /// All that have something.
    Givers(Givers<'a>),
    /// Those that have something which may begin now.
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
    /// Whether a free slot could be used.
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

    /// Where as many tasks wait for memory as there are slots, the first of these: whatever lies behind it would ask as well, and keep a thread from those that can
    /// run. If nobody computes with a slot, somebody may wait for just that.
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

    /// After a fork: whether so many come before the thread's task that it is to leave its slot to one of them. Then it is parked.
    pub fn gives_way(&mut self, thread: usize) -> bool {
        let Rule::DepthFirst { .. } = self.rule else {
            return false;
        };
        let here = self.here(thread);
        let able = |task: &Task| self.book.is_unstarted(*task) || self.book.runs(*task);
        let leftmost = || self.book.in_order().filter(able).take(self.workers);
        // Who computes without a slot has none to leave.
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

    /// What the slot of a thread that has no frames is to be used for. `draw` chooses one of so many.
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

    /// The same for a thread that waits for the tasks of a scope: one of them, if one is its next one.
    pub fn next_of(&mut self, thread: usize, scope: Scope) -> Option<T> {
        let task = match self.rule {
            Rule::DepthFirst { .. } => self.leftmost_idle()?,
            Rule::Budget | Rule::DfDeques { .. } => *self.thread(thread).deque.front()?,
        };
        let own = self.book.is_unstarted(task) && self.book.scope(task) == Some(scope);
        own.then(|| self.begin(thread, task))
    }

    /// The same where all threads wait: the leftmost task of all, which depends on nothing but what it forks. Else the first parked one, which goes on where it is, or
    /// the first of another root that has yet to begin it: somebody absent may wait for that. Nothing else may begin on top of somebody, since it might wait for what
    /// that one holds; unless nobody will go on by itself, and each root's first is buried by a task of its own.
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

    /// The same where no thread can begin anything: the first parked task goes on.
    pub fn resume_parked(&mut self) -> Option<Next<T>> {
        let parked = self.book.in_order().find(|task| self.is_parked(*task));
        parked.map(|parked| self.resume(parked))
    }

    /// What becomes of a request if the slot of who was just parked looks around: that goes on if it comes next.
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
            // It would look at itself again and again.
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

    /// The first task that could run and does not.
    fn leftmost_idle(&self) -> Option<Task> {
        let mut all = self.book.in_order();
        all.find(|task| self.book.is_unstarted(*task) || self.is_parked(*task))
    }

    /// A slot looks at a task that is parked.
    fn resume_if_due(&mut self, task: Task) -> Next<T> {
        // There is nobody to wait for.
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

    /// Whom a slot could rob: of the leftmost deques, as many as there are slots, those that have something; else the first one that has.
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

    /// Whether a parked task is all that the thread has for others.
    fn is_parked_alone(&self, thread: usize) -> bool {
        let thread = &self.threads[thread];
        let top = thread.stack.last();
        thread.deque.is_empty() && top.is_some_and(|top| self.is_parked(*top))
    }

    /// Whom a slot robs.
    fn victim(&self, draw: &mut impl FnMut(usize) -> usize) -> Option<usize> {
        let victims = self.victims();
        // Under a budget what lies further right asks for what is not there, and keeps a thread.
        let drawn = match self.rule {
            Rule::Budget => 0,
            Rule::DepthFirst { .. } | Rule::DfDeques { .. } => draw(victims.len().max(1)),
        };
        victims.nth(drawn)
    }

    /// The task that would be robbed next of a thread with a deque: the last one, or the first where somebody waits for memory, which comes to the first ones first.
    fn end_of(&self, victim: usize, last: Option<Task>) -> Option<Task> {
        let deque = &self.threads[victim].deque;
        let end = match self.book.asking() {
            0 => deque.back(),
            _ => deque.front(),
        };
        end.copied().filter(|task| self.may_begin(*task, last))
    }
}
