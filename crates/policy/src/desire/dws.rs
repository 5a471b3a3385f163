//! Demand-aware work-stealing: workers that find nothing leave, and waiting tasks call for more
//! workers.
//!
//! A worker that fails often enough in a row gives its processor back. The job then wants
//! additional processors: as many as tasks wait per active worker, but no more than the machine's
//! unused processors plus the job's own that other jobs use. Demand-aware work-stealing is by Chen,
//! Zheng and Guo, as described by Haselsteiner, "Adaptive Work-Stealing Techniques", 2015, section
//! 2.7.
//!
//! The source leaves some points open. Here the tasks per worker are rounded down, as in C. A job
//! sees only the total number of failures, so for every `t_sleep` of them it counts one worker
//! without a task as gone. A thief that parks has given its slot back and is gone at once. So under
//! the idle policy `elastic`, the default, `t_sleep` hardly matters: it affects only workers that
//! are searching at the end of a cycle. The allocator decides which processors to take (the free
//! ones first).

use super::tunables::DWS_T_SLEEP;
use super::{Estimate, Seen};
use crate::error::ParseError;
use crate::parameters::{Policy, Visitor};

/// Parameters of demand-aware work-stealing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dws {
    /// The number of failures in a row after which a worker gives its processor back: 1 to
    /// 1,000,000, by default 32. A worker that parks has already given it back.
    pub t_sleep: usize,
}

impl Policy for Dws {
    const NAME: &'static str = "dws";
    const DEFAULT: Self = Self {
        t_sleep: DWS_T_SLEEP.default,
    };

    fn visit<V: Visitor>(&mut self, visitor: &mut V) -> Result<(), ParseError> {
        visitor.plain(&DWS_T_SLEEP, &mut self.t_sleep)
    }
}

impl Default for Dws {
    /// The defaults of the parameters' [`tunables`](crate::tunables).
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Estimate for Dws {
    fn next(&mut self, seen: &Seen<'_>) -> usize {
        let failed = usize::try_from(seen.failed_empty).unwrap_or(usize::MAX);
        let without_task = seen.usage.saturating_sub(seen.busy);
        let active = seen.usage - without_task.min(failed / self.t_sleep.max(1));
        let more = seen.waiting() / active.max(1);
        active.saturating_add(more.min(seen.free.saturating_add(seen.lent)))
    }
}
