//! The folder that all pieces share, and what it says about the items.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::files::{append, host, lines, no_link, now, open, process_at, sync, unwritable};
use crate::name::Name;
use crate::result::{Trailer, Written, differ};
use crate::{Error, Retry};

pub const RESULT: &str = "out";
pub const LOG: &str = "err";
/// The file of a running attempt.
pub const RUNNING: &str = "running";
/// A result that contradicts the one that is published.
pub const DIFFERENT: &str = "differs";

/// The folder of a plan's results.
pub struct Folder {
    path: PathBuf,
    /// The digest of the plan.
    plan: String,
}

/// A failed attempt: a line of an item's log.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Failed {
    pub host: String,
    pub pid: u32,
    pub at: f64,
    pub retry: Retry,
    pub text: String,
}

/// An attempt that has begun and not ended, or was killed.
#[derive(Clone, Debug)]
pub struct Begun {
    /// The name of its file.
    pub file: String,
    pub item: Name,
    pub host: String,
    pub pid: u32,
    /// When it began, in seconds since 1970.
    pub began: f64,
}

/// What a folder says.
#[derive(Debug, Default)]
pub struct Survey {
    /// The weight of every item, including those that pieces have left.
    pub weights: BTreeMap<Name, u64>,
    pub published: BTreeMap<Name, Trailer>,
    pub begun: Vec<Begun>,
}

