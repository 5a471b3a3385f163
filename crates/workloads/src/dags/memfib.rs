//! `memfib` as a dag. A call that holds memory reserves it and writes to it. With `hold itself`,
//! the call then frees the memory before it makes further calls. Each call forks, except at the
//! leaves.

use super::Calls;
use crate::memory::memfib::{Call, Hold, Memfib};
use tidegate_sim::Step;

/// Bytes written per nanosecond to memory that is in a cache.
const BYTES_PER_NANO: u64 = 32;

impl Calls for Memfib {
    type Call = Call;

    fn first(&self) -> Call {
        Call::first(self.n)
    }

    fn step(&self, call: Call, number: usize) -> Step<Call> {
        let bytes = self.bytes as u64;
        let holds = call.holds(self.mix);
        let steps = [
            holds.then_some(Step::Reservation(bytes)),
            Some(Step::Work((bytes / BYTES_PER_NANO).max(1))),
            (holds && self.hold == Hold::Itself).then_some(Step::Free),
            (call.n >= 2).then(|| {
                let [first, second] = call.calls();
                Step::Fork(first, second)
            }),
        ];
        steps.into_iter().flatten().nth(number).unwrap_or(Step::End)
    }
}
