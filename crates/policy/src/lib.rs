//! The scheduling decisions of the Tidegate runtime, as pure functions.
//!
//! Each decision takes a snapshot of numbers and returns a choice. The runtime and the simulator
//! call the same code:
//!
//! * [`idle`]: how long an idle worker rests after it has found nothing to steal,
//! * [`victim`]: which victim to steal from next, based on the layout described by [`places`],
//! * [`amount`]: how many tasks one steal takes,
//! * [`wait`]: what a waiting join may run,
//! * [`priority`]: which class of tasks is served next,
//! * [`search`]: how many workers search at once, how often a thief may disturb its victims, and
//!   how long a thread waits for a slot,
//! * [`share`](mod@share): whether a job shares the machine with others,
//! * [`slots`]: which threads may run, and which one gets a free slot,
//! * [`stall`]: whether a pool stands still,
//! * [`desire`]: how many processors a job could use effectively,
//! * [`allot`]: how many of the machine's processors each job is entitled to,
//! * [`memory`](mod@memory): which task may reserve memory, and which must wait,
//! * [`trace`]: the decisions of a recorded run, and, with the feature `replay`, a replay that
//!   checks them,
//! * `schedule` (a feature): the order in which the threads of a simulated pool run,
//! * [`tunables`]: every adjustable number, with its range, its default and the reason for it,
//! * [`rng`]: a generator for the random draws.
//!
//! The decisions start no threads, read no clock, draw no random numbers, use no global state and
//! update no counters. The caller passes in the time, as a `u64` in nanoseconds since any fixed
//! moment, and randomness, as a uniform `u64`. A decision that rarely needs them takes closures
//! instead, so that a worker with work pays for neither. With these rules, the same inputs give the
//! same decisions on every machine.
//!
//! Every option type has a text form that parses back to the same value:
//!
//! ```
//! use tidegate_policy::{StealAmount, IdlePolicy};
//!
//! let idle: IdlePolicy = "linear:min=10us,step=20us".parse()?;
//! assert_eq!(idle.to_string(), "linear:step=20us"); // 10us is the default
//! assert_eq!("half".parse::<StealAmount>()?.take(5), 3);
//! # Ok::<(), tidegate_policy::ParseError>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod allot;
pub mod amount;
mod cpu_slots;
pub mod desire;
mod error;
pub mod idle;
mod limits;
pub mod memory;
mod parameters;
mod place_by;
pub mod places;
pub mod priority;
pub mod queue;
pub mod rng;
#[cfg(feature = "schedule")]
pub mod schedule;
pub mod search;
pub mod share;
pub mod slots;
pub mod stall;
mod text;
pub mod trace;
mod tunable;
pub mod tunables;
pub mod victim;
pub mod wait;

pub use amount::StealAmount;
pub use cpu_slots::CpuSlots;
pub use desire::{DesirePolicy, DesireState};
pub use error::ParseError;
pub use idle::{IdlePolicy, IdleState, Rest};
pub use memory::MemoryPolicy;
pub use place_by::PlaceBy;
pub use places::PlaceTree;
pub use priority::Priority;
pub use queue::QueueKind;
pub use rng::Rng;
pub use share::SharePolicy;
pub use text::{closest, show_size, show_time, unknown};
pub use tunables::Tunable;
pub use victim::{Census, Peers, VictimPolicy, VictimState};
pub use wait::WaitPolicy;

/// A point in time or a duration, in nanoseconds.
pub type Nanos = u64;
