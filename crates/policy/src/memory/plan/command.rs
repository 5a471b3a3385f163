//! The commands of a plan and its replies, as values. So a recorder only has to wrap
//! [`Plan::apply`].

use super::super::book::{Answer, Reservation, Scope, Task, Until};
use super::{Next, Plan};

/// A change of a plan, or a query that is recorded like a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command<T> {
    /// [`Plan::set_workers`].
    SetWorkers(usize),
    /// [`Plan::set_budget`].
    SetBudget(u64),
    /// [`Plan::half`], by a thread.
    Half(usize, T),
    /// [`Plan::spawn`], by a thread.
    Spawn(usize, Scope, T),
    /// [`Plan::detached`], by a thread.
    Detached(usize, T),
    /// [`Plan::open`].
    Open,
    /// [`Plan::close`].
    Close(Scope),
    /// [`Plan::expect`].
    Expect(Scope),
    /// [`Plan::begin_unrelated`], on a thread.
    BeginUnrelated(usize),
    /// [`Plan::begin_unrelated_in`], on a thread.
    BeginUnrelatedIn(usize, Scope),
    /// [`Plan::take_back`].
    TakeBack(Task),
    /// [`Plan::joined`].
    Joined(Task),
    /// [`Plan::blocks`], on a thread.
    Blocks(usize, bool),
    /// [`Plan::waits`], on a thread.
    Waits(usize, Until),
    /// [`Plan::goes_on`], on a thread.
    GoesOn(usize),
    /// [`Plan::end`], on a thread.
    End(usize),
    /// [`Plan::leave`], of a thread.
    Leave(usize),
    /// [`Plan::ask`], by a thread, for a number of bytes.
    Ask(usize, u64),
    /// [`Plan::answer`], for a thread.
    Answer(usize),
    /// [`Plan::give_back`], by a thread of the plan or by another thread, with the number of bytes.
    GiveBack(Option<usize>, Reservation, u64),
    /// [`Plan::settle`].
    Settle,
    /// [`Plan::has_work`].
    HasWork,
    /// [`Plan::gives_way`], for a thread.
    GivesWay(usize),
    /// [`Plan::next`], for a thread.
    Next(usize),
    /// [`Plan::next_of`], for a thread.
    NextOf(usize, Scope),
    /// [`Plan::rescue`], for a thread.
    Rescue(usize),
    /// [`Plan::resume_parked`].
    ResumeParked,
}

/// How a plan replies. The command alone determines the variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply<T> {
    /// The command only changes the plan.
    Done,
    /// The task that was forked or began.
    Task(Task),
    /// The scope that was opened.
    Scope(Scope),
    /// The task that was taken, if any.
    Taken(Option<T>),
    /// The answer to a request, if it is known.
    Answer(Option<Answer>),
    /// The thread to wake, if any.
    Thread(Option<usize>),
    /// Yes or no.
    Whether(bool),
    /// What to use a slot for, if anything.
    Next(Option<Next<T>>),
}

impl<T> Plan<T> {
    /// Applies a command. `draw(n)` chooses a number below `n`.
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
        /// The contents, for a caller that knows the kind from the command. Each function panics if
        /// the reply is of another kind.
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
