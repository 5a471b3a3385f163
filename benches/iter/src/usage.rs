//! Resource usage of this process, as reported by the operating system. Only available on Unix.

use serde_json::{Value, json};

/// CPU time in nanoseconds, and the number of voluntary context switches.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    cpu_nanos: Option<u64>,
    wakeups: Option<u64>,
}

impl Usage {
    /// Runs `work`. Returns the resources that the process used while it ran, and its result.
    pub fn of<T>(work: impl FnOnce() -> T) -> (Self, T) {
        let before = imp::now();
        let result = work();
        let after = imp::now();
        let used = Self {
            cpu_nanos: difference(after.cpu_nanos, before.cpu_nanos),
            wakeups: difference(after.wakeups, before.wakeups),
        };
        (used, result)
    }

    pub fn to_json(self) -> Value {
        json!({ "cpu_nanos": self.cpu_nanos, "wakeups": self.wakeups })
    }
}

fn difference(after: Option<u64>, before: Option<u64>) -> Option<u64> {
    Some(after?.saturating_sub(before?))
}

#[cfg(unix)]
mod imp {
    use super::Usage;
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::time::{ClockId, clock_gettime};
    use std::time::Duration;

    /// Does not read the CPU time with `getrusage`, which may return its value at the last clock
    /// tick.
    pub(super) fn now() -> Usage {
        let cpu = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).map(Duration::from);
        let counted = getrusage(UsageWho::RUSAGE_SELF).ok();
        let sleeps = counted.map(|counted| counted.voluntary_context_switches());
        Usage {
            cpu_nanos: cpu.ok().and_then(|cpu| cpu.as_nanos().try_into().ok()),
            wakeups: sleeps.and_then(|sleeps| sleeps.try_into().ok()),
        }
    }
}

#[cfg(not(unix))]
mod imp {
    use super::Usage;

    pub(super) fn now() -> Usage {
        Usage {
            cpu_nanos: None,
            wakeups: None,
        }
    }
}
