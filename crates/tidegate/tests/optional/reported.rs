//! With the feature `tracing`, a pool reports what its workers do.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Barrier, Mutex};
use tidegate::{Pool, policy::SharePolicy};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// How often each event has occurred. The key is the pool's name and the event's message.
static SEEN: Mutex<Option<HashMap<(String, String), usize>>> = Mutex::new(None);

struct Counting;

impl Subscriber for Counting {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "tidegate"
    }

    fn event(&self, event: &Event<'_>) {
        let mut words = Words::default();
        event.record(&mut words);
        assert!(words.worker, "{} without a worker", words.message);
        let level = *event.metadata().level();
        let thread = ["start", "stop"].contains(&words.message.as_str());
        assert_eq!(level, if thread { Level::DEBUG } else { Level::TRACE });
        let mut seen = SEEN.lock().expect("no test fails under it");
        let counts = seen.get_or_insert_default();
        *counts.entry((words.pool, words.message)).or_default() += 1;
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        unreachable!("there are no spans")
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[derive(Default)]
struct Words {
    pool: String,
    message: String,
    worker: bool,
}

impl Visit for Words {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "pool" {
            self.pool = value.to_owned();
        }
    }

    fn record_u64(&mut self, field: &Field, _: u64) {
        self.worker |= field.name() == "worker";
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.message = format!("{value:?}");
        }
    }
}

fn pool(name: &str) -> Pool {
    // All tests share the process's subscriber. Only the first call sets it.
    let _ = tracing::subscriber::set_global_default(Counting);
    let builder = Pool::builder().workers(2).max_threads(2).name(name);
    // Other programs must not take a slot, because the tests count steals.
    let builder = builder.share(SharePolicy::Off);
    builder.build().expect("a pool")
}

fn count(pool: &str, event: &str) -> usize {
    let seen = SEEN.lock().expect("no test fails under it");
    let key = (pool.to_owned(), event.to_owned());
    seen.as_ref()
        .and_then(|seen| seen.get(&key))
        .copied()
        .unwrap_or(0)
}

#[test]
fn each_thread_starts_and_stops_once() {
    drop(pool("short"));
    assert_eq!((count("short", "start"), count("short", "stop")), (2, 2));
}

#[test]
fn sleeping_waking_and_stealing_are_told() {
    let pool = pool("meeting");
    // When both workers sleep, the join below must wake one of them.
    while count("meeting", "park") < 2 {
        std::thread::yield_now();
    }
    let met = Barrier::new(2);
    for _ in 0..10 {
        // The halves wait for each other, so they run on two workers, and one half was stolen.
        pool.install(|| tidegate::join(|| met.wait(), || met.wait()));
    }
    let stats = pool.stats();
    drop(pool);
    assert_eq!(count("meeting", "steal"), 10);
    assert!(count("meeting", "wake") > 0);
    assert!(count("meeting", "park") as u64 >= stats.counters.sleeps);
}

#[test]
fn slot_passed_with_latch_is_reported() {
    let pool = Pool::builder()
        .workers(1)
        .max_threads(2)
        .name("relay")
        .build()
        .expect("a pool");
    while pool.stats().counters.handovers == 0 {
        // The first half ends before the second half, so its worker waits, while the other worker
        // has the only slot.
        let begun = Barrier::new(2);
        pool.install(|| {
            tidegate::join(
                || tidegate::blocking(|| begun.wait()),
                || {
                    begun.wait();
                    std::thread::sleep(std::time::Duration::from_millis(5));
                },
            )
        });
    }
    // The pool counts an event before it emits it, so wait until the pool has ended.
    drop(pool);
    assert!(count("relay", "hand_over") > 0);
}

/// Subscribers that panic on the thread of a join. Each test runs in a child process, which must
/// abort: another thread may still use the frame of the join.
mod panicking_subscriber {
    use super::*;
    use crate::support::{Gate, let_others_sleep};
    use std::thread::ThreadId;
    use tidegate_testkit::{child, is_child};

    /// The thread on which the next event panics.
    static ARMED: Mutex<Option<ThreadId>> = Mutex::new(None);

    fn arm() {
        *ARMED.lock().unwrap() = Some(std::thread::current().id());
    }

    struct Panicking;

    impl Subscriber for Panicking {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn event(&self, _: &Event<'_>) {
            let here = std::thread::current().id();
            let fires = ARMED.lock().unwrap().take_if(|armed| *armed == here);
            assert!(fires.is_none(), "the subscriber fails");
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }

    /// In a child, runs `join` in a pool. Otherwise checks that the child running the test `name`
    /// has aborted.
    fn aborts(name: &str, join: impl FnOnce() + Send) {
        if is_child() {
            tracing::subscriber::set_global_default(Panicking).unwrap();
            let builder = Pool::builder().workers(2).share(SharePolicy::Off);
            let pool = builder.build().unwrap();
            let_others_sleep();
            pool.install(join);
            return;
        }
        let output = child(&format!("reported::panicking_subscriber::{name}"), &[]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            errors.contains("tidegate: panic inside the runtime, aborting"),
            "{errors}"
        );
        assert!(!output.status.success());
    }

    /// The event is the wake-up of the second worker.
    #[test]
    fn push_of_half_aborts() {
        aborts("push_of_half_aborts", || {
            arm();
            tidegate::join(|| (), || ());
        });
    }

    /// The event is that the joiner parks, while the thief runs the second half.
    #[test]
    fn wait_for_half_aborts() {
        aborts("wait_for_half_aborts", || {
            let stolen = Gate::new();
            tidegate::join(
                || {
                    while !stolen.is_open() {
                        tidegate::yield_point();
                    }
                    arm();
                },
                || {
                    stolen.open();
                    let_others_sleep();
                },
            );
        });
    }
}
