//! Benchmark programs with reference answers, generic over the runtime.
//!
//! Every program is a type that implements [`Program`]. It has a serial version (the fastest plain
//! Rust we know for the same algorithm on the same data), a reference answer (a published one if it
//! exists, otherwise the serial version's), and **one** parallel body that is generic over
//! [`Runtime`]. The serial version and the body share their kernels.
//!
//! - [`runtime`]: what a body needs from a runtime, and the adapters. Those for rayon and chili
//!   require the features `rayon` and `chili`, both off by default.
//! - [`program`]: the interface of a program; [`parameter`]: its parameters.
//! - [`dags`]: the programs as dags, for the simulator.
//! - [`grande`]: the kernels of the Java Grande benchmarks. [`intervals`] turns them into programs,
//!   and adds other programs whose tasks wait for specific other tasks.
//! - [`memory`]: programs whose peak memory is large and depends on the order of their tasks.
//! - [`factors`]: programs that factor matrices.
//! - [`locality`]: programs whose tasks share data, with hints about where to run them.
//! - [`way`]: how the same code serves as both the serial version and the parallel body.
//! - [`trial`]: a program as a trait object; [`registry`]: looks programs up by name.
//!
//! This crate doesn't choose a number of workers, or print. Its parallel bodies have
//! no cutoff unless their documentation mentions one, because many of them exist to measure the
//! cost of a fork.
//!
//! ```
//! use tidegate_workloads::fib::Fib;
//! use tidegate_workloads::{Program, Runtime, Serial};
//!
//! let fib = Fib::new(20);
//! let runtime = Serial::with_workers(1)?;
//! let output = runtime.install(|fork| fib.parallel::<Serial>(&mut (), fork));
//! assert_eq!(fib.answer(&(), &output), fib.published().unwrap().answer);
//! # Ok::<(), std::io::Error>(())
//! ```

#![forbid(unsafe_code)]

pub mod bipartition;
pub mod dags;
pub mod digest;
pub mod factors;
pub mod fft;
pub mod fib;
pub mod grande;
pub mod intervals;
pub mod knary;
pub mod locality;
pub mod loops;
pub mod loopy;
mod matrix;
pub mod memory;
pub mod parameter;
pub mod phases;
pub mod prefixsum;
pub mod program;
pub mod quicksort;
mod random_graph;
pub mod registry;
pub mod runtime;
pub mod seriesparallel;
pub mod sssp;
mod steps;
pub mod treesum;
pub mod trial;
pub mod uts;
pub mod way;

pub use dags::{AnySimulated, Simulated};
pub use parameter::{Given, Parameter, ParameterError, Size, Values};
pub use program::{Answer, Field, Form, Program, Progress, Reference};
pub use registry::{find, find_simulated};
#[cfg(feature = "chili")]
pub use runtime::Chili;
#[cfg(feature = "rayon")]
pub use runtime::Rayon;
pub use runtime::{Counted, Length, Profiled, Recorded, Runtime, Serial, Threads, Tidegate};
pub use trial::{On, Trial, TrialOf};
