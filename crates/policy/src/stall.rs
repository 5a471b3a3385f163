//! Whether a pool stands still: no task begins, and the pool's threads use next to no processor
//! time.

use crate::Nanos;
use crate::text::S;
use crate::tunable::{Basis, Tunable, count, ratio, table, time};

table! {
    STALL_REPORT: usize = count("stall-report", "seconds", 0, 86_400, 5)
        .set_by("TIDEGATE_STALL_REPORT"),
        "How long a pool must have stood still until it reports that, once; 0 for never.",
        Basis::Guessed;
    STALL_USAGE: f64 = ratio("stall-usage", 0.0, 1.0, 0.01),
        "Part of a processor that a pool may use while it counts as standing still, for searches \
        and looks; a thread that computes gets more, even on a busy machine.", Basis::Guessed;
    STALL_GAP: u64 = time("stall-gap", 0, 60 * S, 2 * S),
        "How late a look at a pool may come; the share controller looks once a second.",
        Basis::Guessed;
}

/// What successive looks at a pool have found.
///
/// ```
/// use tidegate_policy::stall::Watch;
///
/// const S: u64 = 1_000_000_000;
/// let mut watch = Watch::default();
/// assert_eq!(watch.look(S, 7, 0, 5 * S), 0, "the seventh task has begun");
/// assert_eq!(watch.look(2 * S, 7, 0, 5 * S), S);
/// assert_eq!(watch.look(3 * S, 7, S / 2, 5 * S), 0, "it computes");
/// assert_eq!(watch.look(6 * S, 7, S / 2, 5 * S), 3 * S);
/// assert_eq!(watch.look(12 * S, 7, S / 2, 5 * S), 0, "it was stopped");
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Watch {
    at: Nanos,
    begun: u64,
    computed: Nanos,
    stands_for: Nanos,
}

impl Watch {
    /// Whether another look makes sense `now`: looks cost more than they find out if they follow
    /// each other closely.
    #[must_use]
    #[inline]
    pub fn is_due(&self, now: Nanos, after: Nanos) -> bool {
        now.saturating_sub(self.at) >= after / 8
    }

    /// Returns for how long the pool has stood still at `now`. `begun` tasks have begun since the
    /// pool was created, and the threads that run have `computed` for this long in total.
    ///
    /// If nobody looked for longer than half of `after` and [`STALL_GAP`] together, the process was
    /// stopped, and the standstill begins anew.
    #[inline]
    pub fn look(&mut self, now: Nanos, begun: u64, computed: Nanos, after: Nanos) -> Nanos {
        let passed = now.saturating_sub(self.at);
        // The time of threads that have ended is missing.
        let used = computed.saturating_sub(self.computed);
        let has_moved = begun != self.begun || used as f64 > passed as f64 * STALL_USAGE.default;
        let was_stopped = passed > after / 2 + STALL_GAP.default;
        let stands_for = if has_moved || was_stopped {
            0
        } else {
            self.stands_for + passed
        };
        *self = Self {
            at: now,
            begun,
            computed,
            stands_for,
        };
        stands_for
    }
}
