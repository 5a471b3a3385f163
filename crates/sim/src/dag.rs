//! A computation as a tree of tasks that unfolds while it runs.
//!
//! A program describes what a [`Task`](Dag::Task) does next, one [`Step`] at a time, when the
//! machine or a [walk](crate::WorkSpan) asks for it, so only tasks in progress are in memory.
//!
//! Two shapes cover most programs. A *fork* starts two tasks and waits for both, like the runtime's
//! `join`. A *loop* spawns tasks one by one and then joins them. The child runs first, and the rest
//! of the loop waits in the deque as one task, however long the loop is (Sen, "Dynamic processor
//! allocation for adaptively parallel work-stealing jobs", 2004, section 4.2). A *call* runs a task
//! in series and leaves nothing to steal.
//!
//! A task counts the tasks that it has started, but cannot tell them apart. So if a task forks or
//! calls while tasks that it spawned are running, it also waits for those tasks.
//!
//! Graphs that are not trees of forks are made of *drafts*. A draft is a named task that begins
//! after a given number of releases; any task may release it, before or after it is drafted. An
//! interval is a task inside the interval that drafts it, and its end releases its successors
//! (Weibel, "An advanced scheduler for intervals", 2010, chapter 1). A graph unfolds lazily if each
//! draft is made by a task that the draft waits for, [beside](Place::Beside) that task and not
//! inside it. Then only the frontier is in memory.
//!
//! A task may declare memory. The machine's [policy](tidegate_policy::MemoryPolicy) decides what
//! the task must wait for. Under a policy that keeps the depth-first order, a spawned task waits in
//! the deque and the spawner continues, as in the runtime.
//!
//! A task may touch data by name. Loading the part that its place's [cache](crate::Settings::cache)
//! does not hold takes time. Like an interval, a draft may be put into a place.
//!
//! Tasks neither carry results nor hold shared data. If data determines what a program does next,
//! its dag holds the data and works on it as the tasks unfold.

use tidegate_policy::Nanos;

/// A computation that unfolds on request.
pub trait Dag {
    /// The state of one task. It should be small: the machine keeps one for every task that has
    /// started and not finished.
    type Task;

    /// Returns the root of the task tree. Every run begins with this call.
    fn root(&self) -> Self::Task;

    /// Returns the next step of `task`. A task must take the same steps in every run, no matter
    /// which worker runs it and when.
    fn next(&self, task: &mut Self::Task) -> Step<Self::Task>;
}

/// A step of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<T> {
    /// Keeps a processor busy for this long.
    Work(Nanos),
    /// Continues after this time. Meanwhile, the task uses no processor, like a task that waits for
    /// a disk.
    Rest(Nanos),
    /// Runs both tasks, in parallel if a worker is free, and continues when both have ended. The
    /// first runs immediately, and the second waits in the deque.
    Fork(T, T),
    /// Runs this task and continues when it has ended.
    Call(T),
    /// Runs this task immediately; the rest of the current task waits in the deque.
    Spawn(T),
    /// Continues when all tasks spawned so far, and all tasks drafted inside this one, have ended.
    Join,
    /// Creates a task that begins when other tasks have released it.
    Draft(Draft<T>),
    /// Releases the draft of this name once.
    Release(u64),
    /// Declares this many bytes, and continues when they are granted. The task keeps them until it
    /// frees them or ends.
    Reservation(u64),
    /// Frees the task's latest reservation.
    Free,
    /// Reads or writes data, and continues when the data is in the cache of the task's place.
    Touch(Touch),
    /// Ends the task. If tasks that it spawned have not ended, the machine requests a step again
    /// when they have.
    End,
}

impl<T> Step<T> {
    /// Returns the same step with other tasks. Of a fork, the second task is mapped first.
    #[inline]
    pub fn map<U>(self, mut map: impl FnMut(T) -> U) -> Step<U> {
        match self {
            Self::Work(time) => Step::Work(time),
            Self::Rest(time) => Step::Rest(time),
            Self::Fork(first, second) => {
                let second = map(second);
                Step::Fork(map(first), second)
            }
            Self::Call(task) => Step::Call(map(task)),
            Self::Spawn(task) => Step::Spawn(map(task)),
            Self::Join => Step::Join,
            Self::Draft(draft) => Step::Draft(Draft {
                task: map(draft.task),
                name: draft.name,
                releases: draft.releases,
                place: draft.place,
                put: draft.put,
            }),
            Self::Release(name) => Step::Release(name),
            Self::Reservation(bytes) => Step::Reservation(bytes),
            Self::Free => Step::Free,
            Self::Touch(touch) => Step::Touch(touch),
            Self::End => Step::End,
        }
    }
}

/// A task that waits for releases by other tasks.
///
/// If nothing else can continue and releases are still missing, the run ends with an error. Memory
/// policies that keep the depth-first order do not support drafts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draft<T> {
    /// The task that begins when it has received all its releases.
    pub task: T,
    /// The name by which tasks release the draft. No two waiting drafts of a job have the same
    /// name.
    pub name: u64,
    /// The number of releases that the draft waits for.
    pub releases: u32,
    /// Which task waits for the draft's end.
    pub place: Place,
    /// The place in whose queue the draft waits when it can begin. If this is `None`, the draft
    /// waits in the deque of the worker that drafted or released it. It also waits there if its
    /// last release makes it ready and the releasing worker is in this place.
    pub put: Option<Put>,
}

/// A place, described independently of the machine's number of places.
///
/// The places are divided into `parts` equal parts. The described place is `turn` places after the
/// first place of part `part`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Put {
    /// The index of the part, less than `parts`.
    pub part: u32,
    /// The number of equal parts into which the places are divided.
    pub parts: u32,
    /// How many places to move on from the first place of the part, wrapping around.
    pub turn: u32,
}

impl Put {
    /// Returns the index of this place on a machine with `places` places.
    #[must_use]
    pub fn of(self, places: usize) -> usize {
        let first = u64::from(self.part) * places as u64 / u64::from(self.parts.max(1));
        ((first + u64::from(self.turn)) % places as u64) as usize
    }
}

/// Data that a task works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    /// The name that all tasks of a job use for this data.
    pub name: u64,
    /// The size of the data in bytes.
    pub bytes: u64,
    /// Whether the touch writes, which invalidates the copies in other places.
    pub writes: bool,
}

/// Which task waits, at its next join, for the end of a draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The drafting task itself.
    Inside,
    /// The task that waits for the drafting task. No task waits for the root, so the root waits for
    /// its drafts itself.
    Beside,
}
