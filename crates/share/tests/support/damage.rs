//! Everything that a job may find at the path of the table instead of a good table.

#![allow(dead_code, reason = "each test file uses its own part of this module")]

use super::sys;
use super::{Home, overwrite};
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use tidegate_share::Kind;

/// A way to damage the table in a [`Home`].
pub struct Damage {
    pub name: &'static str,
    /// Damages the table. Fails if the current user is not permitted to do it.
    pub make: fn(&Home) -> io::Result<()>,
    pub kind: Kind,
    /// Text that the refusal must contain.
    pub says: &'static str,
}

/// Calls `check` once for each kind of damage, each time in a new home. `check` must not change
/// anything.
pub fn each(check: impl Fn(&Home, &Damage)) {
    for damage in DAMAGES {
        let home = Home::new();
        if let Err(error) = (damage.make)(&home) {
            println!("skipped: {}: {error}", damage.name);
            continue;
        }
        let before = state(home.folder.path());
        check(&home, damage);
        assert_eq!(state(home.folder.path()), before, "{}", damage.name);
    }
}

/// Creates a kind of damage that jobs must reject with an error of kind `kind`.
const fn damage(
    kind: Kind,
    name: &'static str,
    make: fn(&Home) -> io::Result<()>,
    says: &'static str,
) -> Damage {
    Damage {
        name,
        make,
        kind,
        says,
    }
}

const NOBODY: u32 = 65_534;

#[rustfmt::skip]
const DAMAGES: &[Damage] = &[
    damage(Kind::Damaged, "empty", |home| with_length(home, 0), "has 0 bytes instead of 135168"),
    damage(Kind::Damaged, "one byte", |home| with_length(home, 1), "has 1 bytes"),
    damage(Kind::Damaged, "half a head", |home| with_length(home, 2048), "has 2048 bytes"),
    damage(Kind::Damaged, "a head", |home| with_length(home, 4096), "has 4096 bytes"),
    damage(Kind::Damaged, "half", |home| with_length(home, 70_000), "has 70000 bytes"),
    damage(Kind::Damaged, "short of a byte", |home| with_length(home, 135_167), "has 135167 bytes"),
    damage(Kind::Damaged, "one byte more", |home| with_length(home, 135_169), "has 135169 bytes"),
    damage(Kind::Damaged, "huge", |home| with_length(home, 1 << 40), "bytes instead of"),
    damage(
        Kind::Damaged,
        "zeros",
        |home| spoilt(home, &[0; 135_168]),
        "is not a table of this version",
    ),
    damage(
        Kind::Damaged,
        "ones",
        |home| spoilt(home, &[0xff; 135_168]),
        "is not a table of this version",
    ),
    damage(Kind::Damaged, "text", |home| spoilt(home, b"#!/bin/sh\necho hello\n"), "is not a table of this version"),
    damage(Kind::Damaged, "another version", |home| spoilt(home, &[1]), "is not a table of this version"),
    damage(Kind::NoFile, "a folder", |home| fs::create_dir(home.path()), "is a folder"),
    damage(Kind::NoFile, "a pipe", |home| sys::make_node(&home.path(), libc::S_IFIFO, (0, 0)), "is a pipe"),
    damage(Kind::NoFile, "a socket", |home| UnixListener::bind(home.path()).map(drop), "is a socket"),
    damage(Kind::NoFile, "a device", |home| sys::make_node(&home.path(), libc::S_IFCHR, (1, 3)), "is a device"),
    damage(Kind::Untrusted, "open to the group", |home| with_mode(home, 0o640), "its mode is 640"),
    damage(Kind::Untrusted, "open to others", |home| with_mode(home, 0o606), "its mode is 606"),
    damage(Kind::Untrusted, "read-only", |home| with_mode(home, 0o400), "its mode is 400"),
    damage(Kind::Untrusted, "foreign", |home| chown(good(home), Some(NOBODY), None), "belongs to user 65534, not"),
    damage(
        Kind::Untrusted,
        "two names",
        |home| fs::hard_link(good(home), home.folder.path().join("other")),
        "has 2 names instead of one",
    ),
    damage(Kind::Untrusted, "a link to a good table", |home| linked(home, true), "is a symbolic link"),
    damage(Kind::Untrusted, "a link to a file", |home| linked(home, false), "is a symbolic link"),
    damage(
        Kind::Untrusted,
        "a link to nowhere",
        |home| symlink(home.folder.path().join("nowhere"), home.path()),
        "is a symbolic link",
    ),
    damage(Kind::Untrusted, "a link to itself", |home| symlink(home.path(), home.path()), "is a symbolic link"),
];

/// Creates an undamaged table, and returns its path.
pub fn good(home: &Home) -> std::path::PathBuf {
    drop(home.seat("earlier"));
    home.path()
}

fn with_length(home: &Home, length: u64) -> io::Result<()> {
    File::options()
        .write(true)
        .open(good(home))?
        .set_len(length)
}

fn spoilt(home: &Home, bytes: &[u8]) -> io::Result<()> {
    good(home);
    overwrite(home, 0, bytes);
    Ok(())
}

fn with_mode(home: &Home, mode: u32) -> io::Result<()> {
    fs::set_permissions(good(home), Permissions::from_mode(mode))
}

fn linked(home: &Home, to_good: bool) -> io::Result<()> {
    let other = home.folder.path().join("other");
    if to_good {
        fs::rename(good(home), &other)?;
    } else {
        fs::write(&other, "foreign letters")?;
    }
    symlink(other, home.path())
}

/// Describes everything in a folder except access times.
pub fn state(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut lines: Vec<String> = entries.map(|path| line(&path)).collect();
    lines.push(line(folder));
    lines.sort();
    lines
}

fn line(path: &Path) -> String {
    let found = fs::symlink_metadata(path).unwrap();
    let who = (
        found.ino(),
        found.mode(),
        found.uid(),
        found.gid(),
        found.nlink(),
    );
    let when = (
        found.mtime(),
        found.mtime_nsec(),
        found.ctime(),
        found.ctime_nsec(),
    );
    let content = if found.is_file() && found.len() < 1 << 20 {
        format!("{:?}", fs::read(path).map(hash))
    } else {
        format!("{:?}", fs::read_link(path).ok())
    };
    format!(
        "{} {who:?} {} {when:?} {content}",
        path.display(),
        found.len()
    )
}

fn hash(bytes: Vec<u8>) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, mix)
}
