//! A node represents an interval in memory. docs/intervals.md describes the protocol and which
//! thread may change each word.
//!
//! **Safety argument.** A node is alive until its end has occurred and no handle is left (`refs`).
//! These hold pointers to nodes:
//!
//! * handles;
//! * an edge, to a target that cannot occur before the edge is released;
//! * the list of a body's dropped drafts, to starts that cannot occur before the body returns;
//! * a child, to its parent, whose end cannot occur before the child's;
//! * the task of a node that is ready;
//! * a lock's queue, to nodes that have not started.
//!
//! The tree is in the frame of the inline interval's call. It outlives all of these pointers except
//! handles, which cannot leave the call, and pointers to nodes of a stalled tree, which no thread
//! follows any more.

use super::edges::Edge;
use super::failure::Cause;
use super::kind::Kind;
use super::lock::Lock;
use super::tree::Tree;
use std::borrow::Cow;
use std::panic::Location;
use std::ptr::{self, NonNull, null, null_mut};
use tidegate_core::Origin;
use tidegate_core::PlaceId;
use tidegate_core::door::{ScopeCore, Scoped, WorkerThread, origin, unwind};
use tidegate_sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use tidegate_sync::lock::Mutex;

/// In `start.waiting`: the interval is not scheduled yet.
pub(super) const DRAFT: u32 = 1 << 31;
/// In `end.waiting`: the body has not ended, and its children have not been added to the count yet.
pub(super) const BODY: u32 = 1 << 31;
/// The maximum number of children. Besides BODY, `end.waiting` has room for them and for the edges.
pub(super) const MOST_CHILDREN: u32 = 1 << 30;
/// The value up to which edges may raise a `waiting` word, including BODY. Larger values are left
/// for children.
pub(super) const MOST_WAITING: u32 = BODY + (1 << 30);

/// Bits of `marks`.
pub(super) mod mark {
    /// Something before the start has failed, so the body does not run.
    pub(in super::super) const SKIP: u32 = 1;
    /// Something before the end has failed.
    pub(in super::super) const FAILED: u32 = 2;
    /// The node holds a value.
    pub(in super::super) const VALUE: u32 = 4;
    /// The node has or had children.
    pub(in super::super) const PARENT: u32 = 8;
    /// The interval was created, but its order was rejected. It does not run, which does not count
    /// as a failure.
    pub(in super::super) const VOID: u32 = 16;
    /// The body has failed. This bit is set before the body returns.
    pub(in super::super) const BROKEN: u32 = 32;
    /// The report of a stall lists this interval if it has not ended.
    pub(in super::super) const WATCHED: u32 = 64;
}

/// One of the two points of an interval.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Which {
    Start,
    End,
}

impl Which {
    /// Returns the mark that something before the point has failed.
    fn failed(self) -> u32 {
        match self {
            Self::Start => mark::SKIP,
            Self::End => mark::FAILED,
        }
    }
}

/// The two words of a point: how many points it waits for, and which points wait for it.
#[derive(Clone, Copy)]
pub(super) struct PointWords<'a> {
    pub(super) waiting: &'a AtomicU32,
    pub(super) after: &'a AtomicPtr<Edge>,
}

impl PointWords<'_> {
    pub(super) fn has_occurred(self) -> bool {
        // Acquire pairs with the swap in `Ready::release`: everything before the point is visible.
        self.after.load(Ordering::Acquire) == Edge::OCCURRED
    }
}

/// Data that few intervals need, allocated on first use.
#[derive(Default)]
pub(super) struct Extras {
    pub(super) name: Option<Cow<'static, str>>,
    created_at: CreatedAt,
    pub(super) place: Option<PlaceId>,
    /// The requested locks, in the order of their numbers.
    pub(super) locks: Vec<Lock>,
    /// How many of `locks` the interval holds, counted from the first.
    pub(super) held: usize,
    /// The interval's number in its tree's recording.
    pub(super) recorded: Option<usize>,
}

/// Where an interval was created; `None` for an inline interval.
pub(super) type CreatedAt = Option<&'static Location<'static>>;

/// The address of a node's [`Extras`], or until it has any, of the place that created it. So a node
/// is no larger for that place, and more closures fit into a block beside it.
#[derive(Clone, Copy)]
struct Word(*mut Mutex<Extras>);

impl Word {
    /// Set while there are no extras.
    const LOCATION: usize = 1;

