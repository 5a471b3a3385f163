//! What an interval is in memory, and its life. The protocol, with the owner of each word, is docs/intervals.md.
//!
//! **Safety argument.** A node is alive until its end has occurred and no handle is left (`refs`). Pointers to nodes are held by: handles; an
//! edge, to a target that cannot occur before the edge is released; a child, to a parent whose end cannot occur before the child's; the
//! task of a node that is ready; a lock's queue, for a node that has not started. The tree, in the frame of the inline interval's call, outlives
//! all of them but handles, which cannot leave that call, and nodes of a stalled tree, which nobody follows any more.
//!
//! The closure is the creator's until the node is scheduled, then that of whoever runs it; the value in its place is written by that one before the
//! end occurs and never changed afterwards.

use super::Body;
use super::edges::Edge;
use super::failure::{BoxError, Cause};
use super::lock::{self, Lock};
use super::ready::Ready;
use super::tree::Tree;
use crate::job::{Header, Scoped, Task, blocks};
use crate::place::PlaceId;
use crate::scope::ScopeCore;
use crate::unwind;
use crate::worker::Current;
use std::borrow::Cow;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::{NonNull, null_mut};
use tidegate_sync::UnsafeCell;
use tidegate_sync::atomic::{AtomicPtr, AtomicU32, Ordering, fence};
use tidegate_sync::lock::Mutex;

/// Of `start`: the interval is not scheduled yet.
pub(super) const DRAFT: u32 = 1 << 31;
/// Of `end`: the body has not ended, and children are still to be added.
const BODY: u32 = 1 << 31;
/// What BODY leaves room for, beside edges.
pub(super) const MOST_CHILDREN: u32 = 1 << 30;
/// The same for edges.
pub(super) const MOST_WAITING: u32 = BODY + (1 << 30);

/// Bits of `marks`.
mod mark {
    /// Something before the start has failed: the body does not run.
    pub(super) const SKIP: u32 = 1;
    /// Something before the end has failed.
    pub(super) const FAILED: u32 = 2;
    /// The body has left a value.
    pub(super) const VALUE: u32 = 4;
    /// There are or were children.
    pub(super) const PARENT: u32 = 8;
}

/// Which point of an interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Which {
    Start,
    End,
}

/// The words of a point.
pub(super) struct PointWords {
    pub(super) waiting: AtomicU32,
    pub(super) after: AtomicPtr<Edge>,
}

impl PointWords {
    fn waiting_for(count: u32) -> Self {
        Self {
            waiting: AtomicU32::new(count),
            after: AtomicPtr::new(null_mut()),
        }
    }

    pub(super) fn has_occurred(&self) -> bool {
        // Acquire pairs with the swap in `Ready::release`: what came before the point is visible.
        self.after.load(Ordering::Acquire) == Edge::OCCURRED
    }
}

/// What few intervals have.
#[derive(Default)]
pub(super) struct Extras {
    pub(super) name: Option<Cow<'static, str>>,
    pub(super) place: Option<PlaceId>,
    /// In the order of their numbers.
    pub(super) locks: Vec<Lock>,
    /// How many of them are held.
    pub(super) held: usize,
}

/// An interval apart from its closure. A node begins with it.
#[repr(C)]
pub(super) struct Core {
    scoped: Scoped,
    kind: &'static Kind,
    pub(super) parent: Option<NonNull<Core>>,
    pub(super) start: PointWords,
    pub(super) end: PointWords,
    extras: AtomicPtr<Mutex<Extras>>,
    /// Among its parent's children.
    pub(super) number: u32,
    refs: AtomicU32,
    marks: AtomicU32,
}

