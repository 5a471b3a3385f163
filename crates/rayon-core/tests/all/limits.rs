//! A pool follows the quotas and the affinity of its process. The test has its own process, for
//! which it makes up a machine.

use rayon_core::{ThreadBuilder, ThreadPool, ThreadPoolBuilder};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};
use tidegate_testkit::is_alone;

use crate::support::{pool, watched};

/// The files of a machine with four CPUs, in the temporary directory. Removed on drop.
struct MadeUp(PathBuf);

const QUOTA: &str = "sys/fs/cgroup/app/cpu.max";
const STATUS: &str = "proc/thread-self/status";

impl MadeUp {
    fn new() -> Self {
        let name = format!("tidegate-limits-{}", std::process::id());
        let made_up = Self(std::env::temp_dir().join(name));
        let mount = "2 1 0:2 / /sys/fs/cgroup rw - cgroup2 c rw\n";
        made_up.write("proc/thread-self/mountinfo", mount);
        made_up.write("proc/thread-self/cgroup", "0::/app\n");
        made_up.write("sys/devices/system/cpu/online", "0-3\n");
        made_up.write(STATUS, "Cpus_allowed_list:\t0-3\n");
        made_up.write(QUOTA, "max 100000\n");
        made_up
    }

    fn write(&self, file: &str, content: &str) {
        let path = self.0.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
}

impl Drop for MadeUp {
    fn drop(&mut self) {
        // If this fails, a directory is left behind, which must not fail the test.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const LONG_ENOUGH: Duration = Duration::from_millis(10);

/// Runs `tasks` tasks that never wait, and returns the highest number that ran at once. Each task
/// computes until all of them have begun, or else so long that another thread of the pool would
/// have had time to begin one. It does not yield: on a busy machine a task that did would get so
/// little of a processor that the pool would lend its slot. The tasks come from outside the pool,
/// so each of them wakes a thread.
fn most_at_once(pool: &ThreadPool, tasks: usize) -> usize {
    let [begun, running, most] = [(); 3].map(|()| AtomicUsize::new(0));
    pool.in_place_scope(|s| {
        for _ in 0..tasks {
            s.spawn(|_| {
                // Relaxed, here and below: counters that publish no data.
                begun.fetch_add(1, Ordering::Relaxed);
                let others = running.fetch_add(1, Ordering::Relaxed);
                most.fetch_max(others + 1, Ordering::Relaxed);
                let start = Instant::now();
                while begun.load(Ordering::Relaxed) < tasks && start.elapsed() < LONG_ENOUGH {
                    std::hint::spin_loop();
                }
                running.fetch_sub(1, Ordering::Relaxed);
            });
        }
    });
    most.into_inner()
}

/// Repeats `most_at_once` until, in ten rounds in a row, it has never returned more than
/// `expected`, and has returned `expected` at least once: on a busy machine, a thread may begin too
/// late. The pool pauses between two rounds, so that no task waits for long, and no slot is lent to
/// one. Loans from before the call end during the ten rounds.
fn wait_until_at_once(pool: &ThreadPool, expected: usize) {
    let (mut in_a_row, mut has_reached) = (0, false);
    while in_a_row < 10 || !has_reached {
        let most = most_at_once(pool, 4);
        in_a_row = if most <= expected { in_a_row + 1 } else { 0 };
        has_reached = in_a_row > 0 && (has_reached || most == expected);
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Runs four tasks that each wait until all four have begun.
fn meet(pool: &ThreadPool) {
    let barrier = Barrier::new(4);
    pool.scope(|s| {
        for _ in 0..4 {
            s.spawn(|_| {
                barrier.wait();
            });
        }
    });
}

/// Runs a task that computes until eight tasks that were spawned after it have ended.
fn pass_long_task(pool: &ThreadPool) {
    let ended = AtomicUsize::new(0);
    pool.in_place_scope(|s| {
        // Relaxed, both: a counter that publishes no data.
        s.spawn(|_| {
            while ended.load(Ordering::Relaxed) < 8 {
                std::thread::yield_now();
            }
        });
        for _ in 0..8 {
            s.spawn(|_| {
                ended.fetch_add(1, Ordering::Relaxed);
            });
        }
    });
}

/// Checks that nothing of a pool is left when its threads have ended.
fn leaves_no_handler() {
    let owned = Arc::new(());
    let clone = owned.clone();
    let handler = move |_| drop(clone.clone());
    let builder = ThreadPoolBuilder::new().exit_handler(handler);
    let run = |thread: ThreadBuilder| thread.run();
    let pool = builder.build_scoped(run, |pool| pool.install(|| fib(15)));
    assert_eq!(pool.unwrap(), 610);
    assert_eq!(Arc::strong_count(&owned), 1);
}

fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = rayon_core::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

/// Checks what rayon promises whatever the quota is.
fn check_promises(pool: &ThreadPool) {
    assert_eq!(pool.current_num_threads(), 4);
    assert_eq!(pool.install(rayon_core::current_num_threads), 4);
    let barrier = Barrier::new(4);
    let parts = pool.broadcast(|context| {
        barrier.wait();
        context.index()
    });
    assert_eq!(parts, [0, 1, 2, 3]);
    assert_eq!(pool.install(|| fib(15)), 610);
    meet(pool);
    pass_long_task(pool);
}

#[test]
fn pool_follows_quota_and_affinity() {
    if !is_alone("limits::pool_follows_quota_and_affinity") {
        return;
    }
    watched(|| {
        let machine = MadeUp::new();
        tidegate_core::door::closed::pretend_machine(machine.0.clone());
        let follows = ThreadPoolBuilder::new().build().unwrap();
        check_promises(&follows);
        leaves_no_handler();

        machine.write(QUOTA, "100000 100000\n");
        wait_until_at_once(&follows, 1);
        check_promises(&follows);
        let chosen = pool(4);
        wait_until_at_once(&chosen, 4);
        wait_until_at_once(&follows, 1);

        machine.write(QUOTA, "max 100000\n");
        wait_until_at_once(&follows, 4);
        check_promises(&follows);

        machine.write(STATUS, "Cpus_allowed_list:\t2\n");
        wait_until_at_once(&follows, 1);
        assert_eq!(follows.current_num_threads(), 4);
    });
}
