//! The subcommands of `tidegate`.

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use tidegate_cli_support::arguments::{Deferred, Format, TableFormat};

use crate::arguments::{
    AFTER_REPLAY, CompareArguments, ExecArguments, MachineArguments, ReplayArguments,
};
use crate::fan::Programs;
use crate::jobs::ListArguments;
use crate::run::RunArguments;
use crate::sim::SimArguments;
use crate::top::TopArguments;

/// Run and benchmark programs on the Tidegate work-stealing runtime.
#[derive(Parser, Debug)]
#[command(name = "tidegate", version, max_term_width = 100, after_help = AFTER_ALL)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

const AFTER_ALL: &str = "\
`run` checks and times one program, `compare` benchmarks it against other runtimes, and `sim` simulates it on a \
larger machine. Start with `tidegate run digest /usr/share`.

Use - for standard input or output, and ./- for a file named -. If a file option writes to standard output, \
human-readable output goes to standard error and --json is rejected.";

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Run a program, check its result, and report its times
    #[command(subcommand_value_name = "WORKLOAD", disable_help_subcommand = true)]
    Run(Deferred<RunArguments>),
    /// Benchmark a program on Tidegate and on other runtimes
    #[command(subcommand_value_name = "WORKLOAD", disable_help_subcommand = true)]
    Compare(Deferred<CompareArguments>),
    /// Simulate a program on a larger machine, or the allotments of jobs that share one
    #[command(
        subcommand_value_name = "WORKLOAD",
        subcommand_help_heading = "Instead of a workload",
        disable_help_subcommand = true
    )]
    Sim(Deferred<SimArguments>),
    /// Replay a recorded trace and check that every scheduling decision matches; or export a
    /// timeline
    #[command(after_help = AFTER_REPLAY)]
    Replay(Deferred<ReplayArguments>),
    /// Show CPU topology, affinity and quotas, and how the worker count was chosen
    #[command(after_help = AFTER_MACHINE)]
    Machine(Deferred<MachineArguments>),
    /// List all tuning parameters with their defaults and variables; --wide adds units, ranges and
    /// rationale
    Tunables(Deferred<TableFormat>),
    /// List running Tidegate jobs with their desire, share and usage
    Jobs(Deferred<ListArguments>),
    /// Monitor running jobs (live view)
    #[command(after_help = AFTER_TOP)]
    Top(Deferred<TopArguments>),
    /// Inspect and clean up the shared job table
    #[command(subcommand, disable_help_subcommand = true)]
    Table(Deferred<TableCommand>),
    /// Run any program as a job that shares the processors
    Exec(Deferred<ExecArguments>),
    /// Split a program into pieces, run them on many machines, and merge their results
    #[command(subcommand, disable_help_subcommand = true, after_help = AFTER_FAN)]
    Fan(Deferred<tidegate_fan::Verb<Programs>>),
    /// Waits until `exec` ends; if it died, restores what it has confined, or ends its program
    #[cfg(target_os = "linux")]
    #[command(name = tidegate_exec::SUBCOMMAND, hide = true)]
    ExecWatch { record: Option<PathBuf> },
}

#[derive(Subcommand, Clone, Copy, Debug)]
pub enum TableCommand {
    /// Check the table file, list live and dead jobs, and free the rows of dead ones
    #[command(after_help = AFTER_CHECK)]
    Check(Format),
}

const AFTER_MACHINE: &str = "\
A topology file has one statement per line, such as `cpus 0-7`, `core 0-1 2-3`, `L1d 0-1 2-3 size=32K`, \
`L3 0-3 4-7`, `node 0-3 4-7`, `package 0-7`; see docs/topology.md.

JSON with --tree: nested objects of kind (machine, package, node, L3, L1d, .., core), id (of packages and \
nodes), size_bytes (of caches), cpus, children. If two kinds have the same CPUs, one is the only child of \
the other.

Exit codes: 0 success, 2 invalid usage or value, 3 the file cannot be read.";

const AFTER_TOP: &str = "\
Keys: p n d a u e s sort by pid, name, desire, allotment, in use, efficiency, since; r reverses; arrows, PgUp, \
PgDn, Home and End scroll; q, Esc and Ctrl-C quit; Ctrl-Z suspends until `fg`.

The last column shows how many processors a job recently used. A full-height bar is the maximum of its desire and \
its use in that period. A yellow bar means that the job used fewer processors than it desired.

Exit codes: 0 success, 2 invalid usage or no terminal (use `tidegate jobs`), 3 the terminal is lost or this system \
has no table.";

const AFTER_FAN: &str = "\
The programs are uts, digest and sim with --seeds. The merged result is that of `tidegate run` or `tidegate sim`, \
whichever machines run the pieces, even if some of them run twice. All machines need the same build of this command \
and a folder that they share. docs/fan.md describes what is published there.

Exit codes: 0 success, 1 a result is missing, torn or wrong, 2 invalid usage, plan or item, 3 another machine or \
another time may succeed, \
128 + n signal n has interrupted `run`.";

const AFTER_CHECK: &str = "\
JSON: table (the path), why (how it was chosen), exists (whether there is a table), rows (capacity), alive, dead \
(died without leaving), orphaned (dead, but a child holds the row): lists of jobs as in `tidegate jobs --help`, \
freed (number of rows).

Exit codes: 0 sound, even if rows were freed or if the first job has yet to create the table; 2 invalid usage, 3 the \
file cannot be trusted or created.";

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Arg, Args, CommandFactory};
    use tidegate_workloads::registry::ENTRIES;

    #[test]
    fn command_line_is_sound() {
        Cli::command().debug_assert();
    }

    /// A start must not pay for options that the user has not chosen.
    #[test]
    fn subcommands_wait_to_be_chosen() {
        let cli = Cli::command();
        let programs = Programs::augment_args(clap::Command::new("fan piece"));
        let simulation = programs.find_subcommand("sim").unwrap();
        assert!(!simulation.has_subcommands());
        for command in cli.get_subcommands() {
            let is_built = command.has_subcommands() || command.get_opts().count() > 0;
            assert!(!is_built, "{command}");
        }
    }

    fn all_commands(command: &clap::Command) -> Vec<&clap::Command> {
        let below = command.get_subcommands().flat_map(all_commands);
        [command].into_iter().chain(below).collect()
    }

    /// The parser wraps text at the terminal's width, so hard line breaks would leave short lines.
    #[test]
    fn help_paragraphs_have_no_line_breaks() {
        let mut cli = Cli::command();
        cli.build();
        let mut helps = 0;
        for command in all_commands(&cli) {
            let Some(help) = command.get_after_help() else {
                continue;
            };
            let help = help.to_string();
            for paragraph in help.trim().split("\n\n") {
                let list = |line: &str| line.starts_with("  ");
                assert!(paragraph.lines().skip(1).all(list), "{paragraph}");
            }
            helps += 1;
        }
        assert!(helps > 6);
    }

    #[test]
    fn parameters_and_options_have_different_names() {
        let mut cli = Cli::command();
        cli.build();
        for command in ["run", "compare"] {
            let command = cli.find_subcommand(command).unwrap();
            let options: Vec<_> = command.get_arguments().filter_map(Arg::get_long).collect();
            assert!(options.contains(&"json"));
            for entry in ENTRIES {
                for parameter in entry.parameters {
                    assert!(!options.contains(&parameter.name), "{}", parameter.name);
                }
            }
        }
    }
}
