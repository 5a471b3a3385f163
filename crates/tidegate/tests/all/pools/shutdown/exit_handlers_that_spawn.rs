//! Exit handlers that spawn tasks.

use super::*;

/// Drops pools with two threads whose exit handlers call `spawn`. Returns the maximum number of
/// threads that one of these pools has started.
fn most_starts(spares: usize, spawn: fn()) -> usize {
    let rounds = 50;
    let most = (0..rounds).map(|_| {
        let (starts, exits) = (Arc::new(Tally::new()), Arc::new(Tally::new()));
        let (start, exit) = (starts.clone(), exits.clone());
        let pool = built(
            Pool::builder()
                .workers(2)
                .max_threads(2 + spares)
                .on_start(move |_| start.come())
                .on_exit(move |_| {
                    exit.come();
                    spawn();
                }),
        );
        pool.join(|| (), || ());
        drop(pool);
        assert_eq!(
            exits.get(),
            2,
            "threads started before the end call the handler, no others"
        );
        starts.get()
    });
    most.max().unwrap_or_default()
}

#[test]
fn start_few_threads() {
    watched(|| {
        let spawns: [fn(); 4] = [
            || drop(tidegate::spawn(|| ())),
            || drop(tidegate::spawn(|| tidegate::join(|| fib(5), || fib(5)))),
            || {
                for _ in 0..3 {
                    drop(tidegate::spawn(|| {
                        (0..3).for_each(|_| drop(tidegate::spawn(|| ())));
                    }));
                }
            },
            || {
                drop(tidegate::spawn(|| {
                    tidegate::blocking(std::thread::yield_now)
                }))
            },
        ];
        for spawn in spawns {
            for spares in [0, 6] {
                let starts = most_starts(spares, spawn);
                assert!(starts <= 3, "{starts} threads for a pool of two");
            }
        }
    });
}

/// The first task waits for the second task without informing the pool.
fn spawn_dependent_tasks() {
    let (sender, receiver) = std::sync::mpsc::channel();
    drop(tidegate::spawn(move || receiver.recv()));
    drop(tidegate::spawn(move || sender.send(())));
}

#[test]
fn may_spawn_interdependent_tasks() {
    watched(|| {
        for spares in [0, 6] {
            assert!(most_starts(spares, spawn_dependent_tasks) <= 3);
        }
    });
}

/// Drops a pool. A thread outside it runs a task that an exit handler has spawned, and one of
/// the pool's threads must run the half that this task forks. Returns whether the thread outside
/// ran the task.
fn help_outside() -> bool {
    let (give, take) = channel::<tidegate::Handle<bool>>();
    let (handlers, begun) = (Tally::new(), Arc::new(Gate::new()));
    let on_exit = move |_| {
        handlers.come();
        if handlers.get() > 1 {
            return begun.wait();
        }
        let (begins, met) = (begun.clone(), Gate::new());
        let task = tidegate::spawn(move || {
            let is_outside = OUTSIDE.get();
            begins.open();
            if is_outside {
                crate::support::let_others_sleep();
                tidegate::join(|| met.wait(), || met.open());
            }
            is_outside
        });
        give.send(task).unwrap();
        begun.wait();
    };
    let builder = Pool::builder().workers(2).max_threads(3);
    let pool = built(builder.share(SharePolicy::Off).on_exit(on_exit));
    // The third slot is free for the thread outside.
    pool.set_workers(3).unwrap();
    let outside = std::thread::spawn(move || {
        OUTSIDE.set(true);
        let task = loop {
            match take.try_recv() {
                Ok(task) => break task,
                Err(_) => std::hint::spin_loop(),
            }
        };
        task.join()
    });
    drop(pool);
    outside.join().unwrap()
}

thread_local! {
    static OUTSIDE: Cell<bool> = const { Cell::new(false) };
}

#[test]
fn get_help_for_thread_outside() {
    watched(|| crate::support::until(help_outside));
}
