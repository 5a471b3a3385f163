//! Confines the program by the affinity of its threads.
//!
//! A thread inherits the mask of its creator. So a thread that is seen for the first time may have
//! been created before or after its creator was confined, or may have chosen its mask itself. It
//! counts as confined if its mask is what the creator's confinement may have been.

use super::look::threads;
use super::tree::{Member, Tree};
use nix::errno::Errno;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use std::collections::{BTreeMap, HashSet};
use tidegate_share::CpuMask;
use tidegate_share::confinement::{Record, ThreadId};

/// The most passes over all threads until the next cycle. Each finds the threads that others have
/// created during the pass before, so two are the rule.
const PASSES: usize = 4;

/// The masks of the program's threads.
#[derive(Debug)]
pub(super) struct Affinity {
    record: Record,
    /// The number of the program's first process.
    program: i32,
    known: BTreeMap<ThreadId, Known>,
    /// The original mask of the program's first thread.
    first: Option<CpuMask>,
    /// The sets to which threads may be confined now: at most two, the last one at the end.
    used: Vec<CpuMask>,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    original: CpuMask,
    /// The mask that the command has set, or `None` if the thread has changed it since, or if the
    /// command may not set it.
    set: Option<CpuMask>,
    /// Whether the last walk has missed the thread.
    is_missed: bool,
}

impl Known {
    fn new(original: CpuMask, set: Option<CpuMask>) -> Self {
        Self {
            original,
            set,
            is_missed: false,
        }
    }
}

impl Affinity {
    pub(super) fn new(record: Record, program: i32) -> Self {
        Self {
            record,
            program,
            known: BTreeMap::new(),
            first: None,
            used: Vec::new(),
        }
    }

    pub(super) fn record(&self) -> &Record {
        &self.record
    }

    /// Confines all threads to `chosen`, or gives them back their original masks. `members` is what
    /// the last walk has found.
    ///
    /// # Errors
    /// Returns an error if the record cannot be written or the threads cannot be found. Then no
    /// thread is confined that the record does not list.
    pub(super) fn confine(
        &mut self,
        tree: &Tree,
        mut members: Vec<Member>,
        chosen: Option<&CpuMask>,
    ) -> Result<(), String> {
        if let Some(set) = chosen {
            self.record
                .chosen(set)
                .map_err(|refusal| refusal.to_string())?;
        }
        for _ in 0..PASSES {
            // The record describes a thread of which nothing is known by the first one that it
            // lists.
            members.sort_by_key(|member| member.pid != self.program);
            let changed = self.pass(&members, chosen)?;
            self.note_used(chosen, changed);
            if !changed {
                break;
            }
            members = tree.walk().map_err(|error| error.to_string())?;
        }
        let alive: HashSet<(i32, u64)> = threads(&members)
            .map(|thread| (thread.tid, thread.started))
            .collect();
        // A walk may miss a process whose parent ends meanwhile, so a thread is forgotten only if
        // two walks in a row did not find it.
        self.known.retain(|id, known| {
            let is_missed = !alive.contains(&(signed(id.tid), id.started));
            let is_gone = is_missed && known.is_missed;
            known.is_missed = is_missed;
            !is_gone
        });
        Ok(())
    }

    /// Gives all threads back what they had, and removes the record.
    pub(super) fn release(mut self, tree: &Tree) -> Result<(), String> {
        let members = tree.walk().map_err(|error| error.to_string());
        // The record restores what this does not reach.
        let widened = members.and_then(|members| self.confine(tree, members, None));
        let restored = self.record.restore().map_err(|refusal| refusal.to_string());
        widened.and(restored.map(drop))
    }

    /// Sets the masks of all threads. Returns whether other threads may need another pass.
    fn pass(&mut self, members: &[Member], chosen: Option<&CpuMask>) -> Result<bool, String> {
        let mut changed = false;
        for member in members {
            for thread in &member.threads {
                let id = ThreadId {
                    pid: unsigned(member.pid),
                    tid: unsigned(thread.tid),
                    started: thread.started,
                };
                changed |= self.set(id, member, chosen)?;
            }
        }
        Ok(changed)
    }

