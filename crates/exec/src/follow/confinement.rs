//! The means by which the program is confined.

use super::affinity::Affinity;
use super::quota::Leaf;
use super::tree::{Member, Tree};
use crate::watcher::Watcher;
use crate::{How, say};
use std::io::{self, ErrorKind};
use std::path::Path;
use tidegate_share::confinement::Record;
use tidegate_share::{CpuMask, Location};

/// What to do if `--how quota` is impossible.
const INSTEAD_OF_QUOTA: &str = "use --how affinity or auto";

/// How the program will be confined, chosen before it starts.
#[derive(Debug)]
pub struct Means {
    /// Without it, the program is not confined.
    location: Option<Location>,
    /// Without it, the program is confined by affinity.
    leaf: Option<Leaf>,
    tree: Tree,
    /// Whether affinity may replace the quota.
    is_auto: bool,
    watch: Watch,
    reason: String,
    has_failed: bool,
}

/// Starts the watcher of the record at a path.
pub(super) type Watch = fn(&Path) -> io::Result<Watcher>;

impl Means {
    /// Prepares to confine the program as `how` says. The record will be beside the table at
    /// `location`. If something is missing, the program will not be confined.
    #[must_use]
    pub fn prepare(how: How, location: &Location) -> Self {
        Self::prepare_with(how, location, Path::new("/"), Watcher::start)
    }

    pub(super) fn prepare_with(how: How, location: &Location, root: &Path, watch: Watch) -> Self {
        let command = i32::try_from(std::process::id()).unwrap_or(0);
        let tree = || Tree::new(Path::new("/proc").into(), command, Vec::new());
        let by = |leaf: Option<Leaf>, means: String| Self {
            location: Some(location.clone()),
            leaf,
            tree: tree(),
            is_auto: how == How::Auto,
            watch,
            reason: format!("the program will be confined by {means}"),
            has_failed: false,
        };
        let none = |why: &str, has_failed| Self {
            location: None,
            leaf: None,
            tree: tree(),
            is_auto: false,
            watch,
            reason: format!("the program will not be confined: {why}"),
            has_failed,
        };
        if how == How::Count {
            return none("--how count", false);
        }
        if let Err(refusal) = Record::check(location) {
            return none(&refusal.to_string(), true);
        }
        if how == How::Affinity {
            return by(None, "affinity".to_owned());
        }
        match Leaf::create(root) {
            Ok(leaf) => {
                let means = format!("the quota of {}", leaf.folder().display());
                by(Some(leaf), means)
            }
            Err(why) if how == How::Auto => {
                let means = format!("affinity, because it gets no quota: {why}");
                by(None, means)
            }
            Err(why) => none(&format!("{why}; {INSTEAD_OF_QUOTA}"), true),
        }
    }

    /// Returns whether the program may be confined, so that there may be a record.
    #[must_use]
    pub fn may_confine(&self) -> bool {
        self.location.is_some()
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

    /// Calls `start`, which starts the program, within the program's cgroup if there is one. The
    /// processes that this process has started before do not belong to the program.
    pub fn start<T>(&mut self, start: impl FnOnce() -> T) -> T {
        self.tree.leave_out_all();
        self.move_by(Leaf::enter);
        let started = start();
        self.move_by(Leaf::leave);
        started
    }

    /// If the kernel refuses to move the command, gives the leaf up, which moves the command out.
    fn move_by(&mut self, moves: fn(&Leaf) -> Result<(), String>) {
        let Some(Err(why)) = self.leaf.as_ref().map(moves) else {
            return;
        };
        self.leaf = None;
        if self.is_auto {
            let how = "confined by affinity, because it gets no quota";
            say(&format!("the program is {how}: {why}"));
        } else {
            self.location = None;
            say(&format!(
                "the program is not confined: {why}; {INSTEAD_OF_QUOTA}"
            ));
        }
    }

    /// Returns the processes of the program, whose first one has this number, and what confines them.
    pub(super) fn of(self, program: i32) -> (Tree, Confinement) {
        let ready = self.location.map(|location| Ready {
            location,
            program,
            leaf: self.leaf,
            watch: self.watch,
            has_waited: false,
        });
        let confinement = ready.map_or(Confinement::None, Confinement::Ready);
        (self.tree, confinement)
    }
}

/// What is needed to confine the program for the first time.
#[derive(Debug)]
pub(super) struct Ready {
    location: Location,
    /// The number of the program's first process.
    program: i32,
    leaf: Option<Leaf>,
    watch: Watch,
    /// Whether the user knows that the program is confined only later.
    has_waited: bool,
}

impl Ready {
    /// Creates the record and starts its watcher, which `tree` leaves out. Returns `None` if the
    /// system has no process for the watcher now; it may have one later.
    fn confinement(&mut self, tree: &mut Tree) -> Result<Option<Confinement>, String> {
        let record = Record::create(&self.location);
        let mut record = record.map_err(|refusal| refusal.to_string())?;
        let watcher = match self.guard(&mut record) {
            Ok(watcher) => watcher,
            Err(error) => {
                // This removes the record. If it fails, the next process of this user does so.
                let _ = record.restore();
                if !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::OutOfMemory) {
                    return Err(error.to_string());
                }
                if !std::mem::replace(&mut self.has_waited, true) {
                    say(&format!("the program is not confined yet: {error}"));
                }
                return Ok(None);
            }
        };
        tree.leave_out(watcher.identity());
        Ok(Some(match self.leaf.take() {
            Some(leaf) => Confinement::Quota(record, watcher, leaf),
            None => Confinement::Affinity(Affinity::new(record, self.program), watcher),
        }))
    }

