//! The life cycle of an interval: it is scheduled, starts, runs or is skipped, and ends.
//! docs/intervals.md lists the steps.

use super::Scope;
use super::edges;
use super::failure::Cause;
use super::lock;
use super::node::{BODY, Core, DRAFT, Which, mark};
use super::ready::Ready;
use std::ptr::NonNull;
use tidegate_core::door::{
    Header, Kind, Runner, Start, Task, TaskSpan, WorkerThread, place, unwind,
};
use tidegate_sync::atomic::Ordering;
use tidegate_sync::clock;

/// The task of a node.
pub(super) const TASK: Kind = Kind {
    run,
    start: Start::Scoped,
};

/// Runs the node, then a node that this one has made ready, and so on.
unsafe fn run(header: NonNull<Header>, runner: Runner<'_>) {
    let current = WorkerThread::from(runner);
    let mut next = Some(header.cast::<Core>());
    while let Some(node) = next {
        let mut ready = Ready::with_hand(current);
        // SAFETY: 1. the node is ready, and is run only here.
        unsafe { execute(node, &mut ready) };
        next = ready.settle();
        if current.is_called() {
            // Another thread needs this worker's slot or tasks, so the next node goes to the deque.
            next.into_iter()
                .for_each(|node| submit(node, Some(current)));
            return;
        }
    }
}

