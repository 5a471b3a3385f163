//! A plan's commands and replies as values, so that a recorder only needs to wrap [`Plan::apply`].

use super::super::book::{Answer, Reservation, Scope, Task, Until};
use super::{Next, Plan};

/// A command to a plan, as a value. Each variant calls the method that it names, with the variant's
/// fields as arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command<T> {
    /// Calls [`Plan::set_workers`].
    SetWorkers(usize),
    /// Calls [`Plan::set_budget`].
    SetBudget(u64),
    /// Calls [`Plan::half`] for a thread.
    Half(usize, T),
    /// Calls [`Plan::spawn`] for a thread.
    Spawn(usize, Scope, T),
    /// Calls [`Plan::detached`] for a thread.
    Detached(usize, T),
    /// Calls [`Plan::open`].
    Open,
    /// Calls [`Plan::close`].
    Close(Scope),
    /// Calls [`Plan::expect`].
    Expect(Scope),
    /// Calls [`Plan::begin_unrelated`] for a thread.
    BeginUnrelated(usize),
    /// Calls [`Plan::begin_unrelated_in`] for a thread.
    BeginUnrelatedIn(usize, Scope),
    /// Calls [`Plan::take_back`].
    TakeBack(Task),
    /// Calls [`Plan::joined`].
    Joined(Task),
    /// Calls [`Plan::blocks`] for a thread.
    Blocks(usize, bool),
    /// Calls [`Plan::waits`] for a thread.
    Waits(usize, Until),
    /// Calls [`Plan::goes_on`] for a thread.
    GoesOn(usize),
    /// Calls [`Plan::end`] for a thread.
    End(usize),
    /// Calls [`Plan::leave`] for a thread.
    Leave(usize),
    /// Calls [`Plan::ask`] for a thread and a number of bytes.
    Ask(usize, u64),
    /// Calls [`Plan::answer`] for a thread.
    Answer(usize),
    /// Calls [`Plan::give_back`] for a thread, a reservation and its size in bytes.
    GiveBack(Option<usize>, Reservation, u64),
    /// Calls [`Plan::settle`].
    Settle,
    /// Calls [`Plan::has_work`].
    HasWork,
    /// Calls [`Plan::gives_way`] for a thread.
    GivesWay(usize),
    /// Calls [`Plan::next`] for a thread.
    Next(usize),
    /// Calls [`Plan::next_of`] for a thread and a scope.
    NextOf(usize, Scope),
    /// Calls [`Plan::rescue`] for a thread.
    Rescue(usize),
    /// Calls [`Plan::resume_parked`].
    ResumeParked,
}

/// A plan's reply to a command. The command alone determines the variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply<T> {
    /// No value: the command only changes the plan.
    Done,
    /// The task that was forked or began.
    Task(Task),
    /// The scope that was opened.
    Scope(Scope),
    /// The payload of the task that was taken, if any.
    Taken(Option<T>),
    /// The answer to a memory request, if it is known.
    Answer(Option<Answer>),
    /// The thread to wake, if any.
    Thread(Option<usize>),
    /// Yes or no, in reply to a query.
    Whether(bool),
    /// How to use the slot, or `None` if there is no work for it.
    Next(Option<Next<T>>),
}

impl<T> Plan<T> {
    /// Calls the method that the command names. `draw(n)` chooses a number below `n`.
    pub fn apply(&mut self, command: Command<T>, draw: impl FnMut(usize) -> usize) -> Reply<T> {
        match command {
            Command::SetWorkers(workers) => self.set_workers(workers),
            Command::SetBudget(bytes) => self.set_budget(bytes),
            Command::Close(scope) => self.close(scope),
            Command::Expect(scope) => self.expect(scope),
            Command::Joined(half) => self.joined(half),
            Command::Blocks(thread, blocks) => self.blocks(thread, blocks),
            Command::Waits(thread, until) => self.waits(thread, until),
            Command::GoesOn(thread) => self.goes_on(thread),
            Command::End(thread) => self.end(thread),
            Command::Leave(thread) => self.leave(thread),
            Command::GiveBack(thread, reservation, bytes) => {
                self.give_back(thread, reservation, bytes)
            }
            Command::Half(thread, payload) => return Reply::Task(self.half(thread, payload)),
            Command::Spawn(thread, scope, payload) => {
                return Reply::Task(self.spawn(thread, scope, payload));
            }
            Command::Detached(thread, payload) => {
                return Reply::Task(self.detached(thread, payload));
            }
            Command::BeginUnrelated(thread) => return Reply::Task(self.begin_unrelated(thread)),
            Command::BeginUnrelatedIn(thread, scope) => {
                return Reply::Task(self.begin_unrelated_in(thread, scope));
            }
            Command::Open => return Reply::Scope(self.open()),
            Command::TakeBack(half) => return Reply::Taken(self.take_back(half)),
            Command::NextOf(thread, scope) => return Reply::Taken(self.next_of(thread, scope)),
            Command::Ask(thread, bytes) => {
                return Reply::Answer(Some(self.ask(thread, bytes, draw)));
            }
            Command::Answer(thread) => return Reply::Answer(self.answer(thread)),
            Command::Settle => return Reply::Thread(self.settle()),
            Command::HasWork => return Reply::Whether(self.has_work()),
            Command::GivesWay(thread) => return Reply::Whether(self.gives_way(thread)),
            Command::Next(thread) => return Reply::Next(self.next(thread, draw)),
            Command::Rescue(thread) => return Reply::Next(self.rescue(thread)),
            Command::ResumeParked => return Reply::Next(self.resume_parked()),
        }
        Reply::Done
    }
}

/// Defines, for each kind of reply, a function that unwraps it.
macro_rules! unwrap {
    ($($name:ident: $kind:ident -> $type:ty,)*) => {
        /// Functions that return the contents, for a caller that knows the kind of reply from the
        /// command. Each panics if the reply is of another kind.
        impl<T> Reply<T> {
            $(
                #[doc = concat!("The contents of [`Reply::", stringify!($kind), "`].")]
                #[must_use]
                pub fn $name(self) -> $type {
                    match self {
                        Self::$kind(contents) => contents,
                        _ => unreachable!("the command has another reply"),
                    }
                }
            )*
        }
    };
}

unwrap! {
    task: Task -> Task,
    scope: Scope -> Scope,
    taken: Taken -> Option<T>,
    answer: Answer -> Option<Answer>,
    thread: Thread -> Option<usize>,
    is_yes: Whether -> bool,
    next: Next -> Option<Next<T>>,
}
