//! Counts cache references and misses with the processors' hardware counters, through the kernel.
//!
//! A counter counts for the thread that opens it, and for all threads that this thread or its
//! descendants start later. So the counters are opened before any pool is created, and are read
//! before and after the measured work. If the hardware has too few counters, the kernel multiplexes
//! them; a count is then extrapolated from the time during which its counter was active.
//!
//! Containers, virtual machines and strict system settings may deny access. That is not an error:
//! the counts are then missing.

pub const EVENTS: usize = 2;

/// The numbers of cache references and of last-level cache misses, as totals so far or as
/// differences between two moments. The count is `None` for an event that is not counted.
pub type Counts = [Option<f64>; EVENTS];

pub struct Counters(imp::Counters);

impl Counters {
    /// Opens the counters. If this fails, also returns the reason.
    pub fn open() -> (Self, Option<String>) {
        let (counters, refusal) = imp::open();
        (Self(counters), refusal)
    }

    /// Runs `work`. Returns the events that were counted while it ran, and its result.
    pub fn of<T>(&mut self, work: impl FnOnce() -> T) -> (Counts, T) {
        self.0.of(work)
    }
}

#[cfg(target_os = "linux")]
mod imp {
    use super::{Counts, EVENTS};
    use perf_event::events::{Event, Hardware};
    use perf_event::{Builder, CountAndTime, Counter};
    use std::collections::BTreeMap;
    use std::io;

    const COUNTED: [(Hardware, &str); EVENTS] = [
        (Hardware::CACHE_REFERENCES, "cache-references"),
        (Hardware::CACHE_MISSES, "cache-misses"),
    ];

    pub(super) struct Counters([Option<Counter>; EVENTS]);

    pub(super) fn open() -> (Counters, Option<String>) {
        let mut refusals = BTreeMap::<String, Vec<&str>>::new();
        let counters = COUNTED.map(|(event, name)| match start(event) {
            Ok(counter) => Some(counter),
            Err(error) => {
                refusals.entry(explain(&error)).or_default().push(name);
                None
            }
        });
        let told = refusals.into_iter();
        let told: Vec<_> = told
            .map(|(why, names)| format!("{}: {why}", names.join(", ")))
            .collect();
        (
            Counters(counters),
            (!told.is_empty()).then(|| told.join("; ")),
        )
    }

    fn explain(error: &io::Error) -> String {
        match error.kind() {
            io::ErrorKind::NotFound => {
                "the processor, or the virtual machine, does not count them".into()
            }
            _ => format!("the kernel refuses to count them: {error}"),
        }
    }

    /// Starts a counter for this thread, and for all threads that it starts later.
    pub(super) fn start(event: impl Into<Event>) -> io::Result<Counter> {
        let mut builder = Builder::new().kind(event);
        builder.inherit(true);
        let mut counter = builder.build()?;
        counter.enable()?;
        Ok(counter)
    }

    impl Counters {
        pub(super) fn of<T>(&mut self, work: impl FnOnce() -> T) -> (Counts, T) {
            let before = self.now();
            let result = work();
            let after = self.now();
            let mut counts = [None; EVENTS];
            for (count, moments) in counts.iter_mut().zip(before.into_iter().zip(after)) {
                *count = match moments {
                    (Some(before), Some(after)) => between(&before, &after),
                    _ => None,
                };
            }
            (counts, result)
        }

        fn now(&mut self) -> [Option<CountAndTime>; EVENTS] {
            self.0
                .each_mut()
                .map(|counter| counter.as_mut()?.read_count_and_time().ok())
        }
    }

    /// Returns the events counted between two moments, extrapolated to the whole time. `None` if
    /// the counter was never active in between.
    pub(super) fn between(before: &CountAndTime, after: &CountAndTime) -> Option<f64> {
        let since = |of: fn(&CountAndTime) -> u64| of(after).saturating_sub(of(before)) as f64;
        let (enabled, running) = (since(|at| at.time_enabled), since(|at| at.time_running));
        (running > 0.0).then(|| since(|at| at.count) * enabled / running)
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    use super::{Counts, EVENTS};

    pub(super) struct Counters;

    pub(super) fn open() -> (Counters, Option<String>) {
        let why = "this system's are not known here";
        (Counters, Some(why.into()))
    }

    impl Counters {
        pub(super) fn of<T>(&mut self, work: impl FnOnce() -> T) -> (Counts, T) {
            ([None; EVENTS], work())
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::imp::{between, start};
    use perf_event::CountAndTime;
    use perf_event::events::Software;
    use std::time::Duration;
    use tidegate::Pool;
    use tidegate_cli_support::usage;

    fn at(count: u64, time_enabled: u64, time_running: u64) -> CountAndTime {
        CountAndTime {
            count,
            time_enabled,
            time_running,
        }
    }

    /// A counter that was never active must have no count.
    #[test]
    fn multiplexed_counter_is_scaled() {
        assert_eq!(between(&at(10, 5, 5), &at(30, 15, 15)), Some(20.0));
        assert_eq!(between(&at(10, 5, 5), &at(30, 15, 10)), Some(40.0));
        assert_eq!(between(&at(10, 5, 5), &at(10, 15, 5)), None);
    }

    fn own_cpu() -> Duration {
        usage::thread_cpu().expect("this system tells")
    }

    #[test]
    fn later_pools_threads_are_counted() {
        const WORK: Duration = Duration::from_millis(5);
        let mut counter = match start(Software::TASK_CLOCK) {
            Ok(counter) => counter,
            Err(error) => return println!("skipped: no counters here: {error}"),
        };
        let pool = Pool::builder().workers(1).build().unwrap();
        let (before, own) = (counter.read().unwrap(), own_cpu());
        pool.install(|| {
            let start = own_cpu();
            while own_cpu() - start < WORK {}
        });
        let elsewhere =
            Duration::from_nanos(counter.read().unwrap() - before).saturating_sub(own_cpu() - own);
        assert!(elsewhere > WORK / 2, "{elsewhere:?}");
    }
}
