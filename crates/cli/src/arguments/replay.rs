//! The arguments of `replay`, and the option of `run` that records a trace for it.

use std::path::PathBuf;

use clap::Args;

use tidegate_cli_support::arguments::Format;

/// Where `run` writes its trace.
#[derive(Args, Clone, Debug, Default)]
pub struct TraceArguments {
    /// Record every scheduling decision and its inputs in FILE, for `replay`; - for standard
    /// output; times include the recording
    #[arg(long, value_name = "FILE", global = true, conflicts_with = "serial")]
    pub trace: Option<PathBuf>,
}

pub const AFTER_REPLAY: &str = "\
JSON:
  pool
  rules: idle, steal, victim, memory, share, desire, est_cycle, workers
  streams: a list of
    source: a worker, the share controller or the memory plan
    decisions
    seconds: from the first decision to the last
    left_out: decisions that did not fit
  decisions: replayed until the first difference, or all
  same: whether all match
  difference: null, or an object of
    source, step, event, at_ns, inputs
    then: the recorded decision
    now: the decision of this version; null if its policies use other inputs

Exit codes: 0 all decisions match, 1 a decision differs, 2 invalid usage or not a trace, 3 a file cannot be read or \
written.";

#[derive(Args, Debug)]
pub struct ReplayArguments {
    /// A file written by `run --trace`; - for standard input
    pub file: PathBuf,
    /// Export a timeline of all workers to FILE, for Perfetto (ui.perfetto.dev) or
    /// chrome://tracing; - for standard output
    #[arg(long, value_name = "FILE")]
    pub chrome: Option<PathBuf>,
    #[command(flatten)]
    pub format: Format,
}
