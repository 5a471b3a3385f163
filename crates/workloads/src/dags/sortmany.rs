//! `sortmany` as a dag: each piece is loaded, sorted by recursive halving, and summed up. The dag
//! stores no elements.

use super::Simulated;
use super::recipe::{Act, Recipe, RecipeDag};
use crate::memory::sortmany::Sortmany;
use tidegate_sim::Nanos;

/// Time to load an element, in nanoseconds.
const LOAD: Nanos = 3;

/// Time to sort an element without recursion, in nanoseconds, divided by the binary logarithm of
/// the number of elements.
const SORT: Nanos = 1;

/// Time to merge an element and copy it back, in nanoseconds.
const MERGE: Nanos = 2;

/// Time to add an element to the sum, in nanoseconds.
const SUM: Nanos = 1;

const ELEMENT: u64 = size_of::<u32>() as u64;

#[derive(Clone, Copy, Debug)]
pub enum Node {
    All,
    Piece(u64),
    Sort(u64),
}

impl Simulated for Sortmany {
    type Dag = RecipeDag<Self>;

    fn dag(&self) -> RecipeDag<Self> {
        RecipeDag {
            recipe: *self,
            form: self.form,
        }
    }
}

impl Sortmany {
    /// Returns the actions that sort `length` elements.
    fn sort(&self, length: u64) -> Vec<Act> {
        if length <= self.cutoff as u64 {
            let levels = u64::from(length.max(2).ilog2());
            vec![Act::Work(SORT * length * levels)]
        } else {
            vec![Act::Each(2), Act::Work(MERGE * length)]
        }
    }
}

impl Recipe for Sortmany {
    type Node = Node;

    fn root(&self) -> Node {
        Node::All
    }

    fn act(&self, node: Node, act: usize) -> Act {
        let acts = match node {
            Node::All => vec![
                Act::Reservation((self.pieces * size_of::<u64>()) as u64),
                Act::Each(self.pieces),
                Act::Free,
            ],
            Node::Piece(length) => {
                let mut acts = vec![
                    Act::Reservation(length * ELEMENT),
                    Act::Work(LOAD * length),
                    Act::Reservation(length * ELEMENT),
                ];
                acts.extend(self.sort(length));
                acts.extend([Act::Free, Act::Work(SUM * length), Act::Free]);
                acts
            }
            Node::Sort(length) => self.sort(length),
        };
        acts.get(act).copied().unwrap_or(Act::End)
    }

    fn part(&self, node: Node, _: usize, number: usize) -> Node {
        match node {
            Node::All => Node::Piece(self.length_of(number) as u64),
            // If the halves differ in length, the first is shorter.
            Node::Piece(length) | Node::Sort(length) => Node::Sort((length + number as u64) / 2),
        }
    }
}
