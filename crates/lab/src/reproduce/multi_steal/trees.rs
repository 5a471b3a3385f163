//! Counts the nodes of the two trees of table 1.

use tidegate_command::failure::Failure;
use tidegate_command::stack::with_deep_stack;
use tidegate_workloads::Size;
use tidegate_workloads::uts::{Counts, Law, TREES, serial};

use super::programs::{TREE_A, TREE_B};
use crate::arguments;
use crate::engine::{Cell, Session};

/// The number of nodes, the number of leaves and the depth of a tree.
type Sizes = (u64, u64, u64);

/// Cells that count the nodes of the source's trees. There are none at size tiny, which uses other
/// trees.
pub struct Trial(Vec<Cell<'static, Sizes>>);

impl Trial {
    pub fn new(size: arguments::Size) -> Self {
        let names = match size.into() {
            Size::Tiny => vec![],
            Size::Small | Size::Paper => vec![TREE_A, TREE_B],
        };
        let cell = |name| Cell::new(format!("nodes/tree={name}"), move |_| count(name));
        Self(names.into_iter().map(cell).collect())
    }

    pub fn expect(&self, session: &Session) {
        session.expect(&self.0, 1);
    }

    /// Returns the number of nodes of each tree that `--only` did not leave out.
    pub fn measure(self, session: &Session) -> Result<Vec<u64>, Failure> {
        let counted = session.side_by_side(&self.0, 1)?;
        Ok(counted
            .concat()
            .into_iter()
            .map(|(nodes, ..)| nodes)
            .collect())
    }
}

/// Counts the nodes of a tree. Fails if the tree does not have the published size.
fn count(name: &'static str) -> Result<Sizes, Failure> {
    let named = TREES.iter().find(|named| named.name == name);
    let named = named.expect("a named tree");
    let law = Law::new(named.tree);
    let counts = with_deep_stack(|| serial(&law, &law.root()))?;
    if counts == named.counts {
        Ok(sizes(counts))
    } else {
        Err(Failure::Wrong(format!(
            "{name} has {counts:?}; expected {:?}",
            named.counts
        )))
    }
}

fn sizes(counts: Counts) -> Sizes {
    (counts.nodes, counts.leaves, counts.depth)
}
