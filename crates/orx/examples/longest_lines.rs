//! Prints the longest line of each file below a folder, the longest first:
//! `cargo run -p tidegate-orx --example longest_lines -- FOLDER`

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use orx_parallel::*;
use tidegate_orx::OnTidegate;

fn main() -> io::Result<()> {
    let own_sources = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
    let folder = env::args().nth(1).unwrap_or(own_sources.to_string());
    let mut files = Vec::new();
    list(Path::new(&folder), &mut files)?;

    let mut lines: Vec<(usize, &PathBuf)> = files
        .par()
        .on_tidegate()
        .map(|file| longest_line(file).map(|longest| (longest, file)))
        // The first error ends the computation.
        .into_fallible()
        .collect()?;
    lines.sort_by(|a, b| b.cmp(a));

    println!("{} files", lines.len());
    for (longest, file) in lines.iter().take(10) {
        println!("{longest:6} {}", file.display());
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

/// The length of a file's longest line in bytes.
fn longest_line(file: &Path) -> io::Result<usize> {
    let bytes = fs::read(file)?;
    let lines = bytes.split(|byte| *byte == b'\n');
    Ok(lines.map(<[u8]>::len).max().unwrap_or(0))
}
