//! What a pool's builder collects. [`super::Options`] checks and completes it.

use super::{BuildError, Closed, Environment, PanicHandler, Source, ThreadHandler, options};
use crate::simulated::Simulated;
use tidegate_machine::Topology;
use tidegate_policy::idle::BackoffFactory;
use tidegate_policy::tunables;
use tidegate_policy::{
    DesirePolicy, IdlePolicy, MemoryPolicy, Nanos, PlaceBy, Priority, QueueKind, SharePolicy,
    StealAmount, VictimPolicy, WaitPolicy,
};

/// Defines a field for each row of the table and, if the row has a tunable, a method that returns
/// the option's value and where it came from.
macro_rules! settings {
    ($($(#[$heading:meta])* $kind:ident {$(
        $(#[$doc:meta])*
        $name:ident($value:ident: $argument:ty) sets $type:ty = $stored:expr
            $(, or $tunable:ident)?;
    )*})*) => {
        #[derive(Default)]
        pub(crate) struct Settings {
            $($(pub(crate) $name: Option<$type>,)*)*
            pub(crate) closed: Option<Closed>,
            pub(crate) simulated: Option<Simulated>,
        }

        impl Settings {$($($(
            pub(super) fn $name(
                &self,
                environment: Environment,
            ) -> Result<($type, Source), BuildError> {
                let method = concat!("Builder::", stringify!($name));
                environment.option(method, self.$name, &tunables::$tunable)
            }
        )?)*)*}
    };
}
options!(settings);