/// What a node's closure and value are.
struct Kind {
    /// The second is the [`Body`] that the closure gets.
    run: unsafe fn(NonNull<Core>, NonNull<()>) -> Result<(), BoxError>,
    drop_body: unsafe fn(NonNull<Core>),
    value: unsafe fn(NonNull<Core>) -> NonNull<()>,
    drop_value: unsafe fn(NonNull<Core>),
    release: unsafe fn(NonNull<Core>, Option<Current<'_>>),
}

#[repr(C)]
struct Node<'scope, 'env, F, T> {
    core: Core,
    slot: UnsafeCell<Slot<F, T>>,
    marker: PhantomData<fn(&Body<'scope, 'env>)>,
}

#[repr(C)]
union Slot<F, T> {
    body: ManuallyDrop<F>,
    value: ManuallyDrop<T>,
}

impl<'scope, 'env, F, T> Node<'scope, 'env, F, T>
where
    F: FnOnce(&Body<'scope, 'env>) -> Result<T, BoxError>,
{
    const KIND: Kind = Kind {
        run: Self::run,
        drop_body: Self::drop_body,
        value: Self::value,
        drop_value: Self::drop_value,
        release: Self::release,
    };

    unsafe fn run(core: NonNull<Core>, body: NonNull<()>) -> Result<(), BoxError> {
        // SAFETY: the runner's body, in its frame; its lifetimes are those of the call that has made this node.
        let body = unsafe { body.cast::<Body<'scope, 'env>>().as_ref() };
        // SAFETY: a node of this type, alive while it runs.
        let node: &Self = unsafe { core.cast().as_ref() };
        let closure = node.slot.with_mut(|slot| {
            // SAFETY: the slot is the runner's, and holds the closure until here.
            unsafe { ManuallyDrop::take(&mut (*slot).body) }
        });
        let value = closure(body)?;
        node.slot.with_mut(|slot| {
            // SAFETY: the slot is the runner's, and empty.
            unsafe { (*slot).value = ManuallyDrop::new(value) };
        });
        node.core.mark(mark::VALUE);
        Ok(())
    }

    unsafe fn drop_body(core: NonNull<Core>) {
        // SAFETY: a node of this type, alive while it is worked off.
        let node: &Self = unsafe { core.cast().as_ref() };
        // SAFETY: the slot is the runner's, and holds the closure, which nobody runs.
        node.slot
            .with_mut(|slot| unsafe { ManuallyDrop::drop(&mut (*slot).body) });
    }

    unsafe fn value(core: NonNull<Core>) -> NonNull<()> {
        // SAFETY: a node of this type; the caller has a reference.
        let node: &Self = unsafe { core.cast().as_ref() };
        let slot = node.slot.with(<*const Slot<F, T>>::cast_mut);
        // A value lies at the beginning of its slot.
        NonNull::new(slot).map_or(NonNull::dangling(), NonNull::cast)
    }

    unsafe fn drop_value(core: NonNull<Core>) {
        // SAFETY: a node of this type, whose last reference the caller has.
        let node: &Self = unsafe { core.cast().as_ref() };
        // SAFETY: it holds a value, and nobody else looks at it any more.
        node.slot
            .with_mut(|slot| unsafe { ManuallyDrop::drop(&mut (*slot).value) });
    }

    unsafe fn release(core: NonNull<Core>, current: Option<Current<'_>>) {
        // SAFETY: 1. from `place` in `create`, and the caller has the last reference; 2. closure and value are gone, the rest needs no drop.
        unsafe { blocks::release(core.cast::<Self>(), current) };
    }
}

/// Makes an interval under `parent`, not yet scheduled, with a reference for its draft and one for the runtime.
///
/// # Safety
/// 1. The scope lasts until the interval has ended. 2. What `body` borrows lasts as long. 3. The caller is the body of `parent`.
#[inline]
pub(super) unsafe fn create<'scope, 'env: 'scope, F, T>(
    scope: NonNull<ScopeCore>,
    parent: Option<NonNull<Core>>,
    number: u32,
    body: F,
    current: Option<Current<'_>>,
) -> NonNull<Core>
where
    F: FnOnce(&Body<'scope, 'env>) -> Result<T, BoxError>,
{
    let core = Core {
        // SAFETY: 1. the caller's (1); 2. a ready interval is spawned once.
        scoped: unsafe { Scoped::new(scope, run) },
        kind: const { &Node::<'scope, 'env, F, T>::KIND },
        parent,
        start: PointWords::waiting_for(DRAFT),
        end: PointWords::waiting_for(BODY),
        extras: AtomicPtr::new(null_mut()),
        number,
        refs: AtomicU32::new(2),
        marks: AtomicU32::new(0),
    };
    let slot = UnsafeCell::new(Slot {
        body: ManuallyDrop::new(body),
    });
    let marker = PhantomData;
    let node = Node::<'scope, 'env, F, T> { core, slot, marker };
    blocks::place(node, current).cast()
}

