//! The plan of a pool whose policy for memory keeps the depth-first order, each call of it noted.

use super::question::Question as Q;
use super::tape::Tape;
use super::thief::word_of;
use crate::Space;
use crate::limits::MOST_THREADS;
use crate::space::book::{Answer, Book, Lease, Scope, Task, Until};
use crate::space::plan::{Next, Plan};

/// A [`Plan`], asked through a tape. Each method is the plan's of that name.
///
/// Tasks are noted by the number of forks before theirs.
#[derive(Debug)]
pub struct Orders<T, R> {
    plan: Plan<(u64, T)>,
    forks: u64,
    tape: R,
}

/// The bits of a victim's number: a pool has fewer threads than that.
const VICTIM_BITS: u32 = 16;

fn word_of_next<T>(next: Option<&Next<(u64, T)>>) -> u64 {
    // Five kinds, so three bits beside the numbers.
    match next {
        None => 0,
        Some(Next::Again) => 1,
        Some(Next::Resume(thread)) => 2 + 8 * *thread as u64,
        Some(Next::Start((number, _), None)) => 3 + 8 * number,
        Some(Next::Start((number, _), Some(victim))) => {
            4 + 8 * ((number << VICTIM_BITS) + *victim as u64)
        }
    }
}

fn word_of_answer(answer: Option<Answer>) -> u64 {
    match answer {
        None => 0,
        Some(Answer::Later) => 1,
        Some(Answer::Refused) => 2,
        Some(Answer::Granted(lease)) => 3 + lease.index() as u64,
    }
}

fn without_number<T>(next: Next<(u64, T)>) -> Next<T> {
    match next {
        Next::Start((_, payload), victim) => Next::Start(payload, victim),
        Next::Resume(thread) => Next::Resume(thread),
        Next::Again => Next::Again,
    }
}

impl<T, R: Tape> Orders<T, R> {
    /// The plan of this policy, if it has one.
    pub fn new(space: Space, workers: usize, tape: R) -> Option<Self> {
        Some(Self {
            plan: Plan::new(space, workers)?,
            forks: 0,
            tape,
        })
    }

    /// Where it is noted.
    pub fn tape(&self) -> &R {
        &self.tape
    }

    /// [`Plan::book`].
    pub fn book(&self) -> &Book {
        self.plan.book()
    }

    /// [`Plan::budget`].
    pub fn budget(&self) -> Option<(u64, u64)> {
        self.plan.budget()
    }

    /// [`Plan::unstarted`].
    pub fn unstarted(&self) -> usize {
        self.plan.unstarted()
    }

    /// [`Plan::has_parked`].
    pub fn has_parked(&self) -> bool {
        self.plan.has_parked()
    }

    fn count(&self, live: usize) -> usize {
        self.tape.input(|| live as u64) as usize
    }

    fn asks(&self, question: Q, live: usize) -> usize {
        self.tape.ask(question);
        self.count(live)
    }

    fn scope(&self, live: Scope) -> Scope {
        Scope::of(self.count(live.index()))
    }

    fn task(&self, live: Task) -> Task {
        Task::of(self.count(live.index()))
    }

    fn numbered(&mut self, payload: T) -> (u64, T) {
        self.forks += 1;
        (self.forks, payload)
    }

    fn told(&self, next: Option<Next<(u64, T)>>) -> Option<Next<T>> {
        self.tape.answer(word_of_next(next.as_ref()));
        next.map(without_number)
    }

    fn taken(&self, taken: Option<(u64, T)>) -> Option<T> {
        self.tape
            .answer(word_of(taken.as_ref().map(|(number, _)| *number)));
        taken.map(|(_, payload)| payload)
    }

    fn named(&self, task: Task) -> Task {
        self.tape.answer(task.index() as u64);
        task
    }

    /// [`Plan::set_workers`].
    pub fn set_workers(&mut self, workers: usize) {
        let workers = self.asks(Q::SetWorkers, workers);
        self.plan.set_workers(workers);
        self.tape.answer(0);
    }

    /// [`Plan::set_budget`].
    pub fn set_budget(&mut self, bytes: u64) {
        self.tape.ask(Q::SetBudget);
        self.plan.set_budget(self.tape.input(|| bytes));
        self.tape.answer(0);
    }

    /// [`Plan::half`].
    pub fn half(&mut self, thread: usize, payload: T) -> Task {
        let thread = self.asks(Q::Half, thread);
        let payload = self.numbered(payload);
        let task = self.plan.half(thread, payload);
        self.named(task)
    }

    /// [`Plan::spawn`].
    pub fn spawn(&mut self, thread: usize, scope: Scope, payload: T) -> Task {
        let thread = self.asks(Q::Spawn, thread);
        let scope = self.scope(scope);
        let payload = self.numbered(payload);
        let task = self.plan.spawn(thread, scope, payload);
        self.named(task)
    }

