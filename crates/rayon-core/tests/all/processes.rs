//! Tests what a process does only once: it reads the environment variables, builds the global pool,
//! and aborts.
//!
//! Each case runs in a child process, which runs one of the `child_…` tests below. In an ordinary
//! test run, the `child_…` tests do nothing.

use rayon_core::ThreadPoolBuilder;
use std::process::Output;
use tidegate_testkit::is_child;

/// Runs the test `name` of this file in a new process.
fn in_child(name: &str, variables: &[(&str, &str)]) -> Output {
    tidegate_testkit::child(&format!("processes::{name}"), variables)
}

/// It would run nothing and succeed.
#[test]
#[should_panic(expected = "no test processes::child_of_no_name")]
fn child_without_test_is_noticed() {
    in_child("child_of_no_name", &[]);
}

#[test]
fn child_tells_its_threads() {
    if is_child() {
        println!("counted {}", rayon_core::current_num_threads());
    }
}

fn threads(variables: &[(&str, &str)]) -> String {
    let output = in_child("child_tells_its_threads", variables);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find_map(|line| line.split("counted ").nth(1));
    line.unwrap_or_else(|| panic!("{text}")).to_owned()
}

#[test]
fn variables_set_the_number_of_threads() {
    assert_eq!(threads(&[("RAYON_NUM_THREADS", "3")]), "3");
    assert_eq!(threads(&[("RAYON_RS_NUM_CPUS", "5")]), "5");
    let both = [("RAYON_NUM_THREADS", "3"), ("RAYON_RS_NUM_CPUS", "5")];
    assert_eq!(threads(&both), "3");
    let other = [("RAYON_NUM_THREADS", "3"), ("TIDEGATE_WORKERS", "7")];
    assert_eq!(threads(&other), "7");
    let by_default = threads(&[]);
    assert_eq!(threads(&[("RAYON_NUM_THREADS", "0")]), by_default);
    assert_eq!(threads(&[("RAYON_NUM_THREADS", "x")]), by_default);
    // One CPU is the least that any machine has.
    let engine = ("HQ_CPUS", "5");
    assert_eq!(threads(&[engine]), "1");
    assert_eq!(threads(&[engine, ("RAYON_NUM_THREADS", "3")]), "3");
    let too_many = [("RAYON_NUM_THREADS", "4000"), ("TIDEGATE_WORKERS", "2")];
    assert_eq!(threads(&too_many), "2");
}

#[test]
fn child_sums() {
    use rayon::prelude::*;
    if is_child() {
        assert_eq!((0..100).into_par_iter().sum::<u64>(), 4950);
    }
}

#[test]
fn a_pool_explains_itself() {
    let variables = [("TIDEGATE_EXPLAIN", "1"), ("RAYON_NUM_THREADS", "2")];
    let output = in_child("child_sums", &variables);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(
        text.contains("pool rayon, 2 workers (set by RAYON_NUM_THREADS)"),
        "{text}"
    );
}

#[test]
fn pool_explains_whether_it_shares() {
    for (share, says) in [
        (None, "share=off (TIDEGATE_SHARE turns it on"),
        (Some("off"), "share=off\n"),
        (Some("auto"), "share=auto\n"),
        (Some("on"), "share=on\n"),
    ] {
        // Keep the tests from using the user's own job table.
        let mut variables = vec![("TIDEGATE_EXPLAIN", "1"), ("TIDEGATE_TABLE", "/dev/null")];
        variables.extend(share.map(|share| ("TIDEGATE_SHARE", share)));
        let output = in_child("child_sums", &variables);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains(says), "{share:?}: {text}");
        // A pool of one thread has no limits to follow.
        let follows = share.is_none() && cfg!(target_os = "linux") && !text.contains(", 1 worker ");
        let says = "; follows changes of affinity and quotas)\n";
        assert_eq!(text.contains(says), follows, "{share:?}: {text}");
    }
}

