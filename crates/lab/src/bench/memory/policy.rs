//! The memory policies, and their parameters for a program whose serial run declares at most S1
//! bytes at a time.

use tidegate_policy::MemoryPolicy;
use tidegate_policy::memory::{Budget, DepthFirst, DfDeques, Hybrid, SleepFunction};

/// In `reproduce memory`, a task that reserves S1 bytes stays parked until slots have looked at it
/// this many times. The number is as large as on the slides, and determines the hybrid's alpha.
pub const LOOKS_OF_SLIDES: u64 = 64;

/// In `bench memory`, a task that reserves S1 bytes stays parked until slots have looked at it this
/// many times. With a larger number, more tasks park for each large block, which costs time and
/// saves no memory (docs/performance.md).
pub const LOOKS_HERE: u64 = 1;

/// Returns the parameter k for which a task that reserves S1 bytes waits for `looks` looks.
pub fn k(s1: u64, looks: u64) -> u64 {
    s1.div_ceil(looks).max(1)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    None,
    Hybrid,
    DepthFirst,
    DfDeques,
    Budget,
}

impl Policy {
    pub const ALL: [Self; 5] = [
        Self::None,
        Self::Hybrid,
        Self::DepthFirst,
        Self::DfDeques,
        Self::Budget,
    ];

    /// Returns the policy with its parameters for a program with this S1.
    pub fn memory(self, s1: u64, looks: u64) -> MemoryPolicy {
        let (serial, k) = (s1 as usize, k(s1, looks) as usize);
        match self {
            Self::None => MemoryPolicy::None,
            Self::Hybrid => hybrid(s1, LOOKS_OF_SLIDES),
            Self::DepthFirst => MemoryPolicy::DepthFirst(DepthFirst { k }),
            Self::DfDeques => MemoryPolicy::DfDeques(DfDeques { k }),
            Self::Budget => MemoryPolicy::Budget(Budget {
                bytes: serial + serial.div_ceil(10),
                serial,
            }),
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Hybrid => "hybrid",
            Self::DepthFirst => "depth-first",
            Self::DfDeques => "dfdeques",
            Self::Budget => "budget",
        }
    }
}

/// Returns the hybrid's parameters, for 64 looks by the rule in docs/memory.md. The published policy
/// requires that a task sleeps in proportion to the size of its request. This holds only if alpha +
/// beta p is small compared with the largest request. A task that requests S1 bytes sleeps for 32
/// rounds on 4 workers, and for 7 rounds on 32 workers.
pub fn hybrid(s1: u64, looks: u64) -> MemoryPolicy {
    let alpha = k(s1, looks) as usize;
    MemoryPolicy::Hybrid(Hybrid {
        alpha,
        beta: alpha / 4,
        sleep: SleepFunction::Linear,
    })
}
