//! Opens and creates files to which no other user has access: the table, and the records of masks.

use crate::location::{Access, Location};
use crate::mapping;
use crate::refusal::{Kind, Refusal};
use std::fs::{self, File, FileType, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::path::Path;
use tidegate_sync::thread::PrivateFile;

/// Checks the table's folder if a job may create it, and creates it if `access` takes a seat.
/// Returns `false` if the folder is missing.
pub(crate) fn folder(location: &Location, access: Access) -> Result<bool, Refusal> {
    let Some(folder) = location.folder() else {
        return Ok(true);
    };
    if access == Access::Take {
        make_folder(folder)?;
    }
    let found = look_at(folder)?;
    found.map_or(Ok(false), |found| {
        check_folder(folder, &found).map(|()| true)
    })
}

/// Returns the metadata of the file at `path`, or `None` if there is none.
fn look_at(path: &Path) -> Result<Option<fs::Metadata>, Refusal> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Refusal::system(path, "looked at", &error)),
    }
}

/// Removes the file at `path` if there is one.
pub(crate) fn remove(path: &Path) -> Result<(), Refusal> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Refusal::system(path, "removed", &error))
        }
        _ => Ok(()),
    }
}

/// A file's device and inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileId(u64, u64);

impl FileId {
    pub(crate) fn of(found: &fs::Metadata) -> Self {
        Self(found.dev(), found.ino())
    }

    /// Returns whether `path` leads to this file.
    pub(crate) fn is_at(self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok_and(|found| Self::of(&found) == self)
    }
}

/// The result of opening a file.
pub(crate) enum Opened<T> {
    Missing,
    /// The file was removed or replaced during the check.
    Gone,
    Found(T),
}

/// Opens the file at `path` if `check` permits it.
pub(crate) fn open(
    path: &Path,
    access: Access,
    check: fn(&Path, &fs::Metadata) -> Result<(), Refusal>,
) -> Result<Opened<(PrivateFile, FileId)>, Refusal> {
    // Check the file before opening it: opening a device or a pipe can have side effects.
    match look_at(path)? {
        Some(found) => check(path, &found)?,
        None => return Ok(Opened::Missing),
    }
    let Some(file) = open_unchecked(path, access)? else {
        return Ok(Opened::Gone);
    };
    // Wrap the file before any other step, so that children made by `fork` do not keep it open.
    let file = PrivateFile::new(file);
    let opened = file.get().ok_or_else(|| Refusal::cut_off(path))?;
    let found = metadata(path, opened)?;
    // If the file has no links, it was removed after the check.
    if found.nlink() == 0 {
        return Ok(Opened::Gone);
    }
    check(path, &found)?;
    Ok(Opened::Found((file, FileId::of(&found))))
}

/// Opens the file at `path` once more. Returns `None` if the path now leads to another file.
pub(crate) fn open_again(path: &Path, access: Access, id: FileId) -> Result<Option<File>, Refusal> {
    let Some(file) = open_unchecked(path, access)? else {
        return Ok(None);
    };
    let found = metadata(path, &file)?;
    Ok((FileId::of(&found) == id).then_some(file))
}

fn open_unchecked(path: &Path, access: Access) -> Result<Option<File>, Refusal> {
    let mut options = mapping::options(false);
    match options.write(access != Access::Observe).open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(refused(path, &error)),
    }
}

fn metadata(path: &Path, file: &File) -> Result<fs::Metadata, Refusal> {
    let found = file.metadata();
    found.map_err(|error| Refusal::system(path, "looked at", &error))
}

/// Explains why a table cannot be opened. The system's own messages would be too vague.
fn refused(path: &Path, error: &io::Error) -> Refusal {
    match error.raw_os_error() {
        Some(libc::ELOOP) => Refusal::of(Kind::Untrusted, path, "is a symbolic link"),
        Some(libc::EISDIR) => Refusal::of(Kind::NoFile, path, "is a folder"),
        Some(libc::ENXIO) => Refusal::of(Kind::NoFile, path, "is no regular file"),
        _ => Refusal::system(path, "opened", error),
    }
}

