//! Records every command to the plan of a pool whose memory policy keeps the depth-first order.

use super::event::Event;
use super::recorder::Recorder;
use super::thief::word_of;
use crate::MemoryPolicy;
use crate::limits::MOST_THREADS;
use crate::memory::book::{Answer, Reservation, Scope, Task, Until};
use crate::memory::plan::{Command, Next, Plan, Reply};

/// A [`Plan`] whose commands and replies are recorded.
///
/// If a reply carries the payload of a task, the number of the task's fork is recorded instead.
#[derive(Debug)]
pub struct Orders<T, R> {
    plan: Plan<T>,
    recorder: R,
}

impl<T, R: Recorder> Orders<T, R> {
    /// Creates a plan for this policy, or returns `None` if the policy needs no plan.
    pub fn new(memory: MemoryPolicy, workers: usize, recorder: R) -> Option<Self> {
        let plan = Plan::new(memory, workers)?;
        Some(Self { plan, recorder })
    }

    /// Returns the recorder of the commands.
    pub fn recorder(&self) -> &R {
        &self.recorder
    }

    /// Returns the plan, for queries that are not recorded.
    pub fn plan(&self) -> &Plan<T> {
        &self.plan
    }

    /// Calls [`Plan::apply`] and records the command, each number drawn, and the reply.
    pub fn apply(&mut self, command: Command<T>, mut draw: impl FnMut(usize) -> usize) -> Reply<T> {
        let recorder = &self.recorder;
        let (event, inputs) = recorded(&command);
        recorder.begin(event);
        for input in inputs.into_iter().flatten() {
            recorder.input(|| input);
        }
        let draw = |below| recorder.input(|| draw(below) as u64) as usize;
        let reply = self.plan.apply(command, draw);
        recorder.end(word_of_reply(&reply, self.plan.last_taken()));
        reply
    }
}

/// Returns the event of a command, and the command's arguments in the order in which a trace lists
/// them. [`command_of`] is the inverse.
fn recorded<T>(command: &Command<T>) -> (Event, [Option<u64>; 3]) {
    let none = [None; 3];
    let one = |a: usize| [Some(a as u64), None, None];
    let two = |a: usize, b: u64| [Some(a as u64), Some(b), None];
    match *command {
        Command::SetWorkers(workers) => (Event::SetWorkers, one(workers)),
        Command::SetBudget(bytes) => (Event::SetBudget, [Some(bytes), None, None]),
        Command::Half(thread, _) => (Event::Half, one(thread)),
        Command::Spawn(thread, scope, _) => (Event::Spawn, two(thread, scope.index() as u64)),
        Command::Detached(thread, _) => (Event::Detached, one(thread)),
        Command::Open => (Event::Open, none),
        Command::Close(scope) => (Event::Close, one(scope.index())),
        Command::Expect(scope) => (Event::Expect, one(scope.index())),
        Command::BeginUnrelated(thread) => (Event::Unrelated, one(thread)),
        Command::BeginUnrelatedIn(thread, scope) => {
            (Event::UnrelatedIn, two(thread, scope.index() as u64))
        }
        Command::TakeBack(half) => (Event::TakeBack, one(half.index())),
        Command::Joined(half) => (Event::Joined, one(half.index())),
        Command::Blocks(thread, blocks) => (Event::Blocks, two(thread, blocks.into())),
        Command::Waits(thread, until) => {
            let (kind, name) = match until {
                Until::Else => (0, 0),
                Until::Half(half) => (1, half.index()),
                Until::Scope(scope) => (2, scope.index()),
            };
            (Event::Waits, [thread as u64, kind, name as u64].map(Some))
        }
        Command::GoesOn(thread) => (Event::GoesOn, one(thread)),
        Command::End(thread) => (Event::End, one(thread)),
        Command::Leave(thread) => (Event::Leave, one(thread)),
        Command::Ask(thread, bytes) => (Event::Ask, two(thread, bytes)),
        Command::Answer(thread) => (Event::Answer, one(thread)),
        Command::GiveBack(thread, reservation, bytes) => {
            let thread = word_of(thread.map(|thread| thread as u64));
            let inputs = [thread, reservation.index() as u64, bytes];
            (Event::GiveBack, inputs.map(Some))
        }
        Command::Settle => (Event::Settle, none),
        Command::HasWork => (Event::HasWork, none),
        Command::GivesWay(thread) => (Event::GivesWay, one(thread)),
        Command::Next(thread) => (Event::Next, one(thread)),
        Command::NextOf(thread, scope) => (Event::NextOf, two(thread, scope.index() as u64)),
        Command::Rescue(thread) => (Event::Rescue, one(thread)),
        Command::ResumeParked => (Event::ResumeParked, none),
    }
}

