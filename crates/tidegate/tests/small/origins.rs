//! Reports of panics name the task or interval: its name, if it has one, and where it was created.

use crate::support::{built, watched};
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, channel};
use tidegate::policy::Priority;
use tidegate::{CancelToken, Handle, Origin, Pool};

/// A pool with one worker, and the origins of the panics that it reports.
fn reporting_pool() -> (Pool, Receiver<Option<Origin>>) {
    let (report, reports) = channel();
    let handler = move |panic: tidegate::PanicReport| report.send(panic.origin).unwrap();
    (built(Pool::builder().workers(1).on_panic(handler)), reports)
}

fn fails() {
    resume_unwind(Box::new(()));
}

/// Returns the origin's name and its line in this file.
fn name_and_line(origin: Option<Origin>) -> (Option<String>, u32) {
    let origin = origin.expect("it has an origin");
    assert_eq!(origin.location().file(), file!());
    (origin.name().map(str::to_owned), origin.location().line())
}

#[test]
fn spawned_tasks_have_origins() {
    watched(|| {
        let (pool, reports) = reporting_pool();
        let next = || name_and_line(reports.recv().unwrap());

        drop(pool.spawn(fails));
        assert_eq!(next(), (None, line!() - 1));
        drop(pool.task().named("net").spawn(fails));
        assert_eq!(next(), (Some("net".into()), line!() - 1));
        drop(pool.task().named(format!("net {}", 2)).spawn(fails));
        assert_eq!(next(), (Some("net 2".into()), line!() - 1));
        drop(pool.task().named("").spawn(fails));
        assert_eq!(next(), (None, line!() - 1));
        drop(pool.task().token(&CancelToken::new()).spawn(fails));
        assert_eq!(next(), (None, line!() - 1));
        drop(pool.task().spawn_if_room(fails));
        assert_eq!(next(), (None, line!() - 1));
        drop(pool.task().priority(Priority::Urgent).spawn(fails));
        assert_eq!(next(), (None, line!() - 1));
        drop(pool.spawn_future(async { fails() }));
        assert_eq!(next(), (None, line!() - 1));
    });
}

/// The free functions, called in the pool, without and with a context.
#[test]
fn free_functions_have_origins() {
    watched(|| {
        let (pool, reports) = reporting_pool();
        let next = || name_and_line(reports.recv().unwrap());
        let spawns: [fn() -> Handle<()>; 5] = [
            || tidegate::spawn(fails),
            || tidegate::task().named("net").spawn(fails),
            || tidegate::task().priority(Priority::Urgent).spawn(fails),
            || tidegate::spawn_future(async { fails() }),
            || tidegate::task().token(&CancelToken::new()).spawn(fails),
        ];
        let first = line!() - 6;
        for (spawn, line) in spawns.into_iter().zip(first..) {
            let name = (line == first + 1).then(|| "net".to_owned());
            drop(pool.install(spawn));
            assert_eq!(next(), (name.clone(), line));
            drop(pool.install(|| CancelToken::new().run(spawn)));
            assert_eq!(next(), (name, line));
        }
    });
}

/// Other code runs the task or drops its closure, but the report names the task.
#[test]
fn panics_of_destructors_have_origins() {
    struct Fails;
    impl Drop for Fails {
        fn drop(&mut self) {
            fails();
        }
    }

    watched(|| {
        let (pool, reports) = reporting_pool();
        let next = || name_and_line(reports.recv().unwrap());
        drop(pool.task().named("result").spawn(|| Fails));
        assert_eq!(next(), (Some("result".into()), line!() - 1));
        let line = pool.install(|| {
            let captured = Fails;
            let task = move || drop(captured);
            drop(pool.task().named("aborted").spawn(task).abort_on_drop());
            line!() - 1
        });
        assert_eq!(next(), (Some("aborted".into()), line));
    });
}

#[test]
fn second_failing_interval_has_an_origin() {
    watched(|| {
        let (pool, reports) = reporting_pool();
        let line = line!() + 2;
        let failed = pool.run_intervals(|s| {
            s.interval(|_| fails()).named("first").schedule();
            s.interval(|_| fails()).named("second").schedule();
        });
        let expected = match &failed.unwrap_err().chain()[0][..] {
            "first" => ("second", line + 1),
            _ => ("first", line),
        };
        let (name, line) = name_and_line(reports.recv().unwrap());
        assert_eq!((name.as_deref(), line), (Some(expected.0), expected.1));
    });
}

#[test]
fn tasks_of_scopes_have_none() {
    watched(|| {
        let (pool, reports) = reporting_pool();
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            pool.scope(|s| (0..2).for_each(|_| s.spawn(|_| fails())));
        }));
        assert!(panicked.is_err());
        assert_eq!(reports.recv(), Ok(None));
    });
}

#[test]
fn origins_are_readable() {
    let (report, reports) = channel();
    let pool = built(Pool::builder().workers(1).on_panic(move |panic| {
        report.send(panic.origin.unwrap().to_string()).unwrap();
    }));
    drop(pool.spawn(fails));
    let place = format!("{}:{}:15", file!(), line!() - 1);
    assert_eq!(reports.recv(), Ok(place));
    drop(pool.task().named("net").spawn(fails));
    let place = format!("net ({}:{}:35)", file!(), line!() - 1);
    assert_eq!(reports.recv(), Ok(place));
    drop(pool.task().named("net\n2").spawn(fails));
    let place = format!(r"net\n2 ({}:{}:38)", file!(), line!() - 1);
    assert_eq!(reports.recv(), Ok(place));
}