/// The task of a node: runs it and whatever becomes ready by it, one after the other.
unsafe fn run(header: NonNull<Header>, current: Current<'_>) {
    let mut next = Some(header.cast::<Core>());
    while let Some(node) = next {
        let mut ready = Ready::with_hand(current);
        // SAFETY: 1. ready, and this is its one run.
        unsafe { execute(node, &mut ready) };
        next = ready.settle();
        if current.is_called() {
            // Somebody wants the slot, or work: what is in hand is for the deque.
            next.into_iter()
                .for_each(|node| submit(node, Some(current)));
            return;
        }
    }
}

/// # Safety
/// 1. All before the start has occurred, and this is called once.
unsafe fn execute(node: NonNull<Core>, ready: &mut Ready<'_>) {
    // SAFETY: its end has not occurred, so the runtime's reference is there (1).
    let core = unsafe { node.as_ref() };
    // Relaxed: marked before the count that made it ready came to 0.
    let skip = core.has(mark::SKIP);
    let mut children = 0;
    if skip {
        ready.release(&core.start, true);
        core.mark(mark::FAILED);
        let dropped = unwind::catch(|| {
            // SAFETY: a node of that kind; its closure is ours and was not run (1).
            unsafe { (core.kind.drop_body)(node) };
        });
        if let Err(payload) = dropped {
            core.fail(Cause::Panic(payload));
        }
    } else {
        // Settled before the body runs: what comes after the start may run beside it.
        let mut started = Ready::without_hand(ready.current());
        started.release(&core.start, false);
        let left = started.settle();
        debug_assert!(left.is_none());
        let body = Body::of(node);
        // SAFETY: a node of that kind; its closure is ours and is run once (1).
        let ended = unwind::catch(|| unsafe { (core.kind.run)(node, NonNull::from(&body).cast()) });
        children = body.children();
        match ended {
            Ok(Ok(())) => {}
            Ok(Err(error)) => core.fail(Cause::Error(error)),
            Err(payload) => core.fail(Cause::Panic(payload)),
        }
    }
    end_body(node, children, ready);
}

/// The body of an interval has ended, after it has created so many children.
pub(super) fn end_body(node: NonNull<Core>, children: u32, ready: &mut Ready<'_>) {
    // SAFETY: its end waits for this.
    let core = unsafe { node.as_ref() };
    if children > 0 {
        core.mark(mark::PARENT);
    }
    let change = children.wrapping_sub(BODY);
    // AcqRel: releases what the body has done, and acquires what others before the end have.
    let before = core.end.waiting.fetch_add(change, Ordering::AcqRel);
    if before.wrapping_add(change) == 0 {
        end(node, ready);
    }
}

/// The end of an interval occurs, and with it perhaps those of its ancestors.
pub(super) fn end(first: NonNull<Core>, ready: &mut Ready<'_>) {
    let mut node = first;
    loop {
        // SAFETY: the runtime's reference goes only below.
        let core = unsafe { node.as_ref() };
        let (parent, failed) = (core.parent, core.has(mark::FAILED));
        if parent.is_none() {
            core.tree().root_has_ended();
        }
        ready.release(&core.end, failed);
        lock::give_back(core, ready);
        // SAFETY: 1. the runtime's reference, which nobody uses any more.
        unsafe { Core::let_go(node, ready.current()) };
        let Some(parent) = parent else {
            return;
        };
        // SAFETY: its end waits for ours.
        let core = unsafe { parent.as_ref() };
        if failed {
            core.mark(mark::FAILED);
        }
        // AcqRel: as in `end_body`.
        if core.end.waiting.fetch_sub(1, Ordering::AcqRel) > 1 {
            return;
        }
        node = parent;
    }
}

/// All before the start of `node` has occurred: takes its locks, and hands it to the scheduler unless one of them is missing.
pub(super) fn start(node: NonNull<Core>, ready: &mut Ready<'_>) {
    // SAFETY: it has not started.
    let core = unsafe { node.as_ref() };
    if core.has(mark::SKIP) {
        ready.skips(node);
    } else if lock::take(node) {
        ready.runs(node);
    }
}

