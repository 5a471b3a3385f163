//! The line that a pool prints when it stands still.

use crate::support::{Gate, built, watched};
use std::future::poll_fn;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use std::{env, thread};
use tidegate::policy::idle::{BackoffFactory, CustomBackoff, Rest};
use tidegate::policy::{Choose, SharePolicy, WaitPolicy};
use tidegate::{Builder, Pool};
use tidegate_testkit::{child, child_until, is_child, succeeds};

const LINE: &str = "nothing has moved for 1 s";

/// Programs that hang, with a part of the line that each must print.
const HANGING: [(fn(), &str); 10] = [
    (lock_held_across_join, "; worker "),
    (parallel_initializer, " sleeps in the task spawned at "),
    (message_from_frame_below, "stalls.rs:"),
    (
        task_waits_for_later_task,
        "; worker 0 sleeps in a future, or a task of a scope, a loop, a join or install; tasks that have not begun: 1",
    ),
    (
        lock_taken_twice,
        "; worker 0 sleeps in a future, or a task of a scope",
    ),
    (task_waits_behind_blocked_one, "stalls.rs:"),
    (
        half_waits_for_message,
        "; threads of the pool that wait for tasks: 1.",
    ),
    (
        future_waits_for_pending_task,
        "; tasks that have not begun: 1; threads of the pool",
    ),
    (caller_waits_for_message, "; worker 0 sleeps in "),
    (idle_threads_nap, "; worker "),
];

/// Programs that end, and must not print the line.
const ENDING: [fn(); 4] = [long_task, blocking_call, lone_blocking_call, naps];

const PROGRAM: &str = "TIDEGATE_TEST_PROGRAM";

#[test]
fn are_reported_unless_threads_compute() {
    const NAME: &str = "waits::stalls::are_reported_unless_threads_compute";
    if is_child() {
        let n: usize = env::var(PROGRAM).unwrap().parse().unwrap();
        let hanging = HANGING.map(|(program, _)| program);
        return watched(hanging.into_iter().chain(ENDING).nth(n).unwrap());
    }
    thread::scope(|s| {
        for n in 0..HANGING.len() + ENDING.len() {
            s.spawn(move || {
                let variables = [("TIDEGATE_STALL_REPORT", "1"), (PROGRAM, &n.to_string())];
                if let Some((_, part)) = HANGING.get(n) {
                    let line = child_until(NAME, &variables, LINE);
                    assert!(line.contains(part), "program {n}: {line}");
                } else {
                    let said = succeeds(&child(NAME, &variables));
                    assert!(!said.contains(LINE), "program {n}: {said}");
                }
            });
        }
    });
}

fn one() -> Builder {
    Pool::builder().workers(1).max_threads(1)
}

/// Lets a worker run a task that calls `want` on top of a task that is in `hold`, in the call of
/// the function that `hold` gets.
fn run_on_top(hold: impl FnOnce(&dyn Fn()) + Send, want: impl FnOnce() + Send + 'static) {
    let builder = Pool::builder().workers(2).max_threads(2);
    let pool = built(builder.wait(WaitPolicy::HelpAny));
    let want = Mutex::new(Some(want));
    pool.install(|| {
        hold(&|| {
            let (stolen, on_top) = (Gate::new(), Arc::new(Gate::new()));
            let want = want.lock().unwrap().take().expect("forks once");
            tidegate::join(
                || stolen.wait(),
                || {
                    stolen.open();
                    let begins = on_top.clone();
                    drop(tidegate::spawn(move || {
                        begins.open();
                        want();
                    }));
                    on_top.wait();
                },
            );
        });
    });
}

fn lock_held_across_join() {
    static TABLE: Mutex<()> = Mutex::new(());
    let hold = |fork: &dyn Fn()| {
        let _held = TABLE.lock();
        fork();
    };
    run_on_top(hold, || drop(TABLE.lock()));
}

fn parallel_initializer() {
    static CELL: OnceLock<()> = OnceLock::new();
    run_on_top(|fork| *CELL.get_or_init(fork), || *CELL.get_or_init(|| ()));
}

