//! The code shared by the commands `tidegate` and `tidegate-lab`.
//!
//! | module | purpose |
//! |---|---|
//! | [`arguments`] | options and parameters of both commands |
//! | [`options`] | the options of a pool: flag, else environment variable, else default |
//! | [`compare`] | runs the same work on several runtimes, interleaved |
//! | [`mod@reference`] | checks results |
//! | [`usage`] | what this process used: CPU time, wake-ups, memory |
//! | [`busy`] | how much of the machine other programs used |
//! | [`timed`](mod@timed) | times a program that may be too short for the clock |
//! | [`inside`](mod@inside) | runs a body on a runtime, compiled once per runtime |
//! | [`subject`] | a program and its runs, without generic types |
//! | [`statistics`] | medians and ranks of samples, with 95 % confidence intervals |
//! | [`input`], [`output`], [`standard`] | reads files, and prints everything |
//! | [`failure`] | errors and exit codes |
//! | [`affinity`], [`stack`] | the thread that runs the work |
//!
//! This crate contains no scheduling decision and no benchmark.

#![forbid(unsafe_code)]

pub mod affinity;
pub mod arguments;
pub mod busy;
pub mod compare;
pub mod failure;
pub mod input;
pub mod inside;
pub mod options;
pub mod output;
pub mod reference;
pub mod stack;
pub mod standard;
pub mod statistics;
pub mod subject;
pub mod timed;
pub mod usage;
