//! Runs a program that has been built with each rayon-core.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use serde::{Deserialize, Serialize};
use tidegate_cli_support::failure::Failure;

use super::at;
use super::measure::{Request, Usage};
use super::table::{Program, SOURCES, Source};
use crate::cargo;

/// The time limit of a run in seconds, which is many times longer than any program takes.
const SECONDS: u64 = 10 * 60;

/// The folders below [`SOURCES`] with the manifests for the published rayon-core and for Tidegate's.
pub const SIDES: [&str; 2] = ["stock", "tidegate"];

pub const THREADS: &str = "RAYON_NUM_THREADS";

const SHARE: &str = "TIDEGATE_SHARE";

/// Environment variables that the bench sets itself: all runtimes get the same number of threads,
/// but not all share the machine.
pub const DECIDED_HERE: [&str; 2] = [SHARE, "TIDEGATE_WORKERS"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runtime {
    Stock,
    Tidegate,
    /// Tidegate's rayon-core, sharing the machine with other jobs.
    Sharing,
}

impl Runtime {
    /// Every runtime. The first one is the baseline.
    pub const ALL: [Runtime; 3] = [Runtime::Stock, Runtime::Tidegate, Runtime::Sharing];

    pub fn name(self) -> &'static str {
        match self {
            Runtime::Stock => "stock",
            Runtime::Tidegate => "tidegate",
            Runtime::Sharing => "share=auto",
        }
    }
}

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
    /// For each of [`SIDES`].
    executables: [PathBuf; 2],
    arguments: Vec<String>,
}

impl Runner {
    /// Builds the program with both rayon-cores.
    pub fn build(
        program: &'static Program,
        scratch: &Path,
        threads: usize,
    ) -> Result<Self, Failure> {
        let words = program.arguments.split_whitespace().map(str::to_owned);
        let mut arguments: Vec<String> = words.collect();
        if let Source::Published {
            reads_packages: true,
            ..
        } = program.source
        {
            arguments.extend(packages()?);
        }
        let build = |side| -> Result<PathBuf, Failure> {
            let target = [&["build"], &program.target()[..]].concat();
            // Programs of both sides have the same names, so one folder cannot hold them.
            let folder = scratch.join("target").join(side);
            let built = cargo::build(&manifest(side)?, &target, Some(&folder))?;
            Ok(built.into_iter().next_back().expect("at least one"))
        };
        Ok(Self {
            program,
            threads,
            output: scratch.join("output").join(program.name),
            executables: [build(SIDES[0])?, build(SIDES[1])?],
            arguments,
        })
    }

    /// Takes one sample: runs `copies` copies of the program on `runtime` at the same time.
    pub fn sample(&self, runtime: Runtime, copies: usize) -> Result<Run, Failure> {
        let [stock, tidegate] = &self.executables;
        let executable = match runtime {
            Runtime::Stock => stock,
            Runtime::Tidegate | Runtime::Sharing => tidegate,
        };
        let request = Request {
            copies,
            seconds: SECONDS,
            output: self.output.join(runtime.name()),
            executable: executable.clone(),
            arguments: self.arguments.clone(),
        };
        fs::create_dir_all(&request.output).map_err(|error| at(&request.output, &error))?;
        let usage = self.measure(&request, runtime)?;
        let answers = (0..copies).map(|copy| self.keep(&request.answer(copy)));
        Ok(Run {
            usage,
            answers: answers.collect::<Result<_, _>>()?,
        })
    }

    /// Carries out `request` in a child process.
    fn measure(&self, request: &Request, runtime: Runtime) -> Result<Usage, Failure> {
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
        let spec = serde_json::to_vec(request).expect("requests are JSON");
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
        let printed = fs::read(printed).map_err(|error| at(printed, &error))?;
        let answer = (self.program.answer).comparable(&String::from_utf8_lossy(&printed));
        let mut hasher = DefaultHasher::new();
        hasher.write(answer.as_bytes());
        let digest = format!("{:016x}", hasher.finish());
        let kept = self.answer(&digest);
        fs::create_dir_all(self.answers())
            .and_then(|()| fs::write(&kept, answer))
            .map_err(|error| at(&kept, &error))?;
        Ok(digest)
    }

    pub fn answer(&self, digest: &str) -> PathBuf {
        self.answers().join(format!("{digest}.txt"))
    }

    fn answers(&self) -> PathBuf {
        self.output.join("answers")
    }
}

/// Returns the manifest with which programs are built on one side.
pub fn manifest(side: &str) -> Result<PathBuf, Failure> {
    cargo::checkout(&format!("{SOURCES}/{side}/Cargo.toml"))
}

/// Returns the pinned version of a package, as the manifests state it.
pub fn version(package: &str) -> Result<String, Failure> {
    let path = manifest(SIDES[0])?;
    let text = fs::read_to_string(&path).map_err(|error| at(&path, &error))?;
    let table: toml::Table = text.parse().map_err(|error| at(&path, &error))?;
    let dependency = table["dependencies"].get(package);
    let version =
        dependency.and_then(|dependency| dependency["version"].as_str()?.strip_prefix('='));
    let version = version.ok_or_else(|| at(&path, &format!("does not pin {package}")))?;
    Ok(version.to_owned())
}

/// Returns the folders of the registry packages that published programs are built from.
fn packages() -> Result<Vec<String>, Failure> {
    let found = cargo::metadata(&manifest(SIDES[0])?, "--locked")?;
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
