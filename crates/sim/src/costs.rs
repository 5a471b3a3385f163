//! What things cost on the simulated machine, apart from the tasks' own work.
//!
//! Every field is the tunable of its name ([`tidegate_policy::tunables`], the rows that begin with `sim.`), which says what
//! it covers and where the default is from.
//!
//! What has no cost here: a task's end, the estimate of a desire, and telling another job of its allotment; the runtime does
//! the last two beside the workers.

use tidegate_policy::Nanos;
use tidegate_policy::tunables as t;

/// The costs of one machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// [`SIM_FORK`](t::SIM_FORK).
    pub fork: Nanos,
    /// [`SIM_JOIN`](t::SIM_JOIN).
    pub join: Nanos,
    /// [`SIM_ATTEMPT`](t::SIM_ATTEMPT).
    pub attempt: Nanos,
    /// [`SIM_DISTANCE`](t::SIM_DISTANCE).
    pub distance: Nanos,
    /// [`SIM_STEAL`](t::SIM_STEAL).
    pub steal: Nanos,
    /// [`SIM_LOOK_AGAIN`](t::SIM_LOOK_AGAIN). A failed sweep takes a nanosecond at least, or thieves would look for ever at
    /// one moment.
    pub look_again: Nanos,
    /// [`SIM_YIELD`](t::SIM_YIELD).
    pub yields: Nanos,
    /// [`SIM_SLEEP`](t::SIM_SLEEP).
    pub sleep: Nanos,
    /// [`SIM_WAKE`](t::SIM_WAKE).
    pub wake: Nanos,
    /// [`SIM_WAKE_CALL`](t::SIM_WAKE_CALL).
    pub wake_call: Nanos,
    /// [`SIM_HANDOVER`](t::SIM_HANDOVER).
    pub handover: Nanos,
    /// [`SIM_SLICE`](t::SIM_SLICE).
    pub slice: Nanos,
}

impl Costs {
    /// A machine on which nothing but the tasks takes time.
    pub const NONE: Self = Self {
        fork: 0,
        join: 0,
        attempt: 0,
        distance: 0,
        steal: 0,
        look_again: 0,
        yields: 0,
        sleep: 0,
        wake: 0,
        wake_call: 0,
        handover: 0,
        slice: t::SIM_SLICE.default,
    };
}

impl Default for Costs {
    /// The tunables' defaults.
    fn default() -> Self {
        Self {
            fork: t::SIM_FORK.default,
            join: t::SIM_JOIN.default,
            attempt: t::SIM_ATTEMPT.default,
            distance: t::SIM_DISTANCE.default,
            steal: t::SIM_STEAL.default,
            look_again: t::SIM_LOOK_AGAIN.default,
            yields: t::SIM_YIELD.default,
            sleep: t::SIM_SLEEP.default,
            wake: t::SIM_WAKE.default,
            wake_call: t::SIM_WAKE_CALL.default,
            handover: t::SIM_HANDOVER.default,
            slice: t::SIM_SLICE.default,
        }
    }
}
