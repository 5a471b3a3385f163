//! `decompress` as a dag: one task per block, which holds the block's output in memory. The dag
//! computes no output bytes.

use super::Simulated;
use super::recipe::{Act, Recipe, RecipeDag};
use crate::memory::decompress::Decompress;
use tidegate_sim::Nanos;

/// Time to produce and checksum two bytes of output, in nanoseconds.
const TWO_BYTES: Nanos = 3;

/// The length of each block's output, in bytes.
#[derive(Clone, Debug)]
pub struct Outputs(Vec<u64>);

/// The whole program, or the block at this index.
#[derive(Clone, Copy, Debug)]
pub enum Node {
    All,
    Block(usize),
}

impl Simulated for Decompress {
    type Dag = RecipeDag<Outputs>;

    fn dag(&self) -> RecipeDag<Outputs> {
        let lengths = (0..self.blocks).map(|number| self.output_length(number) as u64);
        RecipeDag {
            recipe: Outputs(lengths.collect()),
            form: self.form,
        }
    }
}

impl Recipe for Outputs {
    type Node = Node;

    fn root(&self) -> Node {
        Node::All
    }

    fn act(&self, node: Node, act: usize) -> Act {
        let acts = match node {
            Node::All => [
                Act::Reservation((self.0.len() * size_of::<u64>()) as u64),
                Act::Each(self.0.len()),
                Act::Free,
            ],
            Node::Block(number) => {
                let length = self.0[number];
                let time = (length * TWO_BYTES / 2).max(1);
                [Act::Reservation(length), Act::Work(time), Act::Free]
            }
        };
        acts.get(act).copied().unwrap_or(Act::End)
    }

    fn part(&self, _: Node, _: usize, number: usize) -> Node {
        Node::Block(number)
    }
}
