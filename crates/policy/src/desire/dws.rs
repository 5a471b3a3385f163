//! Whoever finds nothing leaves, and waiting tasks call others.
//!
//! A worker that fails often enough in a row gives its processor back. The job then wants as many
//! more as tasks wait per active worker, as far as the processors that nobody uses and its own that
//! others use go. Demand-aware work-stealing of Chen, Zheng and Guo, as told by Haselsteiner,
//! "Adaptive Work-Stealing Techniques", 2015, section 2.7.
//!
//! Where the source leaves something open: the tasks per worker are rounded down, as in C. What a
//! job sees are sums, so a worker without a task counts as gone when there were so many failures
//! for it. A thief that parks has given its slot back and is gone at once, so under the idle policy
//! `elastic`, the default, the number of failures hardly matters: it applies only to workers that
//! search at the end of a cycle. Which processors are taken, the free ones first, is the
//! allocator's affair.

use super::tunables::DWS_T_SLEEP;
use super::{Estimate, Seen};
use crate::error::ParseError;
use crate::parameters::{Policy, Visitor};

/// Parameters of demand-aware work-stealing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dws {
    /// Failures in a row after which a worker gives its processor back; one that parks has done so
    /// already.
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
    /// The defaults of its [`tunables`](crate::tunables).
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
