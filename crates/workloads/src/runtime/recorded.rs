//! The adapter for Tidegate that also records intervals, to draw them. Programs of intervals use
//! neither scopes nor places.

use std::io;
use std::time::Duration;

use tidegate::interval::{Graph, IntervalBuilder, Recorder, Scope};

use super::{Runtime, Tidegate};

/// A pool that records the intervals that run on it.
pub struct Recorded {
    pool: Tidegate,
    recording: Recorder,
}

impl Recorded {
    /// Creates a runtime that runs programs on `pool` and records their intervals.
    pub fn new(pool: Tidegate) -> Self {
        Self {
            pool,
            recording: Recorder::new(),
        }
    }

    /// Ends the recording and returns the graph of all recorded intervals.
    pub fn end(self) -> Graph {
        self.recording.finish()
    }
}

impl Runtime for Recorded {
    const NAME: &'static str = Tidegate::NAME;
    const INTERVALS: bool = Tidegate::INTERVALS;
    type Fork<'a> = &'a Recorder;

    super::without_scopes!();

    fn with_workers(workers: usize) -> io::Result<Self> {
        Tidegate::with_workers(workers).map(Self::new)
    }

    fn install<T: Send>(&self, body: impl FnOnce(&mut &Recorder) -> T + Send) -> T {
        self.pool.install(|()| body(&mut &self.recording))
    }

    fn join<RA: Send, RB: Send>(
        fork: &mut &Recorder,
        a: impl FnOnce(&mut &Recorder) -> RA + Send,
        b: impl FnOnce(&mut &Recorder) -> RB + Send,
    ) -> (RA, RB) {
        let recording = *fork;
        let (a, b) = (
            |_: &mut ()| a(&mut &*recording),
            |_: &mut ()| b(&mut &*recording),
        );
        Tidegate::join(&mut (), a, b)
    }

    fn for_each<T: Send>(_: &mut &Recorder, items: &mut [T], body: impl Fn(&mut T) + Send + Sync) {
        Tidegate::for_each(&mut (), items, body);
    }

    fn wait(length: Duration) {
        Tidegate::wait(length);
    }

    fn intervals<'env, T: Send>(
        recording: &mut &Recorder,
        body: impl for<'scope> FnOnce(&Scope<'scope, 'env>) -> T + Send,
    ) -> T {
        let result = recording.run(body);
        result.unwrap_or_else(|failure| panic!("{failure}"))
    }

    fn named<'scope, T>(
        draft: IntervalBuilder<'scope, T>,
        name: impl FnOnce() -> String,
    ) -> IntervalBuilder<'scope, T> {
        draft.named(name())
    }
}
