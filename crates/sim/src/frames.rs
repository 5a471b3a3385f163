//! The tasks that have started and not finished.
//!
//! A frame is a task with a link to the task that waits for it. Frames lie in one array and are
//! reused, so a run needs memory for its largest number of unfinished tasks rather than for its
//! whole dag.
//!
//! A frame also carries the length of the longest chain of work up to its task's current step. At
//! the end of the root, that is the span of the whole dag.

use crate::chain::Chain;
use crate::dag::Place;
use crate::unfold::TaskId;
use tidegate_policy::memory::book::{Reservation, Scope, Task};

pub(crate) type FrameId = u32;
pub(crate) const NONE: FrameId = FrameId::MAX;

pub(crate) struct Frame {
    pub(crate) task: TaskId,
    /// The task that waits for this one, or will wait for it.
    pub(crate) parent: FrameId,
    /// How many of the tasks that this one started have not ended.
    pub(crate) pending: u32,
    /// Whether this task waits until all tasks that it started have ended.
    pub(crate) waits: bool,
    /// The longest chain of work up to this task's current step.
    pub(crate) chain: Chain,
    /// The longest chain that ends in a task that this one started.
    pub(crate) longest: Chain,
    /// Boxed to keep frames small, because few tasks need it.
    memory: Option<Box<Memory>>,
}

/// A task's reservations, and its state in the plan of a job that keeps the depth-first order.
#[derive(Default)]
pub(crate) struct Memory {
    /// The size of each reservation, and its name in the plan if it has one.
    pub(crate) reservations: Vec<(u64, Option<Reservation>)>,
    /// The thread whose stack holds the task.
    pub(crate) thread: usize,
    pub(crate) role: Role,
    /// The second half of the task's fork, until both halves have ended.
    pub(crate) half: Option<Task>,
    /// Whether the first half of the fork has ended.
    pub(crate) first_is_over: bool,
    /// Whether the second half of the fork has ended on another thread.
    pub(crate) half_is_over: bool,
    /// Whether the task was spawned, rather than being half of a fork.
    pub(crate) is_spawned: bool,
    /// The scope into which the task has spawned tasks, if any.
    pub(crate) scope: Option<Scope>,
}

impl Memory {
    /// Returns the second half if it has not ended: another thread runs it, or no thread has begun
    /// it.
    pub(crate) fn unfinished_half(&self) -> Option<Task> {
        self.half.filter(|_| !self.half_is_over)
    }
}

/// How the plan accounts for a task's work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Role {
    /// A task that has its own entry in the plan.
    #[default]
    Own,
    /// The first half of a fork. The plan attributes its work to its parent.
    First,
    /// A call, or a second half that its joiner took back. The plan attributes its work to its
    /// parent.
    Inner,
}

impl Frame {
    /// Returns the task's memory record, and creates it on first use.
    #[inline]
    pub(crate) fn memory(&mut self) -> &mut Memory {
        self.memory.get_or_insert_default()
    }

    /// Removes and returns the reservations that the task has not given back.
    #[inline]
    pub(crate) fn take_reservations(&mut self) -> Vec<(u64, Option<Reservation>)> {
        let memory = self.memory.as_mut();
        memory.map_or_else(Vec::new, |memory| std::mem::take(&mut memory.reservations))
    }

    /// Whether all tasks that this one started have ended. If not, this task now waits.
    #[inline]
    pub(crate) fn join(&mut self) -> bool {
        self.waits = self.pending > 0;
        if !self.waits {
            self.chain = self.chain.max(self.longest);
        }
        !self.waits
    }
}

pub(crate) struct Frames {
    frames: Vec<Frame>,
    free: Vec<FrameId>,
}

impl Frames {
    pub(crate) const fn new() -> Self {
        Self {
            frames: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Adds a frame for `task`, which starts at the end of this chain.
    #[inline]
    pub(crate) fn add(&mut self, task: TaskId, parent: FrameId, chain: Chain) -> FrameId {
        let frame = Frame {
            task,
            parent,
            pending: 0,
            waits: false,
            chain,
            longest: Chain::default(),
            memory: None,
        };
        match self.free.pop() {
            Some(id) => {
                self.frames[id as usize] = frame;
                id
            }
            None => {
                self.frames.push(frame);
                (self.frames.len() - 1) as FrameId
            }
        }
    }

    /// Adds a frame for a task that `drafter` drafts and that does not begin yet.
    pub(crate) fn draft(&mut self, task: TaskId, drafter: FrameId, place: Place) -> FrameId {
        let Frame { parent, chain, .. } = self.frames[drafter as usize];
        let parent = match place {
            Place::Beside if parent != NONE => parent,
            Place::Beside | Place::Inside => drafter,
        };
        self.get(parent).pending += 1;
        self.add(task, parent, chain)
    }

    #[inline]
    pub(crate) fn get(&mut self, id: FrameId) -> &mut Frame {
        &mut self.frames[id as usize]
    }

    /// Ends the task. Returns the task's parent if it can continue now, and the longest chain if
    /// the task is the root.
    #[inline]
    pub(crate) fn end(&mut self, id: FrameId) -> Ended {
        let Frame { parent, chain, .. } = self.frames[id as usize];
        self.frames[id as usize].memory = None;
        self.free.push(id);
        if parent == NONE {
            return Ended::Root { chain };
        }
        let above = self.get(parent);
        above.longest = above.longest.max(chain);
        above.pending -= 1;
        if above.waits && above.join() {
            Ended::Last { parent }
        } else {
            Ended::NotLast
        }
    }
}

/// The effect of a task's end.
pub(crate) enum Ended {
    /// The parent continues.
    Last { parent: FrameId },
    /// The parent is doing something else, or waits for other tasks.
    NotLast,
    /// The whole computation has ended.
    Root { chain: Chain },
}
