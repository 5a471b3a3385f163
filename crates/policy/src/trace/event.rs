//! The events of a trace.

/// Defines the events. Each has a code, which stands for it in a file, and a short text.
macro_rules! events {
    ($($(#[$doc:meta])* $name:ident = $code:literal $text:literal,)*) => {
        /// A call to a rule, which makes a decision or updates the rule's state.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Event {
            $($(#[$doc])* $name = $code,)*
        }

        impl Event {
            pub(super) const fn code(self) -> u8 {
                self as u8
            }

            #[cfg(feature = "replay")]
            pub(super) const fn of(code: u8) -> Option<Self> {
                match code {
                    $($code => Some(Self::$name),)*
                    _ => None,
                }
            }

            /// Returns a short description of the event.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }

        #[cfg(all(test, feature = "replay"))]
        pub(super) const ALL: &[Event] = &[$(Event::$name),*];
    };
}

events! {
    /// A worker starts with the state of a new thief, or a pool starts with the state of a new
    /// share controller.
    Begin = 0 "begin",
    /// Not a decision: the worker enters a phase. The input is the number of the phase.
    Phase = 1 "phase",
    /// Not a decision: tasks were stolen. The inputs are the victim and the number of tasks.
    Stole = 2 "stole",
    /// Not a decision: the worker begins a task on top of those that it runs. The input is 0 for a
    /// task without an origin, otherwise the task's position in
    /// [`Trace::origins`](super::Trace::origins) plus 1.
    TaskBegins = 3 "a task begins",
    /// Not a decision: the worker ends the task that it began last.
    TaskEnds = 4 "a task ends",
    /// How the thief rests after a failed sweep.
    SweepFailed = 16 "how to rest after a sweep",
    /// How the thief rests after a failed attempt.
    AttemptFailed = 17 "how to rest after an attempt",
    /// The thief found a task.
    StealSucceeded = 18 "a steal succeeded",
    /// The thief has rested.
    Rested = 19 "rested",
    /// Which victim the thief tries next.
    NextVictim = 20 "whom to rob",
    /// The victim had a task, which the thief stole.
    StolenFrom = 21 "stolen from",
    /// How many tasks the thief takes.
    Amount = 22 "how many tasks to take",
    /// How many processors the job could use.
    Desire = 32 "how many processors to desire",
    /// How many slots the job gets, given its allotment.
    Slots = 33 "how many slots to have",
    /// How long the next cycle of the share controller is.
    Cycle = 34 "how long the cycle is",
    /// How many slots are lent.
    Lend = 35 "how many slots to lend",
    /// All loans end.
    ForgetLoans = 36 "forget loans",
    /// The number of slots changes.
    SetWorkers = 48 "set workers",
    /// The memory budget changes.
    SetBudget = 49 "set the budget",
    /// A join forks its second half.
    Half = 50 "fork a half",
    /// A task is spawned into a scope.
    Spawn = 51 "spawn",
    /// A task is spawned without a scope.
    Detached = 52 "spawn, detached",
    /// A scope gets its first task.
    Open = 53 "open a scope",
    /// A scope ends.
    Close = 54 "close a scope",
    /// A task from outside the pool is announced to a scope.
    Expect = 55 "expect an unrelated task",
    /// A task from outside the pool starts.
    Unrelated = 56 "an unrelated task begins",
    /// A task from outside the pool starts in a scope.
    UnrelatedIn = 57 "an unrelated task of a scope begins",
    /// Whether the joiner takes back the second half of its join.
    TakeBack = 58 "take a half back",
    /// A joiner resumes after the second half of its join has ended.
    Joined = 59 "joined",
    /// A task gives up its slot, or gets a slot back.
    Blocks = 60 "blocks",
    /// A task starts to wait.
    Waits = 61 "waits",
    /// A task resumes.
    GoesOn = 62 "goes on",
    /// A task ends.
    End = 63 "end",
    /// A thread has no frames left, so all its tasks end.
    Leave = 64 "leave",
    /// Whether a request for memory is granted.
    Ask = 65 "ask for memory",
    /// The answer to a memory request that had to wait.
    Answer = 66 "the answer",
    /// Memory is returned.
    GiveBack = 67 "give memory back",
    /// Which waiting memory request is answered now.
    Settle = 68 "who is answered",
    /// Whether there is work for a free slot.
    HasWork = 69 "whether there is work",
    /// Whether a task gives its slot to another task.
    GivesWay = 70 "whether to give way",
    /// What a free slot is used for.
    Next = 71 "what comes next",
    /// Which task of a scope starts next.
    NextOf = 72 "what comes next of a scope",
    /// What a waiting thread may run while all threads wait.
    Rescue = 73 "whom to rescue",
    /// Which parked task resumes.
    ResumeParked = 74 "which parked task goes on",
}

#[cfg(all(test, feature = "replay"))]
mod tests {
    use super::*;

    #[test]
    fn codes_match_events_one_to_one() {
        for &event in ALL {
            assert_eq!(Event::of(event.code()), Some(event));
        }
        let known = (0..=u8::MAX).filter(|&code| Event::of(code).is_some());
        assert_eq!(known.count(), ALL.len());
    }
}
