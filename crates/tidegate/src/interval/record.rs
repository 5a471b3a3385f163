//! A record of the intervals of one or more runs, for graphs and pictures.
//!
//! A tree that is being recorded has a [`Recorder`]. An interval's index in the recording is stored
//! in the interval's extras. In trees that are not recorded, each interval and edge costs one
//! check.

use super::node::{Core, Which};
use super::{Failure, Scope, run_in};
use std::sync::Arc;
use tidegate_core::door::{WorkerThread, place};
use tidegate_policy::Nanos;
use tidegate_sync::clock;
use tidegate_sync::lock::Mutex;

/// Runs intervals and records them: which intervals were created, their declared order, and where,
/// when and by which thread each was run.
///
/// The runs of one recorder share one [`Graph`] and one clock. All runs should use the same pool,
/// because a graph identifies threads by their number in the pool. Recording takes a few hundred
/// nanoseconds for each interval and edge, and keeps them all in memory until
/// [`finish`](Self::finish).
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
    /// Creates a recorder with an empty graph.
    ///
    /// ```
    /// let graph = tidegate::interval::Recorder::new().finish();
    /// assert!(graph.intervals().is_empty());
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Like [`run`](fn@super::run), but records all intervals created in `f`, including those
    /// inside calls to [`Scope::inline`](super::Scope::inline), but not those inside a nested call
    /// to `run`.
    ///
    /// ```
    /// use tidegate::interval::Recorder;
    ///
    /// let recorder = Recorder::new();
    /// recorder.run(|s| {
    ///     s.interval(|_| ()).named("read");
    /// })?;
    /// let graph = recorder.finish();
    /// assert_eq!(graph.intervals()[1].name, "read");
    /// # Ok::<(), tidegate::interval::Failure>(())
    /// ```
    ///
    /// # Errors
    /// Like `run`.
    pub fn run<'env, R, F>(&self, f: F) -> Result<R, Failure>
    where
        F: for<'scope> FnOnce(&Scope<'scope, 'env>) -> R + Send,
        R: Send,
    {
        run_in(Some(self.0.clone()), f)
    }

    /// Returns the graph of everything that was recorded.
    ///
    /// ```
    /// use tidegate::interval::Recorder;
    ///
    /// let recorder = Recorder::new();
    /// recorder.run(|s| {
    ///     s.interval(|_| ()).named("read");
    /// })?;
    /// let graph = recorder.finish();
    /// assert_eq!(graph.intervals().len(), 2);
    /// # Ok::<(), tidegate::interval::Failure>(())
    /// ```
    #[must_use]
    pub fn finish(self) -> Graph {
        std::mem::take(&mut *self.0.graph.lock())
    }
}

/// The intervals recorded by a [`Recorder`], and their order. With the feature `drawing`, the
/// methods `dot` and `svg` draw them.
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
/// # Ok::<(), tidegate::interval::Failure>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Graph {
    pub(super) intervals: Vec<Recording>,
    pub(super) edges: Vec<Edge>,
}

/// One interval of a [`Graph`].
///
/// ```
/// use tidegate::interval::Recorder;
///
/// let recorder = Recorder::new();
/// recorder.run(|s| {
///     s.interval(|_| ()).named("read");
/// })?;
/// let graph = recorder.finish();
/// let read = &graph.intervals()[1];
/// assert_eq!((&*read.name, read.parent), ("read", Some(0)));
/// assert!(read.ran.is_some());
/// # Ok::<(), tidegate::interval::Failure>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Recording {
    /// The interval's name; `root` for the root of a run.
    pub name: String,
    /// The index in [`Graph::intervals`] of the interval inside which this one was created; `None`
    /// for the root of a run.
    pub parent: Option<usize>,
    /// When and where the body ran; `None` if it was skipped or never started.
    pub ran: Option<Span>,
}

/// When and where a body ran.
///
/// ```
/// use tidegate::interval::Recorder;
///
/// let recorder = Recorder::new();
/// recorder.run(|s| {
///     s.interval(|_| ()).named("read");
/// })?;
/// let graph = recorder.finish();
/// let ran = graph.intervals()[1].ran.expect("it was not skipped");
/// assert!(ran.from <= ran.to && !ran.failed);
/// # Ok::<(), tidegate::interval::Failure>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Span {
    /// The number of the thread in its pool, which may have more threads than workers.
    pub worker: usize,
    /// The index in [`Pool::places`](crate::Pool::places) of the place where the thread ran; `None`
    /// if the thread was in no place.
    pub place: Option<usize>,
    /// The start, in nanoseconds since the recorder was created.
    pub from: Nanos,
    /// The end of the body, in nanoseconds since the recorder was created. Intervals created inside
    /// may have run longer.
    pub to: Nanos,
    /// Whether the body failed.
    pub failed: bool,
}

/// A declared order: the first point comes before the second.
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
/// // From the end of interval 1 to the start of interval 2.
/// let edge = graph.edges()[0];
/// assert_eq!((edge.from, edge.to), ((1, true), (2, false)));
/// # Ok::<(), tidegate::interval::Failure>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Edge {
    /// The index of the first point's interval in [`Graph::intervals`], and whether the point is
    /// the interval's end.
    pub from: (usize, bool),
    /// The index of the second point's interval, and whether the point is the interval's end.
    pub to: (usize, bool),
}

impl Graph {
    /// Returns all intervals that were created. The root of a run comes before all other intervals
    /// of that run.
    ///
    /// ```
    /// use tidegate::interval::Recorder;
    ///
    /// let recorder = Recorder::new();
    /// recorder.run(|s| {
    ///     s.interval(|_| ()).named("read");
    /// })?;
    /// let graph = recorder.finish();
    /// assert_eq!((graph.intervals().len(), &*graph.intervals()[1].name), (2, "read"));
    /// # Ok::<(), tidegate::interval::Failure>(())
    /// ```
    #[must_use]
    pub fn intervals(&self) -> &[Recording] {
        &self.intervals
    }

    /// Returns all edges, in the order in which they were added.
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
    /// assert_eq!(graph.edges().len(), 1);
    /// # Ok::<(), tidegate::interval::Failure>(())
    /// ```
    #[must_use]
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }
}

/// What a [`Recorder`] has recorded so far.
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

    /// Records a new interval, inside `parent`.
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

    /// Records the interval's name, which may have changed since `create`.
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

    /// Records that the body of an interval has run, from `from` until now.
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
            place: place::number_here(current),
            from: from.saturating_sub(self.begun),
            to: clock::now().saturating_sub(self.begun),
            failed,
        };
        self.graph.lock().intervals[number].ran = Some(ran);
    }
}
