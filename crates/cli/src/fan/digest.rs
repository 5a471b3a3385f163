//! Splits `digest` by files.
//!
//! The planner lists the tree and packs the files, in the order of their paths, into items of about
//! as many bytes. The first item carries the listing of everything else, which the merge completes
//! with the files.

use std::fs;
use std::path::{Path, PathBuf, absolute};

use clap::{ArgMatches, Command, FromArgMatches};
use serde::{Deserialize, Serialize};
use tidegate_cli_support::arguments::{Chosen, entry, program};
use tidegate_fan::{Budget, Done, Error, Weighted};
use tidegate_workloads::digest::{Bytes, Digest, Listing, Outcome, ProblemKind, printable, read};
use tidegate_workloads::{Program, Size, Values};

use super::{Divisible, REST, Report, failed};
use crate::run::{Details, problems};

/// As many bytes take about as long to read as a file takes to open.
const OPEN: u64 = 16 << 10;

/// The program with the user's parameters.
#[derive(Clone, Debug)]
pub struct Split {
    chosen: Chosen,
    /// The option `--dir` of the verb `run`.
    results: Option<PathBuf>,
}

/// Some files.
#[derive(Debug, Serialize, Deserialize)]
pub struct Item {
    /// In the first item of the plan, what was listed besides files.
    listing: Option<Listing>,
    files: Vec<File>,
}

/// The path of a file below the root, and how many bytes it had when it was planned.
type File = (Bytes, u64);

/// What was listed and read.
#[derive(Debug, Serialize, Deserialize)]
pub struct Out {
    listing: Option<Listing>,
    read: Vec<Read>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Read {
    /// The path below the root.
    path: Bytes,
    outcome: Outcome,
    /// Whether the file had another size when it was planned.
    changed: bool,
}

pub fn command() -> Command {
    program(entry(Digest::NAME).expect("the program is registered"))
}

impl Split {
    /// Reads the matches of the command that has the program as its subcommand.
    pub fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        // Only the verb `run` has this option. It is global, so it is also here, below the verb.
        let below = matches.subcommand_matches(Digest::NAME);
        let results = below.map(|matches| matches.try_get_one::<PathBuf>("dir"));
        let results = results.and_then(|results| results.ok().flatten());
        Ok(Self {
            chosen: Chosen::from_arg_matches(matches)?,
            results: results.cloned(),
        })
    }

    /// Refuses a folder of results that is below the root, because it would be digested and change
    /// meanwhile.
    pub fn check_results(&self) -> Result<(), Error> {
        let results = self.results.as_deref().unwrap_or(Path::new("."));
        let digest = self.digest()?;
        let (Some(results), Ok(root)) = (resolved(results), digest.path().canonicalize()) else {
            return Ok(());
        };
        if results.starts_with(&root) {
            let [results, root] = [&results, &root].map(|path| path.display());
            return Err(Error::never(format!(
                "the results in {results} would be digested with {root}: choose a --dir that is not below it"
            )));
        }
        Ok(())
    }

    fn digest(&self) -> Result<Digest, Error> {
        let values = Values::parse(Digest::PARAMETERS, Size::default(), &self.chosen.given);
        let digest = values.and_then(|values| Digest::from_values(&values));
        digest.map_err(failed)
    }
}

impl Divisible for Split {
    type Item = Item;
    type Out = Out;

    fn plan(&self, pieces: usize) -> Result<Vec<Weighted<Item>>, Error> {
        let digest = self.digest()?;
        let (listing, paths) = Listing::new(&digest).map_err(unavailable)?;
        let mut files: Vec<File> = paths.into_iter().map(|path| (path, 0)).collect();
        tidegate::for_each(&mut files[..], |(path, bytes)| {
            let metadata = fs::symlink_metadata(digest.path().join(path.to_os_string()));
            *bytes = metadata.map_or(0, |metadata| metadata.len());
        });
        let mut items = items(files, pieces);
        if items.is_empty() {
            items.push(item(Vec::new()));
        }
        items[0].item.listing = Some(listing);
        Ok(items)
    }

