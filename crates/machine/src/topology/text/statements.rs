//! Collects the statements of a description into a topology.
//!
//! Time and memory are bounded by the length of the text and [`CPUS_MAX`]: a list is expanded only
//! if [`CpuList`] accepts it, and no CPU is stored twice for the same statement name.

use super::super::{Cache, CacheKind, Node, Topology, insert};
use super::error::{Problem, quoted};
use super::{parse_group, parse_size, whole_number};
use crate::cpus::CpuList;

/// The maximum number of CPUs, as in Linux.
pub(super) const CPUS_MAX: usize = 8192;

const STATEMENTS: &str = "cpus, core, node, package and caches such as L1d, L1i or L2";

#[derive(Default)]
pub(super) struct Statements {
    topology: Topology,
    /// For each statement name, which CPUs are in one of its groups, in the topology's order.
    named: Vec<(String, Vec<bool>)>,
}

impl Statements {
    #[inline]
    pub(super) fn add(&mut self, name: &str, words: &[&str]) -> Result<(), Problem> {
        match name {
            "cpus" => self.cpus(words),
            _ if self.topology.cpus.is_empty() => {
                let what = format!("{} comes before the CPUs", quoted(name));
                Err(Problem::new(what, "a line such as \"cpus 0-7\" first"))
            }
            "core" => {
                once(name, self.topology.cores.is_empty())?;
                self.topology.cores = self.groups(name, words)?;
                Ok(())
            }
            "package" => {
                once(name, self.topology.packages.is_empty())?;
                self.topology.packages = self.groups(name, words)?;
                Ok(())
            }
            "node" => self.nodes(words),
            _ => match name.strip_prefix('L') {
                Some(which) => self.caches(name, which, words),
                None => {
                    let what = format!("{} is no statement", quoted(name));
                    Err(Problem::new(what, STATEMENTS))
                }
            },
        }
    }

    #[inline]
    pub(super) fn finish(self) -> Result<Topology, Problem> {
        let what = "nothing says which CPUs there are";
        let is_there = !self.topology.cpus.is_empty();
        require(is_there, what, "a line such as \"cpus 0-7\"")?;
        Ok(self.topology)
    }

    #[inline]
    fn cpus(&mut self, words: &[&str]) -> Result<(), Problem> {
        once("cpus", self.topology.cpus.is_empty())?;
        let [list] = words else {
            let what = format!("\"cpus\" has {} lists", words.len());
            return Err(Problem::new(what, "one such as 0-7 or 0-3,8-11"));
        };
        self.topology.cpus = parse_group(list)?;
        match self.topology.cpus.len() {
            ..=CPUS_MAX => Ok(()),
            cpus => Err(Problem::new(
                format!("these are {cpus} CPUs"),
                format!("up to {CPUS_MAX}"),
            )),
        }
    }

