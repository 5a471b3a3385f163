//! Counts the words in all files below a path, with ordinary rayon code.
//!
//! The source does not mention Tidegate: only `Cargo.toml` makes the program run on it. Folders,
//! files and the text of each file are split in parallel. The words are counted with `fold` and
//! `reduce`, and sorted in parallel.
//!
//! A word is a run of letters and digits, converted to lower case. Bytes that are not UTF-8
//! separate words, as spaces do. Links below the path are not followed. Files and folders that
//! cannot be read are reported and skipped.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use rayon::prelude::*;
use serde_json::{Value, json};

/// Counts the words in all files below a path.
#[derive(Parser)]
#[command(
    version,
    after_help = "Exit codes: 0 done, 2 bad usage, 3 something could not be read or written."
)]
struct Arguments {
    /// A folder or a file
    path: PathBuf,
    /// How many of the most frequent words to print
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The words and problems that were found below a path.
#[derive(Default)]
struct Found {
    files: u64,
    counts: HashMap<String, u64>,
    problems: Vec<(PathBuf, io::Error)>,
}

impl Found {
    fn problem(path: &Path, error: io::Error) -> Self {
        Self {
            problems: vec![(path.to_owned(), error)],
            ..Self::default()
        }
    }

    fn and(mut self, mut other: Self) -> Self {
        self.problems.append(&mut other.problems);
        Self {
            files: self.files + other.files,
            counts: merge(self.counts, other.counts),
            problems: self.problems,
        }
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // Unlike links below the path, the path itself is followed if it is a link.
    let mut found = match arguments.path.canonicalize() {
        Ok(path) => find(&path),
        Err(error) => Found::problem(&arguments.path, error),
    };
    found.problems.sort_by(|(a, _), (b, _)| a.cmp(b));
    for (path, error) in &found.problems {
        eprintln!("rayon-app: {path:?} cannot be read: {error}");
    }
    let mut complete = found.problems.is_empty();
    if found.files > 0 || complete {
        let report = report(found, arguments.top);
        let printed = if arguments.json {
            writeln!(io::stdout(), "{report:#}")
        } else {
            print(&report)
        };
        // A closed standard output is not an error: its reader may stop at any time.
        if let Err(error) = printed.or_else(unless_closed) {
            eprintln!("rayon-app: standard output cannot be written: {error}");
            complete = false;
        }
    }
    ExitCode::from(if complete { 0 } else { 3 })
}

/// Finds all files and words below `path`.
fn find(path: &Path) -> Found {
    look(path).unwrap_or_else(|error| Found::problem(path, error))
}

fn look(path: &Path) -> io::Result<Found> {
    let kind = fs::symlink_metadata(path)?.file_type();
    if kind.is_dir() {
        let entries: Vec<_> = fs::read_dir(path)?.collect();
        let each = entries.into_par_iter().map(|entry| match entry {
            Ok(entry) => find(&entry.path()),
            Err(error) => Found::problem(path, error),
        });
        return Ok(each.reduce(Found::default, Found::and));
    }
    if !kind.is_file() {
        return Ok(Found::default());
    }
    Ok(Found {
        files: 1,
        counts: count(&String::from_utf8_lossy(&fs::read(path)?)),
        problems: Vec::new(),
    })
}

/// Returns how often each word occurs in `text`.
fn count(text: &str) -> HashMap<String, u64> {
    text.par_split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .fold(HashMap::new, |mut counts, word| {
            *counts.entry(word).or_insert(0) += 1;
            counts
        })
        .reduce(HashMap::new, merge)
}

/// Adds the counts of the smaller map to the larger one.
fn merge(a: HashMap<String, u64>, b: HashMap<String, u64>) -> HashMap<String, u64> {
    let (mut large, small) = if a.len() < b.len() { (b, a) } else { (a, b) };
    for (word, times) in small {
        *large.entry(word).or_insert(0) += times;
    }
    large
}

/// Creates the report. Equally frequent or equally long words are in alphabetical order.
fn report(found: Found, top: usize) -> Value {
    let mut words: Vec<(String, u64)> = found.counts.into_par_iter().collect();
    words.par_sort_unstable_by(|(a, times_a), (b, times_b)| times_b.cmp(times_a).then(a.cmp(b)));
    let length = |word: &str| word.chars().count();
    let longest = words
        .par_iter()
        .map(|(word, _)| word)
        .max_by(|a, b| length(a).cmp(&length(b)).then(b.cmp(a)));
    let first = words.iter().take(top);
    json!({
        "files": found.files,
        "words": words.par_iter().map(|(_, times)| times).sum::<u64>(),
        "distinct": words.len(),
        "longest": longest,
        "top": first.map(|(word, times)| json!({ "word": word, "times": times })).collect::<Vec<_>>(),
    })
}

/// Prints a human-readable report.
fn print(report: &Value) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for name in ["files", "words", "distinct"] {
        writeln!(out, "{name:<9} {}", report[name])?;
    }
    writeln!(
        out,
        "{:<9} {}",
        "longest",
        report["longest"].as_str().unwrap_or("-")
    )?;
    for row in report["top"].as_array().into_iter().flatten() {
        let word = row["word"].as_str().unwrap_or_default();
        writeln!(out, "{:>9} {word}", row["times"].to_string())?;
    }
    Ok(())
}

fn unless_closed(error: io::Error) -> io::Result<()> {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Ok(()),
        _ => Err(error),
    }
}
