//! Files that are closed in a child made by `fork`.
//!
//! A child shares its parent's open files. A lock on such a file lasts until every process that
//! shares the open file has closed it. A handler that runs in the child before `fork` returns
//! therefore closes each [`PrivateFile`]. The handler walks over a list that only grows, takes no
//! locks and calls only `close`.
//!
//! The handler misses a file in two kinds of children: a child that another thread forks after the
//! file was opened but before [`PrivateFile::new`], and a child made without the C library. In
//! these children, `exec` closes the file if it was opened with close-on-exec.

use super::Process;
use std::fs::File;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, Ordering};

/// A file that children made by `fork` close automatically.
#[derive(Debug)]
pub struct PrivateFile {
    /// In a child, the handler has closed the descriptor, and this field is never used again.
    file: ManuallyDrop<File>,
    entry: &'static Entry,
    process: Process,
}

/// A descriptor that the handler closes in children, or -1. Only the `PrivateFile` that holds the
/// entry writes the descriptor; the handler reads it.
#[derive(Debug)]
struct Entry {
    descriptor: AtomicI32,
    next: AtomicPtr<Entry>,
}

const NONE: i32 = -1;

/// The head of the list of all entries. Entries are never freed.
static ENTRIES: AtomicPtr<Entry> = AtomicPtr::new(std::ptr::null_mut());

fn entries() -> impl Iterator<Item = &'static Entry> {
    let follow = |link: &AtomicPtr<Entry>| {
        // Acquire pairs with the Release in `enter`.
        let entry = link.load(Ordering::Acquire);
        // SAFETY: the pointer is null, or comes from a leaked box.
        unsafe { entry.as_ref() }
    };
    std::iter::successors(follow(&ENTRIES), move |entry| follow(&entry.next))
}

/// Adds a descriptor to the list. Uses a free entry if the list has one.
fn enter(descriptor: i32) -> &'static Entry {
    let take = |entry: &&Entry| {
        let slot = &entry.descriptor;
        // Relaxed: the descriptor publishes no other data, and the handler reads it in the child's
        // copy of this memory.
        slot.compare_exchange(NONE, descriptor, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    };
    if let Some(entry) = entries().find(take) {
        return entry;
    }
    let entry: &'static Entry = Box::leak(Box::new(Entry {
        descriptor: AtomicI32::new(descriptor),
        next: AtomicPtr::default(),
    }));
    let push = |first| {
        // Relaxed: the Release below publishes this together with the entry.
        entry.next.store(first, Ordering::Relaxed);
        Some(std::ptr::from_ref(entry).cast_mut())
    };
    // Release pairs with the Acquire in `entries`. Relaxed for the load: the loaded pointer is only
    // stored in the new entry.
    let pushed = ENTRIES.fetch_update(Ordering::Release, Ordering::Relaxed, push);
    debug_assert!(pushed.is_ok(), "it always has a next value");
    entry
}

extern "C" fn close_all() {
    for entry in entries() {
        // Relaxed: as in `enter`.
        imp::close(entry.descriptor.swap(NONE, Ordering::Relaxed));
    }
}

impl PrivateFile {
    /// Takes ownership of a newly opened file.
    #[must_use]
    pub fn new(file: File) -> Self {
        static WATCHED: AtomicBool = AtomicBool::new(false);
        super::fork::watch();
        super::fork::once(&WATCHED, close_all);
        Self {
            entry: enter(imp::descriptor(&file)),
            file: ManuallyDrop::new(file),
            process: Process::this(),
        }
    }

    /// Returns the file, or `None` in a child of the process that opened it.
    #[must_use]
    pub fn get(&self) -> Option<&File> {
        (self.process == Process::this()).then(|| self.file.deref())
    }
}

impl Drop for PrivateFile {
    fn drop(&mut self) {
        if self.process == Process::this() {
            // Relaxed: as in `enter`.
            self.entry.descriptor.store(NONE, Ordering::Relaxed);
            // SAFETY: the file is dropped only here, and not used afterwards.
            unsafe { ManuallyDrop::drop(&mut self.file) };
        }
    }
}

#[cfg(all(unix, not(any(loom, miri))))]
mod imp {
    use std::fs::File;
    use std::os::fd::AsRawFd;

    pub(super) fn descriptor(file: &File) -> i32 {
        file.as_raw_fd()
    }

    pub(super) fn close(descriptor: i32) {
        if descriptor >= 0 {
            // SAFETY: in the child, the descriptor is a copy of a descriptor that one of the
            // parent's `PrivateFile`s owns. The child's copy of that `PrivateFile` neither uses nor
            // closes it. `close` may be called between `fork` and `exec`.
            unsafe { libc::close(descriptor) };
        }
    }
}

#[cfg(not(all(unix, not(any(loom, miri)))))]
mod imp {
    use std::fs::File;

    pub(super) fn descriptor(_: &File) -> i32 {
        super::NONE
    }

    pub(super) fn close(_: i32) {}
}

#[cfg(all(test, unix, not(any(loom, miri))))]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    fn is_open(descriptor: i32) -> bool {
        // SAFETY: the call only queries a descriptor and accepts any number.
        unsafe { libc::fcntl(descriptor, libc::F_GETFD) >= 0 }
    }

    /// The child finds the file closed. If the child opens another file under the same number, that
    /// file stays open.
    #[test]
    fn child_closes_private_file_only_once() {
        let file = PrivateFile::new(File::open("/dev/null").unwrap());
        let descriptor = file.get().unwrap().as_raw_fd();
        // SAFETY: the child only queries, opens and closes descriptors and exits. It takes no lock
        // that another thread could hold.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let closed = !is_open(descriptor) && file.get().is_none();
            // This file gets the descriptor that has become free. The handler must not close it
            // again.
            let other = File::open("/dev/null").unwrap();
            let same = other.as_raw_fd() == descriptor;
            drop(file);
            let fine = closed && same && is_open(descriptor);
            // SAFETY: this ends the child without running any of the parent's code.
            unsafe { libc::_exit(i32::from(!fine)) }
        }
        let mut status = 0;
        // SAFETY: `status` is live and writable.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(status, 0, "the child had the file, or closed it twice");
        assert!(is_open(descriptor) && file.get().is_some());
        drop(file);
    }

    #[test]
    fn entries_are_used_again() {
        let before = entries().count();
        for _ in 0..100 {
            drop(PrivateFile::new(File::open("/dev/null").unwrap()));
        }
        // Other tests of this program may have added entries.
        assert!(entries().count() < before + 50);
    }
}
