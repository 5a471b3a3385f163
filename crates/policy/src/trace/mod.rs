//! Records the decisions of a run in a *trace*, and replays them: given the same inputs, the same
//! rules must make the same decisions.
//!
//! The runtime calls the rules through [`Thief`], [`ShareController`] and [`Orders`], and passes a
//! [`Recorder`]. With [`NoTrace`], nothing is recorded. A [`StreamRecorder`] records each [`Event`]
//! with its inputs, which are the numbers that the rule read (counters, times, random draws), and,
//! separately, the decision. [`replay()`] reads the events and their inputs, applies the rules
//! again, and compares each decision with the recorded one. So a replay shows whether a later
//! version, or another machine, makes the same decisions. `docs/trace.md` defines the file format
//! and explains why the inputs are enough.
//!
//! A trace has one [`Stream`] for each worker, one for the share controller and one for the memory
//! plan. The size of a stream is limited: when it is full, later events are dropped and counted, so
//! the recorded part can still be replayed from the start.
//!
//! A trace does not record the order of events in different streams, but when each event began. It
//! records which spawned tasks and intervals ran, but not which halves and tasks of scopes.

mod bytes;
mod controller;
mod event;
mod file;
mod orders;
mod origin;
mod recorder;
mod replay;
mod thief;

pub use controller::{CycleEnd, ShareController, Wait};
pub use event::{Event, Record};
pub use file::{Damaged, Rules, Source, Stream, Trace};
pub use orders::Orders;
pub use origin::TaskOrigin;
pub use recorder::{NoTrace, Recorder, StreamRecorder};
pub use replay::{Difference, Failed, Replayed, replay};
pub use thief::Thief;
