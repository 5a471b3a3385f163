//! A discrete-event machine with as many processors as you like, driven by the same decisions as the runtime.
//!
//! A program describes itself as a [`Dag`], a tree of tasks that unfolds while it runs. [`run`] schedules one or several of
//! them on the processors of a machine by work stealing, and asks `tidegate-policy` for every decision: whom to rob, how much
//! to take, how to rest, how many processors to want, who gets how many. So a policy can be judged on a machine
//! that nobody has, and a run can be repeated to the last nanosecond: the same settings and the same seed give the same [`Outcome`].
//!
//! ```
//! use tidegate_sim::{Dag, Job, Settings, Step, Width, run};
//!
//! /// A complete binary tree of so many levels, with a microsecond of work in every leaf.
//! struct Tree(u32);
//!
//! impl Dag for Tree {
//!     type Task = (u32, bool);
//!
//!     fn root(&self) -> (u32, bool) {
//!         (self.0, false)
//!     }
//!
//!     fn next(&self, (levels, begun): &mut (u32, bool)) -> Step<(u32, bool)> {
//!         match (*levels, std::mem::replace(begun, true)) {
//!             (_, true) => Step::End,
//!             (0, false) => Step::Work(1_000),
//!             (n, false) => Step::Fork((n - 1, false), (n - 1, false)),
//!         }
//!     }
//! }
//!
//! let settings = Settings::new(16);
//! let job = Job { dag: Tree(14), arrives: 0, width: Width::Fixed(16) };
//! let outcome = run(&settings, &[job])?;
//! let tree = &outcome.jobs[0];
//! assert_eq!((tree.work, tree.span), (1_000 << 14, 1_000));
//! assert!(tree.time() < tree.work / 8);
//! # Ok::<(), tidegate_sim::Refusal>(())
//! ```
//!
//! What is simplified against the runtime, and why that does not matter for the figures, stands in `docs/simulator.md`. In
//! short: a join goes on with the worker that finishes last, the whole of a deque is open to thieves, and a spawn runs the child
//! first.
//!
//! What it does not do: predict times of a real machine (its costs are [`Costs`]), model caches beyond
//! [what the last data were](Settings::cache), or start a thread.

#![forbid(unsafe_code)]

mod agenda;
mod allotments;
mod arrivals;
pub mod bounds;
mod caches;
mod chain;
mod costs;
mod dag;
mod drafts;
mod extent;
mod frames;
mod machine;
mod outcome;
mod processors;
mod settings;
mod unfold;

pub use allotments::Allotments;
pub use arrivals::Arrivals;
pub use bounds::Bound;
pub use costs::Costs;
pub use dag::{Dag, Draft, Place, Put, Step, Touch};
pub use extent::Extent;
pub use machine::{run, run_mix, run_telling};
pub use outcome::{Counters, JobOutcome, Outcome, Sample};
pub use settings::{Deques, Job, Refusal, Settings, Width};
pub use tidegate_policy::Nanos;
pub use unfold::AnyDag;
