//! The pool builder.
//!
//! The builder only collects values. [`Options`](crate::options::Options) checks and completes them
//! when the pool is built, so methods may be called in any order and an error can mention every
//! option involved.

mod build;

pub use build::build_global;
#[cfg(all(feature = "testing", not(loom)))]
pub use simulated::simulate;

use crate::handle::Pool;
use crate::options::{Settings, nanos, options};
use crate::panics::PanicReport;
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;
use tidegate_machine::Topology;
use tidegate_policy::idle::BackoffFactory;
use tidegate_policy::{
    DesirePolicy, IdlePolicy, MemoryPolicy, PlaceBy, Priority, QueueKind, SharePolicy, StealAmount,
    VictimPolicy, WaitPolicy,
};

/// Configures a pool; created by [`Pool::builder`](crate::Pool::builder).
///
/// An option that is not set here takes its value from the environment variable named in the
/// method's documentation, or else has its default. [`build`](Self::build) checks all values, and
/// returns an error if one is out of range or if two contradict each other.
///
/// There are three tiers of options:
///
/// 1. what most programs set: the threads, their names, stacks and handlers, and the pool's share;
/// 2. what some programs set: blocking and queueing, weights and classes, memory, places, traces;
/// 3. what research sets: the methods of the trait [`policy::Choose`](crate::policy::Choose).
///
/// ```
/// use tidegate::Pool;
///
/// let pool = Pool::builder().workers(2).name("render").stack_size(64 << 20).build()?;
/// let name = pool.install(|| std::thread::current().name().map(str::to_owned));
/// assert!(name.is_some_and(|name| name.starts_with("render-")));
/// # Ok::<(), tidegate::BuildError>(())
/// ```
pub struct Builder<P = Pool> {
    pub(crate) settings: Settings,
    made: PhantomData<fn() -> P>,
}

impl<P> Default for Builder<P> {
    fn default() -> Self {
        Self {
            settings: Settings::default(),
            made: PhantomData,
        }
    }
}

/// Defines the setters of the table's tiers.
macro_rules! setters {
    ($(#[$heading:meta])* impl {$(
        $(#[$doc:meta])*
        $name:ident($value:ident: $argument:ty) sets $type:ty = $stored:expr
            $(, or $tunable:ident)?;
    )*}) => {
        $(#[$heading])*
        impl<P> Builder<P> {$(
            $(#[$doc])*
            #[must_use]
            pub fn $name(mut self, $value: $argument) -> Self {
                self.settings.$name = Some($stored);
                self
            }
        )*}
    };
    ($(#[$heading:meta])* trait {$(
        $(#[$doc:meta])*
        $name:ident($value:ident: $argument:ty) sets $type:ty = $stored:expr
            $(, or $tunable:ident)?;
    )*}) => {
        $(#[$heading])*
        pub trait Choose: Sized + sealed::Sealed {$(
            $(#[$doc])*
            #[must_use]
            fn $name(self, $value: $argument) -> Self;
        )*}

        impl<P> Choose for Builder<P> {$(
            fn $name(mut self, $value: $argument) -> Self {
                self.settings.$name = Some($stored);
                self
            }
        )*}
    };
    ($($(#[$heading:meta])* $kind:ident { $($rows:tt)* })*) => {$(
        setters! { $(#[$heading])* $kind { $($rows)* } }
    )*};
}
options!(setters);

// Below the table, so that its setter comes last in the documentation.
#[cfg(all(feature = "testing", not(loom)))]
mod simulated;

/// Keeps other crates from implementing [`Choose`].
mod sealed {
    pub trait Sealed {}
    impl<P> Sealed for super::Builder<P> {}
}

impl<P> fmt::Debug for Builder<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("workers", &self.settings.workers.flatten())
            .field("name", &self.settings.name)
            .finish_non_exhaustive()
    }
}
