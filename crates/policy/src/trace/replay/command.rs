//! Reads the commands of a plan.

use crate::limits::MOST_THREADS;
use crate::memory::book::{Reservation, Scope, Task, Until};
use crate::memory::plan::Command;
use crate::trace::Event;

/// Returns the command that was recorded as this event with these inputs, or `None` if an input is
/// missing or out of range.
pub(super) fn command_of(event: Event, inputs: &[u64]) -> Option<Command<()>> {
    let input = |at: usize| inputs.get(at).copied();
    let name = |at| u32::try_from(input(at)?).ok();
    let scope = |at| name(at).map(Scope);
    let task = |at| name(at).map(Task);
    let thread = || Some(name(0)? as usize).filter(|thread| *thread <= MOST_THREADS);
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
        Event::GiveBack => {
            Command::GiveBack(thread()?.checked_sub(1), Reservation(name(1)?), input(2)?)
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::orders::recorded;

    #[test]
    fn recorded_commands_are_read_back() {
        let (scope, task, reservation) = (Scope(3), Task(4), Reservation(5));
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
