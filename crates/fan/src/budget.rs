//! How long a piece works before it leaves the rest to others.

use std::time::{Duration, Instant};

/// The time after which a piece should leave its remaining work to others.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    end: Option<Instant>,
}

impl Budget {
    /// Creates a budget that ends after `time`.
    #[must_use]
    pub fn new(time: Duration) -> Self {
        Self {
            end: Instant::now().checked_add(time),
        }
    }

    /// Creates a budget that never ends.
    #[must_use]
    pub fn unlimited() -> Self {
        Self { end: None }
    }

    /// Returns whether the budget is spent. This reads the clock.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }
}
