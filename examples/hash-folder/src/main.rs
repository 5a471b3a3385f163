//! Computes the SHA-256 of every file below a folder, in parallel and serially, and compares the
//! results: `cargo run --release -p hash-folder -- FOLDER`
//!
//! Links are not followed. Files and folders that can't be read are counted and skipped.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

type Hash = [u8; 32];

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1) else {
        eprintln!("usage: hash-folder FOLDER");
        return ExitCode::from(2);
    };
    let mut files = Vec::new();
    let mut unreadable = list(Path::new(&folder), &mut files);
    if files.is_empty() {
        eprintln!("hash-folder: no files found below {folder:?}");
        return ExitCode::from(2);
    }

    // The first pass reads the files from the disk, and is not timed.
    let hashes = tidegate::par_map(&files, |file| hash(file).ok());
    unreadable += hashes.iter().filter(|hash| hash.is_none()).count();
    let (serial, serial_time) = timed(|| files.iter().map(|file| hash(file).ok()).collect());
    let (parallel, parallel_time) = timed(|| tidegate::par_map(&files, |file| hash(file).ok()));

    println!("{} files, {unreadable} unreadable", files.len());
    println!("serial:   {serial_time:.2?}");
    let workers = tidegate::current_num_workers();
    println!("parallel: {parallel_time:.2?} on {workers} workers");
    if parallel == serial {
        println!("equal: every file has the same SHA-256 in both runs");
        ExitCode::SUCCESS
    } else {
        println!("different: a file has changed meanwhile, or Tidegate has a bug");
        ExitCode::FAILURE
    }
}

/// Appends the files below a folder. Returns the number of folders and entries that can't be read.
fn list(folder: &Path, files: &mut Vec<PathBuf>) -> usize {
    let Ok(entries) = fs::read_dir(folder) else {
        return 1;
    };
    let mut unreadable = 0;
    for entry in entries {
        match entry.and_then(|entry| Ok((entry.path(), entry.file_type()?))) {
            Ok((path, kind)) if kind.is_dir() => unreadable += list(&path, files),
            Ok((path, kind)) if kind.is_file() => files.push(path),
            Ok(_) => {}
            Err(_) => unreadable += 1,
        }
    }
    unreadable
}

fn hash(file: &Path) -> io::Result<Hash> {
    let mut file = File::open(file)?;
    let mut hasher = Sha256::new();
    let mut buffer = [0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hasher.finalize().into()),
            count => hasher.update(&buffer[..count]),
        }
    }
}

fn timed(run: impl FnOnce() -> Vec<Option<Hash>>) -> (Vec<Option<Hash>>, Duration) {
    let start = Instant::now();
    (run(), start.elapsed())
}