#[test]
fn oversized_default_stack_is_reduced() {
    let output = in_child("child_sums", &[("RUST_MIN_STACK", "100000000000")]);
    let told = String::from_utf8_lossy(&output.stderr);
    // The system may refuse to reserve that much address space, but Tidegate must accept the value.
    assert!(!told.contains("Builder::stack_size"), "{told}");
}

/// The process prints a warning and uses the default for that variable.
#[test]
fn global_pool_ignores_bad_variable() {
    let output = in_child("child_sums", &[("TIDEGATE_IDLE", "never")]);
    assert!(output.status.success());
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("TIDEGATE_IDLE"), "{text}");
}

#[test]
fn thread_limit_has_no_effect() {
    let variables = [("TIDEGATE_MAX_THREADS", "1"), ("RAYON_NUM_THREADS", "2")];
    let output = in_child("child_sums", &variables);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!text.contains("TIDEGATE_MAX_THREADS"), "{text}");
}

#[test]
fn child_builds() {
    if is_child() {
        match ThreadPoolBuilder::new().num_threads(1).build() {
            Ok(_) => println!("built"),
            Err(error) => println!("refused: {error}"),
        }
    }
}

#[test]
fn builder_reports_bad_variable() {
    let output = in_child("child_builds", &[("TIDEGATE_IDLE", "never")]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("refused: unknown idle policy"), "{text}");
    assert!(text.contains(" in TIDEGATE_IDLE: "), "{text}");
}

#[test]
fn child_spawns_a_panic() {
    if is_child() {
        rayon_core::spawn(|| panic!("no task waits for this"));
        std::thread::sleep(std::time::Duration::from_secs(60));
    }
}

#[test]
fn child_has_a_handler_that_panics() {
    if is_child() {
        let builder = ThreadPoolBuilder::new().num_threads(1);
        let pool = builder.panic_handler(|_| panic!("the handler does, too"));
        let pool = pool.build().unwrap();
        pool.spawn(|| panic!("no task waits for this"));
        std::thread::sleep(std::time::Duration::from_secs(60));
    }
}

/// Covers a process without a panic handler, and a process whose panic handler panics.
#[test]
fn unhandled_panic_aborts_with_message() {
    for (child, why) in [
        (
            "child_spawns_a_panic",
            "there is no panic handler; aborting",
        ),
        (
            "child_has_a_handler_that_panics",
            "the panic handler panicked; aborting",
        ),
    ] {
        let output = in_child(child, &[]);
        assert!(!output.status.success());
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains(why), "{text}");
    }
}

#[test]
fn child_uses_itself_as_a_thread() {
    if is_child() {
        let builder = ThreadPoolBuilder::new().num_threads(2).use_current_thread();
        builder.build_global().unwrap();
        assert_eq!(rayon_core::current_thread_index(), Some(0));
        let (a, b) = rayon_core::join(|| 1, || 2);
        assert_eq!(a + b, 3);
        let (sender, receiver) = std::sync::mpsc::channel();
        rayon_core::scope(|s| s.spawn(move |_| sender.send(7).unwrap()));
        assert_eq!(receiver.recv(), Ok(7));
        // This thread belongs to the pool, so it must run its part of the broadcast.
        rayon_core::spawn_broadcast(|_| ());
        while rayon_core::yield_local() == Some(rayon_core::Yield::Idle) {}
        println!("well");
    }
}

#[test]
fn global_pool_may_use_main_thread() {
    let output = in_child("child_uses_itself_as_a_thread", &[]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("well"), "{output:?}");
}

#[test]
fn child_stands_still() {
    if is_child() {
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        rayon_core::scope(move |_| _ = receiver.recv());
        drop(sender);
    }
}

/// In this pool a call of `tidegate::blocking` lets no other thread work.
#[test]
fn stall_report_gives_no_useless_advice() {
    let variables = [("TIDEGATE_STALL_REPORT", "1")];
    let line = "nothing has moved";
    let line = tidegate_testkit::child_until("processes::child_stands_still", &variables, line);
    assert!(line.contains("TIDEGATE_WAIT=help-any"), "{line}");
    assert!(!line.contains("blocking"), "{line}");
}