    #[inline(always)]
    fn of(created_at: CreatedAt) -> Self {
        const { assert!(align_of::<Location<'_>>() > 1 && align_of::<Mutex<Extras>>() > 1) };
        let at = created_at.map_or(null(), ptr::from_ref);
        Self(at.map_addr(|at| at | Self::LOCATION).cast_mut().cast())
    }

    fn created_at(self) -> CreatedAt {
        let at = self.0.map_addr(|at| at & !Self::LOCATION);
        // SAFETY: without extras, the word is the address of a static location, or null.
        (at != self.0).then(|| unsafe { at.cast::<Location<'_>>().as_ref() })?
    }

    #[inline(always)]
    fn has_extras(self) -> bool {
        self.0.addr() & Self::LOCATION == 0
    }
}

/// The part of a node that is independent of the closure's type. Every node begins with it.
#[repr(C)]
pub(super) struct Core {
    scoped: Scoped,
    pub(super) kind: &'static Kind,
    pub(super) parent: Option<NonNull<Core>>,
    // The two counts are adjacent so that no padding separates them.
    start_waiting: AtomicU32,
    end_waiting: AtomicU32,
    start_after: AtomicPtr<Edge>,
    end_after: AtomicPtr<Edge>,
    /// Edges to the starts of children whose drafts were dropped; OCCURRED once the body has
    /// returned.
    pub(super) returned: AtomicPtr<Edge>,
    /// A [`Word`].
    extras: AtomicPtr<Mutex<Extras>>,
    /// The interval's number among its parent's children.
    pub(super) number: u32,
    refs: AtomicU32,
    marks: AtomicU32,
}

impl Core {
    /// Creates a node with one reference for its draft and one for the runtime.
    #[inline]
    pub(super) fn new(
        scoped: Scoped,
        kind: &'static Kind,
        parent: Option<NonNull<Self>>,
        number: u32,
        created_at: CreatedAt,
    ) -> Self {
        Self {
            scoped,
            kind,
            parent,
            start_waiting: AtomicU32::new(DRAFT),
            end_waiting: AtomicU32::new(BODY),
            start_after: AtomicPtr::new(null_mut()),
            end_after: AtomicPtr::new(null_mut()),
            returned: AtomicPtr::new(null_mut()),
            extras: AtomicPtr::new(Word::of(created_at).0),
            number,
            refs: AtomicU32::new(2),
            marks: AtomicU32::new(0),
        }
    }

    pub(super) fn has(&self, mark: u32) -> bool {
        // Relaxed: the mark was set before a change to a count or a list, which a thread that
        // relies on the mark has acquired.
        self.marks.load(Ordering::Relaxed) & mark != 0
    }

    pub(super) fn mark(&self, mark: u32) {
        // Relaxed: published by the count-down that follows.
        self.marks.fetch_or(mark, Ordering::Relaxed);
    }

    /// Records that something before this point has failed.
    pub(super) fn mark_failed(&self, which: Which) {
        self.mark(which.failed());
    }

    pub(super) fn has_failed(&self, which: Which) -> bool {
        self.has(which.failed())
    }

    pub(super) fn words(&self, which: Which) -> PointWords<'_> {
        match which {
            Which::Start => self.start(),
            Which::End => self.end(),
        }
    }

    pub(super) fn start(&self) -> PointWords<'_> {
        PointWords {
            waiting: &self.start_waiting,
            after: &self.start_after,
        }
    }

    pub(super) fn end(&self) -> PointWords<'_> {
        PointWords {
            waiting: &self.end_waiting,
            after: &self.end_after,
        }
    }

    pub(super) fn tree(&self) -> &Tree {
        Tree::of(self.live_scope())
    }

    pub(super) fn scope(&self) -> NonNull<ScopeCore> {
        self.scoped.scope()
    }

    /// Like `scope`, but returns a reference. The caller must be processing this node, or have a
    /// handle to it or its draft.
    pub(super) fn live_scope(&self) -> &ScopeCore {
        // SAFETY: the scope waits until this node has ended, and handles are used only inside the
        // call that waits for the scope.
        unsafe { self.scoped.scope().as_ref() }
    }

    pub(super) fn recorded_as(&self) -> Option<usize> {
        self.extras()?.lock().recorded
    }

    pub(super) fn place(&self) -> Option<PlaceId> {
        self.extras()?.lock().place
    }

    /// Gives the node's task its own count, so that the scope waits for the task even before the
    /// node is ready.
    pub(super) fn count(&self) {
        self.scoped.count();
    }

    /// Passes the task's own count, if it has one, to the caller. Returns whether it had one.
    pub(super) fn take_count(&self) -> bool {
        self.scoped.take_count()
    }

    pub(super) fn is_uncounted(&self) -> bool {
        self.scoped.is_uncounted()
    }

    pub(super) fn fail(&self, cause: Cause) {
        self.mark(mark::FAILED | mark::BROKEN);
        self.tree().keep(cause, self);
    }

    fn word(&self) -> Word {
        // Acquire pairs with `extras_or_new`.
        Word(self.extras.load(Ordering::Acquire))
    }

    pub(super) fn extras(&self) -> Option<&Mutex<Extras>> {
        // Relaxed: this only decides whether to go on. With the load below alone, the compiler
        // would check for null, too, which costs each interval nine instructions.
        if !Word(self.extras.load(Ordering::Relaxed)).has_extras() {
            return None;
        }
        // SAFETY: `extras_or_new` created the extras, which are freed with the node.
        Some(unsafe { &*self.word().0 })
    }

    pub(super) fn extras_or_new(&self) -> &Mutex<Extras> {
        let before = self.word();
        if !before.has_extras() {
            let new = Box::into_raw(Box::new(Mutex::new(Extras {
                created_at: before.created_at(),
                ..Extras::default()
            })));
            // AcqRel: publishes the new extras, or acquires those that another thread has created.
            let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
            let made = (self.extras).compare_exchange(before.0, new, success, failure);
            if made.is_err() {
                // SAFETY: the box was created above, and no other thread has seen it.
                drop(unsafe { Box::from_raw(new) });
            }
        }
        self.extras().expect("made just now")
    }

    pub(super) fn is_named(&self) -> bool {
        self.given_name().is_some()
    }

    /// Returns the interval's name, escaped, for reports.
    pub(super) fn label(&self) -> String {
        self.name().escape_debug().to_string()
    }

    /// Returns the interval's label and where it was created, for reports.
    pub(super) fn title(&self) -> String {
        let name = self.label();
        match self.origin() {
            Some(origin) => format!("{name} ({})", origin.location()),
            None => name,
        }
    }

    fn created_at(&self) -> CreatedAt {
        let word = self.word();
        word.created_at()
            .or_else(|| self.extras()?.lock().created_at)
    }

    fn given_name(&self) -> Option<Cow<'static, str>> {
        self.extras()?.lock().name.clone()
    }

