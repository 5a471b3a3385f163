//! The text format of a topology, for describing other machines.
//!
//! The parser rejects everything that it does not understand, and reports the line, what is wrong
//! there and what is allowed. The reader of `/sys` is lenient instead, because users cannot correct
//! those files. A printed topology has each core, cache, node and package once, in the order in
//! which [`Topology`] stores it, so equal topologies have equal texts.
//!
//! The printed text parses back to the same value for every parsed topology with at least one CPU.
//! For a topology from `/sys`, this holds only if no two groups of the same kind share a CPU.
//! Groups of different kinds may overlap, as they do in `/sys`; [`Topology::levels`] drops such
//! groups.
//!
//! This module opens no files. Quotas and affinity are not part of a topology.
//!
//! All functions here and in the submodules are `#[inline]`: few programs call them, and the others
//! should not have to compile them.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::{Cache, Node, Topology};
use crate::cpus::CpuList;
use error::Problem;
use statements::Statements;

pub use error::TopologyError;

mod error;
mod statements;
#[cfg(test)]
mod tests;

/// Units of sizes, as powers of two.
const UNITS: [(&str, u32); 3] = [("G", 30), ("M", 20), ("K", 10)];

impl FromStr for Topology {
    type Err = TopologyError;

    /// Parses one statement per line. A `#` starts a comment, and empty lines are ignored.
    ///
    /// | statement | meaning |
    /// |---|---|
    /// | `cpus 0-7` | the CPUs of the machine; must come first, and once |
    /// | `core 0-1 2-3` | the hardware threads of each core |
    /// | `L1d 0-1 2-3 size=32K` | the CPUs that share each level 1 data cache, and its size |
    /// | `L1i 0-1 2-3` | like `L1d`, for instruction caches; `L2` is for unified ones |
    /// | `node 0-3 4-7` | the NUMA nodes, numbered from 0 |
    /// | `node 2:0-3 5:4-7 6:` | the NUMA nodes with explicit numbers; the last has only memory |
    /// | `package 0-3 4-7` | the CPUs of each package |
    ///
    /// Each group is a [`CpuList`]. The groups of a statement must not overlap, and need not cover
    /// all CPUs. A cache level can have several lines, with the same size or with different ones.
    /// Sizes are in bytes, or in units of 1024, 1024² or 1024³ bytes with `K`, `M` or `G`.
    ///
    /// # Errors
    /// Returns an error if the text has anything else, or more CPUs than Linux supports.
    #[inline]
    fn from_str(text: &str) -> Result<Self, TopologyError> {
        let mut statements = Statements::default();
        let mut lines = 0;
        for line in text.lines() {
            lines += 1;
            let statement = line.split('#').next().unwrap_or(line);
            let words: Vec<&str> = statement.split_whitespace().collect();
            if let Some((name, words)) = words.split_first() {
                let added = statements.add(name, words);
                added.map_err(|problem| problem.at(lines))?;
            }
        }
        let topology = statements.finish();
        topology.map_err(|problem| problem.at(lines.max(1)))
    }
}

impl Display for Topology {
    #[inline]
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = format!("cpus {}", self.cpus);
        add(&mut text, "\ncore ", &mut self.cores.iter());
        for caches in self.caches.chunk_by(Cache::is_like) {
            let name = format!("\n{} ", caches[0].name());
            add(
                &mut text,
                &name,
                &mut caches.iter().map(|cache| &cache.cpus),
            );
            if let Some(bytes) = caches[0].bytes {
                text += &format!(" size={}", show_size(bytes));
            }
        }
        let mut before = "\nnode";
        for Node { id, cpus } in &self.nodes {
            text += &format!("{before} {id}:{cpus}");
            before = "";
        }
        add(&mut text, "\npackage ", &mut self.packages.iter());
        writeln!(out, "{text}")
    }
}

#[inline]
fn add(text: &mut String, mut before: &str, groups: &mut dyn Iterator<Item = &CpuList>) {
    for group in groups {
        *text += &format!("{before}{group}");
        before = " ";
    }
}

/// Writes a size in the largest unit that divides it.
#[inline]
fn show_size(bytes: u64) -> String {
    let mut units = UNITS.iter();
    match units.find(|(_, shift)| bytes > 0 && bytes % (1 << shift) == 0) {
        Some((unit, shift)) => format!("{}{unit}", bytes >> shift),
        None => bytes.to_string(),
    }
}

/// Parses a size as [`show_size`] writes it, or any other integer with or without a unit.
#[inline]
fn parse_size(text: &str) -> Option<u64> {
    let in_unit = |(unit, shift): &(&str, u32)| Some((text.strip_suffix(unit)?, *shift));
    let (number, shift) = UNITS.iter().find_map(in_unit).unwrap_or((text, 0));
    whole_number(number)?.checked_mul(1 << shift)
}

/// Parses a number made only of digits; Rust's own parser would accept a sign.
#[inline]
fn whole_number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|_| !text.starts_with('+'))
}

#[inline]
fn parse_group(text: &str) -> Result<CpuList, Problem> {
    text.parse().map_err(|_| Problem::list(text))
}
