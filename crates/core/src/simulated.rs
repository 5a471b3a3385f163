//! What the runtime does differently in a simulated pool; see `docs/simulated-pool.md`.
//!
//! The threads of such a pool belong to a simulation, in which one thread runs at a time. All that
//! waits in the runtime goes through `tidegate_sync`, which passes the turn on there. In addition,
//! the runtime passes it on wherever tasks become visible to other threads or end.

#[cfg(all(feature = "testing", not(loom)))]
mod on;
#[cfg(all(feature = "testing", not(loom)))]
mod report;

#[cfg(not(all(feature = "testing", not(loom))))]
pub(crate) use off::{
    Simulated, begin, check_caller, check_closed, check_ordinary, check_thread, complete,
};
#[cfg(all(feature = "testing", not(loom)))]
pub use on::Simulated;
#[cfg(all(feature = "testing", not(loom)))]
pub(crate) use on::{begin, check_caller, check_closed, check_ordinary, check_thread, complete};
pub(crate) use tidegate_sync::simulation::{access, is_simulated, switch};

#[cfg(all(feature = "testing", not(loom)))]
pub use report::{line, outline};

#[cfg(not(all(feature = "testing", not(loom))))]
mod off {
    use crate::options::{BuildError, Options, Settings};
    use tidegate_sync::simulation::{Observer, Simulation};

    /// How a pool is simulated. No pool is simulated in this build.
    #[derive(Debug)]
    pub(crate) enum Simulated {}

    #[inline(always)]
    pub(crate) fn complete(settings: Settings) -> Result<Settings, BuildError> {
        Ok(settings)
    }

    #[inline(always)]
    pub(crate) fn begin(_: &Options, _: bool) -> Result<Option<Simulation>, BuildError> {
        Ok(None)
    }

    #[inline(always)]
    pub(crate) fn check_closed(_: &Options) -> Result<(), BuildError> {
        Ok(())
    }

    #[inline(always)]
    pub(crate) fn check_ordinary(_: &str) {}

    #[inline(always)]
    pub(crate) fn check_caller(_: &str, _: Option<&Observer>) {}

    #[inline(always)]
    pub(crate) fn check_thread(_: &str, own: Option<&Observer>) {
        debug_assert!(own.is_none());
    }
}
