//! Helpers for the tests of the table.

#![allow(dead_code, reason = "each test file uses its own part of this module")]

pub mod assault;
pub mod damage;
#[expect(
    unsafe_code,
    reason = "these tests fork, trace, stop and kill processes"
)]
pub mod sys;

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::PathBuf;
use sys::Traced;
use tempfile::TempDir;
use tidegate_share::{CpuMask, Location, Name, Report, Seat};
use tidegate_testkit::scale;

/// A temporary folder with a test's own table.
pub struct Home {
    pub folder: TempDir,
}

impl Home {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder for files");
        fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).expect("it is ours");
        Self { folder }
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("table.v1")
    }

    pub fn location(&self) -> Location {
        Location::at(self.path())
    }

    pub fn seat(&self, name: &str) -> Seat {
        Seat::take(&self.location(), &Name::new(name)).unwrap_or_else(|error| panic!("{error}"))
    }
}

/// Creates the report of a job that may run on the first `processors` CPUs and desires `desire` of
/// them.
pub fn wants(desire: usize, processors: usize) -> Report {
    Report {
        desire,
        ..Report::new(CpuMask::from_cpus(0..processors))
    }
}

/// Lets a child run to stop number `stop`. Returns `false` if the child ends earlier.
pub fn to_stop(child: &mut Traced, stop: usize) -> bool {
    (0..stop).all(|_| match child.step() {
        None => true,
        Some(end) => {
            assert_eq!(end, sys::WELL);
            false
        }
    })
}

/// For every n, starts a new child, lets it run to its n-th stop, and passes it to `then`. Returns
/// the number of stops. An ordinary run takes every third stop and begins at a random one; a soak
/// takes them all.
pub fn at_every_call(
    mut prepare: impl FnMut(),
    act: impl Fn() -> i32,
    mut then: impl FnMut(usize, &mut Traced),
) -> usize {
    let apart = if scale::<u8>() == 1 { 3 } else { 1 };
    let first = fastrand::usize(1..=apart);
    println!("soak: stop {first}, and from there on each that is {apart} later");
    for stop in (first..).step_by(apart) {
        prepare();
        let Some(mut child) = sys::trace(&act) else {
            println!("skipped: tracing a child is not permitted here");
            return usize::MAX;
        };
        if !to_stop(&mut child, stop) {
            return stop - 1;
        }
        then(stop, &mut child);
    }
    unreachable!()
}

/// The offset of the word that identifies the boot during which the table was created.
const BOOT_AT: u64 = 8;

/// Marks the table as created before the machine's last boot. First creates it if it is missing.
pub fn make_stale(home: &Home) {
    drop(home.seat("long ago"));
    overwrite(home, BOOT_AT, &[0x5a; 8]);
}

/// Writes into the table without following the protocol.
pub fn overwrite(home: &Home, at: u64, bytes: &[u8]) {
    let file = File::options().write(true).open(home.path()).unwrap();
    file.write_all_at(bytes, at).unwrap();
}