    fn run(&self, item: Item, budget: &Budget) -> Result<Done<Item, Out>, Error> {
        let digest = self.digest()?;
        // A machine without the root would find that all files have vanished, and so would one on
        // which its file system is not mounted: the root is empty there.
        digest.prepare().map_err(unavailable)?;
        let mut entries = fs::read_dir(digest.path()).map_err(unavailable)?;
        if !item.files.is_empty() && entries.next().is_none() {
            let root = digest.path().display();
            return Err(Error::elsewhere(format!(
                "{root} is empty: it is not mounted here"
            )));
        }
        // The first file is always read, so that every piece leaves less than it was given.
        let files = item.files.into_iter().enumerate();
        let mut files: Vec<_> = files.map(|(place, file)| (place, file, None)).collect();
        tidegate::for_each(&mut files[..], |(place, (path, _), outcome)| {
            if *place == 0 || !budget.is_spent() {
                *outcome = Some(read(&digest.path().join(path.to_os_string())));
            }
        });
        let mut out = Out {
            listing: item.listing,
            read: Vec::new(),
        };
        let mut rest = Vec::new();
        for (_, (path, bytes), outcome) in files {
            match outcome {
                None => rest.push((path, bytes)),
                Some(outcome) => out.read.push(Read {
                    path,
                    changed: matches!(&outcome, Outcome::Read(now) if now.bytes != bytes),
                    outcome,
                }),
            }
        }
        let rest = items(rest, REST);
        Ok(Done { out, rest })
    }

    fn merge(&self, outs: Vec<Out>) -> Result<Report, Error> {
        let digest = self.digest()?;
        let (listings, reads): (Vec<_>, Vec<_>) =
            outs.into_iter().map(|out| (out.listing, out.read)).unzip();
        let wrong = || Error::perhaps("the results are not one for each file of the plan");
        let listing = listings.into_iter().flatten().next().ok_or_else(wrong)?;
        let mut reads: Vec<Read> = reads.into_iter().flatten().collect();
        reads.sort_by(|one, other| one.path.as_bytes().cmp(other.path.as_bytes()));
        let changed = reads.iter().filter(|read| read.changed);
        let changed: Vec<_> = changed
            .map(|read| printable(read.path.as_bytes()))
            .collect();
        let files = reads.into_iter().map(|read| (read.path, read.outcome));
        let found = listing.report(files).ok_or_else(wrong)?;
        let mut report = Report::of_answer(&digest, &digest.answer(&(), &found));
        let details = Details {
            found: &found,
            changed: ("changed since the plan", &changed),
            rest: Some("--json"),
        };
        report.text += &details.to_string();
        let problems = ProblemKind::ALL.map(|kind| (kind.name(), problems(&found, kind)));
        report.json["problems"] = problems.into_iter().collect();
        report.json["changed"] = changed.into();
        Ok(report)
    }
}

/// The error of a root that cannot be listed, which another machine may have.
fn unavailable(error: std::io::Error) -> Error {
    Error::elsewhere(error.to_string())
}

/// Returns the real path of a folder that may be missing, as far as it exists.
fn resolved(path: &Path) -> Option<PathBuf> {
    let path = absolute(path).ok()?;
    path.ancestors().find_map(|path| path.canonicalize().ok())
}

/// Packs files, in their order, into at most `parts` items of about as many bytes.
fn items(files: Vec<File>, parts: usize) -> Vec<Weighted<Item>> {
    let total = files.iter().map(cost).sum::<u64>();
    let each = total.div_ceil(parts as u64).max(1);
    let mut items: Vec<Vec<File>> = Vec::new();
    let mut before = 0;
    let mut current = None;
    for file in files {
        let part = before / each;
        before += cost(&file);
        match items.last_mut().filter(|_| current == Some(part)) {
            Some(item) => item.push(file),
            None => items.push(vec![file]),
        }
        current = Some(part);
    }
    items.into_iter().map(item).collect()
}

fn cost((_, bytes): &File) -> u64 {
    bytes.saturating_add(OPEN)
}

fn item(files: Vec<File>) -> Weighted<Item> {
    Weighted {
        weight: files.iter().map(cost).sum(),
        item: Item {
            listing: None,
            files,
        },
    }
}
