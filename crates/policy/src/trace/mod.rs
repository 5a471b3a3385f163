//! Records the decisions of a run in a *trace*, and replays them: given the same inputs, the same
//! rules must make the same decisions.
//!
//! The runtime calls the rules through [`Thief`], [`ShareController`] and [`Orders`], and passes a
//! [`Recorder`]. With [`NoTrace`], nothing is recorded. A [`StreamRecorder`] records each [`Event`]
//! with its inputs, which are the numbers that the rule read (counters, times, random draws), and,
//! separately, the decision. With the feature `replay`, the function of that name reads the events
//! and their inputs, applies the rules again, and compares each decision with the recorded one. So
//! a replay shows whether a later version, or another machine, makes the same decisions.
//! `docs/trace.md` defines the file format and explains why the inputs are enough.
//!
//! A trace has one [`Stream`] for each worker, one for the share controller and one for the memory
//! plan. The size of a stream is limited: when it is full, later events are dropped and counted, so
//! the recorded part can still be replayed from the start.
//!
//! A trace does not record the order of events in different streams, but when each event began. It
//! records which spawned tasks and intervals ran, but not which halves and tasks of scopes.

#[cfg(feature = "replay")]
mod bytes;
mod contents;
mod controller;
mod event;
#[cfg(feature = "replay")]
mod file;
mod orders;
#[cfg(feature = "replay")]
mod record;
mod recorder;
#[cfg(feature = "replay")]
mod replay;
mod thief;

pub use contents::{Rules, Source, Stream, TaskOrigin, Trace};
pub use controller::{ShareController, Wait};
pub use event::Event;
#[cfg(feature = "replay")]
pub use file::Damaged;
pub use orders::Orders;
#[cfg(feature = "replay")]
pub use record::{CycleEnd, Record};
pub use recorder::{NoTrace, Recorder, StreamRecorder};
#[cfg(feature = "replay")]
pub use replay::{Difference, Failed, Replayed, replay};
pub use thief::Thief;
