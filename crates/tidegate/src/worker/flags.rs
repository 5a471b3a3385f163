//! Flags: how a thief asks a victim for work.
//!
//! A victim whose tasks are all private gets a flag in its signal word, and publishes half of them at its next push. If
//! it doesn't answer in time, the thief publishes them itself (docs/deque.md). The gap between two flags of one thief is a decision of
//! the policy (`FlagGap`).

use super::Worker;
use crate::alt_queue::Cursors;
use crate::pool::{PoolInner, signal};
use tidegate_policy::Nanos;
use tidegate_policy::search::{FlagGap, flag_unanswered};
use tidegate_sync::clock;

/// Which victims this thief has asked, and when.
#[derive(Default)]
pub(super) struct Flags {
    pub(super) gap: FlagGap,
    last: Option<Nanos>,
    asked: Option<(usize, Nanos)>,
    /// Whether hunger was raised at the last rest and nothing was found since, and when.
    pub(super) hungry: bool,
    hungry_at: Option<Nanos>,
    /// The thief's memory of the queues beside its victims' deques.
    pub(super) beside: Cursors,
}

impl Flags {
    /// The victim runs, but nothing of it is public: asks for what it has or will have, or takes matters in hand. Whether to try at
    /// once.
    ///
    /// A flag at one who has nothing is answered by its next push. Between two pushes a fork may be over, or a leaf begin that polls
    /// nothing: a thief that waited for something to ask for would come too late for either.
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
        // In this order: the owner writes at each push and pop what the last question reads.
        if self.ask(victim, now) && victim.deque.has_private() {
            self.asked.get_or_insert((victim.index, now));
        }
        false
    }

    /// The thief goes to rest. Returns how long it waits before it raises hunger, which is a flag at all workers.
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

    /// Raises a flag, if another may be raised already. Whether it may.
    fn ask(&mut self, victim: &Worker, now: Nanos) -> bool {
        let allowed = self.gap.allows(self.last, now);
        if allowed && victim.deque.raised() & signal::FLAG == 0 {
            self.last = Some(now);
            victim.deque.raise(signal::FLAG);
        }
        allowed
    }

    /// The victim had some. It is asked for more in advance, for when this has run.
    pub(super) fn answered(&mut self, victim: &Worker) {
        self.asked = None;
        self.ask(victim, clock::now());
    }
}
