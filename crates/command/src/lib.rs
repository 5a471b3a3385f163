//! The code shared by the commands `tidegate` and `tidegate-lab`.
//!
//! | module | purpose |
//! |---|---|
//! | [`arguments`] | options and parameters of both commands |
//! | [`options`] | the options of a pool, from flags, environment variables and defaults |
//! | [`compare`] | runs the same work on several runtimes, interleaved |
//! | [`mod@reference`] | checks the results of programs |
//! | [`usage`] | the CPU time, wake-ups and memory that this process used |
//! | [`busy`] | how much of the machine other programs used |
//! | [`timed`](mod@timed) | times a program that may be too short for the clock |
//! | [`inside`](mod@inside) | runs a body on a runtime, compiled once per runtime |
//! | [`subject`] | a program and its runs, without generic types |
//! | [`statistics`] | medians and ranks of samples, with 95 % confidence intervals |
//! | [`input`], [`output`], [`standard`] | read files and print all output |
//! | [`failure`] | errors and exit codes |
//! | [`affinity`], [`stack`] | the processors and the stack size of threads |
//!
//! This crate contains neither scheduling decisions nor benchmark programs.

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