impl Folder {
    /// Names the folder of the plan with this digest.
    pub fn new(path: &Path, plan: String) -> Self {
        let path = path.to_owned();
        Self { path, plan }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn plan(&self) -> &str {
        &self.plan
    }

    /// Returns the path of the published result.
    pub fn result(&self, item: &Name) -> PathBuf {
        self.path.join(format!("{item}.{RESULT}"))
    }

    /// Reads and checks the published result. Returns `None` if there is none.
    pub fn read(&self, item: &Name) -> Result<Option<Written>, Error> {
        Written::read(&self.result(item), &self.plan, item)
    }

    /// Reads the item's log, oldest attempt first.
    pub fn failures(&self, item: &Name) -> Result<Vec<Failed>, Error> {
        failures(&self.path, item)
    }

    /// Finds out what is published and what has begun. `survey` is what was found earlier: each
    /// result is read only once.
    pub fn survey(&self, survey: &mut Survey) -> Result<(), Error> {
        let names = self.names()?;
        survey.begun = names
            .iter()
            .filter_map(|name| attempt(name, RUNNING))
            .collect();
        if let Some((item, other)) = self.contradictions_in(&names).next() {
            return Err(differ(&item, &self.result(&item), &other));
        }
        let is_listed = |item: &Name| names.contains(&format!("{item}.{RESULT}"));
        self.find(survey, is_listed, |_, error| Err(error))
    }

    /// Looks up the result of an item by its name, because a network file system may list a folder
    /// as it was some time ago. Adds it to the survey, and returns whether there is one.
    pub fn look_up(&self, item: &Name, survey: &mut Survey) -> Result<bool, Error> {
        let exists = self.result(item).exists();
        if exists {
            survey.publish(item, self.trailer(item)?);
        }
        Ok(exists)
    }

    /// Looks up the results of all missing items, and of what their pieces have left. `wrong` is told
    /// about results that cannot be used, and may end this by an error.
    pub fn look_up_missing(
        &self,
        survey: &mut Survey,
        wrong: impl FnMut(Name, Error) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.find(survey, |item| self.result(item).exists(), wrong)
    }

    /// Adds the results that exist of missing items, and of what their pieces have left.
    fn find(
        &self,
        survey: &mut Survey,
        exists: impl Fn(&Name) -> bool,
        mut wrong: impl FnMut(Name, Error) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut open: Vec<_> = survey.missing().cloned().collect();
        while let Some(item) = open.pop() {
            if exists(&item) {
                match self.trailer(&item) {
                    Ok(trailer) => open.extend(survey.publish(&item, trailer)),
                    Err(error) => wrong(item, error)?,
                }
            }
        }
        Ok(())
    }

    /// Returns the items with a result that contradicts the published one, and the paths of those.
    pub fn contradictions(&self) -> Result<Vec<(Name, PathBuf)>, Error> {
        Ok(self.contradictions_in(&self.names()?).collect())
    }

    fn contradictions_in(&self, names: &HashSet<String>) -> impl Iterator<Item = (Name, PathBuf)> {
        let others = names.iter().filter_map(|name| attempt(name, DIFFERENT));
        others.map(|other| (other.item, self.path.join(other.file)))
    }

    pub fn names(&self) -> Result<HashSet<String>, Error> {
        let failed = |error| Error::at(&self.path, &error);
        let entries = fs::read_dir(&self.path).map_err(failed)?;
        let names = entries.map(|entry| Ok(entry.map_err(failed)?.file_name()));
        let names = names.filter_map(|name| name.map(|name| name.into_string().ok()).transpose());
        names.collect()
    }

    /// Reads only the trailer of a result.
    pub fn trailer(&self, item: &Name) -> Result<Trailer, Error> {
        let path = self.result(item);
        let failed = |error| Error::at(&path, &error);
        let mut file = open(&path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let mut size = 4096.min(length);
        loop {
            file.seek(SeekFrom::Start(length - size)).map_err(failed)?;
            let mut end = Vec::new();
            file.read_to_end(&mut end).map_err(failed)?;
            let line = end.strip_suffix(b"\n").unwrap_or(&end);
            if let Some(start) = line.iter().rposition(|byte| *byte == b'\n') {
                if let Ok(trailer) = serde_json::from_slice::<Trailer>(&line[start + 1..])
                    && (&trailer.plan, &trailer.item) == (&self.plan, item)
                {
                    return Ok(trailer);
                }
                break;
            }
            if size == length {
                break;
            }
            size = length.min(size * 16);
        }
        // This says what is wrong with the result.
        let read = self.read(item)?;
        let gone = || Error::perhaps(format!("{} was removed", path.display()));
        read.map(|written| written.trailer).ok_or_else(gone)
    }
}

impl Survey {
    /// Knows only the plan's items, which have these weights.
    pub fn new(planned: &[u64]) -> Self {
        let planned = planned.iter().enumerate();
        Self {
            weights: planned
                .map(|(number, weight)| (Name::planned(number), *weight))
                .collect(),
            ..Self::default()
        }
    }

    /// Adds a result. Returns the items that its piece has left.
    fn publish(&mut self, item: &Name, trailer: Trailer) -> Vec<Name> {
        let rest = trailer.rest.iter().enumerate();
        let left = rest.map(|(number, weight)| (item.child(number), *weight));
        let left: Vec<_> = left.collect();
        self.weights.extend(left.iter().cloned());
        self.published.insert(item.clone(), trailer);
        left.into_iter().map(|(item, _)| item).collect()
    }

    /// Returns the items without a result, in the order of the plan.
    pub fn missing(&self) -> impl Iterator<Item = &Name> {
        let is_missing = |item: &&Name| !self.published.contains_key(*item);
        self.weights.keys().filter(is_missing)
    }

    /// Returns the published items, each with the weight of what its piece has done. What it has
    /// left to others counts with them.
    pub fn done(&self) -> impl Iterator<Item = (&Trailer, u64)> {
        self.published.iter().map(|(item, trailer)| {
            let rest = trailer.rest.iter().sum();
            (trailer, self.weights[item].saturating_sub(rest))
        })
    }

    /// Returns the weight that is published, and that of the whole work.
    pub fn weight(&self) -> (u64, u64) {
        let done: u64 = self.done().map(|(_, weight)| weight).sum();
        let missing: u64 = self.missing().map(|item| self.weights[item]).sum();
        (done, done + missing)
    }
}

/// Reads an item's log in the folder at `path`, oldest attempt first.
pub fn failures(path: &Path, item: &Name) -> Result<Vec<Failed>, Error> {
    lines(&log(path, item))
}

/// Adds a failed attempt of this process to an item's log in the folder at `path`.
pub fn record(path: &Path, item: &Name, error: &Error) -> Result<(), Error> {
    let failed = Failed {
        host: host(),
        pid: std::process::id(),
        at: now(),
        retry: error.retry(),
        text: error.to_string(),
    };
    note(path, item, &failed)
}

/// Adds a failed attempt of any process to an item's log in the folder at `path`.
pub fn note(path: &Path, item: &Name, failed: &Failed) -> Result<(), Error> {
    append(&log(path, item), failed)
}

fn log(path: &Path, item: &Name) -> PathBuf {
    path.join(format!("{item}.{LOG}"))
}

/// Returns the attempt whose file has a name such as `12.3~host~77~MICROSECONDS.KIND`.
pub fn attempt(name: &str, kind: &str) -> Option<Begun> {
    let stem = name.strip_suffix(kind)?.strip_suffix('.')?;
    let mut parts = stem.split('~');
    Some(Begun {
        file: name.to_owned(),
        item: parts.next()?.parse().ok()?,
        host: parts.next()?.to_owned(),
        pid: parts.next()?.parse().ok()?,
        began: parts.next()?.parse::<u64>().ok()? as f64 / 1e6,
    })
}

/// Creates the folder if it is missing, and checks that pieces can publish in it. Its parent must
/// exist, because it may be a place where nothing is mounted here.
pub fn prepare(path: &Path) -> Result<(), Error> {
    if !path.is_dir() {
        create(path)?;
    }
    let process = process_at(now());
    let one = path.join(format!(".link~{process}"));
    let other = path.join(format!(".probe~{process}"));
    fs::write(&one, "").map_err(|error| unwritable(path, &error))?;
    let linked = fs::hard_link(&one, &other).map_err(|error| no_link(&other, &error));
    let _ = (fs::remove_file(&one), fs::remove_file(&other));
    linked
}

fn create(path: &Path) -> Result<(), Error> {
    let parent = path.parent().unwrap_or(path);
    match fs::create_dir(path) {
        Ok(()) => sync(parent),
        // Another `run` has been faster.
        Err(_) if path.is_dir() => Ok(()),
        Err(_) if path.exists() => Err(Error::elsewhere(format!(
            "{} is not a folder: choose another --dir",
            path.display()
        ))),
        Err(_) if !parent.exists() => Err(Error::elsewhere(format!(
            "{} does not exist on this machine: mount or create it, or choose another --dir",
            parent.display()
        ))),
        Err(error) => Err(unwritable(parent, &error)),
    }
}
