//! How a call enters a pool: on one of its threads, or on the caller's own stack as a guest.

use super::PoolInner;
use super::end::Hold;
use crate::job::Task;
use crate::pool::members;
use crate::sleep::wake;
use crate::unwind;
use crate::worker::Event;
use crate::worker::carry;
use crate::worker::give;
use crate::worker::memory;
use crate::worker::{Admission, Installed, Membership, Search, WorkerThread};
use std::sync::Arc;
use tidegate_policy::Priority;

/// Runs `f` on a thread of this pool and waits for the result. `class` is the caller's, if it has
/// one.
pub(crate) fn install<R: Send>(
    pool: &Arc<PoolInner>,
    class: Option<Priority>,
    f: impl FnOnce() -> R + Send,
) -> R {
    if let Some(current) = WorkerThread::in_pool(pool) {
        return current.call(|_| f());
    }
    install_by(pool, f, |task| {
        pool.sources.inject(class, task);
        wake::work_visible(pool, None);
    })
}

/// Offers `f` to the pool's threads and waits for the result. If no thread of the pool could be
/// started, the caller runs `f`.
pub(crate) fn install_by<R: Send>(
    pool: &Arc<PoolInner>,
    f: impl FnOnce() -> R + Send,
    offer: impl FnOnce(Task),
) -> R {
    if let Some(t) = members::admit_if_alone(pool) {
        return visit(pool, t, |_| f());
    }
    let result = Installed::new(f, Event::for_this_thread()).run(pool, offer);
    result.unwrap_or_else(|payload| unwind::resume(payload))
}

/// Runs the spawned tasks on the calling thread if no thread of the pool could be started.
pub(crate) fn work_off_alone(pool: &Arc<PoolInner>) {
    if let Some(t) = members::admit_if_alone(pool) {
        visit(pool, t, |_| ());
    }
}

/// Runs `f` on the caller's stack if the caller is a worker of this pool or can become a guest,
/// otherwise on a thread of the pool. `class` is the caller's, if it has one.
#[inline]
pub(crate) fn take_part<R: Send>(
    pool: &Arc<PoolInner>,
    class: Option<Priority>,
    f: impl FnOnce(WorkerThread<'_>) -> R + Send,
) -> R {
    match WorkerThread::get() {
        Some(current) if std::ptr::eq(current.pool(), &**pool) => f(current),
        Some(_) => install_with(pool, class, f),
        None => match members::admit_guest(pool) {
            Some(t) => visit(pool, t, f),
            None => install_with(pool, class, f),
        },
    }
}

/// Runs `f` on the caller's stack if the caller is a worker of this pool, now or in a frame below,
/// or can become a guest. Otherwise does not run `f`.
pub fn run_here(pool: &Arc<PoolInner>, f: impl FnOnce()) {
    if let Some(current) = WorkerThread::in_pool(pool) {
        return current.call(|_| f());
    }
    let guest = match WorkerThread::get() {
        Some(_) => members::admit_if_alone(pool),
        None => members::admit_guest(pool),
    };
    if let Some(t) = guest {
        // `f` may let the pool go. It must not be over before the guest has passed on its tasks.
        let _hold = Hold::of(pool);
        visit(pool, t, |_| f());
    }
}

fn install_with<R: Send>(
    pool: &Arc<PoolInner>,
    class: Option<Priority>,
    f: impl FnOnce(WorkerThread<'_>) -> R + Send,
) -> R {
    install(pool, class, || {
        f(WorkerThread::get().expect("install runs on a worker"))
    })
}

/// Makes the caller the pool's worker `t`, which was admitted as a guest, while `f` runs.
fn visit<R>(pool: &Arc<PoolInner>, t: usize, f: impl FnOnce(WorkerThread<'_>) -> R) -> R {
    // Dropped last: the caller stops being a worker before its admission ends.
    let _admitted = Admitted(pool, t);
    let _suspended = carry::carry();
    let stay = Stay(Membership::enter(pool.clone(), Admission::granted(t)));
    f(stay.0.current())
}

struct Stay(Membership);

impl Drop for Stay {
    fn drop(&mut self) {
        let current = self.0.current();
        current.pool().check_process();
        memory::leave(current);
        if members::is_alone(current.pool()) {
            Search::finish(current);
        }
        give::pass_all_on(current);
        current.set_must_stop(false);
    }
}

struct Admitted<'a>(&'a PoolInner, usize);

impl Drop for Admitted<'_> {
    fn drop(&mut self) {
        members::dismiss(self.0, self.1);
    }
}
