//! How much a check may take: what every change can afford, or what a night can.

use std::time::Duration;

/// One of the two budgets.
#[derive(Clone, Copy)]
pub enum Budget {
    /// For every change.
    Smoke,
    /// For a night.
    Full,
}

impl Budget {
    /// The larger one, if that is asked for.
    pub fn of(full: bool) -> Budget {
        if full { Budget::Full } else { Budget::Smoke }
    }

    /// How long one command may take. The sum over the usual number of commands is far below what a run of all checks may.
    pub fn limit(self) -> Duration {
        match self {
            Budget::Smoke => Duration::from_secs(15 * 60),
            Budget::Full => Duration::from_secs(12 * 60 * 60),
        }
    }
}
