//! The files of `run` in the folder: the plan, the lists of the rounds, and what the engine was given.

use std::cell::Cell;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::engine::Round;
use crate::files::{self, no_link, now, process_at};
use crate::folder::Folder;
use crate::name::Name;
use crate::piece::Entry;
use crate::plan::{Header, Plan};
use crate::request::Request;
use crate::{Error, Split, build};

const PLAN: &str = "plan.json";
pub const ROUNDS: &str = "rounds";

/// Returns the path of the plan in a folder.
pub fn plan_path(folder: &Path) -> PathBuf {
    folder.join(PLAN)
}

/// Links a new plan into the folder, or returns the one that another `run` has linked meanwhile.
pub fn link<P: Split>(plan: Plan<P>, folder: &Path) -> Result<Plan<P>, Error> {
    let path = plan_path(folder);
    // A killed `run` may have left a draft that is the plan, by its other name.
    let draft = folder.join(format!(".plan~{}", process_at(now())));
    let failed = |error| files::unwritable(folder, &error);
    let mut file = File::create_new(&draft).map_err(failed)?;
    let written = file.write_all(plan.to_text().as_bytes());
    let written = written.and_then(|()| file.sync_all());
    let linked = written.map(|()| fs::hard_link(&draft, &path));
    let _ = fs::remove_file(&draft);
    match linked.map_err(failed)? {
        Ok(()) => files::sync(folder).map(|()| plan),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            present(plan.header(), folder, None)
        }
        Err(error) => Err(no_link(&path, &error)),
    }
}

/// Returns the plan that is there, if its header is the same. Its items are those of this `run`,
/// even if planning again would find others. `accept` is another build whose plan may be used.
pub fn present<P: Split>(
    header: &Header<P>,
    folder: &Path,
    accept: Option<&str>,
) -> Result<Plan<P>, Error> {
    let path = plan_path(folder);
    let plan = Plan::<P>::read(&path, folder, accept)?;
    if plan.header().digest() != header.digest() {
        return Err(Error::never(format!(
            "{} is the plan of {}, not of {}: repeat the first command, choose another --dir, or add --fresh, \
             which removes the results",
            path.display(),
            Request::of(plan.header()),
            Request::of(header)
        )));
    }
    if !plan.is_ours()? {
        build::accept(plan.digest(), folder)?;
    }
    Ok(plan)
}

/// A line of the file `rounds`.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Line {
    /// The engine is about to be given this.
    Round { engine: String, round: Round },
    /// Why pieces have waited in the engine at this time, or nothing if they no longer do.
    Queue { text: String, at: f64 },
}

/// Returns the name of the engine that was given the last round of a folder.
pub fn last_engine(folder: &Path) -> Option<String> {
    let lines = files::lines(&folder.join(ROUNDS)).ok()?;
    let mut engines = lines.into_iter().rev().filter_map(|line| match line {
        Line::Round { engine, .. } => Some(engine),
        _ => None,
    });
    engines.next()
}

/// Returns why pieces wait in the engine, as the last `run` has noted, and when it did.
pub fn queue(folder: &Path) -> Option<(String, f64)> {
    let lines = files::lines(&folder.join(ROUNDS)).ok()?;
    let mut noted = lines.into_iter().rev().filter_map(|line| match line {
        Line::Queue { text, at } => Some((text, at)),
        _ => None,
    });
    noted.next().filter(|(text, _)| !text.is_empty())
}

/// The rounds of an engine.
pub struct Book<'a> {
    pub folder: &'a Folder,
    pub engine: &'static str,
    /// The lists with smaller numbers are in use.
    next: Cell<usize>,
}

impl<'a> Book<'a> {
    pub fn new(folder: &'a Folder, engine: &'static str) -> Self {
        Self {
            folder,
            engine,
            next: Cell::new(0),
        }
    }

    /// Names a round, and writes its list.
    pub fn round(&self, items: Vec<Name>) -> Result<Round, Error> {
        let plan = self.folder.plan();
        let entries = items.iter().map(|item| Entry {
            plan: plan.to_owned(),
            item: item.clone(),
        });
        let entries: Vec<_> = entries.collect();
        let text = serde_json::to_string(&entries).expect("names are JSON") + "\n";
        let (time, pid) = ((now() * 1e6) as u64, std::process::id());
        let name = format!("fan-{}-{time:x}-{pid:x}", &plan[..8]);
        let list = self.file(&text)?;
        Ok(Round { name, list, items })
    }

    /// Returns the first list with this text. Lists are never changed, because pieces read them.
    fn file(&self, text: &str) -> Result<PathBuf, Error> {
        loop {
            let number = self.next.get();
            let name = match number {
                0 => format!("{}.json", self.engine),
                _ => format!("{}.{number}.json", self.engine),
            };
            let path = self.folder.path().join(name);
            let written = match File::create_new(&path) {
                Ok(mut file) => file.write_all(text.as_bytes()),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    match files::read(&path) {
                        Ok(present) if present == text.as_bytes() => Ok(()),
                        _ => {
                            self.next.set(number + 1);
                            continue;
                        }
                    }
                }
                Err(error) => Err(error),
            };
            return written
                .map(|()| path.clone())
                .map_err(|error| files::unwritable(self.folder.path(), &error));
        }
    }

    /// Notes a round before the engine gets it, because it may take it and not answer.
    pub fn note(&self, round: &Round) -> Result<(), Error> {
        self.add(&Line::Round {
            engine: self.engine.to_owned(),
            round: round.clone(),
        })
    }

    /// Notes why pieces wait in the engine, or that they no longer do.
    pub fn note_queue(&self, text: &str) -> Result<(), Error> {
        let (text, at) = (text.to_owned(), now());
        self.add(&Line::Queue { text, at })
    }

    fn add(&self, line: &Line) -> Result<(), Error> {
        files::append(&self.folder.path().join(ROUNDS), line)
    }

    /// Returns the rounds that were given to engines, with the names of these.
    pub fn rounds(&self) -> Result<Vec<(String, Round)>, Error> {
        let lines = files::lines(&self.folder.path().join(ROUNDS))?.into_iter();
        let rounds = lines.filter_map(|line| match line {
            Line::Round { engine, round } => Some((engine, round)),
            Line::Queue { .. } => None,
        });
        Ok(rounds.collect())
    }
}
