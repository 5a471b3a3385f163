//! An attempt at an item, from its start until its result is published. The protocol is in
//! `docs/fan.md`.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::files::{self, host, no_link, now, process_at};
use crate::folder::{self, Folder};
use crate::name::Name;
use crate::result::{Origin, Written, differ};
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
            Ok(()) => files::sync(self.folder.path()),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                self.compare(&written, &result)
            }
            Err(error) => Err(no_link(&result, &error)),
        }
    }

    fn store(&mut self, written: &Written) -> Result<(), Error> {
        let stored = self.file.write_all(&written.bytes);
        let stored = stored.and_then(|()| self.file.sync_all());
        stored.map_err(|error| files::unwritable(self.folder.path(), &error))
    }

    /// Compares the result with the one that is published. Keeps it if they contradict each other.
    fn compare(&self, written: &Written, published: &Path) -> Result<(), Error> {
        let first = Written::read(published, self.folder.plan(), &self.item)?;
        if first.is_none_or(|first| first.agrees_with(written)) {
            return Ok(());
        }
        let kept = self.path.with_extension(folder::DIFFERENT);
        fs::rename(&self.path, &kept).map_err(|error| Error::at(&kept, &error))?;
        files::sync(self.folder.path())?;
        Err(differ(&self.item, published, &kept))
    }
}

fn create(folder: &Folder, path: &Path) -> Result<File, Error> {
    File::create_new(path).map_err(|error| files::unwritable(folder.path(), &error))
}

/// Removes the attempt's file. What it has published has another name by now.
impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}
