//! Files that several processes read and write at once, and the names by which they tell each other
//! apart.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::Error;

/// Adds a line. It begins with a line break, because a full disk may have cut off the line before.
/// One write, so that the lines of several processes do not mix.
pub fn append(path: &Path, value: &impl Serialize) -> Result<(), Error> {
    let json = serde_json::to_string(value).expect("a line is JSON");
    let file = open_to_append(path)?;
    let written = (&file).write_all(format!("\n{json}\n").as_bytes());
    written.map_err(|error| unwritable(path.parent().unwrap_or(path), &error))
}

/// Opens a file to which lines are added, and creates it if it is missing.
pub fn open_to_append(path: &Path) -> Result<File, Error> {
    // For reading as well: writing alone, opening a pipe fails for want of a reader.
    let file = regular(File::options().read(true).append(true).create(true), path);
    file.map_err(|error| match error.kind() {
        ErrorKind::Other | ErrorKind::IsADirectory => Error::at(path, &error),
        _ => unwritable(path.parent().unwrap_or(path), &error),
    })
}

/// Opens a file for reading.
pub fn open(path: &Path) -> io::Result<File> {
    regular(File::options().read(true), path)
}

/// Opens a file, unless it is a pipe or a device, for example: reading one might never end. The
/// kind is that of the open file, so that another one cannot take its place meanwhile.
fn regular(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        // Otherwise, opening a pipe waits for its writer.
        options.custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    }
    let file = options.open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other(
            "not a regular file: remove it, and run again",
        ))
    }
}

/// Reads a regular file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads the lines of a file, which has none if it is missing. Those that are empty or were cut off
/// are left out.
pub fn lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, Error> {
    let bytes = match read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        read => read.map_err(|error| Error::at(path, &error))?,
    };
    let lines = bytes.split(|byte| *byte == b'\n');
    let lines = lines.filter_map(|line| serde_json::from_slice(line).ok());
    Ok(lines.collect())
}

/// Returns the error of a folder in which a file cannot be created or written.
pub fn unwritable(folder: &Path, error: &std::io::Error) -> Error {
    let way_out = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "make room, and run the same command again"
        }
        _ => "choose another --dir, or make this one writable",
    };
    let folder = folder.display();
    Error::elsewhere(format!(
        "cannot write to the folder {folder}: {error}; {way_out}"
    ))
}

/// Makes the names in a folder durable.
pub fn sync(path: &Path) -> Result<(), Error> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    let synced = File::open(path).and_then(|folder| folder.sync_all());
    match synced {
        // Some network file systems cannot do this, and do not need it.
        Err(error) if error.kind() != ErrorKind::InvalidInput => Err(Error::at(path, &error)),
        _ => Ok(()),
    }
}

/// Returns the error of a link that could not be made.
pub fn no_link(path: &Path, error: &std::io::Error) -> Error {
    let text = format!("{} cannot be linked: {error}", path.display());
    match error.kind() {
        ErrorKind::Unsupported | ErrorKind::PermissionDenied => Error::never(format!(
            "{text}; results are published by hard links, so use a folder on another file system"
        )),
        _ => Error::elsewhere(text),
    }
}

/// Returns the name of this machine.
pub fn host() -> String {
    #[cfg(unix)]
    let name = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    #[cfg(not(unix))]
    let name = std::env::var("COMPUTERNAME").unwrap_or_default();
    let allowed = |c: char| c.is_ascii_alphanumeric() || ['-', '.', '_'].contains(&c);
    name.chars().filter(|c| allowed(*c)).collect()
}

/// Returns the part of a file's name that no other process uses: the machine, the process, and the
/// time, which tells apart processes of one number, in containers or after one another.
pub fn process_at(time: f64) -> String {
    let (host, pid, micros) = (host(), std::process::id(), (time * 1e6) as u64);
    format!("{host}~{pid}~{micros}")
}

/// Returns the seconds since 1970.
pub fn now() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_secs_f64()
}

/// Returns the SHA-256 of `bytes` in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
