//! A topology as text, for machines that one does not have: `docs/topology.md` has the format, and examples.
//!
//! Reading refuses whatever it does not understand, with the line, what is wrong there and what is allowed: who writes a
//! machine down wants to hear of mistakes, other than who reads what a system tells of itself. Writing says every thing
//! once, in the order in which [`Topology`] has it, so that equal topologies are equal texts.
//!
//! Each read topology of at least one CPU is written so that reading it again gives the same; of those that a system tells,
//! each in which groups of a kind have no CPU in common. Groups that cut through each other are allowed, as they are
//! there; [`Topology::levels`] leaves them out.
//!
//! It does not open files, and knows nothing of quotas or affinity, which are no matter of topology.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::{Cache, Node, Topology};
use crate::cpus::CpuList;
use error::Wrong;
use statements::Statements;

pub use error::TopologyError;

mod error;
mod statements;
#[cfg(test)]
mod tests;

/// The units of sizes, each as a power of two.
const UNITS: [(&str, u32); 3] = [("G", 30), ("M", 20), ("K", 10)];

impl FromStr for Topology {
    type Err = TopologyError;

    /// Reads one statement from each line; what follows a `#` is a comment, and empty lines mean nothing.
    ///
    /// | statement | says |
    /// |---|---|
    /// | `cpus 0-7` | which CPUs there are; comes first, and once |
    /// | `core 0-1 2-3` | the hardware threads of each core |
    /// | `L1d 0-1 2-3 size=32K` | who shares a cache, here of level 1 for data, and its size; `L1i` is one for instructions, `L2` one for both |
    /// | `node 0-3 4-7` | the NUMA nodes, numbered from 0 on |
    /// | `node 2:0-3 5:4-7 6:` | the same with their own numbers; the last one is memory alone |
    /// | `package 0-3 4-7` | the CPUs of each package |
    ///
    /// Groups are lists as [`CpuList`] has them. Those of a statement have no CPU in common, and need not have all. A cache
    /// may come on several lines, with the same size or with others. Sizes are in bytes, or with `K`, `M` or `G` in units
    /// of 1024, 1024² or 1024³ bytes.
    ///
    /// # Errors
    /// Anything else, and more CPUs than the largest machines have.
    fn from_str(text: &str) -> Result<Self, TopologyError> {
        let mut statements = Statements::default();
        let mut lines = 0;
        for line in text.lines() {
            lines += 1;
            let said = line.split_once('#').map_or(line, |(said, _)| said);
            let words: Vec<&str> = said.split_whitespace().collect();
            if let Some((name, words)) = words.split_first() {
                statements
                    .add(name, words)
                    .map_err(|wrong| wrong.at(lines))?;
            }
        }
        statements.finish().map_err(|wrong| wrong.at(lines.max(1)))
    }
}

impl Display for Topology {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "cpus {}", self.cpus)?;
        write_groups(out, "core", &self.cores)?;
        let alike = |a: &Cache, b: &Cache| a.name() == b.name() && a.bytes == b.bytes;
        for caches in self.caches.chunk_by(alike) {
            out.write_str(&caches[0].name())?;
            for cache in caches {
                write!(out, " {}", cache.cpus)?;
            }
            match caches[0].bytes {
                None => writeln!(out)?,
                Some(bytes) => writeln!(out, " size={}", show_size(bytes))?,
            }
        }
        let nodes = self.nodes.iter();
        let numbered: Vec<String> = nodes
            .map(|Node { id, cpus }| format!("{id}:{cpus}"))
            .collect();
        write_groups(out, "node", &numbered)?;
        write_groups(out, "package", &self.packages)
    }
}

fn write_groups(out: &mut fmt::Formatter<'_>, name: &str, groups: &[impl Display]) -> fmt::Result {
    if groups.is_empty() {
        return Ok(());
    }
    out.write_str(name)?;
    groups
        .iter()
        .try_for_each(|group| write!(out, " {group}"))?;
    writeln!(out)
}

/// A size in the largest unit of which it is a whole number.
fn show_size(bytes: u64) -> String {
    let mut units = UNITS.iter();
    match units.find(|(_, shift)| bytes > 0 && bytes % (1 << shift) == 0) {
        Some((unit, shift)) => format!("{}{unit}", bytes >> shift),
        None => bytes.to_string(),
    }
}

/// What [`show_size`] shows, and any other number before a unit.
fn parse_size(text: &str) -> Option<u64> {
    let in_unit = |(unit, shift): &(&str, u32)| Some((text.strip_suffix(unit)?, *shift));
    let (number, shift) = UNITS.iter().find_map(in_unit).unwrap_or((text, 0));
    whole_number::<u64>(number)?.checked_mul(1 << shift)
}

/// A number in digits alone: what Rust parses may have a sign.
fn whole_number<T: FromStr>(text: &str) -> Option<T> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

/// A group as it stands in a statement.
fn parse_group(text: &str) -> Result<CpuList, Wrong> {
    text.parse().map_err(|_| Wrong::list(text))
}
