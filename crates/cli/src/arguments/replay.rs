//! The arguments of `replay`, and of who takes the notes that it reads.

use std::path::PathBuf;

use clap::Args;

use tidegate_command::arguments::Format;

/// Where `run` writes its notes.
#[derive(Args, Clone, Debug, Default)]
pub struct TraceArguments {
    /// Write to FILE what the pool asked its rules and what they decided, for `replay`; - for standard output; times include the notes
    #[arg(long, value_name = "FILE", global = true, conflicts_with = "serial")]
    pub trace: Option<PathBuf>,
}

pub const AFTER_REPLAY: &str = "\
JSON: pool, rules {idle, steal, victim, memory, share, desire, workers}, streams: a list of source (a worker, \
the share controller, the plan for memory), questions, seconds (from the first question to the last), left_out (how many \
more there were than fit); questions (asked again until the first difference, or all), same (whether all were \
decided as before), difference (null, or source, step, question, at_ns, inputs, then, now: null if the rules \
look at other numbers now).

Exit codes: 0 the same, 1 something is decided otherwise, 2 bad usage or no trace, 3 a file cannot be read or \
written.";

/// The arguments of `replay`.
#[derive(Args, Debug)]
pub struct ReplayArguments {
    /// What `run --trace` has written; - for standard input
    pub file: PathBuf,
    /// Write to FILE who did what when, for Perfetto (ui.perfetto.dev) or chrome://tracing; - for standard output
    #[arg(long, value_name = "FILE")]
    pub chrome: Option<PathBuf>,
    /// How the answer is printed.
    #[command(flatten)]
    pub format: Format,
}
