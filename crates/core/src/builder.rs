//! The pool builder.
//!
//! The builder only collects values. [`Options`](crate::options::Options) checks and completes them
//! when the pool is built, so methods may be called in any order and an error can mention every
//! option involved.

mod build;
#[cfg(all(feature = "testing", not(loom)))]
mod simulated;

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

/// Defines the setters: an `impl` block for each tier of the table.
macro_rules! setters {
    ($($(#[$heading:meta])* impl {$(
        $(#[$doc:meta])*
        $name:ident($value:ident: $argument:ty) sets $type:ty = $stored:expr
            $(, or $tunable:ident)?;
    )*})*) => {$(
        $(#[$heading])*
        impl<P> Builder<P> {$(
            $(#[$doc])*
            #[must_use]
            pub fn $name(mut self, $value: $argument) -> Self {
                self.settings.$name = Some($stored);
                self
            }
        )*}
    )*};
}
options!(setters);

impl<P> fmt::Debug for Builder<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("workers", &self.settings.workers.flatten())
            .field("name", &self.settings.name)
            .finish_non_exhaustive()
    }
}
