//! The text forms of a [`Machine`]: the one-line reason and the whole report.
//!
//! Long lists are truncated, so that the report of a large machine stays readable; the accessors
//! return the full lists. Paths come from outside the program, so control characters in them are
//! escaped.

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
        if !sources.is_empty() {
            let others: Vec<String> = sources.into_iter().map(|(_, name)| name).collect();
            line += &format!(", within {}", others.join(", "));
        }
        for note in self.notes().iter().take(NOTES_IN_REASON) {
            line += &format!("; {note}");
        }
        if self.notes().len() > NOTES_IN_REASON {
            line += &format!("; and {} notes more", self.notes().len() - NOTES_IN_REASON);
        }
        line
    }

    /// Returns the known sources of the number of workers, each with the number that it allows. A
    /// source that may be the cause of another one precedes it: an engine may have set the
    /// affinity.
    fn sources(&self) -> Vec<(usize, String)> {
        let grants = self.grants().iter();
        let mut sources: Vec<_> = grants
            .map(|grant| (grant.cpus, grant.to_string()))
            .collect();
        let quota = self.quota();
        sources.extend(quota.map(|it| (it.workers(), format!("cgroup {}", in_words(it)))));
        let affinity = self.affinity();
        sources.extend(affinity.map(|cpus| (self.usable().len(), format!("affinity {cpus}"))));
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
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        report(self, out)
    }
}

fn report(machine: &Machine, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    let topology = machine.topology();
    let mut row = |label: &str, value: &dyn Display| writeln!(out, "{label:<10}{value}");
    row("workers", &machine.reason())?;
    row("online", topology.cpus())?;
    match machine.affinity() {
        Some(cpus) => row("affinity", cpus)?,
        None => row("affinity", &"unknown")?,
    }
    if machine.quotas().is_empty() {
        row("quota", &"none found")?;
    }
    for quota in machine.quotas().iter().take(LISTED_MAX) {
        row(
            "quota",
            &format_args!("{} ({})", in_words(quota), shown(&quota.file)),
        )?;
    }
    if machine.quotas().len() > LISTED_MAX {
        row(
            "quota",
            &format_args!("and {} more", machine.quotas().len() - LISTED_MAX),
        )?;
    }
    for grant in machine.grants() {
        row("engine", grant)?;
    }
    row("packages", &counted(topology.packages()))?;
    let nodes: Vec<CpuList> = topology
        .nodes()
        .iter()
        .map(|node| node.cpus.clone())
        .collect();
    row("nodes", &counted(&nodes))?;
    row("cores", &counted(topology.cores()))?;
    if topology.caches().is_empty() {
        row("caches", &counted(&[]))?;
    }
    let alike = |a: &Cache, b: &Cache| (a.level, a.kind, a.bytes) == (b.level, b.kind, b.bytes);
    for caches in topology.caches().chunk_by(alike) {
        let sharers: Vec<CpuList> = caches.iter().map(|cache| cache.cpus.clone()).collect();
        row(
            "cache",
            &format_args!("{}, {}", named(&caches[0]), counted(&sharers)),
        )?;
    }
    machine
        .notes()
        .iter()
        .try_for_each(|note| row("note", note))
}

/// Formats groups as in `2: 0-1 | 2-3`.
fn counted(groups: &[CpuList]) -> String {
    if groups.is_empty() {
        return "unknown".to_owned();
    }
    let listed = groups.iter().take(LISTED_MAX);
    let words: Vec<String> = listed
        .map(|group| match group.is_empty() {
            true => "no cpus".to_owned(),
            false => group.to_string(),
        })
        .collect();
    let more = match groups.len().saturating_sub(LISTED_MAX) {
        0 => String::new(),
        more => format!(" | and {more} more"),
    };
    format!("{}: {}{more}", groups.len(), words.join(" | "))
}

/// Formats a cache as in `L1 data 32 KiB`.
fn named(cache: &Cache) -> String {
    let kind = match cache.kind {
        CacheKind::Data => " data",
        CacheKind::Instruction => " instruction",
        CacheKind::Unified => "",
    };
    let size = match cache.bytes {
        None => " of unknown size".to_owned(),
        Some(bytes) if bytes % (1 << 20) == 0 => {
            format!(" {} MiB", bytes >> 20)
        }
        Some(bytes) => format!(" {} KiB", bytes >> 10),
    };
    format!("L{}{kind}{size}", cache.level)
}