/// A draft is a draft no more.
pub(super) fn schedule(node: NonNull<Core>) {
    // SAFETY: it has not started.
    let waiting = unsafe { &node.as_ref().start.waiting };
    // AcqRel: releases what the draft was given, and acquires what others before the start have done.
    if waiting.fetch_sub(DRAFT, Ordering::AcqRel) == DRAFT {
        let mut ready = Ready::without_hand(Current::get());
        start(node, &mut ready);
        let left = ready.settle();
        debug_assert!(left.is_none());
    }
}

/// Whether the worker that has made `node` ready may run it next: nobody counts on it, and it waits at no place.
pub(super) fn stays_in_hand(node: NonNull<Core>, current: Option<Current<'_>>) -> bool {
    // SAFETY: it has not run, so its scope waits.
    let (core, scope) = unsafe { (node.as_ref(), node.as_ref().scope().as_ref()) };
    let covered = current.is_some_and(|current| std::ptr::eq(current.covers(), scope));
    let placed = || {
        core.extras()
            .is_some_and(|extras| extras.lock().place.is_some())
    };
    covered && core.is_uncounted() && !placed()
}

/// A skipped node is worked off without a task.
pub(super) fn skip(node: NonNull<Core>, ready: &mut Ready<'_>) {
    // SAFETY: 1. due, and its one run.
    unsafe { execute(node, ready) };
}

/// Hands a node that may run to the scheduler.
pub(super) fn submit(node: NonNull<Core>, current: Option<Current<'_>>) {
    // SAFETY: it has not run, so its scope waits.
    let (core, scope) = unsafe { (node.as_ref(), node.as_ref().scoped.scope().as_ref()) };
    let place = core.extras().and_then(|extras| extras.lock().place);
    // SAFETY: 1. a node is ready once, and alive until it has run.
    let task = unsafe { Task::from_raw(node.cast()) };
    match place {
        Some(place) => {
            task.count();
            scope.pool().put_at(place, task);
        }
        None => scope.submit_unstarted(task, current),
    }
}

/// The same from a task of another tree: nothing but the task's own count keeps its scope.
pub(super) fn submit_from_afar(node: NonNull<Core>) {
    // SAFETY: it has not run, so its scope waits.
    let (core, scope) = unsafe { (node.as_ref(), node.as_ref().scoped.scope().as_ref()) };
    let place = core.extras().and_then(|extras| extras.lock().place);
    // SAFETY: 1. a node is ready once, and alive until it has run.
    let task = unsafe { Task::from_raw(node.cast()) };
    match place {
        // Nothing but a reference of our own keeps the pool while the task may already run.
        Some(place) => scope.pool().as_arc().put_at(place, task),
        None => scope.submit_from_afar(task),
    }
}

impl Core {
    pub(super) fn has(&self, mark: u32) -> bool {
        // Relaxed: whoever relies on a mark has acquired a count or a list that was changed after it.
        self.marks.load(Ordering::Relaxed) & mark != 0
    }

    fn mark(&self, mark: u32) {
        // Relaxed: released by what is counted down next.
        self.marks.fetch_or(mark, Ordering::Relaxed);
    }

    /// Something before this point has failed.
    pub(super) fn mark_failed(&self, which: Which) {
        self.mark(match which {
            Which::Start => mark::SKIP,
            Which::End => mark::FAILED,
        });
    }

    pub(super) fn has_failed(&self, which: Which) -> bool {
        self.has(match which {
            Which::Start => mark::SKIP,
            Which::End => mark::FAILED,
        })
    }

    pub(super) fn words(&self, which: Which) -> &PointWords {
        match which {
            Which::Start => &self.start,
            Which::End => &self.end,
        }
    }

    pub(super) fn tree(&self) -> &Tree {
        // SAFETY: a tree lasts as long as its scope, which waits while this has not ended, or a handle is at hand.
        let scope = unsafe { self.scoped.scope().as_ref() };
        scope.tree()
    }

    pub(super) fn scope(&self) -> NonNull<ScopeCore> {
        self.scoped.scope()
    }

    /// Gives the node's task a count of its own, so that its scope waits for it before it is ready.
    pub(super) fn count(&self) {
        // SAFETY: 1. not ready yet: nobody else has its task, and this one is not run.
        let task = unsafe { Task::from_raw(NonNull::from(self).cast()) };
        task.count();
    }

