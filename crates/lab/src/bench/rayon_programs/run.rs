//! Runs a program that has been built with each rayon-core.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use tidegate_command::failure::Failure;

use super::answer::{comparable, digest};
use super::files::{self, at};
use super::lay::{Build, Laid};
use super::measure::{Usage, Work};
use super::source::MANIFEST;
use super::table::{Input, Program, Target};
use crate::cargo;

/// The time limit of one executable in seconds, which is many times longer than any executable
/// takes.
const SECONDS: u64 = 10 * 60;

/// The environment variable that sets rayon's number of threads.
pub const THREADS: &str = "RAYON_NUM_THREADS";

/// The environment variable that makes a program share the machine.
const SHARE: &str = "TIDEGATE_SHARE";

/// Environment variables that the bench sets itself: all runtimes get the same number of threads,
/// but not all share the machine.
pub const DECIDED_HERE: [&str; 2] = [SHARE, "TIDEGATE_WORKERS"];

/// The runtime that a sample is taken on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runtime {
    /// The published rayon-core.
    Stock,
    /// Tidegate's rayon-core, with its defaults.
    Tidegate,
    /// Tidegate's rayon-core, sharing the machine with other jobs.
    Sharing,
}

impl Runtime {
    /// Every runtime. The first one is the baseline.
    pub const ALL: [Runtime; 3] = [Runtime::Stock, Runtime::Tidegate, Runtime::Sharing];

    /// Returns the name that reports show.
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

/// The measurements of one sample.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct Run {
    pub usage: Usage,
    /// The digest of each distinct answer.
    pub answers: BTreeSet<String>,
}

/// A program that is built and ready to run.
pub struct Runner {
    program: &'static Program,
    threads: usize,
    /// The folder for the latest output and for one copy of each distinct answer.
    output: PathBuf,
    directories: [PathBuf; 2],
    executables: [Vec<PathBuf>; 2],
    arguments: Vec<String>,
}

impl Runner {
    /// Builds the program with both rayon-cores.
    pub fn build(
        program: &'static Program,
        laid: &Laid,
        scratch: &Path,
        threads: usize,
    ) -> Result<Self, Failure> {
        let mut arguments: Vec<String> = program
            .arguments
            .split_whitespace()
            .map(str::to_owned)
            .collect();
        if program.input == Input::Packages {
            arguments.extend(packages(laid)?);
        }
        let target = match program.target {
            Target::Program(name) => vec!["build", "--bin", name],
            Target::Tests(feature) => vec!["test", "--no-run", "--tests", "--features", feature],
        };
        let build = |build: Build| {
            let folder = scratch.join("target").join(build.name());
            cargo::build(&laid.copy(build).join(MANIFEST), &target, Some(&folder))
        };
        Ok(Self {
            program,
            threads,
            output: scratch.join("output").join(program.name),
            directories: Build::ALL.map(|build| laid.copy(build)),
            executables: [build(Build::Stock)?, build(Build::Tidegate)?],
            arguments,
        })
    }

    /// Takes one sample: runs `copies` copies of the program on `runtime` at the same time.
    pub fn sample(&self, runtime: Runtime, copies: usize) -> Result<Run, Failure> {
        let build = runtime.build() as usize;
        let work = Work {
            copies,
            repetitions: self.program.repetitions,
            seconds: SECONDS,
            output: self.output.join(runtime.name()),
            executables: self.executables[build].clone(),
            arguments: self.arguments.clone(),
        };
        fs::create_dir_all(&work.output).map_err(|error| at(&work.output, &error))?;
        let usage = self.measure(&work, runtime, &self.directories[build])?;
        let answers = (0..copies).map(|copy| self.keep(&work.answer(copy)));
        Ok(Run {
            usage,
            answers: answers.collect::<Result<_, _>>()?,
        })
    }

    /// Carries out `work` in a child process.
    fn measure(&self, work: &Work, runtime: Runtime, folder: &Path) -> Result<Usage, Failure> {
        let failed = |why: &dyn std::fmt::Display| {
            Failure::Impossible(format!(
                "{} on {}: {why}",
                self.program.name,
                runtime.name()
            ))
        };
        let mut command = Command::new(env::current_exe().map_err(|error| failed(&error))?);
        command
            .args(["bench", "measure"])
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .env(THREADS, self.threads.to_string());
        for variable in DECIDED_HERE {
            command.env_remove(variable);
        }
        if runtime == Runtime::Sharing {
            command.env(SHARE, "auto");
        }
        let mut child = command.spawn().map_err(|error| failed(&error))?;
        let spec = serde_json::to_vec(work).expect("work is JSON");
        if let Some(mut input) = child.stdin.take() {
            // If the child does not read this, its standard error states the reason.
            let _ = input.write_all(&spec);
        }
        let output = child.wait_with_output().map_err(|error| failed(&error))?;
        let usage = serde_json::from_slice(&output.stdout);
        let usage = usage.ok().filter(|_| output.status.success());
        usage.ok_or_else(|| failed(&String::from_utf8_lossy(&output.stderr).trim()))
    }

    /// Keeps the answer in the file `printed` for later inspection, and returns its digest.
    fn keep(&self, printed: &Path) -> Result<String, Failure> {
        let printed = files::read(printed)?;
        let answer = comparable(&String::from_utf8_lossy(&printed), self.program.answer);
        let digest = digest(answer.as_bytes());
        files::place(&kept(&self.output, &digest), answer.as_bytes())?;
        Ok(digest)
    }

    /// Returns the path of a kept answer.
    pub fn answer(&self, digest: &str) -> PathBuf {
        kept(&self.output, digest)
    }
}

fn kept(output: &Path, digest: &str) -> PathBuf {
    output.join("answers").join(format!("{digest}.txt"))
}

/// Returns the folders of all registry packages that the program is built from.
fn packages(laid: &Laid) -> Result<Vec<String>, Failure> {
    let found = laid.metadata(Build::Stock)?;
    let packages = found["packages"].as_array().into_iter().flatten();
    let folder = |package: &serde_json::Value| {
        let manifest = Path::new(package["manifest_path"].as_str()?);
        Some(manifest.parent()?.display().to_string())
    };
    let published = packages.filter(|package| !package["source"].is_null());
    let mut folders: Vec<String> = published.filter_map(folder).collect();
    folders.sort();
    Ok(folders)
}
