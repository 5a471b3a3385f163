//! The command line of `exec`.

use std::ffi::OsString;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};

use tidegate_cli_support::options::{help, weight, workers};
use tidegate_policy::tunables::WEIGHT;

#[derive(Args, Clone, Debug)]
#[command(after_help = AFTER_EXEC)]
pub struct ExecArguments {
    /// Name in the table of jobs [default: the file name of CMD]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub name: Option<String>,
    #[arg(long, value_name = "N", value_parser = weight(), allow_negative_numbers = true, help = help(&WEIGHT))]
    pub weight: Option<usize>,
    /// Processors that CMD gets even if its share is smaller
    #[arg(long, value_name = "N", value_parser = workers(), allow_negative_numbers = true, default_value = "1")]
    pub min: usize,
    /// Most processors that CMD uses [default: all that it may run on]
    #[arg(long, value_name = "N", value_parser = workers(), allow_negative_numbers = true)]
    pub max: Option<usize>,
    /// Limit a `make` or `cargo` to N jobs at once (leave out its -j), and to the processors that
    /// CMD has at the time [default: no jobserver] [default N: that of --max]
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, value_parser = workers())]
    pub jobserver: Option<Option<usize>>,
    /// How CMD follows its allotment
    #[arg(long, value_enum, default_value_t)]
    pub how: How,
    /// Kill CMD and all that it has started if `tidegate exec` itself is killed, as by `kill -9`
    /// [default: CMD goes on]
    #[arg(long)]
    pub kill_with_command: bool,
    /// The program to run, and its arguments
    #[arg(value_name = "CMD", trailing_var_arg = true, required = true)]
    pub command: Vec<OsString>,
}

/// How a program follows its allotment. The help explains the values below the options.
#[derive(ValueEnum, Clone, Copy, Debug, Default)]
pub enum How {
    #[default]
    Auto,
    Quota,
    Affinity,
    Count,
}

const AFTER_EXEC: &str = "\
How CMD follows its allotment:
  auto      by quota where a cgroup is delegated to this user, else by affinity
  quota     a cgroup of its own limits its CPU time (cgroup v2)
  affinity  its threads may run only on some of the processors
  count     not at all: it is only told its share, when it starts

Options end where CMD begins, or at `--`. CMD needs no changes and no special privileges. It has at most as many \
processors as affinity, cgroup quotas and an engine (HyperQueue, Slurm) allow, even with a larger --min or --max; \
TIDEGATE_WORKERS has no effect. It starts with these variables, except for those that are already set: its \
maximum number of processors in OMP_NUM_THREADS, RAYON_NUM_THREADS, TOKIO_WORKER_THREADS, GOMAXPROCS, \
OPENBLAS_NUM_THREADS, MKL_NUM_THREADS, NUMEXPR_NUM_THREADS, POLARS_MAX_THREADS and JULIA_NUM_THREADS; and, if none \
of them is set, OMP_WAIT_POLICY=passive, KMP_BLOCKTIME=0 and GOMP_SPINCOUNT=1000, because a program that waits by \
spinning becomes many times slower when it loses a processor. It also gets TIDEGATE_SHARE=off, because the row \
of this command stands for all that it starts, and, except with \
--how count alone, TIDEGATE_EXEC, by which its processes are found if this command is killed.

CMD runs in the process group of this command, which passes signals of other processes on to it. If the table of jobs cannot be used, or with TIDEGATE_SHARE=off, CMD \
runs unchanged. TIDEGATE_EXPLAIN=1 prints what was chosen, and why. Messages \
while it runs go to standard error and begin with `tidegate exec:`.

Exit codes: that of CMD (a signal that ended CMD ends this command, too, so a shell shows 128 + n); 127 there is no such program, 126 it cannot be executed, 2 \
invalid usage or value, 3 this system is not Linux.";
