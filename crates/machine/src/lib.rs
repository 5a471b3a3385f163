//! Which CPUs a process may use, what they share, and how many worker threads to run on them.
//!
//! [`Machine::read`] takes a snapshot of five things:
//!
//! * the CPUs that are online,
//! * the CPUs that the calling thread may run on ([`Machine::affinity`]),
//! * the CPU time that its cgroups grant ([`Quota`], cgroup v1 and v2),
//! * the number of CPUs that an engine such as HyperQueue or Slurm has given to it ([`Grant`]),
//! * the cores, caches, NUMA nodes and packages that the CPUs share ([`Topology`]).
//!
//! [`Machine::default_workers`] computes the number of workers from this snapshot,
//! [`Machine::reason`] explains that number in one line, and a [`Machine`]'s `Display` form is the
//! whole report.
//!
//! ```
//! use tidegate_machine::Machine;
//!
//! let machine = Machine::read();
//! assert!(machine.default_workers() >= 1);
//! // Such as: 4 of 16 cpus: cgroup quota 4.0 cpus from /a/b, within affinity 0-7
//! println!("{}", machine.reason());
//! ```
//!
//! # The default number of workers
//!
//! The default is the least of these numbers, and at least 1:
//!
//! | source | number |
//! |---|---|
//! | affinity | the CPUs that are both allowed and online |
//! | cgroups, also Kubernetes' CPU limits | the smallest quota of the process's cgroup and its ancestors, rounded *up* |
//! | `HQ_CPUS`, set by HyperQueue | the CPU ids that it lists, such as 3 for `0,1,5`; a partly assigned CPU counts as one |
//! | `SLURM_CPUS_PER_TASK`, set by Slurm | its value |
//! | `TIDEGATE_CPU_REQUEST`, set to a container's CPU request | if there is no quota, twice the request, rounded up, and at least 2 |
//!
//! A malformed value of a variable is [noted](Machine::notes) and ignored. A CPU request that no
//! variable passes on limits nothing.
//!
//! A quota is rounded up because otherwise a fraction of a CPU would be lost. The price is that the
//! kernel stops all workers together once they have used up the quota of a period. The table was
//! measured on two CPUs with a period of 100 ms and tasks of 0.1 ms, in phases of 40 tasks with a
//! barrier after each:
//!
//! | quota in CPUs | work of two workers, compared with one |
//! |---:|---|
//! | 1.5 | 1.5 times |
//! | 1.05 | 1.01 times; at the 99th percentile a phase took up to 34 ms instead of 2 ms |
//! | 0.5 | 0.95 times |
//!
//! So a quota of at most one CPU gives one worker: there is no minimum of two.
//!
//! # What cannot be read
//!
//! Reading never fails. [`Machine::notes`] reports what could not be read or understood, and
//! everything else is used. On a system without `/proc` and `/sys`, the number of CPUs comes from
//! the standard library.
//!
//! # Other machines
//!
//! [`Machine::read_from`] reads the `/proc` and `/sys` below any directory. [`Machine::made_up`]
//! creates a machine from a [`Topology`], which can be written as a few lines of text:
//!
//! ```
//! use tidegate_machine::{LevelKind, Machine};
//!
//! let machine = Machine::made_up("cpus 0-7\nL3 0-3 4-7 size=16M".parse()?);
//! let levels = machine.topology().levels(&machine.usable());
//! assert_eq!(levels[0].kind, LevelKind::Cache(3));
//! assert_eq!(levels[0].groups[1].to_string(), "4-7");
//! # Ok::<(), tidegate_machine::TopologyError>(())
//! ```
//!
//! # What this crate does not do
//!
//! A snapshot does not follow changes: take another one, or call [`Machine::limits`]. The crate
//! reads no environment variables but those of engines, binds no threads, and ignores the load and
//! cgroup weights.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod affinity;
mod cpus;
mod engine;
mod files;
mod machine;
#[cfg(test)]
mod made_up;
mod mounts;
mod quota;
mod report;
mod topology;

pub use cpus::{CpuList, CpuListError};
pub use engine::Grant;
pub use machine::{Limits, Machine};
pub use quota::Quota;
pub use topology::{Cache, CacheKind, Level, LevelKind, Node, Topology, TopologyError};

/// Runs the README's examples as doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
