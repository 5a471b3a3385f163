//! An attempt at an item, from its start until its result is published. The protocol is in
//! `docs/fan.md`.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::folder::{self, Folder};
use crate::name::Name;
use crate::result::{Origin, Written};
use crate::{Done, Error, Split};

/// A running attempt. Its file, which is empty until there is a result, shows others that it runs.
pub struct Attempt<'a> {
    folder: &'a Folder,
    item: Name,
    host: String,
    file: File,
    path: PathBuf,
    began: f64,
    clock: Instant,
}

impl<'a> Attempt<'a> {
    pub fn begin(folder: &'a Folder, item: &Name) -> Result<Self, Error> {
        let began = now();
        let stem = format!("{item}~{}", process_at(began));
        let path = folder.path().join(format!("{stem}.{}", folder::RUNNING));
        let file = create(folder, &path)?;
        Ok(Self {
            folder,
            item: item.clone(),
            host: host(),
            file,
            path,
            began,
            clock: Instant::now(),
        })
    }

    /// Publishes what the piece has found, unless another attempt has been faster.
    pub fn publish<P: Split>(mut self, done: &Done<P::Item, P::Out>) -> Result<(), Error> {
        let origin = Origin {
            host: self.host.clone(),
            pid: std::process::id(),
            began: self.began,
            seconds: self.clock.elapsed().as_secs_f64(),
        };
        let written = Written::new::<P>(self.folder.plan(), &self.item, done, origin)?;
        self.store(&written)?;
        let result = self.folder.result(&self.item);
        let mut linked = fs::hard_link(&self.path, &result);
        if linked
            .as_ref()
            .is_err_and(|error| error.kind() == ErrorKind::NotFound)
        {
            // The attempt's file was removed, perhaps by a user who took it for that of a killed one.
            self.file = create(self.folder, &self.path)?;
            self.store(&written)?;
            linked = fs::hard_link(&self.path, &result);
        }
        match linked {
            Ok(()) => folder::sync(self.folder.path()),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                self.compare(&written, &result)
            }
            Err(error) => Err(no_link(&result, &error)),
        }
    }

    fn store(&mut self, written: &Written) -> Result<(), Error> {
        let stored = self.file.write_all(&written.bytes);
        let stored = stored.and_then(|()| self.file.sync_all());
        stored.map_err(|error| folder::unwritable(self.folder.path(), &error))
    }

    /// Compares the result with the one that is published. Keeps it if they contradict each other.
    fn compare(&self, written: &Written, published: &Path) -> Result<(), Error> {
        let first = Written::read(published, self.folder.plan(), &self.item)?;
        if first.is_none_or(|first| first.agrees_with(written)) {
            return Ok(());
        }
        let kept = self.path.with_extension(folder::DIFFERENT);
        fs::rename(&self.path, &kept).map_err(|error| Error::at(&kept, &error))?;
        folder::sync(self.folder.path())?;
        Err(differ(&self.item, published, &kept))
    }
}

fn create(folder: &Folder, path: &Path) -> Result<File, Error> {
    File::create_new(path).map_err(|error| folder::unwritable(folder.path(), &error))
}

/// Returns the error of two results that contradict each other.
pub fn differ(item: &Name, published: &Path, other: &Path) -> Error {
    let [published, other] = [published, other].map(Path::display);
    Error::never(format!(
        "item {item} has two results: {published} and {other} differ; the program does not always compute the same, or its input has changed, or a file is damaged: remove {other} to keep the first, or the folder to begin anew"
    ))
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

/// Removes the attempt's file. What it has published has another name by now.
impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
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
