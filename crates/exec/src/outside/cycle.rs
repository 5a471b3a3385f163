//! How long to wait until the next look at a program.

use tidegate_policy::Nanos;
use tidegate_policy::share::{self, SharePolicy};
use tidegate_policy::tunables::{EXEC_CYCLE, EXEC_CYCLE_MAX, EXEC_IDLE_CYCLE, EXEC_LOOK_SHARE};

/// Returns the length of the next cycle. The last look cost `cost` of processor time; `calm` is the
/// number of consecutive cycles that changed neither the program's desire nor its processors, and
/// `idle` means that there is nothing to follow, for instance because all threads sleep.
///
/// The looks cost at most [`EXEC_LOOK_SHARE`] of one processor, unless a cycle would have to be
/// longer than [`EXEC_CYCLE_MAX`] for that: other jobs would take the program for stalled.
///
/// ```
/// use tidegate_exec::outside::cycle;
///
/// let ms = 1_000_000;
/// assert_eq!([0, 4, 8].map(|calm| cycle(0, calm, false)), [20 * ms, 40 * ms, 80 * ms]);
/// assert_eq!(cycle(0, 0, true), 100 * ms);
/// assert_eq!(cycle(3 * ms, 0, false), 300 * ms); // 3 ms are 1 % of 300 ms
/// ```
#[must_use]
pub fn cycle(cost: Nanos, calm: usize, idle: bool) -> Nanos {
    let least = if idle {
        EXEC_IDLE_CYCLE.default
    } else {
        share::cycle(SharePolicy::On, 1, calm, EXEC_CYCLE.default)
    };
    let affordable = cost as f64 / EXEC_LOOK_SHARE.default;
    least.max(affordable as Nanos).min(EXEC_CYCLE_MAX.default)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_policy::tunables::TABLE_STALL;

    #[test]
    fn longest_keeps_a_program_alive() {
        for idle in [false, true] {
            let longest = cycle(Nanos::MAX, usize::MAX, idle);
            assert_eq!(longest, EXEC_CYCLE_MAX.default);
            assert!(longest <= TABLE_STALL.default / 2);
        }
    }

    #[test]
    fn grows_with_the_cost_of_looks() {
        let (us, ms) = (1_000, 1_000_000);
        let lengths = [0, 200 * us, 201 * us, 1_500 * us, 5 * ms, 6 * ms]
            .map(|cost| cycle(cost, 0, false) / (100 * us));
        assert_eq!(lengths, [200, 200, 201, 1_500, 5_000, 5_000]);
    }

    #[test]
    fn is_longer_if_calm_or_idle() {
        let ms = 1_000_000;
        assert_eq!(
            [3, 4, 7, 8, usize::MAX].map(|calm| cycle(0, calm, false) / ms),
            [20, 40, 40, 80, 80]
        );
        assert_eq!(cycle(0, usize::MAX, true) / ms, 100);
        assert_eq!(cycle(2 * ms, 0, true) / ms, 200);
    }
}