    /// Sets the mask of a thread. Returns whether the thread is new or its mask has changed.
    fn set(
        &mut self,
        id: ThreadId,
        member: &Member,
        chosen: Option<&CpuMask>,
    ) -> Result<bool, String> {
        let Ok(now) = mask_of(id) else {
            return Ok(false);
        };
        let (original, is_new) = match self.known.get(&id) {
            Some(Known { set: None, .. }) => return Ok(false),
            Some(known) if known.set != Some(now) => {
                self.leave_alone(id, now)?;
                return Ok(false);
            }
            Some(known) => (known.original, false),
            None => (self.original(member, now), true),
        };
        let wanted = chosen.map_or(original, |set| confined(&original, set));
        if is_new {
            if chosen.is_none() && wanted == now {
                return Ok(false);
            }
            self.remember(id, original, now)?;
        }
        if wanted == now {
            return Ok(is_new);
        }
        match set_mask(id, &wanted) {
            Ok(()) => {
                self.known.insert(id, Known::new(original, Some(wanted)));
                Ok(true)
            }
            Err(Errno::ESRCH) => Ok(false),
            // The thread runs as another user, and may have inherited its mask. Whoever restores
            // may set it.
            Err(Errno::EPERM) => {
                self.known.insert(id, Known::new(original, None));
                Ok(false)
            }
            // The processors are not its any more.
            Err(_) => self.leave_alone(id, now).map(|()| false),
        }
    }

    fn remember(&mut self, id: ThreadId, original: CpuMask, now: CpuMask) -> Result<(), String> {
        let recorded = self.record.thread(id, &original);
        recorded.map_err(|refusal| refusal.to_string())?;
        self.first.get_or_insert(original);
        let set = Some(now);
        self.known.insert(id, Known::new(original, set));
        Ok(())
    }

    /// Leaves a thread alone for good. The record learns the mask that the thread has chosen or
    /// been given, so that no other process restores the old one.
    fn leave_alone(&mut self, id: ThreadId, now: CpuMask) -> Result<(), String> {
        self.remember(id, now, now)?;
        self.known.insert(id, Known::new(now, None));
        Ok(())
    }

    /// Returns the original mask of a thread of `member` that is not known: that of its creator if
    /// it may have inherited the creator's confinement, and otherwise what it has `now`.
    fn original(&self, member: &Member, now: CpuMask) -> CpuMask {
        let threads_of = |pid: i32| {
            let id = |number| ThreadId {
                pid: unsigned(pid),
                tid: number,
                started: u64::from(number),
            };
            let all = self.known.range(id(0)..id(u32::MAX));
            all.map(|(_, known)| known.original)
        };
        // The creator itself may have ended.
        let creators = threads_of(member.pid)
            .chain(threads_of(member.parent))
            .chain(self.first);
        let inherits =
            |original: &CpuMask| self.used.iter().any(|set| confined(original, set) == now);
        creators.into_iter().find(inherits).unwrap_or(now)
    }

    /// Remembers the sets to which threads may be confined, after a pass.
    fn note_used(&mut self, chosen: Option<&CpuMask>, changed: bool) {
        match chosen {
            Some(set) if self.used.last() != Some(set) => {
                self.used.push(*set);
                let old = self.used.len().saturating_sub(2);
                self.used.drain(..old);
            }
            Some(_) => {}
            None if changed => {}
            None => self.used.clear(),
        }
    }
}

/// Returns the part of `original` that is in `set`, or all of it if there is none.
fn confined(original: &CpuMask, set: &CpuMask) -> CpuMask {
    let both = original.intersection(set);
    if both.is_empty() { *original } else { both }
}

fn mask_of(id: ThreadId) -> nix::Result<CpuMask> {
    let set = sched_getaffinity(Pid::from_raw(signed(id.tid)))?;
    let is_set = |cpu: &usize| set.is_set(*cpu).unwrap_or(false);
    Ok(CpuMask::from_cpus((0..CpuSet::count()).filter(is_set)))
}

fn set_mask(id: ThreadId, mask: &CpuMask) -> nix::Result<()> {
    let mut set = CpuSet::new();
    for cpu in mask.cpus() {
        set.set(cpu)?;
    }
    sched_setaffinity(Pid::from_raw(signed(id.tid)), &set)
}

/// The kernel's numbers of processes and threads are positive and below 2^22.
fn unsigned(number: i32) -> u32 {
    u32::try_from(number).unwrap_or(0)
}

fn signed(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(0)
}
