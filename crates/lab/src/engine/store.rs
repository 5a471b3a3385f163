//! Stores finished runs on disk, in a file of JSON lines to which each run is appended as it ends.
//!
//! The first line names the experiment, its size and the build of this program. Runs of different
//! experiments, sizes or builds are therefore never mixed. An incomplete last line is dropped.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tidegate_cli_support::failure::Failure;

use crate::engine::KeepFlags;

/// The first line of a file, which identifies its runs.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Head {
    pub experiment: String,
    pub size: String,
    /// The build of this program that performed the runs.
    pub build: String,
}

/// A finished run.
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

    fn head(size: &str) -> Head {
        Head {
            experiment: "test".to_owned(),
            size: size.to_owned(),
            build: "1".to_owned(),
        }
    }

    /// Without `--resume`, a new session renames the file of earlier runs.
    #[test]
    fn resume_keeps_earlier_runs() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().to_owned();
        let keep = |resume| KeepFlags {
            dir: dir.clone(),
            resume,
        };
        let open = |resume| Store::open(&keep(resume), &head("tiny")).unwrap();
        open(false).add("cell", 0, 1.5.into()).unwrap();
        assert_eq!(open(true).get("cell", 0), Some(&1.5.into()));
        assert_eq!(open(true).get("cell", 1), None);
        assert_eq!(open(false).get("cell", 0), None);
        assert!(folder.path().join("test-tiny.jsonl.before").exists());
    }

    #[test]
    fn drops_a_truncated_line() {
        let text = line(&head("tiny"))
            + &line(&Run {
                cell: "cell".to_owned(),
                run: 3,
                value: Value::Null,
            });
        let runs = read(&(text + "{\"cell\":\"ce"), &head("tiny")).unwrap();
        assert_eq!(runs.len(), 1);
    }

    #[test]
    fn refuses_runs_of_another_build() {
        let folder = tempfile::tempdir().unwrap();
        let open = |build: &str| {
            let build = build.to_owned();
            let head = Head {
                build,
                ..head("tiny")
            };
            let keep = KeepFlags {
                dir: folder.path().to_owned(),
                resume: true,
            };
            Store::open(&keep, &head)
        };
        open("0.1.0 a").unwrap().add("cell", 0, 1.5.into()).unwrap();
        let Err(Failure::Usage(why)) = open("0.1.0 b") else {
            panic!("runs of another build are kept");
        };
        assert!(
            why.ends_with(
                "the runs are of build 0.1.0 a, this is build 0.1.0 b; start again without --resume"
            ),
            "{why}"
        );
        assert_eq!(open("0.1.0 a").unwrap().get("cell", 0), Some(&1.5.into()));
    }

    #[test]
    fn refuses_runs_of_another_size() {
        let text = line(&head("tiny"));
        assert!(read(&text, &head("small")).unwrap_err().contains("small"));
        assert!(read("", &head("small")).is_err());
        let text = text + "{}\n";
        assert!(read(&text, &head("tiny")).unwrap_err().contains("line 2"));
    }
}
