//! The build of this program, and the builds whose results a folder counts as equal.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::Error;
use crate::files::{append, lines};

/// The file in the folder that names further builds.
pub const BUILDS: &str = "builds";

/// How many bytes of an identity count.
const BYTES: usize = 8;
/// In how many bytes at the start of an executable the linker's note is looked for.
const START: u64 = 1 << 16;

/// A line of the file.
#[derive(Serialize, Deserialize)]
pub struct Accepted {
    /// The digest of the plan.
    plan: String,
    /// The build that may use it, although it has not made it.
    build: String,
}

/// Returns the identity of this program's build, 16 hexadecimal digits. It depends on what was
/// linked, and not on where the executable is: copies on several machines are the same build.
///
/// # Errors
/// Returns an error if the executable cannot be read.
pub fn build() -> Result<&'static str, Error> {
    static BUILD: OnceLock<String> = OnceLock::new();
    if let Some(build) = BUILD.get() {
        return Ok(build);
    }
    // A path would name what has replaced the executable since.
    let path = if cfg!(target_os = "linux") {
        Ok("/proc/self/exe".into())
    } else {
        std::env::current_exe()
    };
    let build = path.and_then(File::open).and_then(identity);
    let build = build.map_err(|error| Error::elsewhere(format!("this program: {error}")))?;
    Ok(BUILD.get_or_init(|| build))
}

/// Returns an error text if this build may not use a plan of another `build`.
pub fn refusal(build: &str, plan: &str, folder: &Path) -> Result<Option<String>, Error> {
    let ours = self::build()?;
    if build == ours || is_accepted(plan, folder)? {
        return Ok(None);
    }
    Ok(Some(format!(
        "was made by build {build}, and this is build {ours}, whose results may differ: \
         use that build, or another --dir; or `run --fresh`, which starts over; \
         or `run --accept-build {build}`, which counts the results of both as equal"
    )))
}

/// Counts the results of this build as equal to those of the build that has made the plan.
pub fn accept(plan: &str, folder: &Path) -> Result<(), Error> {
    if is_accepted(plan, folder)? {
        return Ok(());
    }
    let (plan, build) = (plan.to_owned(), build()?.to_owned());
    append(&folder.join(BUILDS), &Accepted { plan, build })
}

fn is_accepted(plan: &str, folder: &Path) -> Result<bool, Error> {
    let ours = build()?;
    let accepted = lines::<Accepted>(&folder.join(BUILDS))?;
    let mut accepted = accepted.iter();
    Ok(accepted.any(|line| (&*line.plan, &*line.build) == (plan, ours)))
}

/// Returns the identity that the linker has given an executable, or a hash of its contents.
fn identity(mut executable: File) -> io::Result<String> {
    let mut start = Vec::new();
    executable.by_ref().take(START).read_to_end(&mut start)?;
    let id = match linked(&start) {
        Some(id) => id.to_owned(),
        None => hash(start, executable)?,
    };
    let bytes = id.iter().take(BYTES);
    Ok(bytes.map(|byte| format!("{byte:02x}")).collect())
}

fn hash(mut block: Vec<u8>, mut rest: File) -> io::Result<Vec<u8>> {
    let mut hash = Sha256::new();
    while !block.is_empty() {
        hash.update(&block);
        block.clear();
        rest.by_ref().take(START).read_to_end(&mut block)?;
    }
    Ok(hash.finalize().to_vec())
}

/// Finds the note of the linker, `.note.gnu.build-id`, in the start of a 64-bit ELF file that runs
/// on this machine. The numbers are offsets of `elf(5)`.
fn linked(file: &[u8]) -> Option<&[u8]> {
    const NOTES: u32 = 4;
    if !file.starts_with(b"\x7fELF\x02") {
        return None;
    }
    let (start, size, count) = (long(file, 32)?, short(file, 54)?, short(file, 56)?);
    (0..count).find_map(|number| {
        let segment = file.get(start.checked_add(number * size)?..)?;
        let notes = file.get(long(segment, 8)?..)?.get(..long(segment, 32)?)?;
        (int(segment, 0)? == NOTES).then(|| build_id(notes))?
    })
}

fn build_id(mut notes: &[u8]) -> Option<&[u8]> {
    const BUILD_ID: u32 = 3;
    loop {
        let [name, length] = [int(notes, 0)? as usize, int(notes, 4)? as usize];
        let kind = int(notes, 8)?;
        let (name, data) = notes
            .get(12..)?
            .split_at_checked(name.next_multiple_of(4))?;
        if (name, kind) == (b"GNU\0", BUILD_ID) {
            return data.get(..length).filter(|id| !id.is_empty());
        }
        notes = data.get(length.next_multiple_of(4)..)?;
    }
}

fn short(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u16::from_ne_bytes(*bytes).into())
}

fn int(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_ne_bytes(*bytes))
}

fn long(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    usize::try_from(u64::from_ne_bytes(*bytes)).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn note(name: &[u8], kind: u32, data: &[u8]) -> Vec<u8> {
        let words = [name.len() as u32, data.len() as u32, kind].map(u32::to_ne_bytes);
        let mut note = [words.as_flattened(), name].concat();
        note.resize(note.len().next_multiple_of(4), 0);
        [&note, data].concat()
    }

    /// Returns an executable with a segment of code and one of these notes.
    fn executable(notes: &[u8]) -> Vec<u8> {
        let mut file = vec![0; 64 + 2 * 56];
        file[..5].copy_from_slice(b"\x7fELF\x02");
        file[32..40].copy_from_slice(&64_u64.to_ne_bytes());
        file[54..56].copy_from_slice(&56_u16.to_ne_bytes());
        file[56..58].copy_from_slice(&2_u16.to_ne_bytes());
        file[64..68].copy_from_slice(&1_u32.to_ne_bytes());
        let at = file.len() as u64;
        let second = &mut file[64 + 56..];
        second[..4].copy_from_slice(&4_u32.to_ne_bytes());
        second[8..16].copy_from_slice(&at.to_ne_bytes());
        second[32..40].copy_from_slice(&(notes.len() as u64).to_ne_bytes());
        [&file, notes].concat()
    }

    fn identity_of(bytes: &[u8]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        fs::write(&path, bytes).unwrap();
        identity(File::open(path).unwrap()).unwrap()
    }

    #[test]
    fn linkers_name_builds() {
        let other = note(b"GNU\0", 1, &[7; 16]);
        let id = note(b"GNU\0", 3, &[0xab; 20]);
        let mut file = executable(&[other, id].concat());
        assert_eq!(identity_of(&file), "ab".repeat(BYTES));
        file.push(0);
        assert_eq!(identity_of(&file), "ab".repeat(BYTES));
        for length in 0..file.len() {
            linked(&file[..length]);
        }
    }

    #[test]
    fn other_executables_are_hashed() {
        let long = vec![1; START as usize];
        let notes = [note(b"GNU\0", 1, b"abcd"), note(b"Go\0\0", 4, &long)].concat();
        for file in [Vec::new(), b"#!/bin/sh".to_vec(), executable(&notes)] {
            let [one, other] = [&file, &[&*file, b"2"].concat()].map(|file| identity_of(file));
            assert_ne!(one, other);
            assert_eq!(one.len(), 2 * BYTES);
        }
    }

    #[test]
    fn copies_are_one_build() {
        let this = fs::read(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(identity_of(&this), build().unwrap());
    }
}
