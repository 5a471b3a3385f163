//! Lists all directories, then digests all files, serially or in parallel.
//!
//! Directories are listed level by level, and all directories of a level in parallel. So a deep
//! tree requires neither a deep stack nor many open files: every task has only one directory or
//! file open. The files of the whole tree then form one range, which joins halve down to single
//! files.

use std::ffi::OsStr;
use std::path::Path;

use super::tree::{Folder, Outcome, What};
use crate::program::Progress;
use crate::runtime::Runtime;

/// A file to digest, and where to store the outcome.
struct Job<'a> {
    folder: &'a Path,
    name: &'a OsStr,
    outcome: &'a mut Outcome,
}

impl Job<'_> {
    fn run(&mut self, progress: &Progress) {
        *self.outcome = Outcome::of(&self.folder.join(self.name), progress);
    }
}

/// Lists all directories below `root` without reading any file. `each` lists those of a level.
pub(crate) fn list(root: &mut Folder, mut each: impl FnMut(&mut [&mut Folder])) {
    let mut level = vec![root];
    while !level.is_empty() {
        each(&mut level);
        level = below(level);
    }
}

pub(crate) fn serial(root: &mut Folder, progress: &Progress) {
    list(root, |level| {
        level.iter_mut().for_each(|folder| folder.list())
    });
    for job in &mut jobs(root) {
        job.run(progress);
    }
}

pub(crate) fn parallel<R: Runtime>(fork: &mut R::Fork<'_>, root: &mut Folder, progress: &Progress) {
    list(root, |level| {
        each::<R, _>(fork, level, &|folder| folder.list())
    });
    each::<R, _>(fork, &mut jobs(root), &|job| job.run(progress));
}

/// Calls `body` on every item, with joins that halve the range down to single items.
fn each<R: Runtime, T: Send>(
    fork: &mut R::Fork<'_>,
    items: &mut [T],
    body: &(impl Fn(&mut T) + Sync),
) {
    match items {
        [] => {}
        [item] => body(item),
        _ => {
            let (left, right) = items.split_at_mut(items.len() / 2);
            R::join(
                fork,
                move |fork| each::<R, T>(fork, left, body),
                move |fork| each::<R, T>(fork, right, body),
            );
        }
    }
}

/// Returns all subdirectories of the directories in `level`.
fn below(level: Vec<&mut Folder>) -> Vec<&mut Folder> {
    level
        .into_iter()
        .flat_map(|folder| &mut folder.entries)
        .filter_map(|entry| match &mut entry.what {
            What::Folder(folder) => Some(&mut **folder),
            _ => None,
        })
        .collect()
}

fn jobs(root: &mut Folder) -> Vec<Job<'_>> {
    let mut jobs = Vec::new();
    let mut folders = vec![root];
    while let Some(Folder { path, entries, .. }) = folders.pop() {
        for entry in entries {
            match &mut entry.what {
                What::Folder(folder) => folders.push(folder),
                What::File(outcome) => jobs.push(Job {
                    folder: path,
                    name: &entry.name,
                    outcome,
                }),
                What::Link | What::Special => {}
            }
        }
    }
    jobs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_removed_after_listing_has_vanished() {
        let path = std::env::temp_dir().join(format!("tidegate-vanish-{}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join("stays"), "1").unwrap();
        std::fs::write(path.join("goes"), "2").unwrap();
        let mut root = Folder {
            path: path.clone(),
            ..Folder::default()
        };
        root.list();
        std::fs::remove_file(path.join("goes")).unwrap();
        for job in &mut jobs(&mut root) {
            job.run(&Progress::default());
        }
        std::fs::remove_dir_all(&path).unwrap();
        let vanished: Vec<_> = root
            .entries
            .iter()
            .map(|entry| match &entry.what {
                What::File(Outcome::Failed(trouble)) => trouble.vanished,
                What::File(Outcome::Read(_)) => false,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(vanished, [true, false]);
    }
}
