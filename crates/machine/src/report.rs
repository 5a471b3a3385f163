//! The text forms of a [`Machine`]: the one-line reason and the whole report.
//!
//! Long lists are truncated, so that the report of a large machine stays readable; the accessors
//! return the full lists. Paths come from outside the program, so control characters in them are
//! escaped.
//!
//! The whole report is `#[inline]`: few programs call it, and the others should not have to compile
//! it.

use std::fmt::{self, Display};

use crate::cpus::CpuList;
use crate::files::shown;
use crate::machine::Machine;
use crate::quota::Quota;
use crate::topology::{Cache, CacheKind};

/// The report lists at most this many groups of a kind, and at most this many quotas.
const LISTED_MAX: usize = 8;

/// The one-line reason shows at most this many notes.
const NOTES_IN_REASON: usize = 2;

impl Machine {
    /// Explains the number of [default workers](Self::default_workers) in one line, such as `4 of
    /// 16 cpus: cgroup quota 4.0 cpus from /a/b, within affinity 0-7`. The source that determined
    /// the number comes first; those after `within` allow as many workers or more.
    ///
    /// # Examples
    /// ```
    /// use tidegate_machine::Machine;
    ///
    /// let machine = Machine::made_up("cpus 0-3\nL3 0-1 2-3".parse()?);
    /// assert_eq!(machine.reason(), "4 of 4 cpus: affinity unknown");
    /// # Ok::<(), tidegate_machine::TopologyError>(())
    /// ```
    #[must_use]
    pub fn reason(&self) -> String {
        let workers = self.default_workers();
        let mut sources = self.sources();
        // Only an unknown affinity is missing in the sources.
        let source = match sources.iter().position(|(allows, _)| *allows == workers) {
            Some(first) => sources.remove(first).1,
            None => match self.counted {
                Some(counted) => format!("affinity unknown, the system counts {counted}"),
                None => "affinity unknown".to_owned(),
            },
        };
        let mut line = format!("{workers} of {} cpus: {source}", self.cpus_online());
        let mut before = ", within ";
        for (_, name) in &sources {
            line += &format!("{before}{name}");
            before = ", ";
        }
        let shown = self.notes().len().min(NOTES_IN_REASON);
        for note in &self.notes()[..shown] {
            line += &format!("; {note}");
        }
        if self.notes().len() > shown {
            line += &format!("; and {} notes more", self.notes().len() - shown);
        }
        line
    }

    /// Names the quota that this number of workers exceeds, if any, such as `above cgroup quota 4.0
    /// cpus from /a/b`.
    ///
    /// # Examples
    /// ```
    /// let machine = tidegate_machine::Machine::read();
    /// assert_eq!(machine.excess(machine.default_workers()), None);
    /// ```
    #[must_use]
    pub fn excess(&self, workers: usize) -> Option<String> {
        let quota = self.quota().filter(|quota| workers > quota.workers())?;
        Some(format!("above cgroup {}", in_words(quota)))
    }

    /// Returns the known sources of the number of workers, each with the number that it allows. A
    /// source that may be the cause of another one precedes it: an engine may have set the
    /// affinity.
    fn sources(&self) -> Vec<(usize, String)> {
        let mut sources = Vec::new();
        for grant in self.grants() {
            sources.push((grant.cpus, grant.to_string()));
        }
        if let Some(quota) = self.quota() {
            sources.push((quota.workers(), format!("cgroup {}", in_words(quota))));
        }
        if let Some(cpus) = self.affinity() {
            sources.push((self.usable().len(), format!("affinity {cpus}")));
        }
        sources
    }
}

fn in_words(quota: &Quota) -> String {
    // Three decimals: the kernel grants at least a thousandth of a CPU.
    let cpus = (quota.cpus * 1000.0).round() / 1000.0;
    format!("quota {cpus:?} cpus from {}", shown(&quota.from))
}

impl Display for Machine {
    /// Formats the whole report, with a label and a value on each line.
    #[inline]
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&report(self))
    }
}

#[inline]
fn report(machine: &Machine) -> String {
    let topology = machine.topology();
    let mut text = String::new();
    let mut row = |label: &str, value: &dyn Display| text += &format!("{label:<10}{value}\n");
    row("workers", &machine.reason());
    row("online", topology.cpus());
    match machine.affinity() {
        Some(cpus) => row("affinity", cpus),
        None => row("affinity", &"unknown"),
    }
    if machine.quotas().is_empty() {
        row("quota", &"none found");
    }
    let listed = machine.quotas().len().min(LISTED_MAX);
    for quota in &machine.quotas()[..listed] {
        let file = shown(&quota.file);
        row("quota", &format_args!("{} ({file})", in_words(quota)));
    }
    if machine.quotas().len() > listed {
        let more = machine.quotas().len() - listed;
        row("quota", &format_args!("and {more} more"));
    }
    for grant in machine.grants() {
        row("engine", grant);
    }
    row("packages", &counted(&mut topology.packages().iter()));
    row("nodes", &counted(&mut topology.node_cpus()));
    row("cores", &counted(&mut topology.cores().iter()));
    if topology.caches().is_empty() {
        row("caches", &"unknown");
    }
    for caches in topology.caches().chunk_by(Cache::is_like) {
        let sharers = counted(&mut caches.iter().map(|cache| &cache.cpus));
        row("cache", &format_args!("{}, {sharers}", named(&caches[0])));
    }
    for note in machine.notes() {
        row("note", note);
    }
    text
}

/// Formats groups as in `2: 0-1 | 2-3`.
#[inline]
fn counted(groups: &mut dyn ExactSizeIterator<Item = &CpuList>) -> String {
    let count = groups.len();
    if count == 0 {
        return "unknown".to_owned();
    }
    let mut line = count.to_string();
    for (index, group) in groups.enumerate() {
        line += if index == 0 { ": " } else { " | " };
        if index == LISTED_MAX {
            line += &format!("and {} more", count - LISTED_MAX);
            break;
        }
        if group.is_empty() {
            line += "no cpus";
        } else {
            line += &group.to_string();
        }
    }
    line
}

/// Formats a cache as in `L1 data 32 KiB`.
#[inline]
fn named(cache: &Cache) -> String {
    let kind = match cache.kind {
        CacheKind::Data => " data",
        CacheKind::Instruction => " instruction",
        CacheKind::Unified => "",
    };
    let size = match cache.bytes {
        None => " of unknown size".to_owned(),
        Some(bytes) if bytes % (1 << 20) == 0 => format!(" {} MiB", bytes >> 20),
        Some(bytes) => format!(" {} KiB", bytes >> 10),
    };
    format!("L{}{kind}{size}", cache.level)
}
