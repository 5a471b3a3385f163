//! One closure on every thread of a pool.
//!
//! A part for each thread is put into that thread's mail, all under one lock (`Shared::deliver_to_all`), so that two
//! broadcasts reach every thread in the same order; closures that meet at a barrier therefore cannot wait for each other crosswise. Parts need no
//! slot. A sleeping thread runs its part at once, a waiting one on top of its frame, a running one at its next boundary.

use crate::scope::Scope;
use crate::worker::Current;
use tidegate_policy::slots::Status;
use tidegate_sync::lock::Mutex;

impl Current<'_> {
    pub(crate) fn broadcast<R: Send>(self, f: impl Fn(usize) -> R + Sync) -> Vec<R> {
        let shared = self.shared();
        let results: Mutex<Vec<Option<R>>> = Mutex::default();
        let (f, slots) = (&f, &results);
        self.scope(|scope| {
            shared.deliver_to_all(|threads| {
                slots.lock().resize_with(threads, || None);
                move |number| {
                    let part = move |_: &Scope<'_>| {
                        let result = f(number);
                        slots.lock()[number] = Some(result);
                    };
                    scope.task(part, Some(self))
                }
            });
        });
        results
            .into_inner()
            .into_iter()
            .map(|r| r.expect("each part ran"))
            .collect()
    }

    /// Runs what lies in this thread's mail.
    pub(crate) fn run_mail(self) {
        while let Some(task) = self.mail.pop() {
            self.run_stranger(task);
        }
    }

    /// The same for a thread that sleeps: it runs its mail without a slot, then goes on sleeping as `status`. Whether
    /// there was any.
    pub(crate) fn run_mail_asleep(self, status: Status) -> bool {
        let shared = self.shared();
        if self.mail.len() == 0 || !shared.ledger.lock().rise(self.index) {
            return false;
        }
        self.run_mail();
        self.stop_running(status);
        true
    }
}
