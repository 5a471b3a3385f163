//! `Builder::max_queued` and `TaskBuilder::spawn_if_room`.

use crate::support::watched;
use std::sync::mpsc::{Sender, channel};
use tidegate::{CancelToken, Cancelled, Handle, Pool, check_cancelled};

fn pool(max_queued: usize) -> Pool {
    let builder = Pool::builder().workers(1).max_threads(1);
    builder.max_queued(max_queued).build().unwrap()
}

/// Occupies the pool's worker until the test sends a message.
fn occupy(pool: &Pool) -> (Handle<()>, Sender<()>) {
    let (started, has_started) = channel();
    let (release, released) = channel();
    let busy = pool.spawn(move || {
        started.send(()).unwrap();
        released.recv().unwrap();
    });
    has_started.recv().unwrap();
    (busy, release)
}

#[test]
fn a_full_queue_returns_the_closure() {
    watched(|| {
        let pool = pool(2);
        let (busy, release) = occupy(&pool);
        let queued = [1, 2].map(|n| pool.task().spawn_if_room(move || n).expect("there is room"));
        let refused = pool.task().spawn_if_room(|| 3).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "the pool's queue is full: 2 tasks (Builder::max_queued) wait for a worker"
        );
        assert_eq!(refused.into_inner()(), 3);
        release.send(()).unwrap();
        busy.join();
        assert_eq!(queued.map(Handle::join), [1, 2]);
        let accepted = pool.task().spawn_if_room(|| 4);
        assert_eq!(accepted.expect("the queue is empty").join(), 4);
    });
}

#[test]
fn excess_caller_continues() {
    watched(|| {
        let pool = pool(1);
        let (busy, release) = occupy(&pool);
        let queued = pool.spawn(|| 1);
        std::thread::scope(|threads| {
            let excess = threads.spawn(|| pool.spawn(|| 2).join());
            release.send(()).unwrap();
            assert_eq!(excess.join().unwrap(), 2);
        });
        busy.join();
        assert_eq!(queued.join(), 1);
    });
}

#[test]
fn pool_tasks_are_exempt() {
    watched(|| {
        let pool = pool(1);
        let total = pool.spawn(|| {
            let parts: Vec<_> = (0..100).map(|n| tidegate::spawn(move || n)).collect();
            parts.into_iter().map(Handle::join).sum::<u32>()
        });
        assert_eq!(total.join(), 4950);
    });
}

#[test]
fn many_callers_keep_a_small_bound() {
    watched(|| {
        let pool = pool(1);
        let total: u32 = std::thread::scope(|threads| {
            let callers = [0; 4].map(|_| {
                threads.spawn(|| (0..50).map(|n| pool.spawn(move || n).join()).sum::<u32>())
            });
            callers
                .into_iter()
                .map(|caller| caller.join().unwrap())
                .sum()
        });
        assert_eq!(total, 4 * 1225);
    });
}

/// While a worker of one pool waits for room in another pool's queue, it may run further tasks on
/// top, which also wait for room.
#[test]
fn nested_outside_workers_continue() {
    watched(|| {
        let (narrow, other) = (pool(1), Pool::builder().workers(2).build().unwrap());
        let (busy, release) = occupy(&narrow);
        other.scope(|scope| {
            for _ in 0..20 {
                scope.spawn(|_| drop(narrow.spawn(|| ())));
            }
            release.send(()).unwrap();
        });
        busy.join();
    });
}

#[test]
fn zero_is_an_error() {
    let error = Pool::builder().max_queued(0).build().unwrap_err();
    assert_eq!(
        error.to_string(),
        "Builder::max_queued: invalid value 0: expected at least 1"
    );
}

#[test]
fn tokens_respect_the_bound() {
    watched(|| {
        let pool = pool(1);
        let (busy, release) = occupy(&pool);
        let token = CancelToken::new();
        let queued = pool.task().token(&token).spawn(|| 1);
        assert!(
            pool.task().spawn_if_room(|| ()).is_err(),
            "the task is counted"
        );
        release.send(()).unwrap();
        busy.join();
        token.cancel();
        assert_eq!(queued.join(), 1);
        let seen = pool.task().token(&token).spawn(check_cancelled);
        assert_eq!(seen.join(), Err(Cancelled));
    });
}
