//! Records the decisions of a pool; see [`tidegate_policy::trace`] and docs/trace.md.
//!
//! Each worker, the share controller and the plan for memory has a recorder of its own. That of a worker is locked by its thread alone, but for the moment in which the
//! notes are read. Pools without a trace have none, and pay a branch where something is asked.

pub use tidegate_policy::trace::{
    Damaged, Difference, Event, Failed, Record, Replayed, Rules, Source, Stream, Trace, replay,
};

use crate::options::Options;
use crate::stats::Phase;
use tidegate_policy::trace::{Recorder, StreamRecorder};
use tidegate_policy::tunables::{EST_CYCLE, TRACE_BYTES};
use tidegate_sync::clock;
use tidegate_sync::lock::{Mutex, MutexGuard};

/// Where one of them takes notes, if it does.
#[derive(Default)]
pub(crate) struct Notes(Option<Mutex<StreamRecorder>>);

/// A recorder, if there is one.
pub(crate) fn recorder(options: &Options) -> Option<StreamRecorder> {
    let wanted = options.trace.then_some(TRACE_BYTES.default);
    wanted.map(|most| StreamRecorder::new(most, clock::now))
}

impl Notes {
    pub(crate) fn new(options: &Options) -> Self {
        Self(recorder(options).map(Mutex::new))
    }

    /// None in a child made by `fork` while the notes were read, where nothing reads them any more.
    #[inline]
    fn recorder(&self) -> Option<MutexGuard<'_, StreamRecorder>> {
        self.0.as_ref()?.lock_unless_lost()
    }

    /// Calls `stay` while it holds the lock, for tests.
    #[cfg(all(test, not(any(loom, miri))))]
    pub(crate) fn hold(&self, stay: &dyn Fn()) {
        let _recorder = self.recorder();
        stay();
    }

    pub(crate) fn note(&self, what: Event, numbers: &[u64]) {
        if let Some(mut recorder) = self.recorder() {
            recorder.record(what, numbers);
        }
    }

    pub(crate) fn stream(&self, source: Source) -> Option<Stream> {
        Some(self.recorder()?.stream(source))
    }
}

impl Recorder for Notes {
    #[inline]
    fn begin(&self, event: Event) {
        if let Some(mut recorder) = self.recorder() {
            recorder.begin(event);
        }
    }

    #[inline]
    fn input(&self, live: impl FnOnce() -> u64) -> u64 {
        let number = live();
        match self.recorder() {
            Some(mut recorder) => recorder.input(number),
            None => number,
        }
    }

    #[inline]
    fn end(&self, decision: u64) {
        if let Some(mut recorder) = self.recorder() {
            recorder.end(decision);
        }
    }
}

/// What a worker does in a phase of this number, the first of those that [`Event::Phase`] has.
#[must_use]
pub fn phase(number: u64) -> Option<&'static str> {
    let phase = Phase::ALL.get(usize::try_from(number).ok()?)?;
    Some(match phase {
        Phase::Away => "away",
        Phase::Busy => "busy",
        Phase::Stealing => "stealing",
        Phase::Switching => "ready_not_running",
        Phase::NoWork => "no work",
        Phase::Latch => "waiting",
        Phase::Memory => "waiting for memory",
        Phase::Blocked => "blocked",
        Phase::Nap => "napping",
    })
}

impl Options {
    pub(crate) fn rules(&self) -> Rules {
        let share = self.share.as_ref();
        Rules {
            idle: self.idle.built_in(),
            steal: self.amount,
            victim: self.victim,
            memory: self.memory,
            share: share.map_or(tidegate_policy::SharePolicy::Off, |sharing| sharing.share),
            desire: share.map_or_else(Default::default, |sharing| sharing.desire),
            est_cycle: share.map_or(EST_CYCLE.default, |sharing| sharing.est_cycle),
            workers: self.workers,
            pool: self.name.clone(),
        }
    }
}
