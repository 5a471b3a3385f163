//! The choices that [`Builder`](crate::Builder) takes: how a pool steals, waits, rests, shares the
//! machine and grants memory.
//!
//! Each parses from the text that its environment variable and its option of the command take, and
//! prints as that text. `tidegate tunables` lists all parameters with their ranges and defaults.

pub use tidegate_policy::{
    DesirePolicy, IdlePolicy, MemoryPolicy, ParseError, PlaceBy, QueueKind, SharePolicy,
    StealAmount, VictimPolicy, WaitPolicy, desire, idle,
};
