//! The tasks that have started and not finished.
//!
//! A frame is a task with what its end must be told to: the task that waits for it. Frames lie in one array and are used
//! again, so a run takes the memory of its widest moment and not of its dag.
//!
//! A frame also carries the length of the longest chain of work that leads to where its task stands; at the end of the
//! root that is the span of the whole dag.

use crate::chain::Chain;
use crate::dag::Place;
use crate::unfold::TaskId;
use tidegate_policy::memory::book::{Reservation, Scope, Task};

/// The number of a frame.
pub(crate) type FrameId = u32;
/// The number of no frame.
pub(crate) const NONE: FrameId = FrameId::MAX;

/// A task under way.
pub(crate) struct Frame {
    pub(crate) task: TaskId,
    /// Who waits for it, or will.
    pub(crate) parent: FrameId,
    /// How many tasks it has started that are not over.
    pub(crate) pending: u32,
    /// Whether it goes on only when these are over.
    pub(crate) waits: bool,
    /// The longest chain of work to where it stands.
    pub(crate) chain: Chain,
    /// The longest chain that ends in a task that it started.
    pub(crate) longest: Chain,
    /// What few tasks have, kept apart so that the others are small.
    memory: Option<Box<Memory>>,
}

/// What a task has declared, and its place in the plan of a job that keeps the depth-first order.
#[derive(Default)]
pub(crate) struct Memory {
    /// How much, and the reservation's name in the plan.
    pub(crate) reservations: Vec<(u64, Option<Reservation>)>,
    /// On whose stack it lies.
    pub(crate) thread: usize,
    pub(crate) role: Role,
    /// The second half that it has forked, until both halves are over.
    pub(crate) half: Option<Task>,
    /// Whether the first half is over, and whether the second one, run by another thread, is.
    pub(crate) first_is_over: bool,
    pub(crate) half_is_over: bool,
    /// It was spawned, and is not the half of a fork.
    pub(crate) is_spawned: bool,
    /// What it has spawned into, if it has.
    pub(crate) scope: Option<Scope>,
}

impl Memory {
    /// The second half, if another thread runs it or nobody does.
    pub(crate) fn unfinished_half(&self) -> Option<Task> {
        self.half.filter(|_| !self.half_is_over)
    }
}

/// What a task is to the plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Role {
    /// A task of it.
    #[default]
    Own,
    /// The first half of a fork: its parent at work.
    First,
    /// A call, or a second half that its joiner came to: its parent at work.
    Inner,
}

impl Frame {
    /// What the task has declared, and its place in the plan.
    #[inline]
    pub(crate) fn memory(&mut self) -> &mut Memory {
        self.memory.get_or_insert_default()
    }

    /// What it has declared and not given back, which is no longer its own.
    #[inline]
    pub(crate) fn take_reservations(&mut self) -> Vec<(u64, Option<Reservation>)> {
        let memory = self.memory.as_mut();
        memory.map_or_else(Vec::new, |memory| std::mem::take(&mut memory.reservations))
    }

    /// Whether all that the task started is over; if not, it waits.
    #[inline]
    pub(crate) fn join(&mut self) -> bool {
        self.waits = self.pending > 0;
        if !self.waits {
            self.chain = self.chain.max(self.longest);
        }
        !self.waits
    }
}

/// All frames.
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

    /// A frame for `task`, which starts after a chain of this length.
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

    /// A frame for a task that `drafter` drafts, and does not begin yet.
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

    /// The task is over: hands out its parent if that one can go on now. `None` for the root, with the longest chain.
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

/// What the end of a task brings about.
pub(crate) enum Ended {
    /// Its parent goes on.
    Last { parent: FrameId },
    /// Its parent does something else, or waits for others.
    NotLast,
    /// The whole computation is over.
    Root { chain: Chain },
}
