//! What a run asked of the rules, and what they decided: a *trace*, from which the decisions can be made again.
//!
//! Whoever drives the rules asks them through the types here ([`Thief`], [`Steward`], [`Orders`]), with a [`Tape`]: on [`Off`] nothing is noted, a
//! [`Recorder`] notes each [`Question`] with the numbers that the rules looked at (counters, times, random draws) and apart from them what they
//! decided. [`replay()`] takes the questions and the numbers alone, asks the rules again, and compares what they decide with what is noted. So a trace shows that
//! somebody else, on another machine or with a later version, decides the same; `docs/trace.md` has the file's form and the argument.
//!
//! A trace has a [`Stream`] for each who asks: each worker, the steward, the plan for memory. Streams are bounded, and what no longer fits is left out
//! at the end, so that what is there can be replayed from the beginning.
//!
//! What it does not do: keep the order of two streams, or say what ran; times are those of questions.

mod bytes;
mod file;
mod orders;
mod question;
mod replay;
mod steward;
mod tape;
mod thief;

pub use file::{Damaged, Rules, Source, Stream, Trace};
pub use orders::Orders;
pub use question::{Question, Record};
pub use replay::{Difference, Failed, Replayed, replay};
pub use steward::{Steward, Wait};
pub use tape::{Off, Recorder, Tape};
pub use thief::Thief;
