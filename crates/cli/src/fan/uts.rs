//! Splits `uts` into subtrees.
//!
//! The planner unfolds the top of the tree breadth-first, and counts it. An item is a list of nodes
//! whose subtrees are counted. A piece whose budget is spent leaves the nodes that it meets.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::builder::EnumValueParser;
use clap::{Arg, ArgMatches, Command, FromArgMatches};
use serde::{Deserialize, Serialize};
use tidegate::Pool;
use tidegate_command::arguments::{Chosen, Size, entry, program};
use tidegate_command::stack::with_deep_stack;
use tidegate_fan::{Budget, Done, Error, Weighted};
use tidegate_workloads::uts::{Counts, Law, Node, State, Uts};
use tidegate_workloads::{Form, Program, Values};

use super::{Part, REST, Report, failed, row};

/// How many nodes the planner unfolds for each piece, at most. Some trees are so narrow that it would
/// otherwise count them.
const UNFOLDED: usize = 100;

/// The stack of a worker in bytes, which must suffice for the deepest tree. Only pages that are used
/// take up memory.
const STACK: usize = 256 << 20;

/// One of so many nodes reads the clock.
const CLOCK: u32 = 256;

/// The program with the user's parameters.
#[derive(Clone, Debug)]
pub struct Split {
    chosen: Chosen,
    size: Size,
}

/// The roots of some subtrees.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Item {
    /// What the planner has counted: nodes that are above all items.
    above: Counts,
    nodes: Vec<Place>,
}

/// A node's state and depth, which determine its subtree.
type Place = (State, u32);

pub fn command() -> Command {
    let size = Arg::new("size")
        .long("size")
        .value_name("SIZE")
        .help("Problem size, which sets the tree")
        .default_value("small")
        .value_parser(EnumValueParser::<Size>::new());
    let entry = entry(Uts::NAME).expect("the program is registered");
    // Pieces always fork with joins.
    program(entry)
        .arg(size)
        .mut_arg("form", |form| form.hide(true))
}

impl Split {
    /// Reads the matches of the command that has the program as its subcommand.
    pub fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let below = matches.subcommand_matches(Uts::NAME);
        let size = below.and_then(|matches| matches.get_one("size").copied());
        Ok(Self {
            chosen: Chosen::from_arg_matches(matches)?,
            size: size.unwrap_or_default(),
        })
    }

    fn uts(&self) -> Result<Uts, Error> {
        let values = Values::parse(Uts::PARAMETERS, self.size.into(), &self.chosen.given);
        let uts = values.and_then(|values| Uts::from_values(&values));
        let uts = uts.map_err(failed)?;
        match uts.form {
            Form::Join => Ok(uts),
            Form::Spawn => Err(Error::never("uts can be split only with --form join")),
        }
    }
}

impl Part for Split {
    type Item = Item;
    type Out = Counts;

    fn plan(&self, pieces: usize) -> Result<Vec<Weighted<Item>>, Error> {
        let law = Law::new(self.uts()?.tree);
        let (above, nodes) = unfold(&law, pieces);
        let mut items = items(nodes, pieces);
        if items.is_empty() {
            items.push(Weighted {
                item: Item::default(),
                weight: 1,
            });
        }
        items[0].item.above = above;
        Ok(items)
    }

    fn run(&self, item: Item, budget: &Budget) -> Result<Done<Item, Counts>, Error> {
        let law = Law::new(self.uts()?.tree);
        let walk = Walk {
            law: &law,
            budget,
            spent: AtomicBool::new(false),
            left: Mutex::default(),
        };
        let pool = Pool::builder().name(Uts::NAME).stack_size(STACK).build();
        let pool =
            pool.map_err(|error| Error::elsewhere(format!("cannot start a pool: {error}")))?;
        // The pool may run the first task on this thread's own stack.
        let count = || pool.install(|| walk.all(&item.nodes));
        let counts = with_deep_stack(count).map_err(failed)?;
        let left = walk.left.into_inner().expect("no thread panicked");
        Ok(Done {
            out: counts.and(item.above),
            rest: items(left, REST),
        })
    }

    fn merge(&self, outs: Vec<Counts>) -> Result<Report, Error> {
        let uts = self.uts()?;
        let counts = outs.into_iter().fold(Counts::default(), Counts::and);
        let answer = uts.answer(&Law::new(uts.tree), &counts);
        let mut report = Report::of_answer(&uts, &answer);
        let reference = uts.published();
        report.json["verified"] = reference.is_some().into();
        report.json["reference"] = reference.as_ref().map(|known| known.source).into();
        if let Some(known) = reference {
            if answer != known.answer {
                let text = report.text.trim_end().replace('\n', ", ");
                let source = known.source;
                return Err(Error::perhaps(format!(
                    "{text}: the answer does not match {source}"
                )));
            }
            report.text += &row("verified", &format!("same answer as {}", known.source));
        }
        Ok(report)
    }
}

