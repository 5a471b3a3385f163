//! The verb `run`: whole runs, refusals, runs whose processes are killed, and runs with other engines
//! than `local`, whose commands are fakes. The verb `status` on their folders.
//!
//! A piece is a process of the program that is split, so this test has a `main` of its own: with a
//! verb, it is that program.

/// Defines the function `tests`, which returns these tests of a module under their names.
macro_rules! tests {
    ($($(#[$condition:meta])* $test:ident,)*) => {
        pub fn tests() -> Vec<(&'static str, fn())> {
            vec![$($(#[$condition])* (stringify!($test), $test)),*]
        }
    };
}

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
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

use program::Program;

fn main() -> ExitCode {
    let verb = env::args().nth(1);
    if let Some("plan" | "piece" | "merge" | "run" | "status") = verb.as_deref() {
        return tidegate_fan::main::<Program>();
    }
    let modules = [
        ("whole", whole::tests()),
        ("refusals", refusals::tests()),
        ("status", status::tests()),
        #[cfg(unix)]
        ("builds", builds::tests()),
        #[cfg(unix)]
        ("kills", kills::tests()),
        #[cfg(target_os = "linux")]
        ("engines", engines::tests()),
        #[cfg(target_os = "linux")]
        ("deaths", deaths::tests()),
        #[cfg(target_os = "linux")]
        ("disks", disks::tests()),
    ];
    let trials = modules.into_iter().flat_map(|(module, tests)| {
        let trial = move |(name, test): (_, fn())| {
            Trial::test(format!("{module}::{name}"), move || {
                test();
                Ok(())
            })
        };
        tests.into_iter().map(trial)
    });
    let mut arguments = Arguments::from_args();
    // A test waits for its processes most of the time.
    arguments.test_threads.get_or_insert(8);
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}
