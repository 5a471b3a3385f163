//! Pools in unusual environments: variables that set options, and a system that cannot start all
//! threads.
//!
//! Each case runs in a child process, in which this test program runs one of the `child_…` tests
//! below. As ordinary tests, they do nothing.

use crate::support::{Tally, bare_pool, fib, pool, watched};
use std::process::Output;
use tidegate::Pool;
use tidegate_testkit::{is_child, succeeds};

fn child(test: &str, variables: &[(&str, &str)]) -> Output {
    tidegate_testkit::child(&format!("pools::environment::{test}"), variables)
}

#[test]
fn child_prints_default_pool_error() {
    if is_child() {
        let error = Pool::builder().build().map(drop).unwrap_err();
        eprintln!("error: {error}");
    }
}

#[test]
fn bad_variable_error_names_it() {
    let bad = [
        ("TIDEGATE_WORKERS", "0", "1 to "),
        ("TIDEGATE_WORKERS", "16385", "1 to "),
        ("TIDEGATE_WORKERS", "two", "an integer"),
        ("TIDEGATE_WORKERS", "", "an integer"),
        ("TIDEGATE_WORKERS", "-1", "an integer"),
        ("TIDEGATE_WORKERS", "99999999999999999999999", "an integer"),
        ("TIDEGATE_IDLE", "lazy", "elastic, none, yield"),
        ("TIDEGATE_IDLE", "linear:step=-1", "step"),
        ("TIDEGATE_IDLE", "linear:pace=1us", "pace"),
        ("TIDEGATE_STEAL", "some", "one, half, half-above:N, fixed:N"),
        ("TIDEGATE_STEAL", "fixed:0", "1 to 65536"),
        (
            "TIDEGATE_VICTIM",
            "weakest",
            "random, round-robin, last-victim, hierarchical",
        ),
        ("TIDEGATE_WAIT", "patiently", "descendants, help-any"),
        ("TIDEGATE_MAX_THREADS", "few", "an integer"),
        ("TIDEGATE_MAX_THREADS", "0", "1 to "),
        ("TIDEGATE_STACK_SIZE", "1", "64KiB to 64GiB"),
        ("TIDEGATE_STACK_SIZE", "64 parsec", "64KiB to 64GiB"),
        ("TIDEGATE_SHARE", "maybe", "off, auto, on"),
        ("TIDEGATE_WEIGHT", "0", "1 to 10000"),
        ("TIDEGATE_DESIRE", "more", "steady, wsap"),
        ("TIDEGATE_DESIRE", "wsap:eta=2", "eta"),
        ("TIDEGATE_EST_CYCLE", "99us", "100us to 100ms"),
        ("TIDEGATE_EST_CYCLE", "5", "100us to 100ms"),
    ];
    for (variable, value, allowed) in bad {
        let output = child("child_prints_default_pool_error", &[(variable, value)]);
        let errors = succeeds(&output);
        let line = errors.lines().find(|line| line.starts_with("error: "));
        let line = line.unwrap_or_else(|| panic!("{variable}={value}: {errors}"));
        assert!(line.contains(variable), "{variable}={value}: {line}");
        assert!(line.contains(allowed), "{variable}={value}: {line}");
    }
}

#[test]
fn conflicting_variables_are_both_named() {
    let variables = [("TIDEGATE_STEAL", "half"), ("TIDEGATE_QUEUE", "chase-lev")];
    let output = child("child_prints_default_pool_error", &variables);
    let errors = succeeds(&output);
    assert!(
        errors.contains(
            "TIDEGATE_STEAL: half beside TIDEGATE_QUEUE, chase-lev, from which a thief takes one \
             task at a time: expected one"
        ),
        "{errors}"
    );
}

#[test]
fn child_counts_default_pool_threads() {
    if is_child() {
        let pool = Pool::builder().build().unwrap();
        eprintln!("threads: {}", pool.broadcast(|_| ()).len());
        assert_eq!(pool.install(|| fib(12)), 144);
        eprintln!("global: {}", tidegate::broadcast(|_| ()).len());
    }
}

