//! The code shared by the commands `tidegate` and `tidegate-lab`.
//!
//! | module | purpose |
//! |---|---|
//! | [`arguments`] | options and parameters of both commands |
//! | [`options`] | the options of a pool, from flags, environment variables and defaults |
//! | [`compare`] | runs the same work on several runtimes, interleaved |
//! | [`usage`] | the CPU time, wake-ups and memory that this process used |
//! | [`busy`] | how much of the machine other programs used |
//! | [`trial`] | turns what goes wrong in a program's runs into failures |
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
pub mod options;
pub mod output;
pub mod stack;
pub mod standard;
pub mod statistics;
pub mod trial;
pub mod usage;
