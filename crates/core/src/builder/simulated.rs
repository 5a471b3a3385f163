//! Simulated pools, for tests.

use super::Builder;
use crate::panics::PanicReport;
use crate::simulated::{Simulated, outline};
use tidegate_policy::schedule::Schedule;
use tidegate_sync::stderr::print_line;

impl<P> Builder<P> {
    /// Makes the pool a simulated one, for tests: one thread runs at a time, in an order that
    /// `schedule` determines; see `tidegate::testing`. The feature `testing` adds this method.
    ///
    /// The schedule is a seed, or the text that `testing::check` has printed. Until the pool is
    /// dropped, the thread that calls [`build`](Self::build) belongs to the simulation as well: it
    /// takes turns with the pool's threads while it waits for them. Only this thread and the pool's
    /// tasks may use the pool; other calls panic, or abort the process if they are noticed late.
    ///
    /// Unless the builder sets them, the pool has 4 workers, whatever the machine, on one place,
    /// and its workers park as soon as they find no task. It never shares the machine with other
    /// programs, and ignores environment variables.
    ///
    /// Between two calls into the pool, this thread must not spend more than 10 s
    /// (`TIDEGATE_SIMULATION_PATIENCE`), because the pool's threads wait for it meanwhile.
    ///
    /// If the run cannot go on, because every thread waits for another one, or does not end, this
    /// prints the threads and aborts the process.
    ///
    /// ```
    /// use tidegate::Pool;
    ///
    /// let run = |seed: u64| {
    ///     let pool = Pool::builder().workers(2).simulated(seed).build().unwrap();
    ///     pool.join(|| (), || ());
    ///     tidegate::testing::steps(&pool)
    /// };
    /// assert_eq!(run(7), run(7));
    /// ```
    #[must_use]
    pub fn simulated(mut self, schedule: impl Into<Schedule>) -> Self {
        let schedule = schedule.into();
        self.settings.simulated = Some(Simulated::new(&schedule.clone(), move |report| {
            let why = outline(report);
            print_line(format_args!(
                "a simulated pool stopped, with schedule {schedule}: {why}"
            ));
            std::process::abort();
        }));
        self
    }
}

/// Makes the pool a simulated one, and calls `seen` before the pool's own panic handler.
pub fn simulate<P>(
    mut builder: Builder<P>,
    simulated: Simulated,
    seen: impl Fn(&PanicReport) + Send + Sync + 'static,
) -> Builder<P> {
    builder.settings.simulated = Some(simulated);
    let own_handler = builder.settings.on_panic.take();
    builder.on_panic(move |report| {
        seen(&report);
        if let Some(handler) = &own_handler {
            handler(report);
        }
    })
}
