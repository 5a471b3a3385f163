//! `nested` as a dag: an outer loop whose tasks each hold an array and run an inner loop over it.

use super::Simulated;
use super::recipe::{Act, Recipe, RecipeDag};
use crate::memory::nested::Nested;
use tidegate_sim::Nanos;

/// Time to write five words at one step per word, in nanoseconds.
const FIVE_WORDS: Nanos = 8;

const WORD: u64 = size_of::<u64>() as u64;

impl Simulated for Nested {
    type Dag = RecipeDag<Self>;

    fn dag(&self) -> RecipeDag<Self> {
        RecipeDag {
            recipe: *self,
            form: self.form,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Node {
    Outer,
    Inner,
    Task,
}

impl Recipe for Nested {
    type Node = Node;

    fn root(&self) -> Node {
        Node::Outer
    }

    fn act(&self, node: Node, act: usize) -> Act {
        let width = match node {
            Node::Outer => WORD,
            Node::Inner => self.width as u64,
            Node::Task => {
                let words = self.width as u64 / WORD;
                let time = words * FIVE_WORDS * self.steps.max(1) / 5;
                return [Act::Work(time.max(1)), Act::End][act];
            }
        };
        let acts = [
            Act::Reservation(self.n as u64 * width),
            Act::Each(self.n),
            Act::Work(self.n as u64),
            Act::Free,
            Act::End,
        ];
        acts[act]
    }

    fn part(&self, node: Node, _: usize, _: usize) -> Node {
        match node {
            Node::Outer => Node::Inner,
            Node::Inner | Node::Task => Node::Task,
        }
    }
}
