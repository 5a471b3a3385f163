//! Records every command to the plan of a pool whose memory policy keeps the depth-first order.

use super::event::Event;
use super::recorder::Recorder;
use super::thief::word_of;
use crate::MemoryPolicy;
use crate::memory::book::{Answer, Until};
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
/// them. `command_of` is the inverse.
pub(super) fn recorded<T>(command: &Command<T>) -> (Event, [Option<u64>; 3]) {
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
}
