//! A discrete-event simulator of work stealing on any number of processors, driven by the same
//! policies as the runtime.
//!
//! A program describes itself as a [`Dag`], a tree of tasks that unfolds as it runs. [`run`]
//! schedules one or several dags on a simulated machine by work stealing. `tidegate-policy` makes
//! every decision of the runtime: which victim to steal from, how much to take, how an idle worker
//! rests, and how many processors a job desires. [`allot`] has the rules that divide the processors
//! among jobs. So a policy can be evaluated on a machine that you do not have. A run is exactly
//! reproducible: the same settings and the same seed give the same [`Outcome`].
//!
//! ```
//! use tidegate_sim::{Dag, Job, Settings, Step, Width, run};
//!
//! /// A complete binary tree with this many levels and a microsecond of work in every leaf.
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
//! `docs/simulator.md` lists how the simulator simplifies the runtime, and explains why that does
//! not affect its figures. In short: after a join, the worker that finishes last continues; thieves
//! can reach the whole deque; and a spawn runs the child first.
//!
//! The simulator does not predict times on a real machine (it assumes the costs in [`Costs`]), does
//! not model caches beyond [which data each place touched last](Settings::cache), and does not
//! start threads.

#![forbid(unsafe_code)]

pub mod allot;
mod allotments;
mod arrivals;
pub mod bounds;
mod caches;
mod chain;
mod costs;
mod dag;
pub mod distance_index;
mod drafts;
mod event_queue;
mod frames;
mod machine;
mod outcome;
mod processors;
mod settings;
mod unfold;
mod work_span;

pub use allot::{Allot, AllotState};
pub use allotments::Allotments;
pub use arrivals::Arrivals;
pub use bounds::Bound;
pub use costs::Costs;
pub use dag::{Dag, Draft, Place, Put, Step, Touch};
pub use machine::{run, run_mix, run_telling};
pub use outcome::{Counters, JobOutcome, Outcome, Sample};
pub use settings::{Deques, Job, Refusal, Settings, Width};
pub use tidegate_policy::Nanos;
pub use unfold::AnyDag;
pub use work_span::WorkSpan;