/// Unfolds the tree breadth-first, until there are `pieces` nodes with children. Returns the counts
/// of all other nodes, and these.
fn unfold(law: &Law, pieces: usize) -> (Counts, Vec<Place>) {
    let mut above = Counts::default();
    let mut inner = VecDeque::new();
    let mut meet = |node: Node, inner: &mut VecDeque<Node>| match node.children {
        0 => above = above.and(Counts::leaf(node.depth)),
        _ => inner.push_back(node),
    };
    meet(law.root(), &mut inner);
    let mut unfolded = 0;
    while inner.len() < pieces && unfolded < UNFOLDED.saturating_mul(pieces) {
        let Some(node) = inner.pop_front() else {
            break;
        };
        for number in 0..node.children {
            meet(law.child(&node, number), &mut inner);
        }
        unfolded += 1;
    }
    // None of them is deeper than its children.
    above.nodes += unfolded as u64;
    (above, inner.iter().map(place).collect())
}

fn place(node: &Node) -> Place {
    (node.state, node.depth)
}

/// Distributes nodes in turn among at most `parts` items, so that neighbors, whose subtrees may be
/// alike, are in different items.
fn items(nodes: Vec<Place>, parts: usize) -> Vec<Weighted<Item>> {
    let parts = parts.min(nodes.len());
    let part = |part| nodes.iter().skip(part).step_by(parts).copied();
    let nodes = (0..parts).map(|number| part(number).collect::<Vec<_>>());
    let items = nodes.map(|nodes| Weighted {
        weight: nodes.len() as u64,
        item: Item {
            above: Counts::default(),
            nodes,
        },
    });
    items.collect()
}

/// Counts nodes in parallel, until the budget is spent.
struct Walk<'a> {
    law: &'a Law,
    budget: &'a Budget,
    spent: AtomicBool,
    left: Mutex<Vec<Place>>,
}

impl Walk<'_> {
    /// Counts the subtrees of these nodes. The nodes themselves are always counted, so that every
    /// piece leaves less than it was given.
    fn all(&self, nodes: &[Place]) -> Counts {
        let count = |number: usize| {
            let (state, depth) = nodes[number];
            self.count(&self.law.node(state, depth))
        };
        tidegate::map_reduce(0..nodes.len(), count, Counts::and).unwrap_or_default()
    }

    #[inline]
    fn count(&self, node: &Node) -> Counts {
        match node.children {
            0 => Counts::leaf(node.depth),
            children => self.among(node, 0, children).with_parent(),
        }
    }

    /// Counts the nodes below the children `start..end` of `parent`, including these children. Like
    /// the walk of one process, it saves stack and time: a half that is a single child takes no
    /// additional call, and closures capture by value.
    fn among(&self, parent: &Node, start: u32, end: u32) -> Counts {
        if end - start == 1 {
            return self.child(parent, start);
        }
        let middle = start + (end - start) / 2;
        let (a, b) = tidegate::join(
            move || self.half(parent, start, middle),
            move || self.half(parent, middle, end),
        );
        a.and(b)
    }

    #[inline]
    fn half(&self, parent: &Node, start: u32, end: u32) -> Counts {
        match end - start {
            1 => self.child(parent, start),
            _ => self.among(parent, start, end),
        }
    }

    #[inline]
    fn child(&self, parent: &Node, number: u32) -> Counts {
        let child = self.law.child(parent, number);
        match child.children > 0 && self.is_spent(&child) {
            true => self.leave(&child),
            false => self.count(&child),
        }
    }

    /// Returns whether the budget is spent. Whether the node reads the clock depends on bits of its
    /// state that do not determine its children.
    #[inline]
    fn is_spent(&self, node: &Node) -> bool {
        // Relaxed: the flag publishes nothing else.
        self.spent.load(Ordering::Relaxed)
            || (node.state.rand().is_multiple_of(CLOCK) && self.read_clock())
    }

    #[cold]
    fn read_clock(&self) -> bool {
        let is_spent = self.budget.is_spent();
        if is_spent {
            self.spent.store(true, Ordering::Relaxed);
        }
        is_spent
    }

    /// Leaves the subtree of the node to another piece.
    #[cold]
    fn leave(&self, node: &Node) -> Counts {
        let mut left = self.left.lock().expect("no thread panicked");
        left.push(place(node));
        Counts::default()
    }
}
