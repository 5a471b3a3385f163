//! The life of an interval: scheduled, started, run or skipped, ended. The steps are those of docs/intervals.md.

use super::Scope;
use super::failure::Cause;
use super::lock;
use super::node::{BODY, Core, DRAFT, mark};
use super::ready::Ready;
use crate::job::{Header, Runner, Task};
use crate::place;
use crate::unwind;
use crate::worker::WorkerThread;
use std::ptr::NonNull;
use tidegate_sync::atomic::Ordering;
use tidegate_sync::clock;

/// The task of a node: runs it and whatever becomes ready by it, one after the other.
pub(super) unsafe fn run(header: NonNull<Header>, runner: Runner<'_>) {
    let current = WorkerThread::from(runner);
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
    if skip || core.has(mark::VOID) {
        ready.release(&core.start, skip);
        if skip {
            core.mark(mark::FAILED);
        }
        let dropped = unwind::catch(|| {
            // SAFETY: a node of that kind; its closure is ours and was not run (1).
            unsafe { (core.kind.drop_body)(node) };
        });
        if let Err(payload) = dropped {
            core.fail(payload.into());
        }
    } else {
        // Settled before the body runs: what comes after the start may run beside it.
        let mut started = Ready::without_hand(ready.current());
        started.release(&core.start, false);
        started.settle_all();
        let recorder = core
            .tree()
            .recorder()
            .map(|recorder| (recorder, clock::now()));
        let current = ready.current().expect("bodies run on workers");
        let body = Scope::of(node, current);
        // SAFETY: a node of that kind; its closure is ours and is run once (1).
        let ended = unwind::catch(|| unsafe { (core.kind.run)(node, NonNull::from(&body).cast()) });
        children = body.children();
        if let Some((recorder, from)) = recorder {
            let failed = !matches!(ended, Ok(Ok(())));
            recorder.ran(core, from, failed, ready.current());
        }
        match ended {
            Ok(Ok(())) => {}
            Ok(Err(error)) => core.fail(Cause::Error(error)),
            Err(payload) => core.fail(payload.into()),
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
    if core.has(mark::SKIP | mark::VOID) {
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
        let mut ready = Ready::without_hand(WorkerThread::get());
        start(node, &mut ready);
        ready.settle_all();
    }
}

/// Whether the worker that has made `node` ready may run it next: nobody counts on it, and it waits at no place.
pub(super) fn stays_in_hand(node: NonNull<Core>, current: Option<WorkerThread<'_>>) -> bool {
    // SAFETY: it has not run.
    let core = unsafe { node.as_ref() };
    let scope = core.scope().as_ptr().cast_const();
    let covered = current.is_some_and(|current| std::ptr::eq(current.covers(), scope));
    covered && core.is_uncounted() && core.place().is_none()
}

/// A skipped node is worked off without a task.
pub(super) fn skip(node: NonNull<Core>, ready: &mut Ready<'_>) {
    // SAFETY: 1. due, and its one run.
    unsafe { execute(node, ready) };
}

/// The task of a node that may run, made when that becomes so.
fn task_of(node: NonNull<Core>) -> Task {
    // SAFETY: 1. a node is ready once, and alive until it has run.
    unsafe { Task::from_raw(node.cast()) }
}

/// Hands a node that may run to the scheduler.
pub(super) fn submit(node: NonNull<Core>, current: Option<WorkerThread<'_>>) {
    // SAFETY: it has not run.
    let core = unsafe { node.as_ref() };
    let (scope, task) = (core.live_scope(), task_of(node));
    match core.place() {
        Some(place) => {
            task.count();
            place::put_at(&scope.pool().as_arc(), place, task);
        }
        None => scope.spawn_prepared(task, current),
    }
}

/// The same from a task of another tree: nothing but the task's own count keeps its scope.
pub(super) fn submit_from_afar(node: NonNull<Core>) {
    // SAFETY: it has not run.
    let core = unsafe { node.as_ref() };
    let (scope, task) = (core.live_scope(), task_of(node));
    match core.place() {
        // Nothing but a reference of our own keeps the pool while the task may already run.
        Some(place) => place::put_at(&scope.pool().as_arc(), place, task),
        None => scope.outside().push(task),
    }
}
