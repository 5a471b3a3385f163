//! The door for crates that build on the core: what they may use besides the public interface.
//! `docs/door.md` describes it. No guarantee of stability covers it.

pub mod closed;

pub use crate::global::{check_allowed, outside, pool_here};
pub use crate::handle::{inside, used};
pub use crate::job::{Header, Kind, Runner, Start, Task, blocks};
pub use crate::options::nanos;
pub use crate::pool::end::Hold;
pub use crate::pool::{PoolInner, enter};
pub use crate::scope::{ScopeCore, Scoped};
pub use crate::sleep::may_linger;
pub use crate::task_context::{Key, TaskContext, current, peek};
pub use crate::unwind::{Payload, UnhandledPanic};
pub use crate::worker::carry::{self, Carried};
pub use crate::worker::{Event, RunShared, Shared, TaskSpan, WorkerThread, wait};

/// Places of a pool.
pub mod place {
    pub use crate::place::{check_place, number_here, put_at};
}

/// Origins of tasks.
pub mod origin {
    pub use crate::origin::of;
}

/// Scopes whose tasks the caller creates.
pub mod scope {
    pub use crate::scope::{core, queue, remove_count_from_afar, scope};
}

/// Simulated pools.
#[cfg(all(feature = "testing", not(loom)))]
pub mod simulated {
    pub use crate::builder::simulate;
    pub use crate::handle::simulation;
    pub use crate::simulated::{Simulated, line, outline};
}

/// Detached tasks.
pub mod spawn {
    pub use crate::spawn::submit;
}

/// Panics that are kept as values.
pub mod unwind {
    pub use crate::unwind::{catch, discard, message, resume};
}
