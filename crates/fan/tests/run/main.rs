//! The verb `run`: whole runs, refusals, runs whose processes are killed, and runs with other engines
//! than `local`, whose commands are fakes. The verb `status` on their folders.
//!
//! A piece is a process of the program that is split, so this test has a `main` of its own: with a
//! verb, it is that program.

mod program;
mod support;

#[cfg(unix)]
mod builds;
#[cfg(target_os = "linux")]
mod deaths;
#[cfg(target_os = "linux")]
mod disks;
#[cfg(target_os = "linux")]
mod engines;
#[cfg(unix)]
mod kills;
mod refusals;
mod status;
mod whole;

use std::env;
use std::panic::catch_unwind;
use std::process::ExitCode;

use program::Program;

type Test = (&'static str, fn());

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    if let Some("plan" | "piece" | "merge" | "run" | "status") = words.first().map(String::as_str) {
        return tidegate_fan::main::<Program>();
    }
    let tests = [
        whole::TESTS,
        refusals::TESTS,
        status::TESTS,
        #[cfg(unix)]
        builds::TESTS,
        #[cfg(unix)]
        kills::TESTS,
        #[cfg(target_os = "linux")]
        engines::TESTS,
        #[cfg(target_os = "linux")]
        deaths::TESTS,
        #[cfg(target_os = "linux")]
        disks::TESTS,
    ];
    run(&tests.concat(), &words)
}

/// Runs the tests as the standard harness would, if the names among its options select them.
fn run(tests: &[Test], options: &[String]) -> ExitCode {
    let names: Vec<_> = options
        .iter()
        .filter(|option| !option.starts_with('-'))
        .collect();
    let is_selected =
        |test: &&Test| names.is_empty() || names.iter().any(|part| test.0.contains(part.as_str()));
    let mut code = ExitCode::SUCCESS;
    for (name, test) in tests.iter().filter(is_selected) {
        let has_passed = catch_unwind(test).is_ok();
        println!(
            "test {name} ... {}",
            if has_passed { "ok" } else { "FAILED" }
        );
        if !has_passed {
            code = ExitCode::FAILURE;
        }
    }
    code
}