/// Returns the command that was recorded as this event with these inputs, or `None` if an input is
/// missing or out of range.
pub(super) fn command_of(event: Event, inputs: &[u64]) -> Option<Command<()>> {
    let input = |at: usize| inputs.get(at).copied();
    let name = |at| u32::try_from(input(at)?).ok().map(|name| name as usize);
    let scope = |at| name(at).map(Scope::of);
    let task = |at| name(at).map(Task::of);
    let thread = || name(0).filter(|thread| *thread <= MOST_THREADS);
    Some(match event {
        Event::SetWorkers => Command::SetWorkers(input(0)? as usize),
        Event::SetBudget => Command::SetBudget(input(0)?),
        Event::Half => Command::Half(thread()?, ()),
        Event::Spawn => Command::Spawn(thread()?, scope(1)?, ()),
        Event::Detached => Command::Detached(thread()?, ()),
        Event::Open => Command::Open,
        Event::Close => Command::Close(scope(0)?),
        Event::Expect => Command::Expect(scope(0)?),
        Event::Unrelated => Command::BeginUnrelated(thread()?),
        Event::UnrelatedIn => Command::BeginUnrelatedIn(thread()?, scope(1)?),
        Event::TakeBack => Command::TakeBack(task(0)?),
        Event::Joined => Command::Joined(task(0)?),
        Event::Blocks => Command::Blocks(thread()?, input(1)? != 0),
        Event::Waits => {
            let until = match name(1)? {
                1 => Until::Half(task(2)?),
                2 => Until::Scope(scope(2)?),
                _ => Until::Else,
            };
            Command::Waits(thread()?, until)
        }
        Event::GoesOn => Command::GoesOn(thread()?),
        Event::End => Command::End(thread()?),
        Event::Leave => Command::Leave(thread()?),
        Event::Ask => Command::Ask(thread()?, input(1)?),
        Event::Answer => Command::Answer(thread()?),
        Event::GiveBack => Command::GiveBack(
            thread()?.checked_sub(1),
            Reservation::of(name(1)?),
            input(2)?,
        ),
        Event::Settle => Command::Settle,
        Event::HasWork => Command::HasWork,
        Event::GivesWay => Command::GivesWay(thread()?),
        Event::Next => Command::Next(thread()?),
        Event::NextOf => Command::NextOf(thread()?, scope(1)?),
        Event::Rescue => Command::Rescue(thread()?),
        Event::ResumeParked => Command::ResumeParked,
        _ => return None,
    })
}

/// The number of bits that hold the index of a victim.
const VICTIM_BITS: u32 = 16;

/// Encodes a reply as a number. If the reply carries the payload of a task, `fork` is the number of
/// that task's fork.
fn word_of_reply<T>(reply: &Reply<T>, fork: u64) -> u64 {
    match reply {
        Reply::Done => 0,
        Reply::Task(task) => task.index() as u64,
        Reply::Scope(scope) => scope.index() as u64,
        Reply::Taken(taken) => word_of(taken.as_ref().map(|_| fork)),
        Reply::Answer(None) => 0,
        Reply::Answer(Some(Answer::Later)) => 1,
        Reply::Answer(Some(Answer::Refused)) => 2,
        Reply::Answer(Some(Answer::Granted(reservation))) => 3 + reservation.index() as u64,
        Reply::Thread(thread) => word_of(thread.map(|thread| thread as u64)),
        Reply::Whether(yes) => (*yes).into(),
        // The three lowest bits encode which of the five kinds of `Reply::Next` this is.
        Reply::Next(None) => 0,
        Reply::Next(Some(Next::Again)) => 1,
        Reply::Next(Some(Next::Resume(thread))) => 2 + 8 * *thread as u64,
        Reply::Next(Some(Next::Start(_, None))) => 3 + 8 * fork,
        Reply::Next(Some(Next::Start(_, Some(victim)))) => {
            4 + 8 * ((fork << VICTIM_BITS) + *victim as u64)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_and_victims_make_different_decisions() {
        let word = |next, fork| word_of_reply::<()>(&Reply::Next(next), fork);
        let start = |fork, victim| word(Some(Next::Start((), victim)), fork);
        let mut words = [
            word(None, 1),
            word(Some(Next::Again), 1),
            word(Some(Next::Resume(1)), 1),
            start(1, None),
            start(2, None),
            start(1, Some(0)),
            start(1, Some(1)),
            start(2, Some(1)),
        ];
        words.sort_unstable();
        assert!(words.is_sorted_by(|a, b| a < b), "{words:?}");
    }

    #[test]
    fn recorded_commands_are_read_back() {
        let (scope, task, reservation) = (Scope::of(3), Task::of(4), Reservation::of(5));
        let commands = [
            Command::SetWorkers(7),
            Command::SetBudget(u64::MAX),
            Command::Half(1, ()),
            Command::Spawn(1, scope, ()),
            Command::Detached(1, ()),
            Command::Open,
            Command::Close(scope),
            Command::Expect(scope),
            Command::BeginUnrelated(1),
            Command::BeginUnrelatedIn(1, scope),
            Command::TakeBack(task),
            Command::Joined(task),
            Command::Blocks(1, true),
            Command::Waits(1, Until::Else),
            Command::Waits(1, Until::Half(task)),
            Command::Waits(1, Until::Scope(scope)),
            Command::GoesOn(1),
            Command::End(1),
            Command::Leave(1),
            Command::Ask(1, u64::MAX),
            Command::Answer(1),
            Command::GiveBack(None, reservation, 9),
            Command::GiveBack(Some(0), reservation, 9),
            Command::Settle,
            Command::HasWork,
            Command::GivesWay(1),
            Command::Next(1),
            Command::NextOf(1, scope),
            Command::Rescue(1),
            Command::ResumeParked,
        ];
        for command in commands {
            let (event, inputs) = recorded(&command);
            let inputs: alloc::vec::Vec<u64> = inputs.into_iter().flatten().collect();
            assert_eq!(command_of(event, &inputs), Some(command));
        }
    }
}
