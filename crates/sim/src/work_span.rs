//! The size of a dag: its tasks, its work T1 and its span Tinf.
//!
//! T1 is the time on one processor and Tinf the time on an unlimited number of processors, both
//! without any cost of scheduling. The machine computes the same numbers as it runs. A walk
//! computes them without a schedule, so the two can be checked against each other.

use crate::chain::Chain;
use crate::dag::Step;
use crate::drafts::{Drafts, Ready};
use crate::frames::{Ended, FrameId, Frames, NONE};
use crate::unfold::{AnyDag, Unfold};
use tidegate_policy::Nanos;

/// The size of a dag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkSpan {
    /// The number of tasks.
    pub tasks: u64,
    /// The total time of all tasks.
    pub work: Nanos,
    /// The time of the longest chain of tasks that wait for each other, including rests.
    pub span: Nanos,
    /// The number of actions on the longest chain: its steps, and one more for every `k` bytes of a
    /// reservation, as in the bounds of depth-first schedulers.
    pub depth: u64,
    /// Whether any task rests.
    pub rests: bool,
    /// Whether any task waits to be released.
    pub drafts: bool,
    /// The peak of the declared memory in the order of the walk, S1.
    pub peak_bytes: u64,
    /// The sum of all declared memory, whether freed or not.
    pub reserved_bytes: u64,
}

struct Walk<'a> {
    dag: Box<dyn Unfold + 'a>,
    frames: Frames,
    /// Tasks that can continue, the youngest at the end.
    ready: Vec<FrameId>,
    drafts: Drafts,
    declared: u64,
    /// The number of bytes of a reservation that count as one more action.
    k: u64,
    work_span: WorkSpan,
}

impl WorkSpan {
    /// Walks all of `dag`, in series and depth first. A reservation is one action. Tasks that are
    /// never released are left out, and so are the tasks that wait for them.
    pub fn of<D: AnyDag + ?Sized>(dag: &D) -> Self {
        Self::with_k(dag, u64::MAX)
    }

    /// Like [`of`](Self::of), but a reservation counts as one more action for every `k` bytes.
    pub fn with_k<D: AnyDag + ?Sized>(dag: &D, k: u64) -> Self {
        Walk::new(dag.unfold(), k).run()
    }
}

impl<'a> Walk<'a> {
    fn new(dag: Box<dyn Unfold + 'a>, k: u64) -> Self {
        Self {
            dag,
            frames: Frames::new(),
            ready: Vec::new(),
            drafts: Drafts::default(),
            declared: 0,
            k: k.max(1),
            work_span: WorkSpan::default(),
        }
    }

    fn run(mut self) -> WorkSpan {
        let mut next = Some(self.frames.add(self.dag.root(), NONE, Chain::default()));
        while let Some(id) = next.or_else(|| self.ready.pop()) {
            next = self.step(id);
        }
        self.work_span
    }

    /// Runs one step of this task. Returns the task to continue with, or `None` to continue with
    /// the youngest task that is ready.
    fn step(&mut self, id: FrameId) -> Option<FrameId> {
        let frame = self.frames.get(id);
        frame.chain.actions += 1;
        let chain = frame.chain;
        match self.dag.next(frame.task) {
            Step::Work(time) => {
                frame.chain.lengthen(time);
                self.work_span.work = self.work_span.work.saturating_add(time);
            }
            Step::Rest(time) => {
                frame.chain.lengthen(time);
                self.work_span.rests = true;
            }
            // A walk has no cache that could miss.
            Step::Touch(_) => {}
            Step::Reservation(bytes) => self.reserve(id, bytes),
            Step::Free => {
                let reservation = frame.memory().reservations.pop();
                self.declared -= reservation.map_or(0, |(bytes, _)| bytes);
            }
            Step::Fork(first, second) => {
                frame.pending += 2;
                frame.waits = true;
                let second = self.frames.add(second, id, chain);
                self.ready.push(second);
                return Some(self.frames.add(first, id, chain));
            }
            Step::Call(child) => {
                frame.pending += 1;
                frame.waits = true;
                return Some(self.frames.add(child, id, chain));
            }
            Step::Spawn(child) => {
                frame.pending += 1;
                self.ready.push(id);
                return Some(self.frames.add(child, id, chain));
            }
            Step::Draft(draft) => {
                self.work_span.drafts = true;
                let frame = self.frames.draft(draft.task, id, draft.place);
                // A walk has no places.
                let ready = self.drafts.draft(draft.name, draft.releases, frame, None);
                if let Some(ready) = ready {
                    self.begin(ready);
                }
            }
            Step::Release(name) => {
                if let Some(ready) = self.drafts.release(name, chain) {
                    self.begin(ready);
                }
            }
            Step::Join => return frame.join().then_some(id),
            Step::End => return if frame.join() { self.end(id) } else { None },
        }
        Some(id)
    }

    fn reserve(&mut self, id: FrameId, bytes: u64) {
        let frame = self.frames.get(id);
        frame.chain.actions += bytes / self.k;
        frame.memory().reservations.push((bytes, None));
        self.declared += bytes;
        self.work_span.reserved_bytes += bytes;
        self.work_span.peak_bytes = self.work_span.peak_bytes.max(self.declared);
    }

    /// Begins a draft that has received all its releases.
    fn begin(&mut self, ready: Ready) {
        let frame = self.frames.get(ready.draft);
        frame.chain = frame.chain.max(ready.chain);
        self.ready.push(ready.draft);
    }

    /// Ends this task. Returns its parent if the parent can continue now.
    fn end(&mut self, id: FrameId) -> Option<FrameId> {
        self.work_span.tasks += 1;
        let frame = self.frames.get(id);
        self.dag.end(frame.task);
        let reservations = frame.take_reservations();
        self.declared -= reservations.iter().map(|(bytes, _)| bytes).sum::<u64>();
        match self.frames.end(id) {
            Ended::Last { parent } => Some(parent),
            Ended::NotLast => None,
            Ended::Root { chain } => {
                (self.work_span.span, self.work_span.depth) = (chain.time, chain.actions);
                None
            }
        }
    }
}
