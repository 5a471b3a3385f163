//! Reports a stall: lists the intervals that wait, and what they wait for.
//!
//! A stalled tree has no task left, so nothing in it changes any more. The report covers the
//! watched intervals ([`Tree::watch`]) and counts the others.

use super::edges::{self, Place};
use super::node::{Core, DRAFT, Which};
use super::tree::Tree;
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
    waits: String,
}

impl Stall {
    /// Describes the stall of a tree that has no task left although its root has not ended.
    pub(super) fn of(tree: &Tree, root: &Core) -> Self {
        let waiting = Waiting::in_tree(tree);
        let mut waits = vec![];
        for rank in 0..=3 {
            for node in &waiting.nodes {
                if waits.len() < MOST_LISTED {
                    waits.extend(waiting.reason(node, rank));
                }
            }
        }
        Self {
            count: count(root, Which::End),
            waits: list(&waits, waiting.nodes.len(), "; "),
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
        write!(f, ": {}", self.waits)
    }
}

/// A watched interval that has not ended.
struct Node<'a> {
    core: &'a Core,
    path: Vec<u32>,
    /// What other intervals call this one.
    label: String,
    /// The label, and where the interval was created.
    title: String,
}

struct Waiting<'a> {
    /// The watched intervals that have not ended, in the order in which they were created.
    nodes: Vec<Node<'a>>,
}

impl<'a> Waiting<'a> {
    fn in_tree(tree: &'a Tree) -> Self {
        let mut nodes: Vec<Node<'_>> = vec![];
        for node in tree.watched() {
            // SAFETY: the node has not ended, so the runtime's reference keeps it alive, and no
            // task is left that could end it.
            let core = unsafe { node.as_ref() };
            let title = core.title();
            let label = if core.is_named() {
                core.label()
            } else {
                title.clone()
            };
            let path = path(core);
            let at = nodes.partition_point(|before| before.path < path);
            let node = Node {
                core,
                path,
                label,
                title,
            };
            nodes.insert(at, node);
        }
        Self { nodes }
    }

    /// Describes what this interval waits for, if that reason has this `rank` in the report; causes
    /// have lower ranks than consequences.
    fn reason(&self, Node { core, title, .. }: &Node<'_>, rank: u8) -> Option<String> {
        let which = if core.start().has_occurred() {
            Which::End
        } else {
            Which::Start
        };
        Some(match (rank, which, count(core, which)) {
            (0, Which::Start, DRAFT..) => format!("{title} was never scheduled"),
            (1, _, 0) => format!("{title} waits for {}", self.lock(core)),
            (2, Which::Start, count @ 1..DRAFT) | (3, Which::End, count @ 1..) => {
                let points = self.points((NonNull::from(*core), which), count as usize);
                format!("{title} waits for {points}")
            }
            _ => return None,
        })
    }

    /// Describes the `count` points that a point waits for.
    fn points(&self, place: Place, count: usize) -> String {
        let mut known: Vec<String> = vec![];
        for Node { core, label, .. } in &self.nodes {
            for (which, word) in [(Which::Start, "start"), (Which::End, "end")] {
                // SAFETY: 1. nothing in the tree occurs any more.
                let targets = unsafe { edges::targets(core.words(which).after) };
                let parent = core.parent.filter(|_| which == Which::End);
                for target in targets.chain(parent.map(|parent| (parent, Which::End))) {
                    if target == place {
                        known.push(format!("the {word} of {label}"));
                    }
                }
            }
        }
        let unknown = count - known.len();
        known.dedup();
        if known.is_empty() {
            "intervals without names".to_owned()
        } else {
            list(&known, known.len() + unknown, ", ")
        }
    }

    /// Describes the lock that this interval waits for, and its holder if known.
    fn lock(&self, core: &Core) -> String {
        let wanted = core.extras().and_then(|extras| {
            let extras = extras.lock();
            extras.locks.get(extras.held).cloned()
        });
        let holds = |node: &&Node<'_>| {
            let (Some(extras), Some(wanted)) = (node.core.extras(), &wanted) else {
                return false;
            };
            let extras = extras.lock();
            extras.locks[..extras.held].contains(wanted)
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
    let (mut path, mut next) = (vec![core.number], core.parent);
    while let Some(parent) = next {
        // SAFETY: the ancestors of an interval that has not ended have not ended either.
        let parent = unsafe { parent.as_ref() };
        path.push(parent.number);
        next = parent.parent;
    }
    path.reverse();
    path
}

/// Joins the first [`MOST_LISTED`] texts, and adds how many of the `count` items are not listed.
fn list(texts: &[String], count: usize, separator: &str) -> String {
    let listed = &texts[..texts.len().min(MOST_LISTED)];
    let mut all = String::new();
    for text in listed {
        all += if all.is_empty() { "" } else { separator };
        all += text;
    }
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
            let waits = String::new();
            Stall { count, waits }.to_string()
        };
        let hint = "; to see which, name them with IntervalBuilder::named";
        let one = "an interval inside root can never end";
        assert_eq!(stall(1), format!("{one}{hint}"));
        let two = "2 intervals inside root can never end";
        assert_eq!(stall(2), format!("{two}{hint}"));
    }
}
