//! Counts the nodes of the two trees of table 1.

use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::stack::with_deep_stack;
use tidegate_workloads::Size;
use tidegate_workloads::uts::{Law, TREES, serial};
use toml::Value;

use super::programs::{self, loads_of_trees};
use crate::arguments;
use crate::engine::Cell;
use crate::reproduce::measured::{Batch, Measured};
use crate::reproduce::observed::Observed;
use crate::reproduce::paper::{self, Results, items_of};

/// The number of nodes, the number of leaves and the depth of a tree.
type Sizes = (u64, u64, u64);

/// Returns cells that count the nodes of the source's trees. There are none at size tiny, which uses
/// other trees.
pub fn batch(size: arguments::Size) -> Batch<Sizes> {
    let names = match size.into() {
        Size::Tiny => &[][..],
        Size::Small | Size::Paper => &programs::TREES,
    };
    let cell = |&name: &&'static str| {
        let full = format!("nodes/tree={name}");
        (name.to_owned(), Cell::new(full, move |_| count(name)))
    };
    Batch::simulated(1, names.iter().map(cell))
}

/// Adds the trees and their loads, and the number of nodes of each tree that was counted.
pub fn list(results: &mut Results<'_, Observed>, nodes: &Measured<Sizes>) {
    let trees = ["UTS A", "UTS B"].into_iter().zip(programs::TREES);
    let loads = loads_of_trees(results.size.into());
    let (mut curves, mut counted) = (vec![], vec![]);
    for ((work, tree), loads) in trees.zip(loads) {
        let loads: Vec<&str> = loads.split(' ').collect();
        let is_curve = loads.len() > 1;
        let list = format!("processors of {work}");
        let item = |nodes: u64| {
            paper::item([
                ("work", Value::from(work)),
                ("loads", list.clone().into()),
                ("nodes", (nodes as i64).into()),
            ])
        };
        results.list(&list, items_of("processors", loads));
        curves.extend(is_curve.then(|| item(0)));
        let counts = nodes.find(tree).unwrap_or_default();
        counted.extend(counts.first().map(|(nodes, ..)| item(*nodes)));
    }
    results.list("tree", curves);
    results.list("counted", counted);
}

/// Counts the nodes of a tree. Fails if the tree does not have the published size.
fn count(name: &'static str) -> Result<Sizes, Failure> {
    let named = TREES.iter().find(|named| named.name == name);
    let named = named.expect("a named tree");
    let law = Law::new(named.tree);
    let counts = with_deep_stack(|| serial(&law, &law.root()))?;
    if counts == named.counts {
        Ok((counts.nodes, counts.leaves, counts.depth))
    } else {
        Err(Failure::Wrong(format!(
            "{name} has {counts:?}; expected {:?}",
            named.counts
        )))
    }
}
