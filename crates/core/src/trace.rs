//! Records the scheduling decisions of a pool. [`Builder::trace`](crate::Builder::trace) switches
//! recording on, and the feature `replay` adds what reads a trace; [`tidegate_policy::trace`]
//! describes the rules.

// Each worker has a recorder, and so do the share controller and the memory plan. Only the worker's
// own thread locks its recorder, except while the recordings are being read. A pool that records no
// trace has no recorders, and pays one branch for each decision. docs/trace.md describes the file
// format.

#[cfg(feature = "replay")]
pub use tidegate_policy::trace::{CycleEnd, Damaged, Difference, Failed, Record, Replayed, replay};
pub use tidegate_policy::trace::{Event, Rules, Source, Stream, TaskOrigin, Trace};

use crate::options::Options;
use crate::origin::{self, Origin};
use crate::stats::Phase;
use std::collections::HashMap;
use tidegate_policy::trace::{Recorder, StreamRecorder};
use tidegate_policy::tunables::{EST_CYCLE, TRACE_BYTES};
use tidegate_sync::clock;
use tidegate_sync::lock::{Mutex, MutexGuard};

/// The number of origins from which on new ones are recorded without their names.
const MOST_NAMED: usize = 1 << 16;

/// The recorder of a worker or of the share controller, if the pool records a trace.
#[derive(Default)]
pub(crate) struct Notes(Option<Mutex<StreamRecorder>>);

pub(crate) fn recorder(options: &Options) -> Option<StreamRecorder> {
    let wanted = options.trace.then_some(TRACE_BYTES.default);
    wanted.map(|most| StreamRecorder::new(most, clock::now))
}

impl Notes {
    pub(crate) fn new(options: &Options) -> Self {
        Self(recorder(options).map(Mutex::new))
    }

    fn recorder(&self) -> Option<MutexGuard<'_, StreamRecorder>> {
        self.0.as_ref().map(Mutex::lock)
    }

    #[inline]
    pub(crate) fn is_recording(&self) -> bool {
        self.0.is_some()
    }

    #[cold]
    fn input_of(&self, number: u64) {
        if let Some(mut recorder) = self.recorder() {
            recorder.input(number);
        }
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
        if self.is_recording() {
            self.input_of(number);
        }
        number
    }

    #[inline]
    fn end(&self, decision: u64) {
        if let Some(mut recorder) = self.recorder() {
            recorder.end(decision);
        }
    }
}

/// The origins of the tasks that a pool has recorded, with their numbers in the trace, counted from
/// 1.
#[derive(Default)]
pub(crate) struct OriginTable {
    numbers: Mutex<HashMap<Origin, u64>>,
}

impl OriginTable {
    /// Returns the origin's number.
    pub(crate) fn number(&self, origin: Origin) -> u64 {
        self.number_among(MOST_NAMED, origin)
    }

    /// Like `number`, but new origins lose their names once the table has `most` rows.
    fn number_among(&self, most: usize, origin: Origin) -> u64 {
        let mut table = self.numbers.lock();
        if let Some(number) = table.get(&origin) {
            return *number;
        }
        // A program may give each task a name of its own, but it has a limited number of places.
        let origin = if table.len() < most {
            origin
        } else {
            origin::of(None, origin.location())
        };
        let next = table.len() as u64 + 1;
        *table.entry(origin).or_insert(next)
    }

    /// Returns the table of the trace.
    #[inline]
    pub(crate) fn table(&self) -> Vec<TaskOrigin> {
        let table = self.numbers.lock();
        let row = |name: &str, at| TaskOrigin {
            name: name.to_owned(),
            at,
        };
        let mut rows = vec![row("", String::new()); table.len()];
        for (origin, number) in &*table {
            let name = origin.name().unwrap_or_default();
            rows[*number as usize - 1] = row(name, origin.location().to_string());
        }
        rows
    }
}

/// Returns the name of the phase with this number, which is the first number of an
/// [`Event::Phase`]. Returns `None` if there is no such phase.
///
/// ```
/// use tidegate::trace::phase;
///
/// assert_eq!((phase(0), phase(1), phase(100)), (Some("away"), Some("busy"), None));
/// ```
#[must_use]
pub fn phase(number: u64) -> Option<&'static str> {
    let (_, name) = Phase::ALL.get(usize::try_from(number).ok()?)?;
    Some(name)
}

impl Options {
    #[inline]
    pub(crate) fn rules(&self) -> Rules {
        let share = self.share.as_ref();
        Rules {
            idle: self.idle.built_in(),
            steal: self.amount,
            victim: self.victim,
            memory: self.memory,
            share: self.share_policy(),
            desire: share.map_or_else(Default::default, |sharing| sharing.desire),
            est_cycle: share.map_or(EST_CYCLE.default, |sharing| sharing.est_cycle),
            workers: self.workers,
            pool: self.name.clone(),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{OriginTable, origin};
    use std::panic::Location;

    #[test]
    fn known_names_keep_their_numbers_in_a_full_table() {
        let table = OriginTable::default();
        let at = Location::caller();
        let named = |name: &'static str| origin::of(Some(name.into()), at);
        let numbers = ["a", "b", "c", "d", "a", "b"].map(|name| table.number_among(2, named(name)));
        assert_eq!(numbers, [1, 2, 3, 3, 1, 2]);
        assert_eq!(table.table()[2].name, "");
    }
}