#[test]
fn variables_configure_default_and_global_pools() {
    let variables = [
        ("TIDEGATE_WORKERS", "3"),
        ("TIDEGATE_IDLE", "linear:min=10us,step=50us,max=500us"),
        ("TIDEGATE_STEAL", "half"),
        ("TIDEGATE_VICTIM", "random"),
        ("TIDEGATE_WAIT", "help-any"),
        ("TIDEGATE_MAX_THREADS", "3"),
        ("TIDEGATE_STACK_SIZE", "2MiB"),
        ("TIDEGATE_SHARE", "off"),
        ("TIDEGATE_WEIGHT", "7"),
        ("TIDEGATE_DESIRE", "instantaneous"),
        ("TIDEGATE_EST_CYCLE", "1ms"),
    ];
    let errors = succeeds(&child("child_counts_default_pool_threads", &variables));
    assert!(errors.contains("threads: 3\n"), "{errors}");
    assert!(errors.contains("global: 3\n"), "{errors}");
}

#[test]
fn child_leaves_panic_to_the_log() {
    if is_child() {
        let pool = Pool::builder().workers(1).name("reef").build().unwrap();
        let ended = std::sync::Arc::new(Tally::new());
        let breaks = || {
            let ended = ended.clone();
            move || {
                ended.come();
                panic!("the mast is broken");
            }
        };
        drop::<tidegate::Handle<()>>(pool.spawn(breaks()));
        drop::<tidegate::Handle<()>>(pool.task().named("sail").spawn(breaks()));
        drop(pool);
        assert_eq!(ended.get(), 2);
    }
}

#[test]
fn unhandled_detached_panics_are_logged() {
    let errors = succeeds(&child("child_leaves_panic_to_the_log", &[]));
    for task in [
        format!("1, in the task {}:", file!()),
        format!("2, in the task sail ({}:", file!()),
    ] {
        let begin = format!("tidegate: pool reef: panic {task}");
        let mut lines = errors.lines().filter(|line| line.starts_with(&begin));
        assert!(
            lines.any(|line| line.ends_with(": the mast is broken")),
            "{errors}"
        );
    }
}

#[test]
fn child_has_a_handler_that_panics() {
    if is_child() {
        let builder = Pool::builder().workers(1);
        let pool = builder.on_panic(|_| panic!("again")).build().unwrap();
        drop(pool.spawn(|| panic!("once")));
        assert_eq!(pool.spawn(|| 7).join(), 7);
        drop(pool);
    }
}

#[test]
fn pool_reports_and_survives_handler_panic() {
    let output = child("child_has_a_handler_that_panics", &[]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success());
    let line = "tidegate: pool tidegate: the handler on_panic panicked: again";
    assert!(errors.contains(line), "{errors}");
}

#[test]
fn child_has_threads_whose_handlers_panic() {
    if is_child() {
        let builder = Pool::builder().workers(2).max_threads(2);
        let pool = builder
            .on_start(|number| panic!("no sail on {number}"))
            .on_exit(|number| panic!("no anchor on {number}"));
        let pool = pool.build().unwrap();
        everything_works(&pool);
        assert_eq!(pool.broadcast(|number| number), [0, 1]);
        drop(pool);
        eprintln!("dropped");
    }
}

#[test]
fn pool_reports_start_and_exit_panics() {
    let errors = succeeds(&child("child_has_threads_whose_handlers_panic", &[]));
    for number in 0..2 {
        for (handler, message) in [("on_start", "no sail on"), ("on_exit", "no anchor on")] {
            let line = format!(
                "tidegate: pool tidegate: the handler {handler} panicked: {message} {number}"
            );
            assert_eq!(errors.matches(&line).count(), 1, "{line}: {errors}");
        }
    }
    assert!(errors.contains("dropped\n"), "{errors}");
}

