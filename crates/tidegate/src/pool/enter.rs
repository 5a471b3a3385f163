//! How a call comes into a pool: on a thread of it, or on the caller's own stack as a guest.

use super::PoolInner;
use crate::job::{Installed, Task};
use crate::latch::Event;
use crate::space;
use crate::unwind;
use crate::worker::{Admission, Membership, WorkerThread};
use std::sync::Arc;

impl PoolInner {
    /// Runs `f` on a thread of this pool and waits for it.
    pub(crate) fn install<R: Send>(self: &Arc<Self>, f: impl FnOnce() -> R + Send) -> R {
        if let Some(current) = WorkerThread::in_pool(self) {
            return current.call(|_| f());
        }
        self.install_by(f, |task| {
            self.injector.push(task);
            self.work_visible(None);
        })
    }

    /// Offers `f` to the pool's threads and waits for it. Where the system has refused them all the caller runs it.
    pub(crate) fn install_by<R: Send>(
        self: &Arc<Self>,
        f: impl FnOnce() -> R + Send,
        offer: impl FnOnce(Task),
    ) -> R {
        if let Some(t) = self.admit_if_alone() {
            return self.visit(t, |_| f());
        }
        let result = Installed::new(f, Event::for_this_thread()).run(offer);
        result.unwrap_or_else(|payload| unwind::resume(payload))
    }

    /// Where the system has refused every thread, the caller runs what was spawned.
    pub(crate) fn work_off_alone(self: &Arc<Self>) {
        if let Some(t) = self.admit_if_alone() {
            self.visit(t, |_| ());
        }
    }

    /// Runs `f` on the caller's stack if it is a worker of this pool or can become a guest, else on a thread of the pool.
    #[inline]
    pub(crate) fn take_part<R: Send>(
        self: &Arc<Self>,
        f: impl FnOnce(WorkerThread<'_>) -> R + Send,
    ) -> R {
        match WorkerThread::get() {
            Some(current) if std::ptr::eq(current.shared(), &**self) => f(current),
            Some(_) => self.install_with(f),
            None => match self.admit_guest() {
                Some(t) => self.visit(t, f),
                None => self.install_with(f),
            },
        }
    }

    /// Runs `f` on the caller's stack if it is a worker of this pool, now or in a frame below, or can become a guest; else not at all.
    pub(crate) fn run_here(self: &Arc<Self>, f: impl FnOnce()) {
        if let Some(current) = WorkerThread::in_pool(self) {
            return current.call(|_| f());
        }
        let guest = match WorkerThread::get() {
            Some(_) => self.admit_if_alone(),
            None => self.admit_guest(),
        };
        if let Some(t) = guest {
            self.visit(t, |_| f());
        }
    }

    fn install_with<R: Send>(self: &Arc<Self>, f: impl FnOnce(WorkerThread<'_>) -> R + Send) -> R {
        self.install(|| f(WorkerThread::get().expect("install runs on a worker")))
    }

    /// Makes the caller worker `t`, which was admitted as a guest, for the length of `f`.
    fn visit<R>(self: &Arc<Self>, t: usize, f: impl FnOnce(WorkerThread<'_>) -> R) -> R {
        struct Visit(Membership);
        impl Drop for Visit {
            fn drop(&mut self) {
                let current = self.0.current();
                if current.shared().is_inherited() {
                    return;
                }
                space::leave(current);
                if current.shared().is_alone() {
                    current.finish();
                }
                current.clear_above(0);
                current.flush_to_injector();
                current.set_must_stop(false);
            }
        }
        struct Leave<'a>(&'a PoolInner, usize);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                if !self.0.is_inherited() {
                    self.0.dismiss(self.1);
                }
            }
        }
        let _leave = Leave(self, t);
        let visit = Visit(Membership::enter(self.clone(), Admission::granted(t)));
        f(visit.0.current())
    }
}
