//! Unbalanced tree search: counts the nodes of a tree that unfolds unpredictably as it is walked.
//!
//! The benchmark is by Stephen Olivier, Jun Huan, Jinze Liu, Jan Prins, James Dinan, P. Sadayappan
//! and Chau-Wen Tseng, UTS: An Unbalanced Tree Search Benchmark, LCPC 2006. A node's state is the
//! SHA-1 of its parent's state and its own number ([`State`]); its state and depth determine how
//! many children it has ([`Law`]). Each node takes the time to hash about one SHA-1 block, so the
//! tree tests how well a runtime balances small tasks of unpredictable size.
//!
//! Two parallel bodies share the serial version's kernel. With `form join`, joins halve the
//! children of a node; with `form spawn`, each node has a scope and spawns one task per child. Both
//! recurse as deeply as the tree, like the serial version.
//!
//! The program has no cutoff and doesn't store the tree.

use std::io;

use crate::parameter::{self, Kind, Parameter, ParameterError, Preset, Setting, Values, Words};
use crate::program::{Answer, Form, Program, Reference, answer, result, with_form};
use crate::runtime::Runtime;
use change::{changed, depends_on};

mod change;
mod named;
mod pruned;
mod state;
mod tree;
mod walk;

pub use named::{Named, TREES};
pub use pruned::{Place, count_until};
pub use state::State;
pub use tree::{Law, Node, Shape, Tree, Type};
pub use walk::{Counts, by_joins, by_spawns, serial};

/// The program `uts`, which counts the nodes of an unbalanced tree.
#[derive(Clone, Copy, Debug)]
pub struct Uts {
    /// The tree whose nodes are counted.
    pub tree: Tree,
    /// How the parallel body creates its tasks.
    pub form: Form,
}

impl Uts {
    /// Creates the program that counts the tree called `name`, with joins. Returns `None` if there
    /// is no such tree.
    pub fn named(name: &str) -> Option<Self> {
        let named = TREES.iter().find(|named| named.name == name)?;
        Some(Self {
            tree: named.tree,
            form: Form::Join,
        })
    }
}

const fn of_tree(name: &'static str, kind: Kind, meaning: &'static str) -> Parameter {
    Parameter {
        preset: Preset::Implied("that of the tree"),
        ..parameter::named(name, kind, [""; 3], meaning)
    }
}

impl Program for Uts {
    const NAME: &'static str = "uts";
    const SUMMARY: &'static str = "unbalanced tree search: counts a tree generated on the fly";
    #[rustfmt::skip]
    const PARAMETERS: &'static [Parameter] = &[
        parameter::named(
            "tree",
            Kind::Choice(named::NAMES),
            ["tiny", "T3", "T3L"],
            "a named tree; the parameters below change it",
        ),
        of_tree("type", Kind::Choice(Type::NAMES), "type of tree"),
        of_tree(
            "shape",
            Kind::Choice(Shape::NAMES),
            "how the mean number of children depends on the depth, for geometric and hybrid trees",
        ),
        of_tree("b0", Kind::Number(0.0, 1e6), "children of a binomial root; otherwise the mean or fixed number of children"),
        of_tree("depth", Kind::Integer(1, 10_000), "depth scale, except for binomial trees"),
        of_tree("q", Kind::Number(0.0, 1.0), "probability that a node has children, for binomial and hybrid trees"),
        of_tree("m", Kind::Integer(0, 100), "children of such a node"),
        of_tree("seed", Kind::Integer(0, u32::MAX as u64), "seed of the root"),
        Form::parameter("join"),
    ];
    result! { self, _, counts =>
        nodes "number of nodes" = counts.nodes;
        depth "depth of the deepest node (the root has depth 0)" = counts.depth;
        leaves "number of leaves" = counts.leaves;
    }

    type Input = Law;
    type Output = Counts;
    with_form! {}

    fn from_values(values: &Values) -> Result<Self, ParameterError> {
        let name = values.choice("tree")?;
        let base = Self::named(name).expect("the parameter allows no other names");
        let tree = changed(base.tree, values)?;
        let form = Setting::read(values, "form")?;
        Ok(Self { tree, form })
    }

    fn parameters(&self) -> Answer {
        let Tree {
            kind,
            shape,
            b0,
            depth,
            q,
            m,
            seed,
        } = self.tree;
        let mut parameters = answer([
            ("type", kind.show()),
            ("shape", shape.show()),
            ("b0", b0.into()),
            ("depth", depth.into()),
            ("q", q.into()),
            ("m", m.into()),
            ("seed", seed.into()),
            ("form", self.form.name().into()),
        ]);
        parameters.retain(|name, _| depends_on(kind, name));
        parameters
    }

    fn prepare(&self) -> io::Result<Law> {
        Ok(Law::new(self.tree))
    }

    fn serial(&self, law: &mut Law) -> Counts {
        serial(law, &law.root())
    }

    fn parallel<R: Runtime>(&self, law: &mut Law, fork: &mut R::Fork<'_>) -> Counts {
        match self.form {
            Form::Join => by_joins::<R>(fork, law, &law.root()),
            Form::Spawn => by_spawns::<R>(law, &law.root()),
        }
    }

    fn published(&self) -> Option<Reference> {
        let named = TREES.iter().find(|named| named.tree == self.tree)?;
        Some(Reference {
            answer: self.answer(&Law::new(self.tree), &named.counts),
            source: "the counts known for this tree",
        })
    }
}
