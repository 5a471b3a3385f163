//! How long a chain of tasks is that wait for each other.

use tidegate_policy::Nanos;

/// The longest chain to some point of a dag, by time and, which may be another one, by actions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Chain {
    pub(crate) time: Nanos,
    /// Steps of tasks, and whatever a rule counts beside.
    pub(crate) actions: u64,
}

impl Chain {
    #[inline]
    pub(crate) fn lengthen(&mut self, time: Nanos) {
        self.time = self.time.saturating_add(time);
    }

    /// The longer of both.
    #[inline]
    pub(crate) fn max(self, other: Self) -> Self {
        Self {
            time: self.time.max(other.time),
            actions: self.actions.max(other.actions),
        }
    }
}