    /// Takes that count away again; somebody else keeps the scope.
    pub(super) fn uncount(&self) {
        self.scoped.uncount();
    }

    fn is_uncounted(&self) -> bool {
        self.scoped.is_uncounted()
    }

    pub(super) fn fail(&self, cause: Cause) {
        self.mark(mark::FAILED);
        self.tree().keep(cause, self);
    }

    /// What few intervals have, if this has any.
    pub(super) fn extras(&self) -> Option<&Mutex<Extras>> {
        // Acquire pairs with `extras_or_new`.
        let extras = self.extras.load(Ordering::Acquire);
        // SAFETY: made there and freed with the node.
        unsafe { extras.as_ref() }
    }

    pub(super) fn extras_or_new(&self) -> &Mutex<Extras> {
        if let Some(extras) = self.extras() {
            return extras;
        }
        let new = Box::into_raw(Box::new(Mutex::new(Extras::default())));
        // AcqRel: releases what was made, or acquires what somebody else has.
        let made =
            self.extras
                .compare_exchange(null_mut(), new, Ordering::AcqRel, Ordering::Acquire);
        if made.is_err() {
            // SAFETY: made above, and nobody else has seen it.
            drop(unsafe { Box::from_raw(new) });
        }
        self.extras().expect("made just now")
    }

    /// What to call it.
    pub(super) fn name(&self) -> String {
        let name = self.extras().and_then(|extras| extras.lock().name.clone());
        match (name, self.parent) {
            (Some(name), _) => name.into_owned(),
            (None, None) => "the inline interval".to_owned(),
            (None, Some(_)) => format!("interval {}", self.number),
        }
    }

    /// The value, if the end has occurred and the body has left one.
    ///
    /// # Safety
    /// 1. The caller has a reference to the node.
    pub(super) unsafe fn value(node: NonNull<Self>) -> Option<NonNull<()>> {
        // SAFETY: the caller's reference (1).
        let core = unsafe { node.as_ref() };
        let there = core.end.has_occurred() && core.has(mark::VALUE);
        // SAFETY: a node of its kind, alive (1).
        there.then(|| unsafe { (core.kind.value)(node) })
    }

    pub(super) fn add_ref(&self) {
        // Relaxed: the caller has a reference.
        if self.refs.fetch_add(1, Ordering::Relaxed) > u32::MAX / 2 {
            // So many handles can only have been forgotten; if the count went round, the node would be freed under the others.
            std::process::abort();
        }
    }

    /// One reference less.
    ///
    /// # Safety
    /// 1. The caller has it, and does not use the node afterwards.
    pub(super) unsafe fn let_go(node: NonNull<Self>, current: Option<Current<'_>>) {
        // SAFETY: the caller's reference keeps it (1).
        let core = unsafe { node.as_ref() };
        // Release: what was done with the node comes before its end.
        if core.refs.fetch_sub(1, Ordering::Release) > 1 {
            return;
        }
        // Acquire pairs with the others' Release.
        fence(Ordering::Acquire);
        if core.has(mark::VALUE) {
            // SAFETY: a node of its kind, with a value, and the last reference was ours.
            let dropped = unwind::catch(|| unsafe { (core.kind.drop_value)(node) });
            if let Err(payload) = dropped {
                core.tree().report(payload, core);
            }
        }
        // Relaxed: acquired with the last reference.
        let extras = core.extras.load(Ordering::Relaxed);
        if !extras.is_null() {
            // SAFETY: from `extras_or_new`, and nobody else has the node.
            drop(unsafe { Box::from_raw(extras) });
        }
        if core.has(mark::PARENT) {
            core.tree().bury(node, current);
        } else {
            // SAFETY: 1. as above, and nobody comes to it from a child.
            unsafe { Self::free(node, current) };
        }
    }

    /// # Safety
    /// 1. No reference is left, and value and extras are gone.
    pub(super) unsafe fn free(node: NonNull<Self>, current: Option<Current<'_>>) {
        // SAFETY: live memory of a node of its kind (1).
        unsafe { (node.as_ref().kind.release)(node, current) };
    }
}
