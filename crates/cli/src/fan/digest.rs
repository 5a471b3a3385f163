//! Splits `digest` by files.
//!
//! The planner lists the tree and packs the files, in the order of their paths, into items of about
//! as many bytes. The first item carries the listing, which the merge completes with the digests.

use std::fs;

use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches};
use serde::{Deserialize, Serialize};
use tidegate_command::arguments::{Chosen, entry, program};
use tidegate_fan::{Budget, Done, Error, Weighted};
use tidegate_workloads::digest::{Bytes, Digest, Listing, Outcome, printable, read};
use tidegate_workloads::{Program, Size, Values};

use super::{Part, REST, Report, failed};
use crate::run::Details;

/// As many bytes take about as long to read as a file takes to open.
const OPEN: u64 = 16 << 10;

/// The program with the user's parameters.
#[derive(Clone, Debug)]
pub struct Split {
    chosen: Chosen,
}

/// Some files.
#[derive(Debug, Serialize, Deserialize)]
pub struct Item {
    /// In the first item of the plan, everything that was listed.
    listing: Option<Listing>,
    files: Vec<File>,
}

/// A file of the listing.
#[derive(Debug, Serialize, Deserialize)]
struct File {
    /// Which one.
    number: usize,
    /// The path below the root.
    path: Bytes,
    bytes: u64,
}

/// What was listed and read.
#[derive(Debug, Serialize, Deserialize)]
pub struct Out {
    listing: Option<Listing>,
    read: Vec<Read>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Read {
    /// Which file of the listing.
    number: usize,
    outcome: Outcome,
    /// Whether the file had another size when it was planned.
    changed: bool,
}

pub fn command() -> Command {
    let verbose = Arg::new("verbose")
        .long("verbose")
        .action(ArgAction::SetTrue)
        .help("List all problem files instead of the first ten of each kind");
    program(entry(Digest::NAME).expect("the program is registered")).arg(verbose)
}

impl Split {
    /// Reads the matches of the command that has the program as its subcommand.
    pub fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let chosen = Chosen::from_arg_matches(matches)?;
        Ok(Self { chosen })
    }

    fn digest(&self) -> Result<Digest, Error> {
        let values = Values::parse(Digest::PARAMETERS, Size::default(), &self.chosen.given);
        let digest = values.and_then(|values| Digest::from_values(&values));
        digest.map_err(failed)
    }
}

impl Part for Split {
    type Item = Item;
    type Out = Out;

    fn plan(&self, pieces: usize) -> Result<Vec<Weighted<Item>>, Error> {
        let digest = self.digest()?;
        let listing = Listing::new(&digest).map_err(unavailable)?;
        let files = listing.files().enumerate().map(|(number, path)| {
            let metadata = fs::symlink_metadata(digest.path().join(path.to_os_string()));
            File {
                number,
                path: path.clone(),
                bytes: metadata.map_or(0, |metadata| metadata.len()),
            }
        });
        let mut items = items(files.collect(), pieces);
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
        let first = item.files.first().map(|file| file.number);
        let files = item.files.into_iter().map(|file| (file, None));
        let mut files: Vec<(File, Option<Outcome>)> = files.collect();
        tidegate::for_each(&mut files[..], |(file, outcome)| {
            if Some(file.number) == first || !budget.is_spent() {
                *outcome = Some(read(&digest.path().join(file.path.to_os_string())));
            }
        });
        let mut out = Out {
            listing: item.listing,
            read: Vec::new(),
        };
        let mut rest = Vec::new();
        for (file, outcome) in files {
            match outcome {
                None => rest.push(file),
                Some(outcome) => out.read.push(Read {
                    number: file.number,
                    changed: matches!(&outcome, Outcome::Read(now) if now.bytes != file.bytes),
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
        reads.sort_by_key(|read| read.number);
        if !reads.iter().map(|read| read.number).eq(0..reads.len()) {
            return Err(wrong());
        }
        let files = listing.files().zip(&reads);
        let changed = files.filter(|(_, read)| read.changed);
        let changed: Vec<_> = changed
            .map(|(path, _)| printable(path.as_bytes()))
            .collect();
        let outcomes = reads.into_iter().map(|read| read.outcome);
        let found = listing.report(outcomes).ok_or_else(wrong)?;
        let mut report = Report::of_answer(&digest, &digest.answer(&(), &found));
        let details = Details {
            found: &found,
            changed: ("changed since the plan", &changed),
            all: self.chosen.verbose,
        };
        report.text += &details.to_string();
        report.json["changed"] = changed.into();
        Ok(report)
    }
}

/// The error of a root that cannot be listed, which another machine may have.
fn unavailable(error: std::io::Error) -> Error {
    Error::elsewhere(error.to_string())
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

fn cost(file: &File) -> u64 {
    file.bytes.saturating_add(OPEN)
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