    #[inline]
    fn nodes(&mut self, words: &[&str]) -> Result<(), Problem> {
        once("node", self.topology.nodes.is_empty())?;
        any_group("node", words)?;
        let mut numbered = 0;
        for word in words {
            numbered += usize::from(word.split_once(':').is_some());
        }
        let is_alike = numbered == 0 || numbered == words.len();
        let what = "some nodes have a number and others have none";
        require(is_alike, what, "all as in 3:0-7, or all as in 0-7")?;
        for (index, word) in words.iter().enumerate() {
            let (number, list) = word.split_once(':').unwrap_or(("", word));
            let id = match numbered {
                0 => Some(index),
                _ => whole_number(number).and_then(|id| id.try_into().ok()),
            };
            let id = id.ok_or_else(|| {
                let what = format!("{} is no number of a node", quoted(number));
                Problem::new(what, "a whole number before the colon, as in 3:0-7")
            })?;
            // If nothing follows the colon, the node has memory but no CPUs.
            let cpus = match list {
                "" => CpuList::default(),
                _ => self.group("node", list)?,
            };
            let nodes = &mut self.topology.nodes;
            match nodes.binary_search_by_key(&id, |node| node.id) {
                Err(place) => nodes.insert(place, Node { id, cpus }),
                Ok(_) => {
                    let what = format!("there are two nodes with the number {id}");
                    return Err(Problem::new(what, "each number once"));
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn caches(&mut self, name: &str, which: &str, words: &[&str]) -> Result<(), Problem> {
        let (level, kind) = parse_cache(which).ok_or_else(|| {
            let allowed = "L1 to L255, with a d for one of data or an i for one of instructions";
            Problem::new(format!("{} is no cache", quoted(name)), allowed)
        })?;
        let sized = words
            .split_last()
            .and_then(|(last, others)| Some((last.strip_prefix("size=")?, others)));
        let (bytes, words) = match sized {
            None => (None, words),
            Some((size, words)) => {
                let bytes = parse_size(size).ok_or_else(|| {
                    let allowed = "whole numbers of bytes, or with K, M or G of units of 1024";
                    Problem::new(format!("{} is no size", quoted(size)), allowed)
                })?;
                (Some(bytes), words)
            }
        };
        for cpus in self.groups(name, words)? {
            let cache = Cache {
                level,
                kind,
                bytes,
                cpus,
            };
            insert(&mut self.topology.caches, cache);
        }
        Ok(())
    }

    #[inline]
    fn groups(&mut self, name: &str, words: &[&str]) -> Result<Vec<CpuList>, Problem> {
        any_group(name, words)?;
        let mut groups = Vec::new();
        for word in words {
            insert(&mut groups, self.group(name, word)?);
        }
        Ok(groups)
    }

    /// Parses a group. Its CPUs must exist and must not be in another group of the same name.
    #[inline]
    fn group(&mut self, name: &str, word: &str) -> Result<CpuList, Problem> {
        let group = parse_group(word)?;
        let (cpus, named) = (&self.topology.cpus, &mut self.named);
        let known = named.iter().position(|(known, _)| known == name);
        let place = known.unwrap_or(named.len());
        if known.is_none() {
            named.push((name.to_owned(), vec![false; cpus.len()]));
        }
        for &cpu in group.as_slice() {
            if !cpus.contains(cpu) {
                let what = format!("\"{name}\" has CPU {cpu}, which does not exist");
                return Err(Problem::new(what, "those that the line \"cpus\" has"));
            }
            if std::mem::replace(&mut named[place].1[cpus.rank(cpu)], true) {
                let what = format!("CPU {cpu} is in two groups of \"{name}\"");
                return Err(Problem::new(what, "groups without a CPU in common"));
            }
        }
        Ok(group)
    }
}

/// Rejects a second statement with this name.
#[inline]
fn once(name: &str, is_first: bool) -> Result<(), Problem> {
    let what = format!("\"{name}\" comes a second time");
    require(is_first, &what, "one line with all of it")
}

#[inline]
fn any_group(name: &str, words: &[&str]) -> Result<(), Problem> {
    let what = format!("\"{name}\" has no groups of CPUs");
    require(!words.is_empty(), &what, "one or more such as 0-3,8")
}

#[inline]
fn require(holds: bool, what: &str, allowed: &str) -> Result<(), Problem> {
    holds
        .then_some(())
        .ok_or_else(|| Problem::new(what, allowed))
}

/// Parses the level and the kind in `1d`.
#[inline]
fn parse_cache(which: &str) -> Option<(u8, CacheKind)> {
    let (digits, kind) = if let Some(digits) = which.strip_suffix('d') {
        (digits, CacheKind::Data)
    } else if let Some(digits) = which.strip_suffix('i') {
        (digits, CacheKind::Instruction)
    } else {
        (which, CacheKind::Unified)
    };
    // Reject level 0 and leading zeros, which would give a level a second name.
    let level = whole_number(digits).filter(|_| !digits.starts_with('0'))?;
    Some((level.try_into().ok()?, kind))
}
