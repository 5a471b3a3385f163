//! What operations cost on the simulated machine, apart from the tasks' own work.
//!
//! Each field is the tunable of the same name ([`tidegate_policy::tunables`], in the rows that
//! begin with `sim.`). The tunable documents what the cost covers and where its default comes from.
//!
//! Ending a task and informing another job of its allotment cost nothing here. In the runtime, no
//! worker spends time on informing a job; that happens outside the workers.

use tidegate_policy::Nanos;
use tidegate_policy::tunables::{self as t, Tunable};

/// The costs of one machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// See [`SIM_FORK`](t::SIM_FORK).
    pub fork: Nanos,
    /// See [`SIM_JOIN`](t::SIM_JOIN).
    pub join: Nanos,
    /// See [`SIM_ALLOCATE`](t::SIM_ALLOCATE).
    pub allocate: Nanos,
    /// See [`SIM_ATTEMPT`](t::SIM_ATTEMPT).
    pub attempt: Nanos,
    /// See [`SIM_LOOK`](t::SIM_LOOK).
    pub look: Nanos,
    /// See [`SIM_DISTANCE`](t::SIM_DISTANCE).
    pub distance: Nanos,
    /// See [`SIM_MISS`](t::SIM_MISS). This is the cost for each KiB, rounded up.
    pub miss: Nanos,
    /// See [`SIM_STEAL`](t::SIM_STEAL).
    pub steal: Nanos,
    /// See [`SIM_UNWIND`](t::SIM_UNWIND).
    pub unwind: Nanos,
    /// See [`SIM_LOOK_AGAIN`](t::SIM_LOOK_AGAIN). A failed sweep takes at least a nanosecond;
    /// otherwise, thieves would look again forever without time advancing.
    pub look_again: Nanos,
    /// See [`SIM_YIELD`](t::SIM_YIELD).
    pub yields: Nanos,
    /// See [`SIM_SLEEP`](t::SIM_SLEEP).
    pub sleep: Nanos,
    /// See [`SIM_WAKE`](t::SIM_WAKE).
    pub wake: Nanos,
    /// See [`SIM_WAKE_CALL`](t::SIM_WAKE_CALL).
    pub wake_call: Nanos,
    /// See [`SIM_WAKE_SERIES`](t::SIM_WAKE_SERIES).
    pub wake_series: Nanos,
    /// See [`SIM_SLACK`](t::SIM_SLACK).
    pub slack: Nanos,
    /// See [`SIM_HANDOVER`](t::SIM_HANDOVER).
    pub handover: Nanos,
    /// See [`SIM_SLICE`](t::SIM_SLICE).
    pub slice: Nanos,
    /// See [`SIM_ESTIMATE`](t::SIM_ESTIMATE).
    pub estimate: Nanos,
    /// See [`SIM_SCHEDULER`](t::SIM_SCHEDULER).
    pub scheduler: Nanos,
}

impl Costs {
    /// The costs of a machine on which only the tasks take time.
    pub const NONE: Self = Self {
        fork: 0,
        join: 0,
        allocate: 0,
        attempt: 0,
        look: 0,
        distance: 0,
        miss: 0,
        steal: 0,
        unwind: 0,
        look_again: 0,
        yields: 0,
        sleep: 0,
        wake: 0,
        wake_call: 0,
        wake_series: 0,
        slack: 0,
        handover: 0,
        slice: t::SIM_SLICE.default,
        estimate: 0,
        scheduler: 0,
    };

    /// Returns each cost with its tunable.
    pub fn rows(&mut self) -> [(Tunable<Nanos>, &mut Nanos); 20] {
        [
            (t::SIM_FORK, &mut self.fork),
            (t::SIM_JOIN, &mut self.join),
            (t::SIM_ALLOCATE, &mut self.allocate),
            (t::SIM_ATTEMPT, &mut self.attempt),
            (t::SIM_LOOK, &mut self.look),
            (t::SIM_DISTANCE, &mut self.distance),
            (t::SIM_MISS, &mut self.miss),
            (t::SIM_STEAL, &mut self.steal),
            (t::SIM_UNWIND, &mut self.unwind),
            (t::SIM_LOOK_AGAIN, &mut self.look_again),
            (t::SIM_YIELD, &mut self.yields),
            (t::SIM_SLEEP, &mut self.sleep),
            (t::SIM_WAKE, &mut self.wake),
            (t::SIM_WAKE_CALL, &mut self.wake_call),
            (t::SIM_WAKE_SERIES, &mut self.wake_series),
            (t::SIM_SLACK, &mut self.slack),
            (t::SIM_HANDOVER, &mut self.handover),
            (t::SIM_SLICE, &mut self.slice),
            (t::SIM_ESTIMATE, &mut self.estimate),
            (t::SIM_SCHEDULER, &mut self.scheduler),
        ]
    }
}

impl Default for Costs {
    /// Returns the tunables' defaults.
    fn default() -> Self {
        let mut costs = Self::NONE;
        for (tunable, cost) in costs.rows() {
            *cost = tunable.default;
        }
        costs
    }
}