fn make_folder(folder: &Path) -> Result<(), Refusal> {
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(Refusal::system(folder, "made", &error))
        }
        Err(_) => Ok(()),
        // The umask may have denied permissions to the owner, but other jobs of this user need
        // them.
        Ok(()) => fs::set_permissions(folder, Permissions::from_mode(0o700))
            .map_err(|error| Refusal::system(folder, "made", &error)),
    }
}

/// Checks that only this user has access to the file or folder at `path`.
fn check_owner(path: &Path, found: &fs::Metadata) -> Result<(), Refusal> {
    let (user, owner, mode) = (mapping::user(), found.uid(), found.mode() & 0o7777);
    let what = if owner != user {
        format!("is not yours: it belongs to user {owner}, not {user}")
    } else if mode & 0o077 != 0 {
        format!("is open to others: its mode is {mode:o}")
    } else {
        return Ok(());
    };
    Err(Refusal::of(Kind::Untrusted, path, what))
}

fn check_folder(folder: &Path, found: &fs::Metadata) -> Result<(), Refusal> {
    if !found.is_dir() {
        return Err(Refusal::of(Kind::Untrusted, folder, "is no folder"));
    }
    check_owner(folder, found)
}

/// Describes a non-regular file, for an error message.
fn word_for(kind: FileType) -> &'static str {
    match kind {
        kind if kind.is_dir() => "a folder",
        kind if kind.is_fifo() => "a pipe",
        kind if kind.is_socket() => "a socket",
        _ => "a device",
    }
}

/// Checks that the file at `path` is a regular file to which only this user has access.
pub(crate) fn check_file(path: &Path, found: &fs::Metadata) -> Result<(), Refusal> {
    if found.is_symlink() {
        return Err(Refusal::of(Kind::Untrusted, path, "is a symbolic link"));
    }
    if !found.is_file() {
        let what = format!("is {}", word_for(found.file_type()));
        return Err(Refusal::of(Kind::NoFile, path, what));
    }
    check_owner(path, found)?;
    let (mode, names) = (found.mode() & 0o7777, found.nlink());
    // An observer could read a file that is closed, but no job could ever take a seat in it.
    let what = if mode & 0o600 != 0o600 {
        format!("is closed to its owner: its mode is {mode:o}")
    } else if names != 1 {
        format!("has {names} names instead of one")
    } else {
        return Ok(());
    };
    Err(Refusal::of(Kind::Untrusted, path, what))
}

/// Checks that this process may write files up to byte `end`. A write beyond the process's limit
/// would kill it with a signal.
pub(crate) fn check_limit(path: &Path, end: u64) -> Result<(), Refusal> {
    let limit = mapping::file_size_limit();
    if end > limit {
        let what = format!("cannot be written: files of this process may have {limit} bytes");
        return Err(Refusal::of(Kind::Unreachable, path, what));
    }
    Ok(())
}

/// Creates a file with this content for `path`, without a name, in the parent folder of `near`. The
/// file disappears when it is closed, unless it gets a name.
pub(crate) fn unnamed(path: &Path, near: &Path, content: &[u8]) -> Result<File, Refusal> {
    let folder = match near.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    check_limit(path, content.len() as u64)?;
    let refuse = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => {
            let what = "cannot be made: its folder is missing, make that first";
            Refusal::of(Kind::Unreachable, path, what)
        }
        _ => Refusal::system(path, "made", &error),
    };
    let file = mapping::options(true).write(true).open(folder);
    let file = file.map_err(refuse)?;
    // As with the folder, the umask must not deny access to other jobs of this user.
    file.set_permissions(Permissions::from_mode(0o600))
        .map_err(refuse)?;
    // Writing allocates the file's blocks, so if the file system is full, the error occurs here.
    file.write_all_at(content, 0).map_err(refuse)?;
    Ok(file)
}
