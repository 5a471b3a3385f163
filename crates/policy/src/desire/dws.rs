//! Demand-aware work-stealing: workers that find nothing give up their processors, and waiting
//! tasks request more.
//!
//! A worker gives its processor back after a certain number of consecutive failed attempts to
//! steal. The job then wants additional processors: as many as there are waiting tasks per active
//! worker. It requests at most the machine's unused processors plus those of its own processors
//! that other jobs use. Demand-aware work-stealing is by Chen, Zheng and Guo, as described by
//! Haselsteiner, "Adaptive Work-Stealing Techniques", 2015, section 2.7.
//!
//! The source leaves some points open. Here, the tasks per worker are rounded down, as in C. A job
//! only sees the total number of failures, so for each `t_sleep` failures, it assumes that one
//! worker without a task has left. A thief that parks gives its slot back and leaves at once. So
//! under the default idle policy, `elastic`, `t_sleep` hardly matters: it only affects workers that
//! are searching at the end of a cycle. The allocator decides which processors to take, free ones
//! first.

use super::{Estimate, Seen, tunables};
use crate::parameters::parameters;

parameters! {
    /// Parameters of demand-aware work-stealing.
    #[derive(Eq)]
    Dws, "dws" {
        /// The number of consecutive failed attempts to steal after which a worker gives its
        /// processor back: 1 to 1,000,000, by default 32. A worker that parks has already given it
        /// back.
        t_sleep: usize = DWS_T_SLEEP,
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
