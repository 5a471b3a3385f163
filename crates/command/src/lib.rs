//! What the commands `tidegate` and `tidegate-lab` share.
//!
//! | module | does |
//! |---|---|
//! | [`arguments`] | options and parameters that both commands take |
//! | [`options`] | the options of a pool: flag, else environment variable, else default |
//! | [`compare`] | the same work on several runtimes, in turns |
//! | [`mod@reference`] | whether a result is right |
//! | [`usage`] | what the process has used: CPU time, wake-ups, memory |
//! | [`timed`](mod@timed) | the time of a program that may be too short for the clock |
//! | [`inside`](mod@inside) | a body on a runtime, compiled once for the runtime |
//! | [`subject`] | a program with its runs, without its types |
//! | [`statistics`] | medians and ranks of samples, with 95 % intervals |
//! | [`input`], [`output`], [`standard`] | files that are read, and everything that is printed |
//! | [`failure`] | how a command can fail, and its exit code |
//! | [`affinity`], [`stack`] | the thread that runs the work |
//!
//! It decides nothing about scheduling and holds no benchmark's code.

#![forbid(unsafe_code)]

pub mod affinity;
pub mod arguments;
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
