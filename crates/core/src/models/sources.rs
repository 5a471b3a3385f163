//! A model for each kind of source: a task is put into it while the only other worker falls asleep,
//! and that worker must take the task. docs/sources.md has the argument.

use super::wait_for_vacancy;
use crate::broadcast;
use crate::builder::Builder;
use crate::handle::Pool;
use crate::job::Task;
use crate::place::{self, PlaceId};
use crate::policy::Choose;
use crate::scope::{self, Scope};
use crate::sleep::wake;
use crate::spawn;
use crate::worker::{WorkerThread, run};
use tidegate_policy::{Priority, QueueKind};
use tidegate_sync::Arc;
use tidegate_sync::lock::Mutex;
use tidegate_sync::model::check_part;
use tidegate_sync::park::Parker;

type Body = Box<dyn Fn() + Send + Sync>;

/// Builds a pool of two workers with the options that `with` adds. Calls `put` in one of them, with
/// a body to put into a source, and waits until the other worker has run the body. Meanwhile, the
/// caller keeps its slot and runs nothing.
fn check_put(
    with: impl Fn(Builder) -> Builder + Send + Sync + 'static,
    put: impl Fn(WorkerThread<'_>, &Scope<'_>, Body) + Send + Sync + 'static,
) {
    check_part(move || {
        let builder = Pool::builder().workers(2).max_threads(2);
        let pool = with(builder).build().expect("valid options");
        let (first, second) = (Parker::new(), Arc::new(Parker::new()));
        pool.install(|| {
            wait_for_vacancy(&first);
            let awaited = second.clone();
            let body = move || {
                loom::stop_exploring();
                awaited.unpark();
            };
            let current = here();
            scope::scope(current, |scope| {
                put(current, scope, Box::new(body));
                second.park();
            });
        });
    });
}

/// Like `check_put`, but the other worker waits for the scope to which the task belongs, and the
/// caller runs no task of that scope.
fn check_put_for_waiter(
    with: impl Fn(Builder) -> Builder + Send + Sync + 'static,
    put: impl Fn(WorkerThread<'_>, Task) + Send + Sync + 'static,
) {
    check_part(move || {
        let builder = Pool::builder().workers(2).max_threads(2);
        let pool = with(builder).build().expect("valid options");
        let [begun, ready, ran] = [(); 3].map(|()| Parker::new());
        let made = Mutex::new(None);
        let waits = || {
            begun.park();
            scope::scope(here(), |scope| {
                let body = |_: &Scope<'_>| {
                    loom::stop_exploring();
                    ran.unpark();
                };
                let task = scope.task(body, Some(here()));
                task.count();
                // loom does not see how the thread that creates the queue publishes it.
                let _ = scope::core(scope).queue();
                *made.lock() = Some(task);
                loom::explore();
                ready.unpark();
            });
        };
        let puts = || {
            begun.unpark();
            ready.park();
            let task = made.lock().take().expect("a task");
            put(here(), task);
            ran.park();
        };
        pool.install(|| crate::join(waits, puts));
    });
}

fn here<'a>() -> WorkerThread<'a> {
    WorkerThread::get().expect("a worker")
}

/// Puts the body into the queue of a place of the other worker.
fn put_at_other(current: WorkerThread<'_>, scope: &Scope<'_>, strict: bool, body: Body) {
    scope.spawn_at(other_place(current, strict), move |_| body());
}

fn other_place(current: WorkerThread<'_>, strict: bool) -> PlaceId {
    let mut places = place::places(current.pool()).into_iter();
    let here = place::place(current);
    let other = places.find(|place| *place != here).expect("two places");
    if strict { other.strict() } else { other }
}

fn one_place_each(builder: Builder) -> Builder {
    let topology = "cpus 0-1".parse().expect("a topology");
    builder
        .topology(topology)
        .places("each:1".parse().expect("a kind of places"))
}

#[test]
fn loom_deque_wakes_worker() {
    check_put(
        |builder| builder,
        |_, scope, body| scope.spawn(move |_| body()),
    );
}

#[test]
fn loom_injector_wakes_worker() {
    check_put(
        |builder| builder,
        |current, _, body| {
            let task = Task::alone(current.pool(), move |_| body());
            run::pass_on(current, task);
        },
    );
}

#[test]
fn loom_class_queue_wakes_worker() {
    check_put(
        |builder| builder,
        |current, _, body| {
            let pool = current.pool().as_arc();
            let task = Task::alone(&pool, move |_| body());
            spawn::submit(&pool, Some(Priority::Urgent), task);
        },
    );
}

#[test]
fn loom_scope_queue_wakes_worker() {
    check_put(
        |builder| builder,
        |_, scope, body| scope::queue(scope, move |_| body()),
    );
}

#[test]
fn loom_open_place_wakes_worker() {
    check_put(one_place_each, |current, scope, body| {
        put_at_other(current, scope, false, body);
    });
}

#[test]
fn loom_strict_place_wakes_worker() {
    check_put(one_place_each, |current, scope, body| {
        put_at_other(current, scope, true, body);
    });
}

#[test]
fn loom_stolen_batch_wakes_worker() {
    check_put(
        |builder| builder,
        |current, _, body| {
            let task = Task::alone(current.pool(), move |_| body());
            current.keep_in_batch(task);
            wake::work_visible(current.pool(), Some(current.worker()));
        },
    );
}

#[test]
fn loom_alternative_queue_wakes_worker() {
    check_put(
        |builder| builder.queue(QueueKind::ChaseLev),
        |_, scope, body| scope.spawn(move |_| body()),
    );
}

#[test]
fn loom_memory_plan_wakes_worker() {
    check_put(
        |builder| builder.memory("depth-first".parse().expect("a policy")),
        |_, scope, body| scope.spawn(move |_| body()),
    );
}

#[test]
fn loom_inbox_wakes_its_worker() {
    check_put(
        |builder| builder,
        |current, _, body| {
            let caller = current.index;
            broadcast::spawn_broadcast(current.pool(), move |_, _| {
                if here().index != caller {
                    body();
                }
            });
        },
    );
}

#[test]
fn loom_stolen_batch_wakes_waiter() {
    check_put_for_waiter(
        |builder| builder,
        |current, task| {
            current.keep_in_batch(task);
            wake::work_visible(current.pool(), Some(current.worker()));
        },
    );
}

#[test]
fn loom_scope_queue_wakes_waiter() {
    check_put_for_waiter(|builder| builder, run::pass_on);
}

#[test]
fn loom_open_place_wakes_waiter() {
    check_put_for_waiter(one_place_each, |current, task| {
        place::put_at(current.pool(), other_place(current, false), task);
    });
}

#[test]
fn loom_strict_place_wakes_waiter() {
    check_put_for_waiter(one_place_each, |current, task| {
        place::put_at(current.pool(), other_place(current, true), task);
    });
}
