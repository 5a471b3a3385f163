//! The policies that [`Builder`](crate::Builder) accepts: how a pool steals, waits, idles, shares
//! the machine and grants memory.
//!
//! Each policy parses from the same text as its environment variable and its command-line flag, and
//! prints as that text. `tidegate tunables` lists all parameters with their ranges and defaults.

pub use tidegate_policy::{
    DesirePolicy, IdlePolicy, MemoryPolicy, ParseError, PlaceBy, QueueKind, SharePolicy,
    StealAmount, VictimPolicy, WaitPolicy, desire, idle,
};
