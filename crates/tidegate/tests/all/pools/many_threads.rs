//! Even if many threads follow one another, a `WorkerLocal` never has more values than there were
//! threads at the same time.
//!
//! The test runs in a child, because the threads of other tests would also use thread numbers.

use crate::support::watched;
use std::sync::Barrier;
use std::thread::{Builder, scope};
use tidegate::WorkerLocal;
use tidegate_testkit::is_alone;

/// Enough threads to need more than the first two segments of thread numbers.
const LIVE: usize = 200;
const SHORT: usize = if cfg!(miri) { 20 } else { 1_000 };

#[test]
fn values_match_threads_alive_together() {
    if !is_alone("pools::many_threads::values_match_threads_alive_together") {
        return;
    }
    watched(|| {
        let local = WorkerLocal::new(|| ());
        let (all_live, over) = (Barrier::new(LIVE + 1), Barrier::new(LIVE + 1));
        scope(|s| {
            let long = || {
                local.with(|()| ());
                all_live.wait();
                over.wait();
            };
            let small = || Builder::new().stack_size(64 << 10);
            let threads: Vec<_> = (0..LIVE)
                .map(|_| small().spawn_scoped(s, long).expect("a thread"))
                .collect();
            all_live.wait();
            for _ in 0..SHORT {
                // Joining a thread waits until the thread has given its number back; the end of a
                // scope does not.
                s.spawn(|| local.with(|()| ())).join().unwrap();
            }
            over.wait();
            for thread in threads {
                thread.join().unwrap();
            }
        });
        assert_eq!(local.into_values().count(), LIVE + 1);
    });
}