    /// [`Plan::detached`].
    pub fn detached(&mut self, thread: usize, payload: T) -> Task {
        let thread = self.asks(Q::Detached, thread);
        let payload = self.numbered(payload);
        let task = self.plan.detached(thread, payload);
        self.named(task)
    }

    /// [`Plan::open`].
    pub fn open(&mut self) -> Scope {
        self.tape.ask(Q::Open);
        let scope = self.plan.open();
        self.tape.answer(scope.index() as u64);
        scope
    }

    /// [`Plan::close`].
    pub fn close(&mut self, scope: Scope) {
        self.tape.ask(Q::Close);
        self.plan.close(self.scope(scope));
        self.tape.answer(0);
    }

    /// [`Plan::expect`].
    pub fn expect(&mut self, scope: Scope) {
        self.tape.ask(Q::Expect);
        self.plan.expect(self.scope(scope));
        self.tape.answer(0);
    }

    /// [`Plan::stranger`].
    pub fn stranger(&mut self, thread: usize) -> Task {
        let thread = self.asks(Q::Stranger, thread);
        let task = self.plan.stranger(thread);
        self.named(task)
    }

    /// [`Plan::stranger_in`].
    pub fn stranger_in(&mut self, thread: usize, scope: Scope) -> Task {
        let thread = self.asks(Q::StrangerIn, thread);
        let task = self.plan.stranger_in(thread, self.scope(scope));
        self.named(task)
    }

    /// [`Plan::take_back`].
    pub fn take_back(&mut self, half: Task) -> Option<T> {
        self.tape.ask(Q::TakeBack);
        let taken = self.plan.take_back(self.task(half));
        self.taken(taken)
    }

    /// [`Plan::joined`].
    pub fn joined(&mut self, half: Task) {
        self.tape.ask(Q::Joined);
        self.plan.joined(self.task(half));
        self.tape.answer(0);
    }

    /// [`Plan::blocks`].
    pub fn blocks(&mut self, thread: usize, blocks: bool) {
        let thread = self.asks(Q::Blocks, thread);
        let blocks = self.count(blocks.into()) != 0;
        self.plan.blocks(thread, blocks);
        self.tape.answer(0);
    }

    /// [`Plan::waits`].
    pub fn waits(&mut self, thread: usize, until: Until) {
        let thread = self.asks(Q::Waits, thread);
        let (kind, name) = match until {
            Until::Else => (0, 0),
            Until::Half(half) => (1, half.index()),
            Until::Scope(scope) => (2, scope.index()),
        };
        let until = until_of([self.count(kind), self.count(name)]);
        self.plan.waits(thread, until);
        self.tape.answer(0);
    }

    /// [`Plan::goes_on`].
    pub fn goes_on(&mut self, thread: usize) {
        let thread = self.asks(Q::GoesOn, thread);
        self.plan.goes_on(thread);
        self.tape.answer(0);
    }

    /// [`Plan::end`].
    pub fn end(&mut self, thread: usize) {
        let thread = self.asks(Q::End, thread);
        self.plan.end(thread);
        self.tape.answer(0);
    }

    /// [`Plan::leave`].
    pub fn leave(&mut self, thread: usize) {
        let thread = self.asks(Q::Leave, thread);
        self.plan.leave(thread);
        self.tape.answer(0);
    }

    /// [`Plan::ask`].
    pub fn ask(&mut self, thread: usize, bytes: u64, draw: impl FnMut(usize) -> usize) -> Answer {
        let thread = self.asks(Q::Ask, thread);
        let bytes = self.tape.input(|| bytes);
        let draw = noted(&self.tape, draw);
        let answer = self.plan.ask(thread, bytes, draw);
        self.tape.answer(word_of_answer(Some(answer)));
        answer
    }

    /// [`Plan::answer`].
    pub fn answer(&mut self, thread: usize) -> Option<Answer> {
        let thread = self.asks(Q::Answer, thread);
        let answer = self.plan.answer(thread);
        self.tape.answer(word_of_answer(answer));
        answer
    }

    /// [`Plan::give_back`].
    pub fn give_back(&mut self, thread: Option<usize>, lease: Lease, bytes: u64) {
        self.tape.ask(Q::GiveBack);
        let thread = word_of(thread.map(|thread| thread as u64));
        let thread = self.tape.input(|| thread).checked_sub(1);
        let lease = Lease::of(self.count(lease.index()));
        let bytes = self.tape.input(|| bytes);
        self.plan
            .give_back(thread.map(|thread| thread as usize), lease, bytes);
        self.tape.answer(0);
    }

    /// [`Plan::settle`].
    pub fn settle(&mut self) -> Option<usize> {
        self.tape.ask(Q::Settle);
        let thread = self.plan.settle();
        self.tape
            .answer(word_of(thread.map(|thread| thread as u64)));
        thread
    }

