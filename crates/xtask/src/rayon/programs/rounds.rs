//! Runs a program on each runtime in turn, and compares what it prints.
//!
//! Every round has one sample of each runtime, so that whatever disturbs the machine for a while disturbs all of them.
//! Each round begins with another runtime.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::build::{Build, build};
use super::child::{Usage, Work};
use super::lay::Laid;
use super::table::{Answer, Input, Program};
use crate::rayon::libtest::Tests;
use crate::workspace::{Workspace, list, metadata, text};

/// How long one run of an executable may take, in seconds. It is many times what any of them takes.
const SECONDS: u64 = 10 * 60;

/// What a sample runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Runtime {
    /// The published rayon-core.
    Stock,
    /// Ours, as it comes.
    Tidegate,
    /// Ours, sharing the machine with other jobs.
    Sharing,
}

impl Runtime {
    /// Every runtime, the one that the others are compared with first.
    pub const ALL: [Runtime; 3] = [Runtime::Stock, Runtime::Tidegate, Runtime::Sharing];

    /// What reports call it.
    pub fn name(self) -> &'static str {
        match self {
            Runtime::Stock => "stock",
            Runtime::Tidegate => "tidegate",
            Runtime::Sharing => "share=auto",
        }
    }

    fn build(self) -> Build {
        match self {
            Runtime::Stock => Build::Stock,
            Runtime::Tidegate | Runtime::Sharing => Build::Tidegate,
        }
    }
}

/// How many copies run at once.
pub const COPIES: [usize; 2] = [1, 2];

/// The samples of one runtime.
pub struct Samples {
    /// How many copies ran at once.
    pub copies: usize,
    /// What ran.
    pub runtime: Runtime,
    /// One sample for each round.
    pub usage: Vec<Usage>,
}

/// Everything that was measured of a program.
pub struct Measured {
    /// The samples of every combination.
    pub samples: Vec<Samples>,
    /// The runs whose answer was another than the first one of stock; in order, each once.
    pub different: BTreeSet<String>,
    /// Where answers that differ are kept.
    pub folder: PathBuf,
}

/// A program that is built and ready to run.
pub struct Runner<'a> {
    program: &'a Program,
    threads: usize,
    folder: PathBuf,
    executables: [Vec<PathBuf>; 2],
    directories: [PathBuf; 2],
    arguments: Vec<OsString>,
}

impl<'a> Runner<'a> {
    /// Builds the program with both.
    pub fn new(
        workspace: &Workspace,
        program: &'a Program,
        laid: &Laid,
        threads: usize,
        stage: impl Fn(&str),
    ) -> Result<Runner<'a>, String> {
        let mut executables = [Vec::new(), Vec::new()];
        for (built, kind) in executables.iter_mut().zip(Build::ALL) {
            stage(&format!("building with {}", kind.name()));
            *built = build(workspace, program, laid, kind)?;
        }
        let mut arguments: Vec<OsString> = program
            .arguments
            .split_whitespace()
            .map(OsString::from)
            .collect();
        if program.input == Input::Packages {
            arguments.extend(packages(laid)?);
        }
        Ok(Runner {
            program,
            threads,
            folder: workspace
                .scratch("rayon-programs")
                .join("output")
                .join(program.name),
            executables,
            directories: Build::ALL.map(|build| laid.copy(build)),
            arguments,
        })
    }

    /// Runs everything once without measuring, and then `rounds` times.
    pub fn measure(&self, rounds: usize, stage: impl Fn(&str)) -> Result<Measured, String> {
        stage("warming up");
        if self.folder.exists() {
            // What an earlier run has kept would be taken for this one's.
            let cleared = fs::remove_dir_all(&self.folder);
            cleared.map_err(|error| format!("{}: {error}", self.folder.display()))?;
        }
        let (_, answers) = self.run(Runtime::Stock, 1)?;
        let expected = answers.first().cloned().unwrap_or_default();
        let mut different = BTreeSet::new();
        let mut sample = |runtime: Runtime, copies: usize| {
            let (usage, answers) = self.run(runtime, copies)?;
            if let Some(answer) = answers.iter().find(|answer| **answer != expected) {
                let copies = if copies == 1 { "alone" } else { "two copies" };
                different.insert(format!("{} ({copies})", runtime.name()));
                self.keep(runtime.name(), answer)?;
                self.keep("expected", &expected)?;
            }
            Ok::<Usage, String>(usage)
        };
        for runtime in Runtime::ALL {
            sample(runtime, 1)?;
        }
        let mut samples: Vec<Samples> = COPIES
            .into_iter()
            .flat_map(|copies| Runtime::ALL.map(|runtime| (copies, runtime)))
            .map(|(copies, runtime)| Samples {
                copies,
                runtime,
                usage: Vec::new(),
            })
            .collect();
        for round in 0..rounds {
            stage(&format!("round {} of {rounds}", round + 1));
            for same_copies in samples.chunks_mut(Runtime::ALL.len()) {
                for turn in 0..Runtime::ALL.len() {
                    let next = &mut same_copies[(round + turn) % Runtime::ALL.len()];
                    next.usage.push(sample(next.runtime, next.copies)?);
                }
            }
        }
        Ok(Measured {
            samples,
            different,
            folder: self.folder.clone(),
        })
    }

    /// Keeps an answer that differs, or the expected one, for people to compare.
    fn keep(&self, name: &str, answer: &str) -> Result<(), String> {
        let path = self.folder.join(format!("different-{name}.txt"));
        fs::write(&path, answer).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// One sample, and the answers of its copies.
    fn run(&self, runtime: Runtime, copies: usize) -> Result<(Usage, Vec<String>), String> {
        let at = |error: std::io::Error| format!("{}: {error}", runtime.name());
        let work = Work {
            copies,
            repetitions: self.program.repetitions,
            seconds: SECONDS,
            output: self.folder.join(runtime.name()),
            executables: self.executables[runtime.build() as usize].clone(),
            arguments: self.arguments.clone(),
        };
        fs::create_dir_all(&work.output).map_err(at)?;
        let mut command = Command::new(std::env::current_exe().map_err(at)?);
        command
            .args(work.command_line())
            .current_dir(&self.directories[runtime.build() as usize])
            .stdin(Stdio::null())
            .env("RAYON_NUM_THREADS", self.threads.to_string());
        for variable in DECIDED_HERE {
            command.env_remove(variable);
        }
        if runtime == Runtime::Sharing {
            command.env(SHARE, "auto");
        }
        let output = command.output().map_err(at)?;
        let usage = Usage::read(&String::from_utf8_lossy(&output.stdout));
        let Some(usage) = usage.filter(|_| output.status.success()) else {
            let why = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{}: {}", runtime.name(), why.trim()));
        };
        let answers = (0..copies).map(|copy| {
            let answer = fs::read(work.answer(copy)).map_err(at)?;
            Ok(comparable(
                &String::from_utf8_lossy(&answer),
                self.program.answer,
            ))
        });
        Ok((usage, answers.collect::<Result<_, String>>()?))
    }
}

