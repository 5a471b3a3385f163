//! Streams in simulated pools.

use crate::programs::run;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use tidegate::sync::mpsc::channel;
use tidegate::{Pool, testing};

#[test]
fn results_keep_their_order() {
    run(|pool| {
        let results = || pool.stream(0..12).window(3).map(|n| n + 1).ordered();
        assert!(results().eq(1..13));
        assert!(pool.install(|| results().eq(1..13)));
    });
}

/// Results are left when the scope ends, and perhaps no thread drops the iterator.
#[test]
fn scoped_items_end_with_their_scope() {
    run(|pool| {
        for forgotten in [false, true] {
            let running = AtomicUsize::new(0);
            let f = |n| {
                running.fetch_add(1, Ordering::Relaxed);
                tidegate::yield_point();
                running.fetch_sub(1, Ordering::Relaxed);
                n + 1
            };
            pool.scope(|scope| {
                let mut results = tidegate::stream(0..9).in_scope(scope).map(f).ordered();
                assert!(results.by_ref().take(6).eq(1..7));
                forgotten.then(|| std::mem::forget(results));
            });
            assert_eq!(running.into_inner(), 0);
        }
    });
}

/// Another task drops the stream while an item may block.
#[test]
fn other_tasks_drop_the_iterator() {
    run(|pool| {
        let (sender, receiver) = channel();
        pool.install(|| {
            let results = tidegate::stream(0..6).window(3).map(move |n| {
                tidegate::blocking(tidegate::yield_point);
                sender.send(n).unwrap();
                n
            });
            let mut results = results.ordered();
            assert_eq!(results.next(), Some(0));
            tidegate::spawn(move || drop(results)).join();
        });
        let mut begun: Vec<usize> = receiver.iter().collect();
        begun.sort_unstable();
        assert!(begun.iter().copied().eq(0..begun.len()));
    });
}

/// Two items of a stream run at once.
#[test]
fn lost_update_is_found() {
    let lose = |_: &Pool| {
        let count = Arc::new(AtomicU32::new(0));
        let own = count.clone();
        let add_one = move |_| {
            let before = own.load(Ordering::Relaxed);
            tidegate::yield_point();
            own.store(before + 1, Ordering::Relaxed);
        };
        assert_eq!(tidegate::stream(0..3).map(add_one).ordered().count(), 3);
        assert_eq!(count.load(Ordering::Relaxed), 3, "an update was lost");
    };
    let failure = testing::search(1_000, Pool::builder, lose).unwrap();
    assert!(
        failure.message().contains("an update was lost"),
        "{failure}"
    );
}
