//! The plan of a pool whose memory policy keeps the depth-first order, with every call recorded.

use super::event::Event;
use super::recorder::Recorder;
use super::thief::word_of;
use crate::Space;
use crate::limits::MOST_THREADS;
use crate::space::book::{Answer, Book, Lease, Scope, Task, Until};
use crate::space::plan::{Next, Plan};

/// A [`Plan`] behind a recorder. Each method calls the plan's method of the same name.
///
/// A task is recorded by the number of its fork.
#[derive(Debug)]
pub struct Orders<T, R> {
    plan: Plan<(u64, T)>,
    forks: u64,
    recorder: R,
}

/// Enough bits for the number of any victim.
const VICTIM_BITS: u32 = 16;

fn word_of_next<T>(next: Option<&Next<(u64, T)>>) -> u64 {
    // The three lowest bits say which of the five kinds it is.
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

impl<T, R: Recorder> Orders<T, R> {
    /// The plan of this policy, if the policy has one.
    pub fn new(space: Space, workers: usize, recorder: R) -> Option<Self> {
        Some(Self {
            plan: Plan::new(space, workers)?,
            forks: 0,
            recorder,
        })
    }

    /// The recorder of the calls.
    pub fn recorder(&self) -> &R {
        &self.recorder
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
        self.recorder.input(|| live as u64) as usize
    }

    fn begin(&self, event: Event, live: usize) -> usize {
        self.recorder.begin(event);
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

    fn end_next(&self, next: Option<Next<(u64, T)>>) -> Option<Next<T>> {
        self.recorder.end(word_of_next(next.as_ref()));
        next.map(without_number)
    }

    fn end_taken(&self, taken: Option<(u64, T)>) -> Option<T> {
        self.recorder
            .end(word_of(taken.as_ref().map(|(number, _)| *number)));
        taken.map(|(_, payload)| payload)
    }

    fn end_task(&self, task: Task) -> Task {
        self.recorder.end(task.index() as u64);
        task
    }

    /// [`Plan::set_workers`].
    pub fn set_workers(&mut self, workers: usize) {
        let workers = self.begin(Event::SetWorkers, workers);
        self.plan.set_workers(workers);
        self.recorder.end(0);
    }

    /// [`Plan::set_budget`].
    pub fn set_budget(&mut self, bytes: u64) {
        self.recorder.begin(Event::SetBudget);
        self.plan.set_budget(self.recorder.input(|| bytes));
        self.recorder.end(0);
    }

    /// [`Plan::half`].
    pub fn half(&mut self, thread: usize, payload: T) -> Task {
        let thread = self.begin(Event::Half, thread);
        let payload = self.numbered(payload);
        let task = self.plan.half(thread, payload);
        self.end_task(task)
    }

    /// [`Plan::spawn`].
    pub fn spawn(&mut self, thread: usize, scope: Scope, payload: T) -> Task {
        let thread = self.begin(Event::Spawn, thread);
        let scope = self.scope(scope);
        let payload = self.numbered(payload);
        let task = self.plan.spawn(thread, scope, payload);
        self.end_task(task)
    }

    /// [`Plan::detached`].
    pub fn detached(&mut self, thread: usize, payload: T) -> Task {
        let thread = self.begin(Event::Detached, thread);
        let payload = self.numbered(payload);
        let task = self.plan.detached(thread, payload);
        self.end_task(task)
    }

    /// [`Plan::open`].
    pub fn open(&mut self) -> Scope {
        self.recorder.begin(Event::Open);
        let scope = self.plan.open();
        self.recorder.end(scope.index() as u64);
        scope
    }

    /// [`Plan::close`].
    pub fn close(&mut self, scope: Scope) {
        self.recorder.begin(Event::Close);
        self.plan.close(self.scope(scope));
        self.recorder.end(0);
    }

    /// [`Plan::expect`].
    pub fn expect(&mut self, scope: Scope) {
        self.recorder.begin(Event::Expect);
        self.plan.expect(self.scope(scope));
        self.recorder.end(0);
    }

    /// [`Plan::stranger`].
    pub fn stranger(&mut self, thread: usize) -> Task {
        let thread = self.begin(Event::Stranger, thread);
        let task = self.plan.stranger(thread);
        self.end_task(task)
    }

    /// [`Plan::stranger_in`].
    pub fn stranger_in(&mut self, thread: usize, scope: Scope) -> Task {
        let thread = self.begin(Event::StrangerIn, thread);
        let task = self.plan.stranger_in(thread, self.scope(scope));
        self.end_task(task)
    }

    /// [`Plan::take_back`].
    pub fn take_back(&mut self, half: Task) -> Option<T> {
        self.recorder.begin(Event::TakeBack);
        let taken = self.plan.take_back(self.task(half));
        self.end_taken(taken)
    }

    /// [`Plan::joined`].
    pub fn joined(&mut self, half: Task) {
        self.recorder.begin(Event::Joined);
        self.plan.joined(self.task(half));
        self.recorder.end(0);
    }

    /// [`Plan::blocks`].
    pub fn blocks(&mut self, thread: usize, blocks: bool) {
        let thread = self.begin(Event::Blocks, thread);
        let blocks = self.count(blocks.into()) != 0;
        self.plan.blocks(thread, blocks);
        self.recorder.end(0);
    }

    /// [`Plan::waits`].
    pub fn waits(&mut self, thread: usize, until: Until) {
        let thread = self.begin(Event::Waits, thread);
        let (kind, name) = match until {
            Until::Else => (0, 0),
            Until::Half(half) => (1, half.index()),
            Until::Scope(scope) => (2, scope.index()),
        };
        let until = until_of([self.count(kind), self.count(name)]);
        self.plan.waits(thread, until);
        self.recorder.end(0);
    }

    /// [`Plan::goes_on`].
    pub fn goes_on(&mut self, thread: usize) {
        let thread = self.begin(Event::GoesOn, thread);
        self.plan.goes_on(thread);
        self.recorder.end(0);
    }

    /// [`Plan::end`].
    pub fn end(&mut self, thread: usize) {
        let thread = self.begin(Event::End, thread);
        self.plan.end(thread);
        self.recorder.end(0);
    }

    /// [`Plan::leave`].
    pub fn leave(&mut self, thread: usize) {
        let thread = self.begin(Event::Leave, thread);
        self.plan.leave(thread);
        self.recorder.end(0);
    }

    /// [`Plan::ask`].
    pub fn ask(&mut self, thread: usize, bytes: u64, draw: impl FnMut(usize) -> usize) -> Answer {
        let thread = self.begin(Event::Ask, thread);
        let bytes = self.recorder.input(|| bytes);
        let draw = recorded(&self.recorder, draw);
        let answer = self.plan.ask(thread, bytes, draw);
        self.recorder.end(word_of_answer(Some(answer)));
        answer
    }

    /// [`Plan::answer`].
    pub fn answer(&mut self, thread: usize) -> Option<Answer> {
        let thread = self.begin(Event::Answer, thread);
        let answer = self.plan.answer(thread);
        self.recorder.end(word_of_answer(answer));
        answer
    }

    /// [`Plan::give_back`].
    pub fn give_back(&mut self, thread: Option<usize>, lease: Lease, bytes: u64) {
        self.recorder.begin(Event::GiveBack);
        let thread = word_of(thread.map(|thread| thread as u64));
        let thread = self.recorder.input(|| thread).checked_sub(1);
        let lease = Lease::of(self.count(lease.index()));
        let bytes = self.recorder.input(|| bytes);
        self.plan
            .give_back(thread.map(|thread| thread as usize), lease, bytes);
        self.recorder.end(0);
    }

    /// [`Plan::settle`].
    pub fn settle(&mut self) -> Option<usize> {
        self.recorder.begin(Event::Settle);
        let thread = self.plan.settle();
        self.recorder
            .end(word_of(thread.map(|thread| thread as u64)));
        thread
    }

    /// [`Plan::has_work`].
    pub fn has_work(&self) -> bool {
        self.recorder.begin(Event::HasWork);
        let has_work = self.plan.has_work();
        self.recorder.end(has_work.into());
        has_work
    }

    /// [`Plan::gives_way`].
    pub fn gives_way(&mut self, thread: usize) -> bool {
        let thread = self.begin(Event::GivesWay, thread);
        let gives_way = self.plan.gives_way(thread);
        self.recorder.end(gives_way.into());
        gives_way
    }

    /// [`Plan::next`].
    pub fn next(&mut self, thread: usize, draw: impl FnMut(usize) -> usize) -> Option<Next<T>> {
        let thread = self.begin(Event::Next, thread);
        let next = self.plan.next(thread, recorded(&self.recorder, draw));
        self.end_next(next)
    }

    /// [`Plan::next_of`].
    pub fn next_of(&mut self, thread: usize, scope: Scope) -> Option<T> {
        let thread = self.begin(Event::NextOf, thread);
        let taken = self.plan.next_of(thread, self.scope(scope));
        self.end_taken(taken)
    }

    /// [`Plan::rescue`].
    pub fn rescue(&mut self, thread: usize) -> Option<Next<T>> {
        let thread = self.begin(Event::Rescue, thread);
        let next = self.plan.rescue(thread);
        self.end_next(next)
    }

    /// [`Plan::resume_parked`].
    pub fn resume_parked(&mut self) -> Option<Next<T>> {
        self.recorder.begin(Event::ResumeParked);
        let next = self.plan.resume_parked();
        self.end_next(next)
    }
}

impl<T, R> Orders<T, R> {
    /// Whether a pool could have recorded this event with these inputs. A damaged trace may contain anything, and the plan
    /// does not check its arguments.
    pub(super) fn could_happen(&self, event: Event, inputs: &[u64]) -> bool {
        self.is_possible(event, inputs).unwrap_or(false)
    }

    /// Like [`could_happen`](Self::could_happen); `None` if an input is missing or out of range.
    fn is_possible(&self, event: Event, inputs: &[u64]) -> Option<bool> {
        let plan = &self.plan;
        let name = |at: usize| {
            u32::try_from(*inputs.get(at)?)
                .ok()
                .map(|name| name as usize)
        };
        let task = |at| name(at).map(Task::of);
        let scope = |at| name(at).map(Scope::of);
        let thread = |at| name(at).filter(|thread| *thread <= MOST_THREADS);
        Some(match event {
            Event::Half => plan.can_fork(thread(0)?),
            Event::Spawn => plan.can_fork(thread(0)?) && plan.knows(scope(1)?),
            Event::StrangerIn => thread(0).is_some() && plan.expects(scope(1)?),
            Event::Close => plan.can_close(scope(0)?),
            Event::Expect => plan.knows(scope(0)?),
            Event::TakeBack => plan.can_take_back(task(0)?),
            Event::Joined => plan.can_join(task(0)?),
            Event::Waits => {
                let until = until_of([name(1)?, name(2)?]);
                plan.can_turn(thread(0)?) && plan.can_wait(until)
            }
            Event::End | Event::Ask => plan.can_turn(thread(0)?),
            Event::Leave | Event::Next => plan.can_leave(thread(0)?),
            Event::GiveBack => thread(0).is_some() && plan.has_lease(Lease::of(name(1)?)),
            Event::SetBudget => plan.budget().is_some(),
            Event::Detached
            | Event::Stranger
            | Event::Blocks
            | Event::GoesOn
            | Event::Answer
            | Event::GivesWay
            | Event::NextOf
            | Event::Rescue => thread(0).is_some(),
            _ => true,
        })
    }
}

/// Decodes what a task waits for.
fn until_of([kind, name]: [usize; 2]) -> Until {
    match kind {
        1 => Until::Half(Task::of(name)),
        2 => Until::Scope(Scope::of(name)),
        _ => Until::Else,
    }
}

/// Records each draw.
fn recorded<R: Recorder>(
    recorder: &R,
    mut draw: impl FnMut(usize) -> usize,
) -> impl FnMut(usize) -> usize {
    move |below| recorder.input(|| draw(below) as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_and_victims_make_different_decisions() {
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
