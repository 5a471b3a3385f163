//! What a trace contains.

use crate::{
    DesirePolicy, IdlePolicy, MemoryPolicy, Nanos, SharePolicy, StealAmount, VictimPolicy,
};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// The policies that a pool used.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// How idle thieves rest; `None` for a user-defined backoff.
    pub idle: Option<IdlePolicy>,
    /// How many tasks a steal takes.
    pub steal: StealAmount,
    /// Which victim a thief steals from.
    pub victim: VictimPolicy,
    /// Which tasks get the memory that they request.
    pub memory: MemoryPolicy,
    /// Whether the job shares the machine with other jobs.
    pub share: SharePolicy,
    /// How the job estimates its desired number of processors.
    pub desire: DesirePolicy,
    /// The time between two estimates of the desire, in nanoseconds.
    pub est_cycle: Nanos,
    /// The number of slots at the start.
    pub workers: usize,
    /// The name of the pool.
    pub pool: String,
}

/// The source of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The worker with this number.
    Worker(usize),
    /// The share controller.
    ShareController,
    /// The memory plan.
    Plan,
}

/// The recorded events of one source, with their decisions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    /// The source of the events.
    pub source: Source,
    /// For each event: its code, the time since the previous event, and its inputs.
    pub(super) inputs: Vec<u8>,
    /// The decision of each event.
    pub(super) decisions: Vec<u8>,
    /// The number of events that were dropped because the stream was full.
    pub left_out: u64,
}

/// The recorded decisions of a pool.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// The policies of the pool.
    pub rules: Rules,
    /// Where the recorded tasks were spawned.
    pub origins: Vec<TaskOrigin>,
    /// One stream for each source.
    pub streams: Vec<Stream>,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Worker(index) => write!(f, "worker {index}"),
            Self::ShareController => f.write_str("the share controller"),
            Self::Plan => f.write_str("the plan for memory"),
        }
    }
}

/// Where the tasks that [`Event::TaskBegins`](super::Event::TaskBegins) refers to were spawned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskOrigin {
    /// The name of the tasks; empty if they have none.
    pub name: String,
    /// The place in the source, as `FILE:LINE:COLUMN`.
    pub at: String,
}

impl TaskOrigin {
    /// Returns the name or, if the tasks have none, the place.
    #[must_use]
    pub fn label(&self) -> &str {
        match &self.name[..] {
            "" => &self.at,
            name => name,
        }
    }
}
