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

/// What a caller runs in a pool: a closure that is called once. All but the first steps of a call
/// are compiled for this type, and not for each closure.
pub(crate) type Body<'a> = dyn FnMut(WorkerThread<'_>) + Send + 'a;

/// Passes `f` to `enter`, which must run it, and returns the result.
#[inline]
pub(crate) fn erased<R: Send>(
    f: impl FnOnce(WorkerThread<'_>) -> R + Send,
    enter: impl FnOnce(&mut Body<'_>),
) -> R {
    let (mut f, mut result) = (Some(f), None);
    enter(&mut |current| result = f.take().map(|f| f(current)));
    result.expect("the body has run")
}

/// Runs `f` on a thread of this pool and waits for the result. `class` is the caller's, if it has
/// one.
pub(crate) fn install<R: Send>(
    pool: &Arc<PoolInner>,
    class: Option<Priority>,
    f: impl FnOnce() -> R + Send,
) -> R {
    erased(|_| f(), |body| call_or_inject(pool, class, body))
}

fn call_or_inject(pool: &Arc<PoolInner>, class: Option<Priority>, body: &mut Body<'_>) {
    if let Some(current) = WorkerThread::in_pool(pool) {
        return current.call(body);
    }
    offer(pool, body, |task| {
        pool.sources.inject(class, task);
        wake::work_visible(pool, None);
    });
}

/// Offers the body to the pool's threads and waits until one has run it. If no thread of the pool
/// could be started, the caller runs it.
pub(crate) fn offer(pool: &Arc<PoolInner>, body: &mut Body<'_>, offer: impl FnOnce(Task)) {
    if let Some(t) = members::admit_if_alone(pool) {
        return visit(pool, t, body);
    }
    let ended = Installed::new(body, Event::for_this_thread()).run(pool, offer);
    ended.unwrap_or_else(|payload| unwind::resume(payload));
}

/// Runs the spawned tasks on the calling thread if no thread of the pool could be started.
pub(crate) fn work_off_alone(pool: &Arc<PoolInner>) {
    if let Some(t) = members::admit_if_alone(pool) {
        visit(pool, t, &mut |_| ());
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
    match WorkerThread::of(pool) {
        Some(current) => f(current),
        None => erased(f, |body| run_inside(pool, class, body)),
    }
}

fn run_inside(pool: &Arc<PoolInner>, class: Option<Priority>, body: &mut Body<'_>) {
    let is_outside = WorkerThread::get().is_none();
    match is_outside.then(|| members::admit_guest(pool)).flatten() {
        Some(t) => visit(pool, t, body),
        None => call_or_inject(pool, class, body),
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
        let mut f = Some(f);
        visit(pool, t, &mut |_| f.take().expect("called once")());
    }
}

/// Makes the caller the pool's worker `t`, which was admitted as a guest, while the body runs.
fn visit(pool: &Arc<PoolInner>, t: usize, body: &mut dyn FnMut(WorkerThread<'_>)) {
    // Dropped last: the caller stops being a worker before its admission ends.
    let _admitted = Admitted(pool, t);
    let _suspended = carry::carry();
    let stay = Stay(Membership::enter(pool.clone(), Admission::granted(t)));
    body(stay.0.current());
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
