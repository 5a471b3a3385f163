//! The load on the machine from all programs.
//!
//! It is computed from the kernel's counters for all processors, so it is known only on Linux. It
//! does not consider the limits of containers and quotas, which `tidegate machine` prints.

/// The load between two readings of the kernel's counters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Load {
    /// The fraction of time that each processor was busy.
    pub processors: Vec<f64>,
    /// The fraction of time that all processors together were busy; `None` if unknown.
    pub all: Option<f64>,
    /// The load averages: running and runnable threads over the last 1, 5 and 15 minutes.
    pub averages: Option<[f32; 3]>,
}

pub use imp::Meter;

#[cfg(target_os = "linux")]
mod imp {
    use super::Load;
    use procfs::{CpuTime, Current, CurrentSI, KernelStats, LoadAverage};

    /// Measures the machine's load between two readings.
    #[derive(Debug)]
    pub struct Meter(Option<KernelStats>);

    impl Meter {
        /// Takes the first reading.
        pub fn start() -> Self {
            Self(KernelStats::current().ok())
        }

        /// Takes a reading, and returns the load since the previous one.
        pub fn read(&mut self) -> Load {
            let before = std::mem::replace(&mut self.0, KernelStats::current().ok());
            let averages = LoadAverage::current().ok();
            let averages = averages.map(|average| [average.one, average.five, average.fifteen]);
            let (Some(before), Some(now)) = (before, &self.0) else {
                return Load {
                    averages,
                    ..Load::default()
                };
            };
            let pairs = before.cpu_time.iter().zip(&now.cpu_time);
            Load {
                // If processors were added or removed, the two readings cannot be matched processor
                // by processor.
                processors: if before.cpu_time.len() == now.cpu_time.len() {
                    pairs
                        .map(|(before, now)| busy(before, now).unwrap_or(0.0))
                        .collect()
                } else {
                    Vec::new()
                },
                all: busy(&before.total, &now.total),
                averages,
            }
        }
    }

    /// Returns the fraction of the time between two readings that was not idle, or `None` if no
    /// time has passed.
    fn busy(before: &CpuTime, now: &CpuTime) -> Option<f64> {
        let (worked, rested) = (
            difference(worked, before, now),
            difference(rested, before, now),
        );
        let all = worked + rested;
        (all > 0).then(|| worked as f64 / all as f64)
    }

    fn difference(of: impl Fn(&CpuTime) -> u64, before: &CpuTime, now: &CpuTime) -> u64 {
        // Saturate, because the kernel's iowait counter can decrease.
        of(now).saturating_sub(of(before))
    }

    fn worked(time: &CpuTime) -> u64 {
        let interrupts = time.irq.unwrap_or(0) + time.softirq.unwrap_or(0);
        time.user + time.nice + time.system + interrupts + time.steal.unwrap_or(0)
    }

    fn rested(time: &CpuTime) -> u64 {
        time.idle + time.iowait.unwrap_or(0)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn load_is_a_fraction() {
            let mut meter = Meter::start();
            // The kernel counts clock ticks, so the load is unknown until the next tick.
            let load = std::iter::repeat_with(|| meter.read())
                .find(|load| load.all.is_some())
                .unwrap();
            assert!(load.averages.is_some());
            let parts = load.processors.iter().chain(&load.all);
            assert!(parts.copied().all(|part| (0.0..=1.0).contains(&part)));
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    use super::Load;

    /// A meter for systems on which the load is always unknown.
    #[derive(Debug)]
    pub struct Meter;

    impl Meter {
        pub fn start() -> Self {
            Self
        }

        pub fn read(&mut self) -> Load {
            Load::default()
        }
    }
}