/// Exercises every function of the pool, whatever its number of threads.
fn everything_works(pool: &Pool) {
    assert_eq!(pool.join(|| fib(8), || fib(9)), (21, 34));
    let ran = Tally::new();
    pool.scope(|s| {
        for _ in 0..10 {
            s.spawn(|s| s.spawn(|_| ran.come()));
        }
    });
    assert_eq!(ran.get(), 10);
    assert_eq!(pool.spawn(|| fib(7)).join(), 13);
    assert_eq!(pool.install(|| fib(10)), 55);
    let awaits = || {
        let handle = tidegate::spawn(|| fib(6));
        tidegate::spawn_future(async { handle.await + 1 }).join()
    };
    assert_eq!((awaits(), pool.install(awaits)), (9, 9));
    let lost = pool.spawn_future(std::future::pending::<()>());
    let join = std::panic::AssertUnwindSafe(|| lost.join());
    assert!(std::panic::catch_unwind(join).is_err());
    let sum = pool.install(|| {
        tidegate::for_each(0..1_000, |_| ran.come());
        tidegate::map_reduce(0..1_000, |i| i, |a, b| a + b)
    });
    assert_eq!((ran.get(), sum), (1_010, Some(499_500)));
    let inside = pool.install(|| {
        let handle = tidegate::spawn(|| fib(5));
        tidegate::blocking(|| (handle.join(), tidegate::broadcast(|_| ()).len()))
    });
    let numbers = pool.broadcast(|number| number);
    assert!(numbers.iter().copied().eq(0..numbers.len()));
    assert_eq!(inside.0, 5);
}

/// When a process has nearly used up its address space, the system refuses to start further
/// threads. ThreadSanitizer needs more address space than such a limit leaves.
#[cfg(all(target_os = "linux", not(tidegate_tsan)))]
mod refused {
    use super::*;
    use tidegate_testkit::limited;

    #[test]
    fn child_gets_some_of_four_threads() {
        if is_child() {
            watched(|| {
                let builder = Pool::builder().workers(4).stack_size(512 << 20);
                let pool = builder.max_threads(4).build().unwrap();
                everything_works(&pool);
                eprintln!("threads: {}", pool.broadcast(|_| ()).len());
            });
        }
    }

    /// The pool reports that the system has refused to start some threads.
    #[test]
    fn pool_runs_with_fewer_threads() {
        let errors = succeeds(&limited(
            "pools::environment::refused::child_gets_some_of_four_threads",
            1_400,
            &[],
        ));
        assert!(
            errors.contains("tidegate: pool tidegate: the system refused thread"),
            "{errors}"
        );
        let threads = errors
            .split("threads: ")
            .nth(1)
            .and_then(|rest| rest.trim().parse().ok());
        assert!(matches!(threads, Some(1..=3)), "{errors}");
    }

    /// Returns the builder of a pool each of whose threads would need more address space than the
    /// process has.
    fn without_threads() -> tidegate::Builder {
        Pool::builder().workers(2).stack_size(1 << 30)
    }

    #[test]
    fn child_gets_no_thread() {
        if is_child() {
            watched(|| {
                let here = || std::thread::current().id();
                let caller = here();
                let pool = without_threads().name("wreck").build().unwrap();
                for _ in 0..3 {
                    everything_works(&pool);
                    assert_eq!(pool.install(here), caller);
                    assert_eq!(pool.join(here, here), (caller, caller));
                    assert_eq!(pool.spawn(here).join(), caller);
                }
                let ran = std::sync::Arc::new(Tally::new());
                let other = ran.clone();
                drop(pool.spawn(move || other.come()));
                assert_eq!(ran.get(), 1, "nobody but the caller can run it");
                drop(pool);
                eprintln!("dropped");
            });
        }
    }

    #[test]
    fn threadless_pool_runs_on_its_callers() {
        let errors = succeeds(&limited(
            "pools::environment::refused::child_gets_no_thread",
            900,
            &[],
        ));
        let line = "tidegate: pool wreck: the system refused thread 1: ";
        assert!(errors.contains(line), "{errors}");
        assert!(errors.contains("dropped\n"), "{errors}");
    }

    #[test]
    fn child_uses_pool_without_threads() {
        if is_child() {
            watched(|| {
                let wreck = without_threads().build().unwrap();
                for outer in [pool(2), bare_pool(1)] {
                    outer.install(|| everything_works(&wreck));
                    outer.join(|| everything_works(&wreck), || everything_works(&wreck));
                }
                std::thread::scope(|s| {
                    for _ in 0..3 {
                        s.spawn(|| everything_works(&wreck));
                    }
                });
                wreck.set_workers(4).unwrap();
                everything_works(&wreck);
                pool(1).install(move || drop(wreck));
                eprintln!("dropped");
            });
        }
    }

    /// Some of the callers are tasks of other pools.
    #[test]
    fn threadless_pool_serves_many_callers() {
        let name = "pools::environment::refused::child_uses_pool_without_threads";
        let errors = succeeds(&limited(name, 900, &[]));
        assert!(errors.contains("dropped\n"), "{errors}");
    }
}
