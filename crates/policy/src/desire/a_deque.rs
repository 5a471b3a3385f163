//! A-Deque: the processors used, plus a term for the tasks in the deques.
//!
//! The estimator derives the number of processors used from the attempts to steal. To this it adds
//! the number of waiting tasks times a factor. The number of waiting tasks is the weighted mean of
//! two counts: the tasks that attempts to steal saw in deques during the cycle, and the tasks in
//! the deques at its end. The more attempts, the larger the weight of the first count. A-Deque is
//! by Cao, Sun and others, as described by Haselsteiner, "Adaptive Work-Stealing Techniques", 2015,
//! section 2.4 (formulas 2.2 to 2.6).
//!
//! Under constant parallelism, the desire settles. But it only climbs by the number of waiting
//! tasks times the factor, and in a loop that spawns tasks, only one task waits at a time.

use super::tunables::{self, ATTEMPT_TIME};
use super::{Estimate, ONE, Seen, fixed, scale};
use crate::parameters::parameters;

parameters! {
    /// Parameters of A-Deque.
    ADeque, "a-deque" {
        /// The number of processors that each waiting task adds to the desire: 0 to 100, by default
        /// 2.
        beta: f64 = A_DEQUE_BETA,
    }
}

impl Estimate for ADeque {
    fn next(&mut self, seen: &Seen<'_>) -> usize {
        let attempts = seen.attempts();
        let used = scale(attempts.useful(), seen.entitled() as u64, 1);
        // There are as many active deques as slots held, or more if sleeping workers left tasks in
        // their deques.
        let filled = seen.deques.iter().filter(|length| **length > 0).count();
        let active = seen.usage.max(filled) as u64;
        let met = scale(
            seen.lengths_seen,
            active.saturating_mul(ONE),
            attempts.all.max(1),
        );
        let left = (seen.waiting() as u64).saturating_mul(ONE);
        let possible = (seen.capacity() / ATTEMPT_TIME.default).max(1);
        let weight = scale(ONE, attempts.all, possible).min(ONE);
        let waiting = scale(met, weight, ONE).saturating_add(scale(left, ONE - weight, ONE));
        let explored = scale(waiting, fixed(self.beta), ONE);
        let desire = scale(used.saturating_add(explored), 1, ONE);
        usize::try_from(desire).unwrap_or(usize::MAX)
    }
}