    /// Records the cgroup, if there is one, and starts the watcher of the record.
    fn guard(&self, record: &mut Record) -> io::Result<Watcher> {
        if let Some(leaf) = &self.leaf {
            let recorded = record.quota(leaf.folder());
            recorded.map_err(|refusal| io::Error::other(refusal.to_string()))?;
        }
        (self.watch)(record.path()).map_err(|error| {
            let why = format!("cannot start its watcher: {error}");
            io::Error::new(error.kind(), why)
        })
    }
}

/// What confines the running program. A record is dropped before its watcher, which waits for its
/// lock.
#[derive(Debug)]
pub(super) enum Confinement {
    /// Nothing: the program was never confined.
    Ready(Ready),
    Quota(Record, Watcher, Leaf),
    Affinity(Affinity, Watcher),
    /// Nothing, for good.
    None,
}

impl Confinement {
    pub(super) fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    pub(super) fn is_ready(&self) -> bool {
        matches!(self, Self::Ready(_))
    }

    /// Confines the program to the processors `chosen` of `most`, or frees it. `members` is what
    /// the last walk has found.
    pub(super) fn confine(
        &mut self,
        tree: &mut Tree,
        members: Vec<Member>,
        chosen: Option<&[usize]>,
        most: usize,
    ) -> Result<(), String> {
        if let Self::Ready(ready) = self {
            match ready.confinement(tree)? {
                Some(confinement) => *self = confinement,
                None => return Ok(()),
            }
        }
        match self {
            Self::Quota(_, _, leaf) => leaf.confine(chosen, most),
            Self::Affinity(affinity, _) => {
                let set = chosen.map(|chosen| CpuMask::from_cpus(chosen.iter().copied()));
                affinity.confine(tree, members, set.as_ref())
            }
            Self::Ready(_) | Self::None => Ok(()),
        }
    }

    /// Whether the record was removed, so that no process could restore what this confines.
    pub(super) fn is_lost(&self) -> bool {
        match self {
            Self::Quota(record, ..) => !record.is_there(),
            Self::Affinity(affinity, _) => !affinity.record().is_there(),
            Self::Ready(_) | Self::None => false,
        }
    }

    /// Whether new threads must be confined one by one.
    pub(super) fn is_by_thread(&self) -> bool {
        matches!(self, Self::Affinity(..))
    }

    /// Frees the program for good, removes the record and ends the watcher.
    pub(super) fn release(self, tree: &Tree) -> Result<(), String> {
        match self {
            Self::Quota(record, watcher, leaf) => {
                let restored = record.restore().map_err(|refusal| refusal.to_string());
                drop((watcher, leaf));
                restored.map(drop)
            }
            Self::Affinity(affinity, watcher) => {
                let released = affinity.release(tree);
                drop(watcher);
                released
            }
            Self::Ready(_) | Self::None => Ok(()),
        }
    }
}