    /// [`Plan::has_work`].
    pub fn has_work(&self) -> bool {
        self.tape.ask(Q::HasWork);
        let has_work = self.plan.has_work();
        self.tape.answer(has_work.into());
        has_work
    }

    /// [`Plan::gives_way`].
    pub fn gives_way(&mut self, thread: usize) -> bool {
        let thread = self.asks(Q::GivesWay, thread);
        let gives_way = self.plan.gives_way(thread);
        self.tape.answer(gives_way.into());
        gives_way
    }

    /// [`Plan::next`].
    pub fn next(&mut self, thread: usize, draw: impl FnMut(usize) -> usize) -> Option<Next<T>> {
        let thread = self.asks(Q::Next, thread);
        let next = self.plan.next(thread, noted(&self.tape, draw));
        self.told(next)
    }

    /// [`Plan::next_of`].
    pub fn next_of(&mut self, thread: usize, scope: Scope) -> Option<T> {
        let thread = self.asks(Q::NextOf, thread);
        let taken = self.plan.next_of(thread, self.scope(scope));
        self.taken(taken)
    }

    /// [`Plan::rescue`].
    pub fn rescue(&mut self, thread: usize) -> Option<Next<T>> {
        let thread = self.asks(Q::Rescue, thread);
        let next = self.plan.rescue(thread);
        self.told(next)
    }

    /// [`Plan::resume_parked`].
    pub fn resume_parked(&mut self) -> Option<Next<T>> {
        self.tape.ask(Q::ResumeParked);
        let next = self.plan.resume_parked();
        self.told(next)
    }
}

impl<T, R> Orders<T, R> {
    /// Whether a pool could have asked this, with these numbers: notes may say anything, and the plan believes what it is told.
    pub(super) fn could_be_asked(&self, question: Q, inputs: &[u64]) -> bool {
        self.is_sensible(question, inputs).unwrap_or(false)
    }

    /// The same; `None` if a number is missing or names nothing.
    fn is_sensible(&self, question: Q, inputs: &[u64]) -> Option<bool> {
        let plan = &self.plan;
        let name = |at: usize| {
            u32::try_from(*inputs.get(at)?)
                .ok()
                .map(|name| name as usize)
        };
        let task = |at| name(at).map(Task::of);
        let scope = |at| name(at).map(Scope::of);
        let thread = |at| name(at).filter(|thread| *thread <= MOST_THREADS);
        Some(match question {
            Q::Half => plan.can_fork(thread(0)?),
            Q::Spawn => plan.can_fork(thread(0)?) && plan.knows(scope(1)?),
            Q::StrangerIn => thread(0).is_some() && plan.expects(scope(1)?),
            Q::Close => plan.can_close(scope(0)?),
            Q::Expect => plan.knows(scope(0)?),
            Q::TakeBack => plan.can_take_back(task(0)?),
            Q::Joined => plan.can_join(task(0)?),
            Q::Waits => {
                let until = until_of([name(1)?, name(2)?]);
                plan.can_turn(thread(0)?) && plan.can_wait(until)
            }
            Q::End | Q::Ask => plan.can_turn(thread(0)?),
            Q::Leave | Q::Next => plan.can_leave(thread(0)?),
            Q::GiveBack => thread(0).is_some() && plan.has_lease(Lease::of(name(1)?)),
            Q::SetBudget => plan.budget().is_some(),
            Q::Detached
            | Q::Stranger
            | Q::Blocks
            | Q::GoesOn
            | Q::Answer
            | Q::GivesWay
            | Q::NextOf
            | Q::Rescue => thread(0).is_some(),
            _ => true,
        })
    }
}

/// What is waited for, of these numbers.
fn until_of([kind, name]: [usize; 2]) -> Until {
    match kind {
        1 => Until::Half(Task::of(name)),
        2 => Until::Scope(Scope::of(name)),
        _ => Until::Else,
    }
}

/// Draws below a number, each noted.
fn noted<R: Tape>(tape: &R, mut draw: impl FnMut(usize) -> usize) -> impl FnMut(usize) -> usize {
    move |below| tape.input(|| draw(below) as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_next_is_another_decision_for_another_task_and_another_victim() {
        let start = |number, victim| word_of_next(Some(&Next::Start((number, ()), victim)));
        let mut words = [
            word_of_next::<()>(None),
            word_of_next::<()>(Some(&Next::Again)),
            word_of_next::<()>(Some(&Next::Resume(1))),
            start(1, None),
            start(2, None),
            start(1, Some(0)),
            start(1, Some(1)),
            start(2, Some(1)),
        ];
        words.sort_unstable();
        assert!(words.is_sorted_by(|a, b| a < b), "{words:?}");
    }
}
