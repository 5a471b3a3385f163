//! `loops` as a dag: loops run one after the other, and joins halve the items of each loop.

use super::calls::{Calls, halves};
use crate::loops::Loops;
use crate::runtime::HALVING_GRAIN;
use tidegate_sim::{Nanos, Step};

/// Items handled per nanosecond.
const ITEMS_PER_NANO: usize = 8;

#[derive(Clone, Copy, Debug)]
pub enum Call {
    All,
    /// Handles this many items of a loop.
    Items(usize),
}

impl Calls for Loops {
    type Call = Call;

    fn first(&self) -> Call {
        Call::All
    }

    fn step(&self, call: Call, number: usize) -> Step<Call> {
        match (call, number) {
            (Call::All, _) if number < self.times as usize => Step::Call(Call::Items(self.items)),
            (Call::Items(items), 0) if items <= HALVING_GRAIN => {
                Step::Work(items.div_ceil(ITEMS_PER_NANO) as Nanos)
            }
            (Call::Items(items), 0) => halves(items, Call::Items),
            _ => Step::End,
        }
    }
}