    /// Returns where the interval comes from; `None` for an inline interval.
    pub(super) fn origin(&self) -> Option<Origin> {
        Some(origin::of(self.given_name(), self.created_at()?))
    }

    /// Returns the interval's name for messages; `root` for an inline interval without a name.
    pub(super) fn name(&self) -> String {
        match (self.given_name(), self.parent) {
            (Some(name), _) => name.into_owned(),
            (None, None) => "root".to_owned(),
            (None, Some(_)) => format!("interval {}", self.number),
        }
    }

    /// Returns a pointer to the value; `None` if the interval has not ended, has failed, or has no
    /// value.
    ///
    /// # Safety
    /// 1. The caller has a reference to the node.
    pub(super) unsafe fn value(node: NonNull<Self>) -> Option<NonNull<()>> {
        // SAFETY: the caller has a reference (1).
        let core = unsafe { node.as_ref() };
        let there = core.end().has_occurred() && core.has(mark::VALUE) && !core.has(mark::FAILED);
        // SAFETY: the kind is that of the node, which is alive (1).
        there.then(|| unsafe { (core.kind.value)(node) })
    }

    pub(super) fn add_ref(&self) {
        // Relaxed: the caller already has a reference.
        if self.refs.fetch_add(1, Ordering::Relaxed) > u32::MAX / 2 {
            // Only leaked handles can be this numerous. If the count wrapped around, the node would
            // be freed while it is still in use.
            std::process::abort();
        }
    }

    /// Drops a reference.
    ///
    /// # Safety
    /// 1. The caller has that reference, and does not use the node afterwards.
    pub(super) unsafe fn let_go(node: NonNull<Self>, current: Option<WorkerThread<'_>>) {
        // SAFETY: the caller's reference keeps the node alive (1).
        let core = unsafe { node.as_ref() };
        // AcqRel: all uses of the node, by any thread, come before it is freed. A fence would also
        // do, but ThreadSanitizer does not support fences.
        if core.refs.fetch_sub(1, Ordering::AcqRel) > 1 {
            return;
        }
        if core.has(mark::VALUE) {
            // SAFETY: the kind is that of the node, which has a value; this was the last reference.
            let dropped = unwind::catch(|| unsafe { (core.kind.drop_value)(node) });
            if let Err(payload) = dropped {
                core.tree().report(payload, core);
            }
        }
        // Relaxed: the pointer was acquired with the last reference.
        let word = Word(core.extras.load(Ordering::Relaxed));
        if word.has_extras() {
            // SAFETY: `extras_or_new` allocated the extras, and no other thread has access to the
            // node.
            drop(unsafe { Box::from_raw(word.0) });
        }
        if core.has(mark::PARENT) {
            core.tree().bury(node, current);
        } else {
            // SAFETY: 1. this was the last reference, the value and the extras are gone, and no
            // child can lead another thread to the node.
            unsafe { Self::free(node, current) };
        }
    }

    /// # Safety
    /// 1. No reference is left, and the value and the extras are gone.
    pub(super) unsafe fn free(node: NonNull<Self>, current: Option<WorkerThread<'_>>) {
        // SAFETY: the node's memory is still live (1).
        let kind = unsafe { node.as_ref() }.kind;
        // SAFETY: the kind is that of the node, to which no reference is left (1).
        unsafe { (kind.release)(node, current) };
    }
}