/// Tasks send messages to each other, and one of them forks before it sends.
fn message_from_frame_below() {
    let (sender, receiver) = channel();
    let hold = move |fork: &dyn Fn()| {
        fork();
        sender.send(()).unwrap();
    };
    run_on_top(hold, move || receiver.recv().unwrap());
}

fn task_waits_for_later_task() {
    let (sender, receiver) = channel();
    built(one()).install(move || {
        drop(tidegate::spawn(move || sender.send(())));
        receiver.recv().unwrap();
    });
}

fn lock_taken_twice() {
    let lock = Mutex::new(());
    built(one()).install(|| {
        let _held = lock.lock();
        drop(lock.lock());
    });
}

/// No thread waits in a call of the pool, so only the share controller can notice.
fn task_waits_behind_blocked_one() {
    let pool = built(one().share(SharePolicy::Auto));
    let (_sender, receiver) = channel::<()>();
    let (ended, end) = channel();
    drop(pool.spawn(move || receiver.recv()));
    drop(pool.spawn(move || ended.send(())));
    end.recv().unwrap();
}

/// The pool has no share controller, so only the worker that waits for the half can notice.
fn half_waits_for_message() {
    let pool = built(Pool::builder().workers(2).share(SharePolicy::Off));
    let (_sender, receiver) = channel::<()>();
    let (ended, end) = channel();
    drop(pool.spawn(move || {
        let (stolen, receiver) = (Gate::new(), Mutex::new(receiver));
        tidegate::join(
            || stolen.wait(),
            || {
                stolen.open();
                receiver.lock().unwrap().recv().unwrap();
            },
        );
        ended.send(()).unwrap();
    }));
    end.recv().unwrap();
}

/// The pool has one thread, which keeps no slot while it waits. So its share controller is parked.
fn future_waits_for_pending_task() {
    built(one()).install(|| {
        tidegate::scope(|s| {
            let wakers = Arc::new(Mutex::new(Vec::new()));
            let waker = wakers.clone();
            s.spawn(move |_| wakers.lock().unwrap().drain(..).for_each(Waker::wake));
            let is_open = move |context: &mut Context<'_>| {
                waker.lock().unwrap().push(context.waker().clone());
                Poll::<()>::Pending
            };
            tidegate::spawn_future(poll_fn(is_open)).join();
        });
    });
}

/// The calling thread runs the closure of the loop itself.
fn caller_waits_for_message() {
    let (_sender, receiver) = channel::<()>();
    let receiver = Mutex::new(receiver);
    let pool = built(one());
    pool.for_each(0..1, |_| receiver.lock().unwrap().recv().unwrap());
}

/// A backoff that keeps the slot.
struct Nap;

impl CustomBackoff for Nap {
    fn backoff(&mut self, _: u64) -> Rest {
        Rest::Sleep(50_000_000)
    }

    fn reset(&mut self) {}
}

fn napping() -> Pool {
    built(
        Pool::builder()
            .workers(2)
            .backoff(BackoffFactory::new(|_| Nap)),
    )
}

fn idle_threads_nap() {
    let (_sender, receiver) = channel::<()>();
    napping().install(move || receiver.recv().unwrap());
}

fn naps() {
    let pool = napping();
    pool.install(|| ());
    thread::sleep(Duration::from_secs(3));
}

fn long_task() {
    let begin = Instant::now();
    built(one()).install(|| while begin.elapsed() < Duration::from_secs(3) {});
}

fn lone_blocking_call() {
    let pool = built(Pool::builder().workers(2).share(SharePolicy::Off));
    pool.install(|| tidegate::blocking(|| thread::sleep(Duration::from_secs(3))));
}

fn blocking_call() {
    let pool = built(Pool::builder().workers(2));
    let rest = || tidegate::blocking(|| thread::sleep(Duration::from_secs(3)));
    drop(pool.spawn(rest));
    rest();
}
