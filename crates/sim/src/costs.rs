//! What operations cost on the simulated machine, apart from the tasks' own work.
//!
//! Each field is the tunable of the same name ([`tidegate_policy::tunables`], in the rows that
//! begin with `sim.`). The tunable documents what the cost covers and where its default comes from.
//!
//! Ending a task and informing another job of its allotment cost nothing here. In the runtime, no
//! worker spends time on informing a job; that happens outside the workers.

use tidegate_policy::Nanos;
use tidegate_policy::tunables::{self as t, Tunable};

macro_rules! costs {
    ($($(#[$more:meta])* $field:ident: $tunable:ident,)*) => {
        /// The costs of one machine.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Costs {$(
            #[doc = concat!("See [`", stringify!($tunable), "`](t::", stringify!($tunable), ").")]
            $(#[$more])*
            pub $field: Nanos,
        )*}

        impl Costs {
            /// The costs of a machine on which only the tasks take time.
            pub const NONE: Self = Self {
                slice: t::SIM_SLICE.default,
                forfeit: t::SIM_FORFEIT.default,
                ..Self { $($field: 0,)* }
            };

            /// Returns each cost with its tunable.
            pub fn rows(&mut self) -> [(Tunable<Nanos>, &mut Nanos); [$(t::$tunable),*].len()] {
                [$((t::$tunable, &mut self.$field)),*]
            }
        }
    };
}

costs! {
    fork: SIM_FORK,
    join: SIM_JOIN,
    allocate: SIM_ALLOCATE,
    attempt: SIM_ATTEMPT,
    look: SIM_LOOK,
    distance: SIM_DISTANCE,
    /// This is the cost for each KiB, rounded up.
    miss: SIM_MISS,
    steal: SIM_STEAL,
    unwind: SIM_UNWIND,
    /// A failed sweep takes at least a nanosecond; otherwise, thieves would look again forever
    /// without time advancing.
    look_again: SIM_LOOK_AGAIN,
    yields: SIM_YIELD,
    forfeit: SIM_FORFEIT,
    call: SIM_CALL,
    sleep: SIM_SLEEP,
    wake: SIM_WAKE,
    wake_call: SIM_WAKE_CALL,
    wake_series: SIM_WAKE_SERIES,
    slack: SIM_SLACK,
    handover: SIM_HANDOVER,
    slice: SIM_SLICE,
    estimate: SIM_ESTIMATE,
    scheduler: SIM_SCHEDULER,
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
