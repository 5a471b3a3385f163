//! How busy the machine is, whoever keeps it so.
//!
//! From the kernel's counters for all processors, so on Linux only; elsewhere nothing is known. What a container or a quota leaves of the
//! machine is not considered: `tidegate machine` says that.

/// The machine's load between two readings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Load {
    /// Which part of its time each processor was busy.
    pub processors: Vec<f64>,
    /// The same for all of them together.
    pub all: Option<f64>,
    /// How many threads ran or wanted to, on average over the last 1, 5 and 15 minutes.
    pub averages: Option<[f32; 3]>,
}

pub use imp::Meter;

#[cfg(target_os = "linux")]
mod imp {
    use super::Load;
    use procfs::{CpuTime, Current, CurrentSI, KernelStats, LoadAverage};

    /// Reads the load.
    #[derive(Debug)]
    pub struct Meter(Option<KernelStats>);

    impl Meter {
        /// Begins to measure.
        pub fn start() -> Self {
            Self(KernelStats::current().ok())
        }

        /// The load since the last reading.
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
                // Where a processor came or went, the lines are not those of the same ones any more.
                processors: match before.cpu_time.len() == now.cpu_time.len() {
                    true => pairs
                        .map(|(before, now)| busy(before, now).unwrap_or(0.0))
                        .collect(),
                    false => Vec::new(),
                },
                all: busy(&before.total, &now.total),
                averages,
            }
        }
    }

    /// Which part of the time between the two went into anything but idling; none if no time went by.
    fn busy(before: &CpuTime, now: &CpuTime) -> Option<f64> {
        let (worked, rested) = (
            difference(worked, before, now),
            difference(rested, before, now),
        );
        let all = worked + rested;
        (all > 0).then(|| worked as f64 / all as f64)
    }

    fn difference(of: impl Fn(&CpuTime) -> u64, before: &CpuTime, now: &CpuTime) -> u64 {
        // The kernel's count of waiting for disks is known to go back at times.
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
        fn the_load_of_this_machine_is_between_nothing_and_all() {
            let mut meter = Meter::start();
            // The kernel counts in ticks: until there is one, nothing is known.
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

    /// Knows nothing.
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
