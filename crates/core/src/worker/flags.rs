//! Flags: how a thief asks a victim for work.
//!
//! If all tasks of a victim are private, the thief raises a flag in the victim's signal word, and
//! the victim publishes half of its tasks at its next push. If the victim doesn't answer in time,
//! the thief publishes them itself (docs/deque.md). The policy decides the gap between two flags of
//! one thief (`FlagGap`).

use super::Worker;
use crate::pool::{PoolInner, signal};
use crate::sources::alt_queue::Cursors;
use tidegate_policy::Nanos;
use tidegate_policy::search::{FlagGap, flag_unanswered};
use tidegate_sync::clock;

/// A thief's requests for work: when it last made one, and to which victim.
#[derive(Default)]
pub(super) struct Flags {
    pub(super) gap: FlagGap,
    /// When this thief last raised a flag.
    last: Option<Nanos>,
    /// The victim whose answer this thief awaits, and when the thief asked it.
    asked: Option<(usize, Nanos)>,
    /// Whether this thief raised the hungry signal at its last rest and has found nothing since.
    pub(super) hungry: bool,
    /// When this thread last raised the hungry signal or, if it rests, when it will raise the
    /// signal.
    hungry_at: Option<Nanos>,
    /// The thief's cursors into the alternative queues of its victims.
    pub(super) beside: Cursors,
}

impl Flags {
    /// Called if the victim runs, but none of its tasks are public. Asks the victim for the tasks
    /// that it has or will have, or exposes them by force. Returns whether to retry immediately.
    ///
    /// A victim without tasks answers a flag at its next push. Between two pushes, a fork may end,
    /// or a leaf that never polls may begin. A thief that raised its flag only when the victim has
    /// tasks would be too late in both cases.
    pub(super) fn press(&mut self, pool: &PoolInner, victim: &Worker) -> bool {
        let now = clock::now();
        if let Some((asked, since)) = self.asked {
            if flag_unanswered(since, now) {
                let silent = pool.worker(asked);
                if silent.deque.has_private() && !pool.expose_turn(now) {
                    return false;
                }
                self.asked = None;
                if silent.deque.has_private() {
                    return silent.deque.force_expose() && asked == victim.index;
                }
            }
        }
        // `has_private` is called last, because it reads what the owner writes at each push and
        // pop.
        if self.ask(victim, now) && victim.deque.has_private() {
            self.asked.get_or_insert((victim.index, now));
        }
        false
    }

    /// Called when the thief goes to rest. Returns how long the thief waits before it raises the
    /// hungry signal, which acts as a flag at all workers.
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

    /// Raises a flag, if the gap allows another one. Returns whether the gap allows it.
    fn ask(&mut self, victim: &Worker, now: Nanos) -> bool {
        let allowed = self.gap.allows(self.last, now);
        if allowed && victim.deque.raised() & signal::FLAG == 0 {
            self.last = Some(now);
            victim.deque.raise(signal::FLAG);
        }
        allowed
    }

    /// Called after a successful steal. Asks the victim for more in advance, so that this thief
    /// finds another task when the stolen one has run.
    pub(super) fn answered(&mut self, victim: &Worker) {
        self.asked = None;
        self.ask(victim, clock::now());
    }
}
