//! Confines the program by the affinity of its threads.
//!
//! A thread inherits the mask of its creator. So a thread that is seen for the first time may have
//! been created before or after its creator was confined, or may have chosen its mask itself. It
//! counts as confined if its mask is what the creator's confinement may have been: see
//! [`is_confined`].

use super::look::threads;
use super::tree::{Member, Tree};
use nix::errno::Errno;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use std::collections::{BTreeMap, HashSet};
use tidegate_share::CpuMask;
use tidegate_share::confinement::{Record, ThreadId, confined, is_confined};

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
    /// The program's first thread, which is never forgotten.
    first: Option<ThreadId>,
    /// The sets to which threads may be confined now: at most two, the last one at the end.
    used: Vec<CpuMask>,
    /// Whether the last call was to free the threads, and has found none that was confined.
    was_free: bool,
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

impl Affinity {
    pub(super) fn new(record: Record, program: i32) -> Self {
        Self {
            record,
            program,
            known: BTreeMap::new(),
            first: None,
            used: Vec::new(),
            was_free: false,
        }
    }

    pub(super) fn record(&self) -> &Record {
        &self.record
    }

    /// Confines all threads to `chosen`, or gives them back their original masks. Call this after
    /// each walk: threads are created meanwhile, and a walk may miss some. `members` is what the
    /// last one has found.
    ///
    /// # Errors
    /// Returns an error if the record of a thread to be confined cannot be written, or if the
    /// threads cannot be found. Then no thread is confined that the record does not list.
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
        } else if self.first.is_none() {
            // No thread was ever confined.
            return Ok(());
        }
        let mut is_free = chosen.is_none();
        for _ in 0..PASSES {
            // The record describes a thread of which nothing is known by the first one that it
            // lists.
            members.sort_by_key(|member| member.pid != self.program);
            let changed = self.pass(&members, chosen)?;
            self.note_used(chosen);
            if !changed {
                break;
            }
            is_free = false;
            members = tree.walk().map_err(|error| error.to_string())?;
        }
        // One walk may miss a thread.
        if is_free && self.was_free {
            self.used.clear();
        }
        self.was_free = is_free;
        let alive: HashSet<(i32, u64)> = threads(&members)
            .map(|thread| (thread.tid, thread.started))
            .collect();
        // A walk may miss a process whose parent ends meanwhile, so a thread is forgotten only if
        // two walks in a row did not find it.
        self.known.retain(|id, known| {
            let is_missed = !alive.contains(&(signed(id.tid), id.started));
            let is_gone = is_missed && known.is_missed && Some(*id) != self.first;
            known.is_missed = is_missed;
            !is_gone
        });
        Ok(())
    }

    /// Gives all threads back what they had, and removes the record.
    pub(super) fn release(mut self, tree: &Tree) -> Result<(), String> {
        // The record restores what this does not reach. Only this knows the masks that threads have
        // chosen since the last look, and finds a process without a parent or an environment.
        if let Ok(members) = tree.walk() {
            let _ = self.confine(tree, members, None);
        }
        let restored = self.record.restore();
        restored.map(drop).map_err(|refusal| refusal.to_string())
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
                let set = self.set(id, member, chosen);
                changed |= match chosen {
                    Some(_) => set?,
                    // The record need not list a thread that is not confined.
                    None => set.unwrap_or(false),
                };
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
            let remembered = self.remember(id, original, now);
            if chosen.is_some() {
                remembered?;
            }
        }
        if wanted == now {
            return Ok(is_new);
        }
        match set_mask(id, &wanted) {
            Ok(()) => {
                self.note_set(id, Some(wanted));
                Ok(true)
            }
            Err(Errno::ESRCH) => Ok(false),
            // The thread runs as another user, and may have inherited its mask. Whoever restores
            // may set it.
            Err(Errno::EPERM) => {
                self.note_set(id, None);
                Ok(false)
            }
            // The processors are not its any more.
            Err(_) => self.leave_alone(id, now).map(|()| false),
        }
    }

    fn remember(&mut self, id: ThreadId, original: CpuMask, now: CpuMask) -> Result<(), String> {
        let recorded = self.record.thread(id, &original);
        recorded.map_err(|refusal| refusal.to_string())?;
        self.first.get_or_insert(id);
        let known = Known {
            original,
            set: Some(now),
            is_missed: false,
        };
        self.known.insert(id, known);
        Ok(())
    }

    /// Leaves a thread alone for good. The record learns the mask that the thread has chosen or
    /// been given, so that no other process restores the old one.
    fn leave_alone(&mut self, id: ThreadId, now: CpuMask) -> Result<(), String> {
        self.remember(id, now, now)?;
        self.note_set(id, None);
        Ok(())
    }

    fn note_set(&mut self, id: ThreadId, set: Option<CpuMask>) {
        if let Some(known) = self.known.get_mut(&id) {
            known.set = set;
        }
    }

    /// Returns the original mask of a thread of `member` that is not known, and has the mask `now`.
    fn original(&self, member: &Member, now: CpuMask) -> CpuMask {
        let originals = |pid| {
            let (tid, started) = (0, 0);
            let threads = self.known.range(ThreadId { pid, tid, started }..);
            let threads = threads.take_while(move |(id, _)| id.pid == pid);
            threads.map(|(_, known)| known.original)
        };
        let creators = originals(unsigned(member.pid)).chain(originals(unsigned(member.parent)));
        let first = self.first.and_then(|first| self.known.get(&first));
        let first = first.map(|known| known.original);
        let is_creator = |original: &CpuMask| is_confined(original, &self.used, &now);
        creators.chain(first).find(is_creator).unwrap_or(now)
    }

    /// Remembers the set to which threads may be confined, after a pass.
    fn note_used(&mut self, chosen: Option<&CpuMask>) {
        if let Some(set) = chosen.filter(|set| self.used.last() != Some(set)) {
            self.used.push(*set);
            let old = self.used.len().saturating_sub(2);
            self.used.drain(..old);
        }
    }
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
