//! What happened to the intervals of some runs, for pictures.
//!
//! A tree that is recorded has a [`Recorder`], and each of its intervals a number there, kept with the things that few intervals have. Trees that are
//! not recorded pay a look for each interval and edge.

use super::node::{Core, Which};
use super::{Failure, Scope, run_in};
use crate::place;
use crate::worker::WorkerThread;
use std::sync::Arc;
use tidegate_policy::Nanos;
use tidegate_sync::clock;
use tidegate_sync::lock::Mutex;

/// Runs intervals and takes notes: which there were, in what order they were to run, and who ran them where and when.
///
/// What several runs were is noted in one [`Graph`], on one clock; let them be runs on one pool, for threads are told apart by their numbers there. Notes take some hundred nanoseconds for each interval and edge, and memory for all of
/// them until the recording [ends](Self::finish).
///
/// ```
/// use tidegate::interval::Recorder;
///
/// let recorder = Recorder::new();
/// recorder.run(|s| {
///     let read = s.interval(|_| "text").named("read");
///     read.then(s, |_, text| text.len()).unwrap().named("count");
/// })?;
/// let graph = recorder.finish();
/// assert_eq!((graph.intervals().len(), graph.edges().len()), (3, 1));
/// # #[cfg(feature = "drawing")]
/// assert!(graph.dot().contains("label=\"count\""));
/// # #[cfg(feature = "drawing")]
/// assert!(graph.svg().starts_with("<svg"));
/// # Ok::<(), tidegate::interval::Failure>(())
/// ```
#[derive(Debug)]
pub struct Recorder(Arc<Log>);

impl Default for Recorder {
    fn default() -> Self {
        Self(Arc::new(Log::new()))
    }
}

impl Recorder {
    /// Creates a recorder that has recorded nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Does what [`run`](fn@super::run) does, with notes of all intervals inside, those of [`Scope::inline`](super::Scope::inline) among them, but not those of
    /// another `run` that is called inside.
    ///
    /// # Errors
    /// Those of `run`.
    pub fn run<'env, R, F>(&self, f: F) -> Result<R, Failure>
    where
        F: for<'scope> FnOnce(&Scope<'scope, 'env>) -> R + Send,
        R: Send,
    {
        run_in(Some(self.0.clone()), f)
    }

    /// What was noted.
    #[must_use]
    pub fn finish(self) -> Graph {
        std::mem::take(&mut *self.0.graph.lock())
    }
}

/// The intervals of a [`Recorder`] and their order. With the feature `drawing` it has `dot` and `svg`, which draw them.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    pub(super) intervals: Vec<Recording>,
    pub(super) edges: Vec<Edge>,
}

/// One interval of a [`Graph`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Recording {
    /// What it is called.
    pub name: String,
    /// The number of the interval inside of which it was made; none for the outermost.
    pub parent: Option<usize>,
    /// When its body ran and where; none if it was skipped or never started.
    pub ran: Option<Span>,
}

/// When and where a body ran.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Span {
    /// The number of the thread in its pool, which may have more threads than workers.
    pub worker: usize,
    /// Which of [`Pool::places`](crate::Pool::places) it stood in, if in any.
    pub place: Option<usize>,
    /// In nanoseconds since the record was begun.
    pub from: Nanos,
    /// The same, when the body was over; what was created inside may have gone on.
    pub to: Nanos,
    /// Whether the body has failed.
    pub failed: bool,
}

/// An edge that was added: the first point is before the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Edge {
    /// The number of the first interval, and whether it is its end.
    pub from: (usize, bool),
    /// The number of the second interval, and whether it is its end.
    pub to: (usize, bool),
}

impl Graph {
    /// Every interval that was made, the outermost of a run before all others of it.
    #[must_use]
    pub fn intervals(&self) -> &[Recording] {
        &self.intervals
    }

    /// Every edge that was added, in that order.
    #[must_use]
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }
}

/// Takes notes.
#[derive(Debug)]
pub(super) struct Log {
    begun: Nanos,
    graph: Mutex<Graph>,
}

impl Log {
    pub(super) fn new() -> Self {
        Self {
            begun: clock::now(),
            graph: Mutex::default(),
        }
    }

    /// A new interval of the tree, inside of `parent`.
    pub(super) fn create(&self, core: &Core, parent: Option<&Core>) {
        let parent = parent.and_then(Core::recorded_as);
        let number = {
            let mut graph = self.graph.lock();
            graph.intervals.push(Recording {
                name: String::new(),
                parent,
                ran: None,
            });
            graph.intervals.len() - 1
        };
        core.extras_or_new().lock().recorded = Some(number);
        self.name(core);
    }

    /// Writes the name down as it is now.
    pub(super) fn name(&self, core: &Core) {
        if let Some(number) = core.recorded_as() {
            self.graph.lock().intervals[number].name = core.name();
        }
    }

    pub(super) fn order(&self, from: (&Core, Which), to: (&Core, Which)) {
        let point =
            |(core, which): (&Core, Which)| Some((core.recorded_as()?, which == Which::End));
        if let (Some(from), Some(to)) = (point(from), point(to)) {
            self.graph.lock().edges.push(Edge { from, to });
        }
    }

    /// The body of an interval has run since `from`.
    pub(super) fn ran(
        &self,
        core: &Core,
        from: Nanos,
        failed: bool,
        current: Option<WorkerThread<'_>>,
    ) {
        let Some((number, current)) = core.recorded_as().zip(current) else {
            return;
        };
        let ran = Span {
            worker: current.index,
            place: current
                .position
                .cpu_slot()
                .map(|_| place::place(current).number()),
            from: from.saturating_sub(self.begun),
            to: clock::now().saturating_sub(self.begun),
            failed,
        };
        self.graph.lock().intervals[number].ran = Some(ran);
    }
}