/// The variable that has a program share the machine.
const SHARE: &str = "TIDEGATE_SHARE";

/// What the environment must not decide: the number of threads is the same for all, and the runtimes differ in sharing.
pub const DECIDED_HERE: [&str; 2] = [SHARE, "TIDEGATE_WORKERS"];

/// The folders of the packages from the registry that a program is built from.
fn packages(laid: &Laid) -> Result<Vec<OsString>, String> {
    let found = metadata(&laid.copy(Build::Stock), &["--locked"])?;
    let packages = list(&found, "packages")?.iter();
    let mut folders = packages
        .filter(|package| !package["source"].is_null())
        .map(|package| {
            let manifest = PathBuf::from(text(package, "manifest_path")?);
            Ok(manifest.with_file_name("").into_os_string())
        })
        .collect::<Result<Vec<_>, String>>()?;
    folders.sort();
    Ok(folders)
}

/// An answer without what may differ from run to run.
fn comparable(text: &str, answer: Answer) -> String {
    let mut lines: Vec<String> = match answer {
        Answer::Text => return text.to_string(),
        Answer::Lines => text.lines().map(str::to_string).collect(),
        Answer::Tests => {
            let tests = Tests::read(text);
            let lists = [
                ("ok", tests.passed),
                ("FAILED", tests.failed),
                ("ignored", tests.ignored),
            ];
            let named = |(result, names): (&str, Vec<&str>)| {
                let lines = names.into_iter().map(|name| format!("{name} {result}"));
                lines.collect::<Vec<_>>()
            };
            lists.into_iter().flat_map(named).collect()
        }
    };
    lines.sort();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    mod comparable {
        use super::*;

        fn same(first: &str, second: &str, answer: Answer) -> bool {
            comparable(first, answer) == comparable(second, answer)
        }

        #[test]
        fn text_is_compared_line_by_line() {
            assert!(same("a\nb\n", "a\nb\n", Answer::Text));
            assert!(!same("a\nb\n", "b\na\n", Answer::Text));
        }

        #[test]
        fn lines_may_come_in_any_order() {
            assert!(same("a\nb\n", "b\na\n", Answer::Lines));
            assert!(!same("a\nb\n", "a\nb\nb\n", Answer::Lines));
        }

        #[test]
        fn tests_are_compared_by_their_results() {
            let first = "test a ... ok\ntest b ... ok\ntest result: ok; finished in 0.01s";
            let second = "test b ... ok\ntest a ... ok\ntest result: ok; finished in 0.02s";
            assert!(same(first, second, Answer::Tests));
            let failed = second.replace("b ... ok", "b ... FAILED");
            assert!(!same(first, &failed, Answer::Tests));
        }
    }
}
