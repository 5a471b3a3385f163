//! Finds or creates the table's file, checks it, reads it and writes it.

use crate::identity::boot;
use crate::layout::{Claim, HEAD, Head, LENGTH, ROW, ROWS, Row, Unfit, WORD, claim_at, row_at};
use crate::location::{Access, Location};
use crate::mapping;
use crate::refusal::{Kind, Refusal};
use crate::trusted::{self, FileId, Opened};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tidegate_sync::futex::SharedWord;
use tidegate_sync::thread::PrivateFile;

#[derive(Debug)]
pub(crate) struct Table {
    file: PrivateFile,
    path: PathBuf,
    id: FileId,
    change: Option<Arc<SharedWord>>,
}

impl Table {
    /// Opens the table at `location`. Returns `None` if the table is missing and `access` does not
    /// create it.
    pub(crate) fn open(location: &Location, access: Access) -> Result<Option<Self>, Refusal> {
        let path = location.path();
        if !trusted::folder(location, access)? {
            return Ok(None);
        }
        // If the file keeps disappearing before it can be opened, some program removes it on
        // purpose.
        for _ in 0..8 {
            match Self::of(path, access)? {
                Opened::Found(table) => match table.head()?.check(boot()) {
                    Ok(()) => return Ok(Some(table)),
                    Err(Unfit::Stale) if access == Access::Take => table.replace()?,
                    Err(unfit) => return Err(unfit.at(path)),
                },
                Opened::Missing if access != Access::Take => return Ok(None),
                Opened::Missing => create(path)?,
                Opened::Gone => {}
            }
        }
        let what = "is removed whenever it is made";
        Err(Refusal::of(Kind::Unreachable, path, what))
    }

    /// Checks whether a job could create the missing table at `location`, without creating anything
    /// that another process could see.
    pub(crate) fn could_be_made(location: &Location) -> Result<(), Refusal> {
        let path = location.path();
        // If the folder is missing too, check the folder that would contain it.
        let near = match location.folder() {
            Some(folder) if !folder.exists() => folder,
            _ => path,
        };
        unnamed(path, near).map(drop)
    }

    /// Removes a table that was created before the machine's last boot. Fails if a row is locked,
    /// because the table then belongs to another machine, which is running.
    fn replace(&self) -> Result<(), Refusal> {
        for index in 0..ROWS {
            if self.is_locked(index)? {
                let what = "is in use by another machine";
                return Err(Refusal::of(Kind::Unreachable, &self.path, what));
            }
        }
        // Only the holder of the head's lock removes the table, and only while the path still leads
        // to it. Otherwise, if two jobs started at the same time, both could find the table stale,
        // and the slower one would remove the new table of the faster one.
        if !self.lock_at(0)? || !self.is_current() {
            return Ok(());
        }
        trusted::remove(&self.path)
    }

    /// Opens the file at `path` if it can be trusted.
    fn of(path: &Path, access: Access) -> Result<Opened<Self>, Refusal> {
        let (file, id) = match trusted::open(path, access, check_file)? {
            Opened::Found(found) => found,
            Opened::Missing => return Ok(Opened::Missing),
            Opened::Gone => return Ok(Opened::Gone),
        };
        let mut table = Self {
            id,
            path: path.to_owned(),
            file,
            change: None,
        };
        if access != Access::Observe {
            let Some(change) = table.map(access)? else {
                return Ok(Opened::Gone);
            };
            table.change = Some(Arc::new(change));
        }
        Ok(Opened::Found(table))
    }

