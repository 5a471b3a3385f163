//! `tidegate exec`: runs any program as a job that shares the processors.
//!
//! `tidegate-exec` does the work. This module passes it the options, and the program's exit code to
//! the shell.

use std::process::ExitCode;

use crate::arguments::ExecArguments;
use tidegate_cli_support::failure::Failure;

#[cfg(target_os = "linux")]
pub fn run(arguments: ExecArguments) -> Result<ExitCode, Failure> {
    use tidegate_cli_support::output;

    let code = tidegate_exec::run(&options(arguments)?).unwrap_or_else(|failure| {
        output::to_stderr(&output::tame(&format!("tidegate exec: {failure}\n")));
        failure.code()
    });
    Ok(ExitCode::from(code))
}

#[cfg(target_os = "linux")]
fn options(arguments: ExecArguments) -> Result<tidegate_exec::Options, Failure> {
    use crate::arguments::How;
    use tidegate::machine::Machine;
    use tidegate_cli_support::options::value;
    use tidegate_policy::tunables;

    let (min, max) = (arguments.min, arguments.max);
    if let Some(max) = max.filter(|max| *max < min) {
        let message = format!("--min {min} is above --max {max}: expected at most {max}");
        return Err(Failure::Usage(message));
    }
    // Without the equals sign, the parser takes the number for the program.
    let program = arguments.command[0].to_string_lossy();
    if arguments.jobserver == Some(None) && program.parse::<usize>().is_ok() {
        let message = format!("--jobserver {program}: expected --jobserver={program}");
        return Err(Failure::Usage(message));
    }
    Ok(tidegate_exec::Options {
        command: arguments.command,
        name: arguments.name,
        weight: value(arguments.weight, &tunables::WEIGHT)?,
        min,
        max,
        how: match arguments.how {
            How::Auto => tidegate_exec::How::Auto,
            How::Quota => tidegate_exec::How::Quota,
            How::Affinity => tidegate_exec::How::Affinity,
            How::Count => tidegate_exec::How::Count,
        },
        // A program that is not confined may run this many jobs, so the maximum must count here.
        jobserver: arguments.jobserver.map(|jobs| match (jobs, max) {
            (Some(jobs), Some(max)) => jobs.min(max),
            (jobs, max) => jobs
                .or(max)
                .unwrap_or_else(|| Machine::read().default_workers()),
        }),
        kill_with_command: arguments.kill_with_command,
        explain: value(None, &tunables::EXPLAIN)? == 1,
        share: value(None, &tunables::SHARE)?,
    })
}

/// Waits until `tidegate exec` ends. If it dies, gives its program the processors back, or ends it.
#[cfg(target_os = "linux")]
pub fn watch(record: Option<&std::path::Path>) -> ! {
    tidegate_exec::watch(record)
}

#[cfg(not(target_os = "linux"))]
pub fn run(_: ExecArguments) -> Result<ExitCode, Failure> {
    let message = "`tidegate exec` works only on Linux; run the program without it";
    Err(Failure::Impossible(message.to_owned()))
}
