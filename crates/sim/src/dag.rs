//! A computation as a tree of tasks that unfolds while it runs.
//!
//! A program describes a [`Task`](Dag::Task) by what it does next, one [`Step`] after the other. Whoever runs the tasks
//! (the machine, or a [walk](crate::Extent)) asks for the next step when the last one is done, so no more of the dag exists
//! than has started and not finished.
//!
//! Two shapes cover most programs. A *fork* starts two tasks and waits for both, as the runtime's `join` does. A
//! *loop* spawns tasks one after the other and then joins them; the child goes first, and what waits in the deque is the
//! rest of the loop: one task, however long the loop is (Sen, "Dynamic processor allocation for adaptively parallel
//! work-stealing jobs", 2004, section 4.2). A *call* runs a task in series, and nothing of it can be stolen.
//!
//! A task counts what it has started and not what is what: one that forks or calls while tasks that it spawned still run waits
//! for these, too.
//!
//! Graphs that are no trees of forks are made of *drafts*: a draft is a task with a name that begins when it has been released so many
//! times; any task may release it, before or after it is drafted. An interval is a task whose end releases what comes after it, inside of the interval that drafts it (Weibel,
//! "An advanced scheduler for intervals", 2010, chapter 1). A graph unfolds lazily if each draft is made by one of those that it waits for, beside that one and not inside:
//! then what is in memory is the frontier.
//!
//! A task may declare memory. What it has to wait for then is the machine's [policy](tidegate_policy::MemoryPolicy); under one that keeps the depth-first order a
//! spawned task waits in the deque and the spawner goes on, as in the runtime.
//!
//! A task may touch data by a name: what of them its place's [cache](crate::Settings::cache) does not hold takes time to come. A draft may be
//! put into a place, as an interval may.
//!
//! What it does not do: carry results, or hold data that tasks share. Where the course of a program depends on data, its
//! dag holds them and works on them as the tasks unfold.

use tidegate_policy::Nanos;

/// A computation, unfolded as it is asked for.
pub trait Dag {
    /// One task, as far as it has come. Small: the machine keeps one for every task that has started and not finished.
    type Task;

    /// The task from which all others come. Every run begins with this call.
    fn root(&self) -> Self::Task;

    /// What `task` does next. The same task gives the same steps in every run, whoever runs it and when.
    fn next(&self, task: &mut Self::Task) -> Step<Self::Task>;
}

/// What a task does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<T> {
    /// Keeps a processor busy for so long.
    Work(Nanos),
    /// Goes on after so long and needs no processor meanwhile, as when it waits for a disk.
    Rest(Nanos),
    /// Runs both, in parallel if a worker is free, and goes on when both are over. The first is run at once, the second
    /// waits in the deque.
    Fork(T, T),
    /// Runs this one and goes on when it is over.
    Call(T),
    /// Runs this one at once; the rest of the task that asks waits in the deque.
    Spawn(T),
    /// Goes on when all tasks spawned so far are over, and all that were drafted inside of this one.
    Join,
    /// A task that begins when it has been released.
    Draft(Draft<T>),
    /// Releases the draft of this name, once.
    Release(u64),
    /// Declares so many bytes, and goes on when it may have them. They are the task's until it gives them back, at the latest when it is over.
    Reservation(u64),
    /// Gives back what it has declared last.
    Free,
    /// Reads or writes data that have to be in the cache of its place, and goes on when they are.
    Touch(Touch),
    /// The task is over. If tasks that it spawned are not, it is asked again when they are.
    End,
}

/// A task that waits for others beside those that it starts.
///
/// If releases are missing when nothing else can go on, the run ends with an error. Policies for memory that keep the depth-first order know of no drafts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draft<T> {
    /// The task.
    pub task: T,
    /// By which it is released; no other draft that waits has the same, in one job.
    pub name: u64,
    /// How many releases it waits for.
    pub releases: u32,
    /// Who waits for its end.
    pub place: Place,
    /// In which place's queue it lies when it begins. None is the deque of the worker that drafted or released it; so is the place where that worker stands, if it is the last release that makes the draft begin.
    pub put: Option<Put>,
}

/// A place on a machine of however many: the one that part `part` of `parts` falls to, and so many places on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Put {
    /// Less than `parts`.
    pub part: u32,
    /// Among which the places are divided evenly.
    pub parts: u32,
    /// How many places further, round the circle.
    pub turn: u32,
}

impl Put {
    /// The number of the place on a machine that has so many.
    #[must_use]
    pub fn of(self, places: usize) -> usize {
        let first = u64::from(self.part) * places as u64 / u64::from(self.parts.max(1));
        ((first + u64::from(self.turn)) % places as u64) as usize
    }
}

/// Data that a task works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    /// What they are called; all tasks of a job mean the same data by it.
    pub name: u64,
    /// How many they are.
    pub bytes: u64,
    /// Whether other places' copies are void from now on.
    pub writes: bool,
}

/// Who waits for the end of a draft at the next join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The task that drafts it.
    Inside,
    /// The one that waits for that task, too. The root, which has none, waits itself.
    Beside,
}
