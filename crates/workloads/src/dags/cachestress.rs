//! `cachestress` as a dag: the root drafts the tasks, and each task touches its whole array once
//! per pass.

use super::Calls;
use crate::locality::cachestress::Cachestress;
use tidegate_sim::{Draft, Place, Step, Touch};

/// Time for one pass over 64 elements, in nanoseconds; one element takes 0.32 ns.
const OF_64: u64 = 21;

#[derive(Clone, Copy, Debug)]
pub enum Call {
    /// Drafts the tasks.
    All,
    /// Touches and reads the array at this index in each pass.
    Array(usize),
}

impl Calls for Cachestress {
    type Call = Call;

    fn first(&self) -> Call {
        Call::All
    }

    fn step(&self, call: Call, number: usize) -> Step<Call> {
        let n = self.n as u64;
        match call {
            Call::All if number < self.tasks => {
                let (array, turn) = self.turn(number);
                let (part, drawn) = ((array, self.arrays), number as u64);
                Step::Draft(Draft {
                    task: Call::Array(array),
                    name: drawn,
                    releases: 0,
                    place: Place::Inside,
                    put: self.locality.put(self.seed, part, turn, drawn),
                })
            }
            Call::All if number == self.tasks => Step::Join,
            Call::Array(array) if number < 2 * self.passes as usize => match number % 2 {
                0 => Step::Touch(Touch {
                    name: array as u64,
                    bytes: n * size_of::<u32>() as u64,
                    writes: false,
                }),
                _ => Step::Work(n * OF_64 / 64),
            },
            Call::All | Call::Array(_) => Step::End,
        }
    }
}
