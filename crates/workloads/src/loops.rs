//! A short plain loop over a few items, run many times: it measures the cost of `for_each`.
//!
//! The body adds one to every item. The compiler turns this into a few vector instructions, so the
//! loop takes much less time than waking a worker. A good runtime doesn't split such a loop.
//!
//! The program doesn't test load balancing or loops that are worth splitting; other programs do.

use std::io;

use serde_json::Value;

use crate::parameter::{Kind::Integer, positional};
use crate::program::{Program, Reference, answer, parameters, result};
use crate::runtime::Runtime;

/// The program `loops`, which runs a short loop many times.
#[derive(Clone, Copy, Debug)]
pub struct Loops {
    /// Items per loop.
    pub items: usize,
    /// The number of loops, which run one after the other.
    pub times: u32,
}

fn touch(item: &mut u32) {
    *item += 1;
}

impl Program for Loops {
    const NAME: &'static str = "loops";
    const SUMMARY: &'static str = "short parallel loop over trivial items, many times";
    parameters! {
        items = positional("items", Integer(0, 1 << 32), ["1000"; 3], "items per loop");
        times = positional("times", Integer(0, u32::MAX as u64), ["100", "10000", "10000"],
            "number of times the loop runs");
    }
    result! { self, items, () =>
        sum "final sum of all items" = items.iter().copied().map(u64::from).sum::<u64>();
    }

    type Input = Vec<u32>;
    type Output = ();

    fn prepare(&self) -> io::Result<Vec<u32>> {
        Ok(vec![0; self.items])
    }

    fn reset(&self, items: &mut Vec<u32>) {
        items.fill(0);
    }

    fn serial(&self, items: &mut Vec<u32>) {
        for _ in 0..self.times {
            items.iter_mut().for_each(touch);
        }
    }

    fn parallel<R: Runtime>(&self, items: &mut Vec<u32>, fork: &mut R::Fork<'_>) {
        for _ in 0..self.times {
            R::for_each(fork, items, touch);
        }
    }

    fn published(&self) -> Option<Reference> {
        let sum = self.items as u64 * u64::from(self.times);
        Some(Reference {
            answer: answer([("sum", Value::from(sum))]),
            source: "items times times",
        })
    }
}
