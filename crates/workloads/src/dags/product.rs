//! `matmul` and `strassen` as dags: products of quadrants, stored in temporaries, and sums of the
//! products. The dags compute no matrix elements.

use super::Simulated;
use super::recipe::{Act, Recipe, RecipeDag};
use crate::memory::matmul::Eightfold;
use crate::memory::product::{Product, Scheme};
use crate::memory::strassen::{FACTORS, RESULT, Sevenfold};
use tidegate_sim::Nanos;

/// Multiply-add operations per nanosecond.
const MULTIPLIED: u64 = 6;

/// Elements filled or added per nanosecond.
const PASSED: u64 = 5;

const ELEMENT: u64 = size_of::<f64>() as u64;

/// The work and memory of a scheme, which don't depend on the values of matrix elements.
pub trait Shape: Scheme + Clone + std::fmt::Debug {
    /// The number of quadrants in a call's temporary, and the number of products that a call
    /// computes.
    const QUADRANTS: [u64; 2];

    /// Returns the number of quadrants that a product reserves: one for each factor that is a sum.
    fn sums(product: usize) -> usize;

    /// Returns the number of passes over a quadrant that a product needs to compute its factors.
    fn factors(product: usize) -> u64;

    /// For a matrix of `blocks` blocks, returns the number of parts into which the summation of the
    /// result is divided, and the number of passes over a quadrant that all parts together need.
    fn result(blocks: u64) -> (usize, u64);
}

impl Shape for Eightfold {
    const QUADRANTS: [u64; 2] = [4, 8];

    fn sums(_: usize) -> usize {
        0
    }

    fn factors(_: usize) -> u64 {
        0
    }

    fn result(blocks: u64) -> (usize, u64) {
        (blocks as usize, 4)
    }
}

impl Shape for Sevenfold {
    const QUADRANTS: [u64; 2] = [7, 7];

    fn sums(product: usize) -> usize {
        let (left, right) = FACTORS[product];
        [left, right].iter().filter(|sum| sum.len() > 1).count()
    }

    fn factors(product: usize) -> u64 {
        let (left, right) = FACTORS[product];
        let sums = [left, right].into_iter().filter(|sum| sum.len() > 1);
        // Two additional passes write zeros: one when the block is allocated, one before terms are
        // added.
        sums.map(|sum| sum.len() as u64 + 2).sum()
    }

    fn result(_: u64) -> (usize, u64) {
        let terms = RESULT.iter().map(|sum| sum.len() as u64 + 1);
        (RESULT.len(), terms.sum())
    }
}

/// A call in the recursion.
#[derive(Clone, Copy, Debug)]
pub enum Node {
    Multiply {
        elements: u64,
        product: Option<usize>,
    },
    Add(Nanos),
}

impl<S: Shape> Simulated for Product<S> {
    type Dag = RecipeDag<Self>;

    fn dag(&self) -> RecipeDag<Self> {
        RecipeDag {
            recipe: self.clone(),
            form: self.form,
        }
    }
}

impl<S: Shape> Recipe for Product<S> {
    type Node = Node;

    fn root(&self) -> Node {
        Node::Multiply {
            elements: (self.n as u64).pow(2),
            product: None,
        }
    }

    fn act(&self, node: Node, act: usize) -> Act {
        let (elements, product) = match node {
            Node::Multiply { elements, product } => (elements, product),
            Node::Add(time) => return [Act::Work(time), Act::End][act],
        };
        let sums = product.map_or(0, S::sums);
        if act < sums {
            return Act::Reservation(elements * ELEMENT);
        }
        let passes = product.map_or(0, S::factors);
        let area = self.grid().area() as u64;
        let acts = if elements == area {
            let rows = area.isqrt();
            let time = (passes + 1) * area / PASSED + rows.pow(3) / MULTIPLIED;
            vec![Act::Work(time.max(1))]
        } else {
            let quarter = elements / 4;
            let [temporary, products] = S::QUADRANTS;
            vec![
                Act::Reservation(temporary * quarter * ELEMENT),
                Act::Work(((passes * elements + temporary * quarter) / PASSED).max(1)),
                Act::Each(products as usize),
                Act::Each(S::result(elements / area).0),
                Act::Free,
            ]
        };
        let freed = acts.len() + sums;
        match act - sums {
            act if act < acts.len() => acts[act],
            act if act < freed => Act::Free,
            _ => Act::End,
        }
    }

    fn part(&self, node: Node, act: usize, number: usize) -> Node {
        let Node::Multiply { elements, product } = node else {
            return node;
        };
        let quarter = elements / 4;
        if act == product.map_or(0, S::sums) + 2 {
            return Node::Multiply {
                elements: quarter,
                product: Some(number),
            };
        }
        let (parts, passes) = S::result(elements / self.grid().area() as u64);
        Node::Add((passes * quarter / PASSED / parts as u64).max(1))
    }
}
