//! Stores finished runs on disk, in a file of JSON lines to which each run is appended as it ends.
//!
//! The first line names the experiment, its size and the build of this program. Runs of different
//! experiments, sizes or builds are therefore never mixed. An incomplete last line is dropped.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tidegate_cli_support::failure::Failure;

/// Where finished runs are stored, and whether those of an earlier command are reused.
#[derive(Args, Clone, Debug)]
pub struct KeepFlags {
    /// Folder for finished runs, with one file per experiment and size
    #[arg(
        long,
        value_name = "FOLDER",
        default_value = "tidegate-lab-runs",
        global = true
    )]
    pub dir: PathBuf,
    /// Reuse the finished runs of an earlier, interrupted command, and do only the missing ones
    #[arg(long, global = true)]
    pub resume: bool,
}

/// The first line of a file, which identifies its runs.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Head {
    pub experiment: String,
    pub size: String,
    /// The build of this program that performed the runs.
    pub build: String,
}

#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Run {
    pub cell: String,
    pub run: u64,
    pub value: Value,
}

/// Finished runs, by the cell's name and the run's number.
pub type Runs = BTreeMap<(String, u64), Value>;

pub struct Store {
    path: PathBuf,
    file: File,
    runs: Runs,
}

impl Store {
    /// Opens the file. With `resume`, its runs are kept. Otherwise, an existing file is renamed so
    /// that its name ends in `.before`, and a new file is started.
    pub fn open(keep: &KeepFlags, head: &Head) -> Result<Self, Failure> {
        let KeepFlags { dir, resume } = keep;
        let path = dir.join(format!("{}-{}.jsonl", head.experiment, head.size));
        let failed = |error: io::Error| {
            Failure::Impossible(format!(
                "{}: cannot keep runs here: {error}",
                path.display()
            ))
        };
        fs::create_dir_all(dir).map_err(failed)?;
        let exists = path.try_exists().map_err(failed)?;
        let mut runs = BTreeMap::new();
        if exists && *resume {
            let text = fs::read_to_string(&path).map_err(failed)?;
            runs = read(&text, head).map_err(|why| refusal(&path, &why))?;
        } else if exists {
            fs::rename(&path, path.with_extension("jsonl.before")).map_err(failed)?;
        }
        // Rewrite the file to remove an incomplete last line.
        let mut text = line(head);
        for ((cell, run), value) in &runs {
            let (cell, run, value) = (cell.clone(), *run, value.clone());
            text += &line(&Run { cell, run, value });
        }
        let fresh = path.with_extension("jsonl.new");
        fs::write(&fresh, text).map_err(failed)?;
        fs::rename(&fresh, &path).map_err(failed)?;
        let file = File::options().append(true).open(&path).map_err(failed)?;
        Ok(Self { path, file, runs })
    }

    /// Returns the stored run, or `None` if the file does not contain it.
    pub fn get(&self, cell: &str, run: u64) -> Option<&Value> {
        self.runs.get(&(cell.to_owned(), run))
    }

    /// Returns the error of a stored run that cannot be used.
    pub fn refusal(&self, why: &str) -> Failure {
        refusal(&self.path, why)
    }

    pub fn add(&mut self, cell: &str, run: u64, value: Value) -> Result<(), Failure> {
        let cell = cell.to_owned();
        self.file
            .write_all(line(&Run { cell, run, value }).as_bytes())
            .map_err(|error| {
                let path = self.path.display();
                Failure::Impossible(format!("{path}: a run cannot be kept: {error}"))
            })
    }
}

fn refusal(path: &Path, why: &str) -> Failure {
    let path = path.display();
    Failure::Usage(format!("{path}: {why}; start again without --resume"))
}

fn line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("runs are JSON") + "\n"
}

/// Parses the runs in a file, or explains why the file does not belong to `head`.
fn read(text: &str, head: &Head) -> Result<Runs, String> {
    let mut lines = text.split_inclusive('\n');
    let found: Head = lines
        .next()
        .and_then(|first| serde_json::from_str(first).ok())
        .ok_or("the first line does not say of what the runs are")?;
    if found.build != head.build {
        let (theirs, ours) = (found.build, &head.build);
        return Err(format!(
            "the runs are of build {theirs}, this is build {ours}"
        ));
    }
    if found != *head {
        return Err(format!("the runs are of {found:?} and not of {head:?}"));
    }
    let mut runs = BTreeMap::new();
    for (number, line) in lines.enumerate().filter(|(_, line)| line.ends_with('\n')) {
        let Run { cell, run, value } = serde_json::from_str(line)
            .map_err(|error| format!("line {} is no run: {error}", number + 2))?;
        runs.insert((cell, run), value);
    }
    Ok(runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(size: &str, build: &str) -> Head {
        Head {
            experiment: "test".to_owned(),
            size: size.to_owned(),
            build: build.to_owned(),
        }
    }

    /// Without `--resume`, a new session renames the file of earlier runs. An error leaves it alone.
    #[test]
    fn resume_keeps_earlier_runs() {
        let folder = tempfile::tempdir().unwrap();
        let open = |resume, build| {
            let dir = folder.path().to_owned();
            Store::open(&KeepFlags { dir, resume }, &head("tiny", build))
        };
        let resumed = |run| open(true, "1").unwrap().get("cell", run).cloned();
        open(false, "1")
            .unwrap()
            .add("cell", 0, 1.5.into())
            .unwrap();
        let refusal = open(true, "2").err().unwrap().to_string();
        let why = "the runs are of build 1, this is build 2; start again without --resume";
        assert!(refusal.ends_with(why), "{refusal}");
        assert_eq!((resumed(0), resumed(1)), (Some(1.5.into()), None));
        assert_eq!(open(false, "1").unwrap().get("cell", 0), None);
        assert!(folder.path().join("test-tiny.jsonl.before").exists());
    }

    #[test]
    fn drops_a_truncated_line() {
        let text = line(&head("tiny", "1"))
            + &line(&Run {
                cell: "cell".to_owned(),
                run: 3,
                value: Value::Null,
            });
        let runs = read(&(text + "{\"cell\":\"ce"), &head("tiny", "1")).unwrap();
        assert_eq!(runs.len(), 1);
    }

    #[test]
    fn refuses_runs_of_another_size() {
        let text = line(&head("tiny", "1"));
        assert!(
            read(&text, &head("small", "1"))
                .unwrap_err()
                .contains("small")
        );
        assert!(read("", &head("small", "1")).is_err());
        let text = text + "{}\n";
        assert!(
            read(&text, &head("tiny", "1"))
                .unwrap_err()
                .contains("line 2")
        );
    }
}
