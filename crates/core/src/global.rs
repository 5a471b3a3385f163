//! The global pool, and free functions that use it if the caller is in no pool.

use crate::explain;
use crate::options::{BuildError, Environment, Options, Settings};
use crate::place::{self, PlaceId};
use crate::pool::{PoolInner, enter};
use crate::simulated;
use crate::start::start;
use crate::worker::WorkerThread;
use std::sync::Arc;
use tidegate_sync::OnceBox;
use tidegate_sync::thread::PerProcess;

/// The options of the global pool. A child made by `fork` also starts its global pool with them.
static OPTIONS: OnceBox<Arc<Options>> = OnceBox::new();

/// Returns the pool that free functions use if the caller is in no pool. The first call starts it.
/// `caller` is the name of the free function.
///
/// # Panics
/// Like [`check_allowed`], if the pool does not exist yet.
pub(crate) fn global(caller: &'static str) -> &'static Arc<PoolInner> {
    static GLOBAL: PerProcess<Arc<PoolInner>> = PerProcess::new();
    let options = || OPTIONS.get_or_init(|| Arc::new(Options::global()));
    let pool = GLOBAL.get_or_init(|| {
        simulated::check_ordinary("the global pool");
        check_allowed(caller);
        start(options().clone())
    });
    simulated::check_caller(pool.name(), pool.simulation.as_ref());
    explain::announce(pool);
    pool
}

/// Checks that the global pool may be created. Free functions that may not need the pool call this,
/// so that whether they panic does not depend on how long they take.
///
/// # Panics
/// If `TIDEGATE_GLOBAL` is `off` or has an invalid value.
pub fn check_allowed(caller: &'static str) {
    static ALLOWED: OnceBox<()> = OnceBox::new();
    if ALLOWED.get().is_some() {
        return;
    }
    match Environment::Strict.allows_global() {
        Ok(true) => _ = ALLOWED.get_or_init(|| ()),
        Ok(false) => panic!("{}", forbidden(caller)),
        // A typing error must not permit what the variable was meant to forbid.
        Err(error) => panic!("{caller}: {error}"),
    }
}

fn forbidden(caller: &str) -> String {
    format!(
        "{caller}: TIDEGATE_GLOBAL is off, and outside of any pool this would create the global pool"
    )
}

/// Starts the global pool with these options.
pub(crate) fn build(settings: Settings) -> Result<(), BuildError> {
    let exists = || BuildError::new("build_global: the global pool exists already".to_owned());
    if OPTIONS.get().is_some() {
        return Err(exists());
    }
    if !Environment::Strict.allows_global()? {
        return Err(BuildError::new(forbidden("build_global")));
    }
    if settings.simulated.is_some() {
        let error = "build_global: the global pool cannot be simulated: build a pool of its own";
        return Err(BuildError::new(error.to_owned()));
    }
    let (_, refused) = OPTIONS.insert(Arc::new(Options::of(settings)?));
    if refused.is_some() {
        return Err(exists());
    }
    global("build_global");
    Ok(())
}

/// Runs `f` on the caller's worker, or in the global pool if the caller belongs to no pool.
/// `caller` is the free function that was called.
#[cold]
#[inline(never)]
pub fn outside<R: Send>(caller: &'static str, f: impl FnOnce(WorkerThread<'_>) -> R + Send) -> R {
    match WorkerThread::get() {
        Some(current) => f(current),
        None => enter::take_part(global(caller), None, f),
    }
}

/// Calls `f` with the pool of the calling task, or with the global pool for `caller`, a free
/// function.
#[inline]
pub(crate) fn here<R>(caller: &'static str, f: impl FnOnce(&PoolInner) -> R) -> R {
    match WorkerThread::get() {
        Some(current) => f(current.pool()),
        None => f(global(caller)),
    }
}

/// Returns the pool of the calling task, or the global pool for `caller`, a free function.
#[inline]
pub fn pool_here(caller: &'static str) -> Arc<PoolInner> {
    here(caller, PoolInner::as_arc)
}

/// Returns how many workers the calling task's pool may run at once. Outside all pools, uses the
/// global pool, and starts it if it hasn't started yet.
///
/// See [`Pool::workers`](crate::Pool::workers) for what the number means while the pool shares the
/// machine with other programs.
///
/// ```
/// use tidegate::{Pool, current_num_workers};
///
/// let pool = Pool::builder().workers(3).build()?;
/// assert_eq!(pool.install(current_num_workers), 3);
/// assert!(current_num_workers() >= 1);
/// # Ok::<(), tidegate::BuildError>(())
/// ```
#[must_use]
pub fn current_num_workers() -> usize {
    here("current_num_workers", PoolInner::wanted)
}

/// Returns the smallest place of the worker that runs the calling task. `None` outside all pools.
///
/// A task may be in another place after it has waited: its worker gives up its place while it
/// waits, and may get another place afterwards.
///
/// ```
/// use tidegate::{Pool, current_place};
///
/// let pool = Pool::builder().workers(1).build()?;
/// assert_eq!(pool.install(current_place), Some(pool.places()[0]));
/// assert_eq!(current_place(), None);
/// # Ok::<(), tidegate::BuildError>(())
/// ```
#[must_use]
pub fn current_place() -> Option<PlaceId> {
    WorkerThread::get().map(place::place)
}

/// Returns the smallest places of the calling task's pool. Outside all pools, returns those of the
/// global pool; see [`Pool::places`](crate::Pool::places).
///
/// ```
/// use tidegate::{Pool, places};
///
/// let pool = Pool::builder().workers(2).build()?;
/// assert_eq!(pool.install(places), pool.places());
/// # Ok::<(), tidegate::BuildError>(())
/// ```
#[must_use]
pub fn places() -> Vec<PlaceId> {
    here("places", place::places)
}
