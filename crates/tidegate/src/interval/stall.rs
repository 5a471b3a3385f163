//! Reports a stall: lists the intervals that wait, and what they wait for.
//!
//! A stalled tree has no task left, so nothing in it changes any more. The report covers the
//! watched intervals ([`Tree::watch`]) and counts the others.

use super::edges::{self, Place};
use super::node::{Core, DRAFT, Which};
use super::tree::Tree;
use std::collections::HashMap;
use std::fmt;
use std::ptr::NonNull;
use tidegate_sync::atomic::Ordering;

/// The maximum number of intervals or points that a message lists.
const MOST_LISTED: usize = 5;

/// Why an inline interval has not ended.
pub(super) struct Stall {
    /// The number of the root's children that have not ended.
    count: u32,
    /// Which intervals wait, and what they wait for; causes come before their consequences.
    waits: Vec<String>,
}

impl Stall {
    /// Describes the stall of a tree that has no task left although its root has not ended.
    pub(super) fn of(tree: &Tree, root: &Core) -> Self {
        let waiting = Waiting::in_tree(tree);
        let mut waits: Vec<_> = waiting
            .nodes
            .iter()
            .map(|node| waiting.reason(node))
            .collect();
        waits.sort_by_key(|(rank, _)| *rank);
        Self {
            count: count(root, Which::End),
            waits: waits.into_iter().map(|(_, text)| text).collect(),
        }
    }
}

impl fmt::Display for Stall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count {
            1 => write!(f, "an interval inside root can never end")?,
            count => write!(f, "{count} intervals inside root can never end")?,
        }
        if self.waits.is_empty() {
            return write!(f, "; to see which, name them with IntervalBuilder::named");
        }
        write!(f, ": {}", list(&self.waits, self.waits.len(), "; "))
    }
}

/// A watched interval that has not ended.
struct Node<'a> {
    core: &'a Core,
    /// What other intervals call this one.
    label: String,
    /// The label, and where the interval was created, if known.
    title: String,
}

struct Waiting<'a> {
    /// The watched intervals that have not ended, in the order in which they were created.
    nodes: Vec<Node<'a>>,
    /// For each point, the points of watched intervals that it waits for, as text.
    before: HashMap<Place, Vec<String>>,
}

impl<'a> Waiting<'a> {
    fn in_tree(tree: &'a Tree) -> Self {
        let mut nodes: Vec<Node<'a>> = tree
            .watched()
            .into_iter()
            .map(|(node, created_at)| {
                // SAFETY: the node has not ended, so the runtime's reference keeps it alive, and no
                // task is left that could end it.
                let core = unsafe { node.as_ref() };
                let title = match created_at {
                    Some(place) if core.origin().is_none() => format!("{} ({place})", core.label()),
                    _ => core.title(),
                };
                let label = match core.is_named() {
                    true => core.label(),
                    false => title.clone(),
                };
                Node { core, label, title }
            })
            .collect();
        nodes.sort_by_cached_key(|node| path(node.core));
        let mut before: HashMap<Place, Vec<String>> = HashMap::new();
        for Node { core, label, .. } in &nodes {
            for (which, word) in [(Which::Start, "start"), (Which::End, "end")] {
                let text = format!("the {word} of {label}");
                // SAFETY: 1. nothing in the tree occurs any more.
                let targets = unsafe { edges::targets(core.words(which).after) };
                let parent = core.parent.filter(|_| which == Which::End);
                for place in targets.chain(parent.map(|parent| (parent, Which::End))) {
                    before.entry(place).or_default().push(text.clone());
                }
            }
        }
        Self { nodes, before }
    }

    /// Describes what this interval waits for. The number is the rank of that reason in the report;
    /// causes have lower ranks than consequences.
    fn reason(&self, Node { core, title, .. }: &Node<'_>) -> (u8, String) {
        let which = match core.start().has_occurred() {
            true => Which::End,
            false => Which::Start,
        };
        let count = count(core, which);
        match (which, count) {
            (Which::Start, DRAFT..) => (0, format!("{title} was never scheduled")),
            (_, 0) => (1, format!("{title} waits for {}", self.lock(core))),
            _ => {
                let points = self.points((NonNull::from(*core), which), count as usize);
                (2 + which as u8, format!("{title} waits for {points}"))
            }
        }
    }

    /// Describes the `count` points that a point waits for.
    fn points(&self, place: Place, count: usize) -> String {
        let mut known = self.before.get(&place).cloned().unwrap_or_default();
        let unknown = count - known.len();
        known.dedup();
        match known.is_empty() {
            true => "intervals without names".to_owned(),
            false => list(&known, known.len() + unknown, ", "),
        }
    }

    /// Describes the lock that this interval waits for, and its holder if known.
    fn lock(&self, core: &Core) -> String {
        let wanted = core.extras().and_then(|extras| {
            let extras = extras.lock();
            extras.locks.get(extras.held).cloned()
        });
        let holds = |node: &&Node<'_>| {
            let extras = node.core.extras().map(|extras| extras.lock());
            extras.is_some_and(|extras| {
                extras.locks[..extras.held]
                    .iter()
                    .any(|lock| Some(lock) == wanted.as_ref())
            })
        };
        match self.nodes.iter().find(holds) {
            Some(holder) => format!("a lock that {} holds", holder.label),
            None => "a lock".to_owned(),
        }
    }
}

/// How many points this point still waits for.
fn count(core: &Core, which: Which) -> u32 {
    // Relaxed: no thread changes the count any more.
    core.words(which).waiting.load(Ordering::Relaxed)
}

/// Returns the child numbers of the intervals on the path from the root to this one.
fn path(core: &Core) -> Vec<u32> {
    // SAFETY: the ancestors of an interval that has not ended have not ended either.
    let parent = |core: &&Core| core.parent.map(|parent| unsafe { parent.as_ref() });
    let mut path: Vec<u32> = std::iter::successors(Some(core), parent)
        .map(|core| core.number)
        .collect();
    path.reverse();
    path
}

/// Joins the first [`MOST_LISTED`] texts, and adds how many of the `count` items are not listed.
fn list(texts: &[String], count: usize, separator: &str) -> String {
    let listed = &texts[..texts.len().min(MOST_LISTED)];
    let all = listed.join(separator);
    match count - listed.len() {
        0 => all,
        rest => format!("{all}{separator}and {rest} more"),
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Stall;

    #[test]
    fn unnamed_intervals_are_counted() {
        let stall = |count| {
            let waits = Vec::new();
            Stall { count, waits }.to_string()
        };
        let hint = "; to see which, name them with IntervalBuilder::named";
        let one = "an interval inside root can never end";
        assert_eq!(stall(1), format!("{one}{hint}"));
        let two = "2 intervals inside root can never end";
        assert_eq!(stall(2), format!("{two}{hint}"));
    }
}
