//! Counts the words of all files in a folder: `cargo run -p tidegate --example wordcount -- FOLDER`
//!
//! The page `docs/guide/word-count.md` explains it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

type Counts = HashMap<String, u64>;

fn main() -> io::Result<()> {
    let own_sources = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
    let folder = env::args().nth(1).unwrap_or(own_sources.to_string());
    let mut files = Vec::new();
    list(Path::new(&folder), &mut files)?;

    let counts = tidegate::try_map_reduce(&files, |file| count(file), merge)?;
    let mut counts: Vec<_> = counts.unwrap_or_default().into_iter().collect();
    counts.sort_by(|a, b| (b.1, &a.0).cmp(&(a.1, &b.0)));

    println!("{} files, {} different words", files.len(), counts.len());
    for (word, count) in counts.iter().take(10) {
        println!("{count:8} {word}");
    }
    Ok(())
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            list(&entry.path(), files)?;
        } else {
            files.push(entry.path());
        }
    }
    Ok(())
}

fn count(file: &Path) -> io::Result<Counts> {
    let bytes = fs::read(file)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut counts = Counts::new();
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        if !word.is_empty() {
            *counts.entry(word.to_lowercase()).or_default() += 1;
        }
    }
    Ok(counts)
}

/// Adds the smaller map to the larger one.
fn merge(mut left: Counts, mut right: Counts) -> Counts {
    if left.len() < right.len() {
        std::mem::swap(&mut left, &mut right);
    }
    for (word, count) in right {
        *left.entry(word).or_default() += count;
    }
    left
}
