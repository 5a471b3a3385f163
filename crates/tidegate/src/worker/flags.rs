//! Flags: how a thief asks a victim for work.
//!
//! If all tasks of a victim are private, the thief raises a flag in the victim's signal word, and
//! the victim publishes half of its tasks at its next push. If the victim doesn't answer in time,
//! the thief publishes them itself (docs/deque.md). The policy decides the gap between two flags of
//! one thief (`FlagGap`).

use super::Worker;
use crate::alt_queue::Cursors;
use crate::pool::{PoolInner, signal};
use tidegate_policy::Nanos;
use tidegate_policy::search::{FlagGap, flag_unanswered};
use tidegate_sync::clock;

/// The victim that this thief has asked, and when.
#[derive(Default)]
pub(super) struct Flags {
    pub(super) gap: FlagGap,
    last: Option<Nanos>,
    asked: Option<(usize, Nanos)>,
    /// Whether this thief raised hunger at its last rest and has found nothing since, and when it
    /// did.
    pub(super) hungry: bool,
    hungry_at: Option<Nanos>,
    /// The thief's memory of the queues that its victims have in place of their deques.
    pub(super) beside: Cursors,
}

impl Flags {
    /// The victim runs, but none of its tasks are public. Asks it for the tasks that it has or will
    /// have, or exposes them by force. Returns whether to retry at once.
    ///
    /// A victim without tasks answers a flag at its next push. Between two pushes a fork may end,
    /// or a leaf may begin that polls nothing. A thief that waited until there is something to ask
    /// for would come too late for either.
    pub(super) fn press(&mut self, shared: &PoolInner, victim: &Worker) -> bool {
        let now = clock::now();
        if let Some((asked, since)) = self.asked {
            if flag_unanswered(since, now) {
                let silent = shared.worker(asked);
                if silent.deque.has_private() && !shared.expose_turn(now) {
                    return false;
                }
                self.asked = None;
                if silent.deque.has_private() {
                    return silent.deque.force_expose() && asked == victim.index;
                }
            }
        }
        // In this order: the owner writes at each push and pop what `has_private` reads.
        if self.ask(victim, now) && victim.deque.has_private() {
            self.asked.get_or_insert((victim.index, now));
        }
        false
    }

    /// The thief goes to rest. Returns how long it waits before it raises hunger, which is a flag
    /// at all workers.
    pub(super) fn rest(&mut self) -> Nanos {
        if self.hungry {
            self.gap.woken_in_vain();
        }
        let now = clock::now();
        let backoff = self.gap.remaining(self.last.max(self.hungry_at), now);
        self.hungry = true;
        self.hungry_at = Some(now + backoff);
        backoff
    }

    /// Raises a flag, if the gap allows another one. Returns whether it does.
    fn ask(&mut self, victim: &Worker, now: Nanos) -> bool {
        let allowed = self.gap.allows(self.last, now);
        if allowed && victim.deque.raised() & signal::FLAG == 0 {
            self.last = Some(now);
            victim.deque.raise(signal::FLAG);
        }
        allowed
    }

    /// The victim had a task. Asks it for more in advance, for the time after this task has run.
    pub(super) fn answered(&mut self, victim: &Worker) {
        self.asked = None;
        self.ask(victim, clock::now());
    }
}
