//! Benchmark programs with reference answers, generic over the runtime.
//!
//! Every program is a type that implements [`Program`]: a serial version (the fastest plain Rust we
//! know of the same algorithm on the same data), a reference answer (published where there is one,
//! else the serial version's), and **one** parallel body, generic over [`Runtime`], that every
//! runtime runs. Serial version and body share their kernels.
//!
//! - [`runtime`]: what a body needs from a runtime, and the adapters. The rivals are behind the
//!   features `rayon` and `chili`, both off by default.
//! - [`program`]: what a program offers to whoever runs it; [`parameter`]: its parameters.
//! - [`dags`]: the programs as dags, for the simulator.
//! - [`grande`]: the kernels of the Java Grande benchmarks, of which [`intervals`] makes programs,
//!   beside others whose tasks wait for single others.
//! - [`space`]: programs that need much memory at a time, and how much depends on the order of their tasks.
//! - [`factors`]: programs that factor matrices.
//! - [`way`]: how a body makes tasks where the serial version has the same text.
//! - [`registry`]: the programs by name, for a command line.
//!
//! What this crate does not do: time anything, choose a number of workers, or print. Its parallel
//! bodies have no cut-off unless their documentation says so: the price of a fork is what many of
//! them are there to show.
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
pub mod parameter;
pub mod phases;
pub mod prefixsum;
pub mod program;
pub mod quicksort;
mod random_graph;
pub mod registry;
pub mod runtime;
pub mod seriesparallel;
pub mod space;
pub mod sssp;
mod steps;
pub mod treesum;
pub mod uts;
pub mod way;

pub use dags::Simulated;
pub use parameter::{Given, Parameter, ParameterError, Size, Values};
pub use program::{Answer, Field, Form, Program, Progress, Reference};
pub use registry::{SimulatedVisitor, Visitor, visit, visit_simulated};
#[cfg(feature = "chili")]
pub use runtime::Chili;
#[cfg(feature = "rayon")]
pub use runtime::Rayon;
pub use runtime::{Counted, Length, Profiled, Recorded, Runtime, Serial, Threads, Tidegate};
