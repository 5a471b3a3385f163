//! Splits `uts` into subtrees.
//!
//! The planner unfolds the top of the tree breadth-first, and counts it. An item is a list of nodes
//! whose subtrees are counted. A piece whose budget is spent leaves the nodes that it meets.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use clap::builder::EnumValueParser;
use clap::{Arg, ArgMatches, Command, FromArgMatches};
use serde::{Deserialize, Serialize};
use tidegate::Pool;
use tidegate_cli_support::arguments::{Chosen, Size, entry, program};
use tidegate_cli_support::stack::with_deep_stack;
use tidegate_fan::{Budget, Done, Error, Weighted};
use tidegate_workloads::uts::{Counts, Law, Node, Place, Uts, count_until};
use tidegate_workloads::{Form, Program, Values};

use super::{Divisible, REST, Report, failed, row};

/// How many nodes the planner unfolds for each piece, at most. Some trees are so narrow that it would
/// otherwise count them.
const UNFOLDED: usize = 100;

/// The stack of a worker in bytes, which must suffice for the deepest tree. Only pages that are used
/// take up memory.
const STACK: usize = 256 << 20;

/// The interval in which a thread of its own looks at the budget, so that no node reads the clock.
const TICK: Duration = Duration::from_millis(10);

/// The weight of all items together, which is precise enough to be halved often.
const WEIGHT: u64 = 1 << 50;

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
    /// The weight, which a piece divides among the items that it leaves.
    weight: u64,
    nodes: Vec<Place>,
}

pub fn command() -> Command {
    let size = Arg::new("size")
        .long("size")
        .value_name("SIZE")
        .help("Problem size, which sets the tree")
        .help_heading("Parameters")
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

impl Divisible for Split {
    type Item = Item;
    type Out = Counts;

    fn plan(&self, pieces: usize) -> Result<Vec<Weighted<Item>>, Error> {
        let law = Law::new(self.uts()?.tree);
        let (above, nodes) = unfold(&law, pieces);
        let mut items = items(nodes, pieces, WEIGHT);
        if items.is_empty() {
            items.push(Weighted {
                item: Item::default(),
                weight: WEIGHT,
            });
        }
        items[0].item.above = above;
        Ok(items)
    }

    fn run(&self, item: Item, budget: &Budget) -> Result<Done<Item, Counts>, Error> {
        let law = Law::new(self.uts()?.tree);
        let pool = Pool::builder().name(Uts::NAME).stack_size(STACK).build();
        let pool =
            pool.map_err(|error| Error::elsewhere(format!("cannot start a pool: {error}")))?;
        let spent = AtomicBool::new(budget.is_spent());
        let (counts, left) = while_watched(budget, &spent, || {
            // The pool may run the first task on this thread's own stack.
            let count = || pool.install(|| count_until(&spent, &law, &item.nodes));
            with_deep_stack(count).map_err(failed)
        })?;
        Ok(Done {
            out: counts.and(item.above),
            // The size of what is left is unknown. Half of the weight makes the progress rise with
            // each piece.
            rest: items(left, REST, item.weight / 2),
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
/// alike, are in different items. The items share `weight`, and each has some of it.
fn items(nodes: Vec<Place>, parts: usize, weight: u64) -> Vec<Weighted<Item>> {
    let weight = weight.max(1);
    let parts = parts.min(nodes.len()).min(weight as usize);
    let each = (weight - parts as u64) / nodes.len().max(1) as u64;
    let part = |part| nodes.iter().skip(part).step_by(parts).copied();
    let nodes = (0..parts).map(|number| part(number).collect::<Vec<_>>());
    let items = nodes.map(|nodes| {
        let weight = 1 + each * nodes.len() as u64;
        let item = Item {
            above: Counts::default(),
            weight,
            nodes,
        };
        Weighted { item, weight }
    });
    items.collect()
}

/// Calls `work`. Meanwhile, another thread sets `spent` once the budget is.
fn while_watched<T>(
    budget: &Budget,
    spent: &AtomicBool,
    work: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    thread::scope(|scope| {
        // Dropping this end stops the thread, even if `work` panics.
        let (_working, ended) = channel::<()>();
        let watch = move || {
            while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                if budget.is_spent() {
                    // Relaxed: the flag publishes nothing else.
                    spent.store(true, Ordering::Relaxed);
                    return;
                }
            }
        };
        let thread = thread::Builder::new().name("budget".into());
        thread
            .spawn_scoped(scope, watch)
            .map_err(|error| Error::elsewhere(format!("cannot start a thread: {error}")))?;
        work()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watch_sets_the_flag() {
        let spent = AtomicBool::new(false);
        let budget = Budget::new(Duration::from_millis(20));
        let wait = || {
            let is_spent = || spent.load(Ordering::Relaxed);
            for _ in 0..60_000 {
                if is_spent() {
                    break;
                }
                thread::sleep(Duration::from_millis(1));
            }
            Ok(is_spent())
        };
        assert!(while_watched(&budget, &spent, wait).unwrap());
        assert!(budget.is_spent());
    }

    #[test]
    fn watch_ends_with_the_work() {
        let spent = AtomicBool::new(false);
        let failed = || Err::<(), _>(Error::never("failed"));
        while_watched(&Budget::unlimited(), &spent, failed).unwrap_err();
        assert!(!spent.into_inner());
    }

    #[test]
    fn items_share_their_weight() {
        let law = Law::new(Uts::named("tiny").expect("a tree").tree);
        let (_, nodes) = unfold(&law, 40);
        assert!(nodes.len() >= 40, "{}", nodes.len());
        for (weight, count) in [(WEIGHT, 16), (17, 16), (5, 5), (1, 1), (0, 1)] {
            let items = items(nodes.clone(), 16, weight);
            assert_eq!(items.len(), count);
            let left: usize = items.iter().map(|part| part.item.nodes.len()).sum();
            assert_eq!(left, nodes.len());
            assert!(items.iter().all(|part| part.weight > 0));
            let sum = items.iter().map(|part| part.weight).sum::<u64>();
            assert!((weight / 2..=weight.max(1)).contains(&sum), "{sum}");
        }
    }
}