/// # Safety
/// 1. Everything before the start has occurred, and this function is called once for the node.
unsafe fn execute(node: NonNull<Core>, ready: &mut Ready<'_>) {
    // SAFETY: the end has not occurred, so the runtime's reference keeps the node alive (1).
    let core = unsafe { node.as_ref() };
    // Relaxed: the mark was set before the count reached 0, which made the node ready.
    let skip = core.has(mark::SKIP);
    let mut children = 0;
    if skip || core.has(mark::VOID) {
        ready.release(core.start().after, skip);
        if skip {
            core.mark(mark::FAILED);
        }
        let dropped = unwind::catch(|| {
            // SAFETY: the kind is that of the node; this function owns the closure, which has not
            // run (1).
            unsafe { (core.kind.drop_body)(node) };
        });
        if let Err(payload) = dropped {
            core.fail(payload.into());
        }
    } else {
        // Processed before the body runs, because intervals that wait only for the start may run in
        // parallel with the body.
        let mut started = Ready::without_hand(ready.current());
        started.release(core.start().after, false);
        started.settle_all();
        let recorder = core.tree().recorder();
        let recorder = recorder.map(|recorder| (recorder, clock::now()));
        let current = ready.current().expect("bodies run on workers");
        let body = Scope::of(node);
        let ended = {
            let _span = TaskSpan::begin(current, || core.origin());
            // SAFETY: the kind is that of the node; this function owns the closure and runs it once
            // (1).
            unwind::catch(|| unsafe { (core.kind.run)(node, NonNull::from(&body).cast()) })
        };
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

/// Ends the body of an interval. `children` is how many intervals the body has created.
pub(super) fn end_body(node: NonNull<Core>, children: u32, ready: &mut Ready<'_>) {
    // SAFETY: the node's end waits for this call.
    let core = unsafe { node.as_ref() };
    if children > 0 {
        core.mark(mark::PARENT);
        // The release may start other intervals, but the end cannot occur while its count includes
        // BODY.
        ready.release(&core.returned, core.has(mark::BROKEN));
    }
    let change = children.wrapping_sub(BODY);
    // AcqRel: publishes what the body has done, and acquires what other threads have done before
    // the end.
    let before = core.end().waiting.fetch_add(change, Ordering::AcqRel);
    if before.wrapping_add(change) == 0 {
        end(node, ready);
    }
}

/// Makes the end of an interval occur, and then the ends of ancestors that waited only for it.
pub(super) fn end(first: NonNull<Core>, ready: &mut Ready<'_>) {
    let mut node = first;
    loop {
        // SAFETY: the runtime's reference, which is dropped only below, keeps the node alive.
        let core = unsafe { node.as_ref() };
        let (parent, failed) = (core.parent, core.has(mark::FAILED));
        if parent.is_none() {
            core.tree().root_has_ended();
        }
        core.tree().unwatch(core);
        ready.release(core.end().after, failed);
        lock::give_back(core, ready);
        // SAFETY: 1. this drops the runtime's reference; the node is not used afterwards.
        unsafe { Core::let_go(node, ready.current()) };
        let Some(parent) = parent else {
            return;
        };
        // SAFETY: the parent's end waits for this node's end.
        let core = unsafe { parent.as_ref() };
        if failed {
            core.mark(mark::FAILED);
        }
        // AcqRel: as in `end_body`.
        if core.end().waiting.fetch_sub(1, Ordering::AcqRel) > 1 {
            return;
        }
        node = parent;
    }
}

/// Starts `node`; everything before its start must have occurred. Takes the node's locks, and
/// submits the node to the scheduler once it holds them all.
pub(super) fn start(node: NonNull<Core>, ready: &mut Ready<'_>) {
    // SAFETY: the node has not started.
    let core = unsafe { node.as_ref() };
    if core.has(mark::SKIP | mark::VOID) {
        ready.skips(node);
    } else if lock::take(node) {
        ready.runs(node);
    }
}

pub(super) fn schedule(node: NonNull<Core>) {
    // SAFETY: the node has not started.
    let waiting = unsafe { node.as_ref() }.start().waiting;
    // AcqRel: publishes what was set in the draft, such as its locks, and acquires what other
    // threads have done before the start.
    if waiting.fetch_sub(DRAFT, Ordering::AcqRel) == DRAFT {
        let mut ready = Ready::without_hand(WorkerThread::get());
        start(node, &mut ready);
        ready.settle_all();
    }
}

/// Schedules a dropped draft as soon as the body that created it returns, or immediately if that
/// body has already returned. If the body fails, the interval is skipped.
pub(super) fn schedule_at_return(node: NonNull<Core>) {
    // SAFETY: the node has not started.
    let core = unsafe { node.as_ref() };
    let parent = core.parent.expect("a body has created it");
    // SAFETY: the parent's end waits for the end of `node`, which cannot start before the edge
    // below is in the list. After that, neither node is used unless the push fails.
    let parent = unsafe { parent.as_ref() };
    // AcqRel: as in `schedule`. DRAFT is replaced by a count of one, for the return of the body.
    core.start().waiting.fetch_sub(DRAFT - 1, Ordering::AcqRel);
    let current = WorkerThread::get();
    if edges::push(&parent.returned, (node, Which::Start), current).is_none() {
        let mut ready = Ready::without_hand(current);
        ready.count_down(node, Which::Start, parent.has(mark::BROKEN));
        ready.settle_all();
    }
}

/// Whether the worker that has made `node` ready may run it next. This requires that the worker
/// covers the node's scope (`WorkerThread::covers`), and that the node has neither its own count
/// nor a place.
pub(super) fn stays_in_hand(node: NonNull<Core>, current: Option<WorkerThread<'_>>) -> bool {
    // SAFETY: the node has not run.
    let core = unsafe { node.as_ref() };
    let scope = core.scope().as_ptr().cast_const();
    let covered = current.is_some_and(|current| std::ptr::eq(current.covers(), scope));
    covered && core.is_uncounted() && core.place().is_none()
}

/// Ends a skipped interval directly, without spawning a task.
pub(super) fn skip(node: NonNull<Core>, ready: &mut Ready<'_>) {
    // SAFETY: 1. the node is ready, and is processed only here.
    unsafe { execute(node, ready) };
}

fn task_of(node: NonNull<Core>) -> Task {
    // SAFETY: 1. a node becomes ready once, and is alive until it has run.
    unsafe { Task::from_raw(node.cast()) }
}

/// Submits a ready node to the scheduler.
pub(super) fn submit(node: NonNull<Core>, current: Option<WorkerThread<'_>>) {
    // SAFETY: the node has not run.
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

/// Like `submit`, but called by a task of another tree, so only the submitted task's own count
/// keeps its scope alive.
pub(super) fn submit_from_afar(node: NonNull<Core>) {
    // SAFETY: the node has not run.
    let core = unsafe { node.as_ref() };
    let (scope, task) = (core.live_scope(), task_of(node));
    match core.place() {
        // Another thread may run the task before this call returns, so only the reference taken
        // here keeps the pool alive.
        Some(place) => place::put_at(&scope.pool().as_arc(), place, task),
        None => scope.outside().push(task),
    }
}