    /// Opens the file a second time and maps the word that counts changes. No locks may be taken
    /// through this open file description: a child made by `fork` keeps the mapping, the mapping
    /// keeps the description alive, and the description would keep its locks. Returns `None` if the
    /// path now leads to another file.
    fn map(&self, access: Access) -> Result<Option<SharedWord>, Refusal> {
        let Some(file) = trusted::open_again(&self.path, access, self.id)? else {
            return Ok(None);
        };
        let word = mapping::change(&file);
        let word = word.map_err(|error| Refusal::system(&self.path, "mapped", &error))?;
        Ok(Some(word))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the file, or an error if this process is a child of the process that opened it.
    fn file(&self) -> Result<&File, Refusal> {
        let what = "was opened by the parent of this process";
        let file = self.file.get();
        file.ok_or_else(|| Refusal::of(Kind::Unreachable, &self.path, what))
    }

    /// Returns whether the path still leads to this file.
    pub(crate) fn is_current(&self) -> bool {
        self.id.is_at(&self.path)
    }

    pub(crate) fn head(&self) -> Result<Head, Refusal> {
        let mut head = Head([0; HEAD]);
        self.read(&mut head.0, 0)?;
        Ok(head)
    }

    pub(crate) fn row(&self, index: usize) -> Result<Row, Refusal> {
        let mut bytes = [0; ROW];
        self.read(&mut bytes, row_at(index))?;
        Ok(Row::read(&bytes))
    }

    pub(crate) fn claim(&self, index: usize) -> Result<Claim, Refusal> {
        let mut bytes = [0; WORD];
        self.read(&mut bytes, claim_at(index))?;
        Ok(Claim(u64::from_ne_bytes(bytes)))
    }

    /// Only the row's owner, which holds the row's lock, may call this.
    pub(crate) fn write_row(&self, index: usize, row: &Row) -> Result<(), Refusal> {
        self.write(&row.to_bytes(), row_at(index))
    }

    /// Only the row's owner, which holds the row's lock, may call this.
    pub(crate) fn write_claim(&self, index: usize, claim: Claim) -> Result<(), Refusal> {
        self.write(&claim.to_bytes(), claim_at(index))
    }

    fn read(&self, bytes: &mut [u8], at: u64) -> Result<(), Refusal> {
        let read = self.file()?.read_exact_at(bytes, at);
        read.map_err(|_| Refusal::cut_off(&self.path))
    }

    fn write(&self, bytes: &[u8], at: u64) -> Result<(), Refusal> {
        trusted::check_limit(&self.path, at + bytes.len() as u64)?;
        let written = self.file()?.write_all_at(bytes, at);
        written.map_err(|error| Refusal::system(&self.path, "written", &error))
    }

    /// Takes the lock of a row. Returns `false` if another job holds it.
    pub(crate) fn lock(&self, index: usize) -> Result<bool, Refusal> {
        self.lock_at(row_at(index))
    }

    fn lock_at(&self, at: u64) -> Result<bool, Refusal> {
        mapping::lock(self.file()?, at)
            .map_err(|error| Refusal::system(&self.path, "locked", &error))
    }

    pub(crate) fn unlock(&self, index: usize) -> Result<(), Refusal> {
        mapping::unlock(self.file()?, row_at(index))
            .map_err(|error| Refusal::system(&self.path, "unlocked", &error))
    }

    /// Returns whether another job holds the lock of a row.
    pub(crate) fn is_locked(&self, index: usize) -> Result<bool, Refusal> {
        mapping::is_held(self.file()?, row_at(index))
            .map_err(|error| Refusal::system(&self.path, "asked for locks", &error))
    }

    /// Frees row `index` if its claim is in use but no job holds its lock. Returns whether it freed
    /// the row.
    pub(crate) fn sweep(&self, index: usize) -> Result<bool, Refusal> {
        if !self.lock(index)? {
            return Ok(false);
        }
        let claim = self.claim(index)?;
        if claim.is_in_use() {
            self.write_claim(index, claim.given_back())?;
        }
        self.unlock(index)?;
        Ok(claim.is_in_use())
    }

    /// Notifies the other jobs of a change.
    pub(crate) fn announce(&self) -> Result<(), Refusal> {
        self.file()?;
        let change = self.change.as_deref();
        let done = change.map_or(Ok(()), SharedWord::add_and_wake);
        done.map_err(|_| Refusal::cut_off(&self.path))
    }

    /// Returns the word that counts changes, or `None` for an observer.
    pub(crate) fn change(&self) -> Option<Arc<SharedWord>> {
        self.change.clone()
    }

    /// Sleeps for at most `limit` while the count of changes is `seen`.
    pub(crate) fn wait(&self, seen: u32, limit: Duration) -> Result<(), Refusal> {
        self.file()?;
        let change = self.change.as_deref();
        let done = change.map_or(Ok(()), |word| word.wait(seen, limit));
        done.map_err(|_| Refusal::cut_off(&self.path))
    }
}

/// Returns the user whose table this process uses. Fails if the process has more privileges than
/// its user.
pub(crate) fn user() -> Result<u32, Refusal> {
    if mapping::is_privileged() {
        let text = "a program with more rights than its user cannot use the table of jobs";
        return Err(Refusal::new(Kind::Untrusted, text.to_owned()));
    }
    Ok(mapping::user())
}

/// Returns whether `folder` is a folder that belongs to `user`.
pub(crate) fn is_folder_of(user: u32, folder: &Path) -> bool {
    fs::metadata(folder).is_ok_and(|found| found.is_dir() && found.uid() == user)
}

fn check_file(path: &Path, found: &fs::Metadata) -> Result<(), Refusal> {
    trusted::check_file(path, found)?;
    if found.len() != LENGTH as u64 {
        let bytes = found.len();
        let what = format!("is not a Tidegate table: it has {bytes} bytes instead of {LENGTH}");
        return Err(Refusal::no_table(path, what));
    }
    Ok(())
}

/// Creates the complete table before any other process can see it. Also succeeds if another job has
/// just created a table.
fn create(path: &Path) -> Result<(), Refusal> {
    let file = unnamed(path, path)?;
    match mapping::name_file(&file, path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(Refusal::system(path, "made", &error))
        }
        _ => Ok(()),
    }
}

/// Creates the complete table for `path` as an unnamed file in the parent folder of `near`.
fn unnamed(path: &Path, near: &Path) -> Result<File, Refusal> {
    let mut content = vec![0; LENGTH];
    content[..HEAD].copy_from_slice(&Head::fresh(boot()).0);
    trusted::unnamed(path, near, &content)
}
