//! What is asked of the rules.

/// A list of questions with their numbers in a file.
macro_rules! questions {
    ($($(#[$doc:meta])* $name:ident = $code:literal $text:literal,)*) => {
        /// What is asked of the rules, or told to them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Question {
            $($(#[$doc])* $name = $code,)*
        }

        impl Question {
            /// Its number in a file.
            pub(super) const fn code(self) -> u8 {
                self as u8
            }

            /// The question of this number.
            pub(super) const fn of(code: u8) -> Option<Self> {
                match code {
                    $($code => Some(Self::$name),)*
                    _ => None,
                }
            }

            /// In a few words.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }

        #[cfg(test)]
        pub(super) const ALL: &[Question] = &[$(Question::$name),*];
    };
}

questions! {
    /// A thread begins, with the memory of a new thief; or a pool begins to work, with that of a new steward.
    Begin = 0 "begin",
    /// No question: what the worker spends its time on from now on. The number is that of the phase.
    Phase = 1 "phase",
    /// No question: tasks were stolen; from whom, and how many.
    Stole = 2 "stole",
    /// The thief's sweep failed.
    SweepFailed = 16 "how to rest after a sweep",
    /// An attempt of it failed.
    AttemptFailed = 17 "how to rest after an attempt",
    /// It has found a task.
    StealSucceeded = 18 "a steal succeeded",
    /// It has rested.
    Rested = 19 "rested",
    /// Whom to rob next.
    NextVictim = 20 "whom to rob",
    /// The victim had a task.
    StolenFrom = 21 "stolen from",
    /// How many tasks to take.
    Amount = 22 "how many tasks to take",
    /// How many processors are desired.
    Desire = 32 "how many processors to desire",
    /// How many slots follow from the allotment.
    Slots = 33 "how many slots to have",
    /// How long the cycle is.
    Cycle = 34 "how long the cycle is",
    /// How many slots are lent.
    Lend = 35 "how many slots to lend",
    /// Nothing is lent any more.
    ForgetLoans = 36 "forget loans",
    /// How many slots there are from now on.
    SetWorkers = 48 "set workers",
    /// How large the budget is from now on.
    SetBudget = 49 "set the budget",
    /// A task has been forked as the second half of a join.
    Half = 50 "fork a half",
    /// A task has been spawned into a scope.
    Spawn = 51 "spawn",
    /// A task has been spawned into none.
    Detached = 52 "spawn, detached",
    /// A scope has its first task.
    Open = 53 "open a scope",
    /// A scope is over.
    Close = 54 "close a scope",
    /// A task from elsewhere will come to a scope.
    Expect = 55 "expect a stranger",
    /// A task from elsewhere begins.
    Stranger = 56 "a stranger begins",
    /// A task from elsewhere begins, of a scope.
    StrangerIn = 57 "a stranger of a scope begins",
    /// Whether a half is taken back.
    TakeBack = 58 "take a half back",
    /// A half is joined.
    Joined = 59 "joined",
    /// A task gives its slot away, or has one again.
    Blocks = 60 "blocks",
    /// A task waits.
    Waits = 61 "waits",
    /// A task goes on.
    GoesOn = 62 "goes on",
    /// A task has ended.
    End = 63 "end",
    /// A thread has no tasks any more.
    Leave = 64 "leave",
    /// Whether a request for memory is granted.
    Ask = 65 "ask for memory",
    /// What a request was answered.
    Answer = 66 "the answer",
    /// Memory is given back.
    GiveBack = 67 "give memory back",
    /// Who was answered by what has happened.
    Settle = 68 "who is answered",
    /// Whether there is work for a free slot.
    HasWork = 69 "whether there is work",
    /// Whether a task leaves its slot to others.
    GivesWay = 70 "whether to give way",
    /// What a slot is to be used for.
    Next = 71 "what comes next",
    /// Which task of a scope comes next.
    NextOf = 72 "what comes next of a scope",
    /// What a thread may do on top of a wait.
    Rescue = 73 "whom to rescue",
    /// Which parked task goes on.
    ResumeParked = 74 "which parked task goes on",
}

/// One question of a stream, with its numbers and without what was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// When it was asked.
    pub at: crate::Nanos,
    /// What.
    pub question: Question,
    /// What the rules looked at, in the order in which they did.
    pub inputs: alloc::vec::Vec<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_question_is_found_by_its_number_and_no_other_number_is_one() {
        for &question in ALL {
            assert_eq!(Question::of(question.code()), Some(question));
        }
        let known = (0..=u8::MAX).filter(|&code| Question::of(code).is_some());
        assert_eq!(known.count(), ALL.len());
    }
}
