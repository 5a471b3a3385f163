//! The length of a chain of tasks that wait for each other.

use tidegate_policy::Nanos;

/// The longest chain to some point of a dag, measured in time and in actions. These may be two
/// different chains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Chain {
    pub(crate) time: Nanos,
    /// The number of task steps, plus the actions that a memory policy counts for each reservation.
    pub(crate) actions: u64,
}

impl Chain {
    #[inline]
    pub(crate) fn lengthen(&mut self, time: Nanos) {
        self.time = self.time.saturating_add(time);
    }

    /// Takes the maximum of each measure separately.
    #[inline]
    pub(crate) fn max(self, other: Self) -> Self {
        Self {
            time: self.time.max(other.time),
            actions: self.actions.max(other.actions),
        }
    }
}
