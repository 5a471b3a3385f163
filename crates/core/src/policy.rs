//! The policies that [`Builder`](crate::Builder) accepts: how a pool steals, waits, idles, shares
//! the machine and grants memory. The trait [`Choose`] has the builder's methods for research.
//!
//! Each policy parses from the same text as its environment variable and its command-line flag, and
//! prints as that text. `tidegate tunables` lists all parameters with their ranges and defaults.
//!
//! ```
//! use tidegate::policy::{IdlePolicy, StealAmount, WaitPolicy};
//!
//! assert_eq!("half".parse(), Ok(StealAmount::Half));
//! assert_eq!(WaitPolicy::default(), WaitPolicy::Descendants);
//! let idle: IdlePolicy = "linear:min=10us,step=20us".parse()?;
//! assert_eq!(idle.to_string(), "linear:step=20us"); // 10 us is the default.
//! # Ok::<(), tidegate::policy::ParseError>(())
//! ```
//!
//! A policy with parameters can also be built from them:
//!
//! ```
//! use tidegate::policy::{Budget, MemoryPolicy};
//!
//! let policy = MemoryPolicy::Budget(Budget { bytes: 64 << 20, serial: 8 << 20 });
//! assert_eq!("budget:bytes=64MiB,serial=8MiB".parse(), Ok(policy));
//! ```

pub use crate::builder::Choose;
pub use tidegate_policy::memory::{Budget, DepthFirst, DfDeques, Hybrid};
pub use tidegate_policy::{
    DesirePolicy, IdlePolicy, MemoryPolicy, ParseError, PlaceBy, Priority, QueueKind, SharePolicy,
    StealAmount, VictimPolicy, WaitPolicy, desire, idle,
};
