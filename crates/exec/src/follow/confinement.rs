//! The means by which the program is confined.

use super::affinity::Affinity;
use super::quota::Leaf;
use super::tree::{Member, Tree};
use crate::watcher::{Identity, Watcher};
use crate::{How, say};
use std::io;
use std::path::Path;
use std::sync::Arc;
use tidegate_share::confinement::Record;
use tidegate_share::{CpuMask, Location};

/// What to do if `--how quota` is impossible.
const INSTEAD_OF_QUOTA: &str = "use --how affinity or auto";

/// How the program will be confined, chosen before it starts.
#[derive(Debug)]
pub struct Means {
    /// Without it, the program is not confined. Dropped before the watcher, which waits for its
    /// lock.
    record: Option<Record>,
    /// What gives the program its processors back if the command dies; there if the record is.
    watcher: Option<Arc<Watcher>>,
    /// Dropped after the watcher, which may be in the command's cgroup.
    leaf: Option<Leaf>,
    /// Whether affinity may replace the quota.
    is_auto: bool,
    reason: String,
    has_failed: bool,
}

impl Means {
    /// Prepares to confine the program as `how` says. The record is made beside the table at
    /// `location`. If something is missing, the program will not be confined.
    #[must_use]
    pub fn prepare(how: How, location: &Location) -> Self {
        Self::prepare_with(how, location, Path::new("/"), Watcher::start)
    }

    pub(super) fn prepare_with(
        how: How,
        location: &Location,
        root: &Path,
        watcher: impl FnOnce(&Path) -> io::Result<Watcher>,
    ) -> Self {
        let made = match how {
            How::Count => Ok(Self::none("--how count", false)),
            How::Affinity => Self::guarded(location, watcher, None, "affinity".into()),
            How::Quota | How::Auto => match Leaf::create(root) {
                Ok(leaf) => {
                    let reason = format!("the quota of {}", leaf.folder().display());
                    Self::guarded(location, watcher, Some(leaf), reason)
                }
                Err(why) if how == How::Auto => {
                    let reason = format!("affinity, because it gets no quota: {why}");
                    Self::guarded(location, watcher, None, reason)
                }
                Err(why) => Err(format!("{why}; {INSTEAD_OF_QUOTA}")),
            },
        };
        let made = made.unwrap_or_else(|why| Self::none(&why, true));
        let is_auto = how == How::Auto;
        Self { is_auto, ..made }
    }

    fn none(why: &str, has_failed: bool) -> Self {
        Self {
            record: None,
            watcher: None,
            leaf: None,
            is_auto: false,
            reason: format!("the program will not be confined: {why}"),
            has_failed,
        }
    }

    fn guarded(
        location: &Location,
        watcher: impl FnOnce(&Path) -> io::Result<Watcher>,
        leaf: Option<Leaf>,
        reason: String,
    ) -> Result<Self, String> {
        let mut record = Record::create(location).map_err(|refusal| refusal.to_string())?;
        if let Some(leaf) = &leaf {
            record
                .quota(leaf.folder())
                .map_err(|refusal| refusal.to_string())?;
        }
        match watcher(record.path()) {
            Ok(watcher) => Ok(Self {
                record: Some(record),
                watcher: Some(Arc::new(watcher)),
                leaf,
                is_auto: false,
                reason: format!("the program will be confined by {reason}"),
                has_failed: false,
            }),
            Err(error) => {
                // This removes the record. If it fails, the next process of this user does so.
                let _ = record.restore();
                Err(format!("cannot start its watcher: {error}"))
            }
        }
    }

    /// Returns the name of the record, the value of `TIDEGATE_EXEC` for the program.
    #[must_use]
    pub fn record(&self) -> Option<&str> {
        self.record.as_ref().map(Record::name)
    }

    /// Returns how the program will be confined, and why, in one line.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Returns whether the program will not be confined although it should be.
    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Returns the watcher, which is a child of the command but not of the program.
    pub(super) fn watcher(&self) -> Option<Identity> {
        self.watcher.as_ref().map(|watcher| watcher.identity())
    }

    /// Returns the watcher, for an owner that needs it longer than the confinement. Starts one if
    /// there is none.
    pub(crate) fn share_watcher(&mut self) -> io::Result<Arc<Watcher>> {
        let watcher = match self.watcher.take() {
            Some(watcher) => watcher,
            None => Arc::new(Watcher::without_record()?),
        };
        Ok(self.watcher.insert(watcher).clone())
    }

    /// Returns what confines the program, whose first process has this number and has just started.
    pub(super) fn of(self, program: i32) -> Confinement {
        let (Some(record), Some(watcher)) = (self.record, self.watcher) else {
            return Confinement::None;
        };
        let Some(leaf) = self.leaf else {
            return Confinement::Affinity(Affinity::new(record, program), watcher, None);
        };
        let Err(error) = leaf.take_in(program) else {
            return Confinement::Quota(record, watcher, leaf);
        };
        let why = format!("{}: {error}", leaf.folder().display());
        if self.is_auto {
            let how = "confined by affinity, because it gets no quota";
            say(&format!("the program is {how}: {why}"));
            return Confinement::Affinity(Affinity::new(record, program), watcher, Some(leaf));
        }
        say(&format!(
            "the program is not confined: {why}; {INSTEAD_OF_QUOTA}"
        ));
        // If this fails, the next process of this user removes the record.
        let _ = lift(record, watcher, leaf);
        Confinement::None
    }
}

/// What confines the running program.
#[derive(Debug)]
pub(super) enum Confinement {
    Quota(Record, Arc<Watcher>, Leaf),
    /// A leaf could not take the program in, and is removed at the end.
    Affinity(Affinity, Arc<Watcher>, Option<Leaf>),
    None,
}

impl Confinement {
    pub(super) fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    /// Confines the program to the processors `chosen` of `most`, or frees it. `members` is what
    /// the last walk has found.
    pub(super) fn confine(
        &mut self,
        tree: &Tree,
        members: Vec<Member>,
        chosen: Option<&[usize]>,
        most: usize,
    ) -> Result<(), String> {
        match self {
            Self::Quota(_, _, leaf) => leaf.confine(chosen, most),
            Self::Affinity(affinity, ..) => {
                let set = chosen.map(|chosen| CpuMask::from_cpus(chosen.iter().copied()));
                affinity.confine(tree, members, set.as_ref())
            }
            Self::None => Ok(()),
        }
    }

    /// Whether the record was removed, so that no process could restore what this confines.
    pub(super) fn is_lost(&self) -> bool {
        match self {
            Self::Quota(record, ..) => !record.is_there(),
            Self::Affinity(affinity, ..) => !affinity.record().is_there(),
            Self::None => false,
        }
    }

    /// Whether new threads must be confined one by one.
    pub(super) fn is_by_thread(&self) -> bool {
        matches!(self, Self::Affinity(..))
    }

    /// Frees the program for good, removes the record and ends the watcher.
    pub(super) fn release(self, tree: &Tree) -> Result<(), String> {
        match self {
            Self::Quota(record, watcher, leaf) => lift(record, watcher, leaf),
            Self::Affinity(affinity, watcher, leaf) => {
                let released = affinity.release(tree);
                drop((watcher, leaf));
                released
            }
            Self::None => Ok(()),
        }
    }
}

/// Lifts the quota for good, removes the record and ends the watcher.
fn lift(record: Record, watcher: Arc<Watcher>, leaf: Leaf) -> Result<(), String> {
    let restored = record.restore().map_err(|refusal| refusal.to_string());
    drop((watcher, leaf));
    restored.map(drop)
}
