//! When a trace is replayed, the same rules make the same decisions as in the pool, and other rules
//! make other decisions.

use std::time::Duration;
use tidegate::policy::{Choose, SharePolicy};
use tidegate::trace::{Event, Failed, Rules, Source, Trace, replay};
use tidegate::{Pool, memory};

/// Forks with pauses, so that thieves find tasks, find none, and rest. Each call makes a
/// reservation.
fn forks(depth: u32) -> u64 {
    let _reservation = memory::reserve(1 << 10).expect("it fits");
    if depth == 0 {
        std::thread::sleep(Duration::from_micros(50));
        return 1;
    }
    let (a, b) = tidegate::join(|| forks(depth - 1), || forks(depth - 1));
    a + b
}

fn traced(options: &[(&str, &str)]) -> Trace {
    let mut builder = Pool::builder()
        .workers(3)
        // Other programs must not take the slots, because some traces must contain steals.
        .share(SharePolicy::Off)
        .trace(true);
    for &(option, value) in options {
        builder = match option {
            "idle" => builder.idle(value.parse().unwrap()),
            "steal" => builder.steal(value.parse().unwrap()),
            "victim" => builder.victim(value.parse().unwrap()),
            "memory" => builder.memory(value.parse().unwrap()),
            "desire" => builder.desire(value.parse().unwrap()),
            "share" => builder.share(value.parse().unwrap()),
            _ => unreachable!("an option of these"),
        };
    }
    let pool = builder.build().unwrap();
    for _ in 0..3 {
        assert_eq!(pool.install(|| forks(6)), 64);
        std::thread::sleep(Duration::from_millis(15));
    }
    // Adds tasks that this thread spawns from outside the pool.
    pool.scope(|s| (0..20).for_each(|_| s.spawn(|_| assert_eq!(forks(1), 2))));
    pool.trace().expect("notes are taken")
}

fn replayed(trace: &Trace) -> u64 {
    let back = Trace::from_bytes(&trace.to_bytes()).expect("what was written is read");
    assert_eq!(&back, trace);
    let replayed = replay(&back).unwrap_or_else(|failed| panic!("{failed:?}"));
    assert_eq!(replayed.left_out, 0);
    replayed.events
}

/// Returns the events of all streams.
fn events(trace: &Trace) -> Vec<Event> {
    let records = trace.streams.iter().flat_map(|stream| stream.records());
    records.map(|record| record.unwrap().event).collect()
}

#[test]
fn every_rule_repeats_its_decisions() {
    let runs: [&[(&str, &str)]; 9] = [
        &[],
        &[("idle", "linear"), ("victim", "random"), ("steal", "half")],
        &[
            ("idle", "quanta"),
            ("victim", "hierarchical"),
            ("steal", "fixed:2"),
        ],
        &[("idle", "long-quanta"), ("victim", "last-victim")],
        &[("idle", "pheet-original"), ("victim", "last-victim")],
        &[
            ("idle", "abp-yield"),
            ("memory", "hybrid:alpha=2KiB,beta=0"),
        ],
        &[("memory", "depth-first:k=512")],
        &[("memory", "dfdeques:k=512")],
        &[("memory", "budget:12KiB,serial=8KiB")],
    ];
    for options in runs {
        let events = replayed(&traced(options));
        assert!(events > 50, "{options:?}: {events}");
    }
}

#[test]
fn controller_repeats_its_decisions() {
    if !cfg!(any(target_os = "linux", target_os = "android")) {
        return;
    }
    for desire in [
        "steady",
        "wsap:eta=0.5",
        "a-steal",
        "a-deque",
        "palirria",
        "dws",
        "instantaneous",
    ] {
        let trace = traced(&[("share", "on"), ("desire", desire)]);
        replayed(&trace);
        let controller = trace
            .streams
            .iter()
            .find(|stream| stream.source == Source::ShareController);
        assert!(controller.is_some(), "{desire}");
    }
}

#[test]
fn trace_holds_time_between_estimates() {
    if !cfg!(any(target_os = "linux", target_os = "android")) {
        return;
    }
    let pool = Pool::builder()
        .workers(1)
        .share(SharePolicy::On)
        .trace(true);
    let pool = pool.est_cycle(Duration::from_millis(1)).build().unwrap();
    let trace = loop {
        pool.install(|| std::thread::sleep(Duration::from_millis(3)));
        let trace = pool.trace().expect("notes are taken");
        if events(&trace).contains(&Event::Cycle) {
            break trace;
        }
    };
    replayed(&trace);
    let longer = |rules: &mut Rules| rules.est_cycle += 1;
    assert_eq!(differs(&trace, longer), Event::Cycle);
}

/// Returns the first event at which a replay under altered rules differs.
fn differs(trace: &Trace, alter: impl FnOnce(&mut Rules)) -> Event {
    let mut altered = trace.clone();
    alter(&mut altered.rules);
    match replay(&altered) {
        Err(Failed::Differs(difference)) => difference.record.event,
        other => panic!("{other:?} under {:?}", altered.rules),
    }
}

#[test]
fn changed_constant_is_detected() {
    let trace = traced(&[
        ("idle", "linear:step=50us"),
        ("steal", "half"),
        ("victim", "random"),
    ]);
    let found = differs(&trace, |rules| {
        rules.idle = Some("linear:step=51us".parse().unwrap())
    });
    assert_eq!(found, Event::SweepFailed);
    let found = differs(&trace, |rules| {
        rules.idle = Some("linear:step=50us,min=11us".parse().unwrap())
    });
    assert_eq!(found, Event::SweepFailed);
    let found = differs(&trace, |rules| {
        rules.victim = "hierarchical".parse().unwrap()
    });
    assert_eq!(found, Event::NextVictim);
    let found = differs(&trace, |rules| rules.steal = "fixed:3".parse().unwrap());
    assert_eq!(found, Event::Amount);
    let trace = traced(&[("memory", "dfdeques:k=512")]);
    let found = differs(&trace, |rules| {
        rules.memory = "dfdeques:k=2048".parse().unwrap()
    });
    assert_eq!(found, Event::Ask);
    let trace = traced(&[("memory", "budget:9KiB,serial=8KiB")]);
    differs(&trace, |rules| {
        rules.memory = "budget:64KiB,serial=8KiB".parse().unwrap()
    });
}

#[test]
fn truncated_or_changed_trace_is_rejected() {
    let bytes = traced(&[]).to_bytes();
    for length in [0, 5, 40, bytes.len() / 2, bytes.len() - 1] {
        let refused = Trace::from_bytes(&bytes[..length]).unwrap_err().to_string();
        assert!(
            refused.contains("not a Tidegate trace") || refused.contains("truncated"),
            "{refused}"
        );
    }
    for at in (20..bytes.len()).step_by(97) {
        let mut changed = bytes.clone();
        changed[at] ^= 4;
        assert!(Trace::from_bytes(&changed).is_err(), "byte {at}");
    }
}

#[test]
fn pool_traces_only_on_request() {
    let pool = Pool::builder().workers(1).build().unwrap();
    pool.join(|| (), || ());
    assert!(pool.trace().is_none());
    let trace = traced(&[]);
    assert!(events(&trace).contains(&Event::Stole));
}

mod recorded_tasks {
    use super::*;
    use crate::support::built;
    use tidegate::policy::WaitPolicy;

    fn traced_pool() -> Pool {
        built(Pool::builder().workers(1).max_threads(1).trace(true))
    }

    /// Replays the trace. Returns, for each task that worker 0 has begun, its label, and `end` for
    /// each end.
    fn tasks(pool: &Pool) -> Vec<String> {
        let trace = pool.trace().expect("the pool records a trace");
        replayed(&trace);
        let records = trace.streams[0].records().map(Result::unwrap);
        let label = |number: u64| match number {
            0 => "none".to_owned(),
            number => trace.origins[number as usize - 1].label().to_owned(),
        };
        let shown = records.filter_map(|record| match record.event {
            Event::TaskBegins => Some(label(record.inputs[0])),
            Event::TaskEnds => Some("end".to_owned()),
            _ => None,
        });
        shown.collect()
    }

    #[test]
    fn spawned_tasks_and_futures() {
        let pool = traced_pool();
        let line = pool.install(|| {
            tidegate::task().named("net").spawn(|| ()).join();
            tidegate::spawn(|| ()).join();
            line!() - 1
        });
        pool.spawn_future(async {}).join();
        let place = |line, column| format!("{}:{line}:{column}", file!());
        let expected = ["net", "end", &place(line, 13), "end"].map(str::to_owned);
        let mut found = tasks(&pool);
        // The thread of the test may poll the future, which is not recorded as work of a worker.
        found.truncate(expected.len());
        assert_eq!(found, expected);
    }

    #[test]
    fn equal_origins_have_one_entry() {
        let pool = traced_pool();
        (0..3).for_each(|_| pool.install(|| tidegate::task().named("net").spawn(|| ()).join()));
        let trace = pool.trace().unwrap();
        let names: Vec<_> = trace
            .origins
            .iter()
            .map(|origin| &origin.name[..])
            .collect();
        assert_eq!(names, ["net"]);
    }

    #[test]
    fn intervals() {
        let pool = traced_pool();
        let line = line!() + 2;
        let failed = pool.run_intervals(|s| {
            let first = s.interval(|_| ());
            let second = s.interval(|_| panic!("no more")).named("second");
            first.end().before(second.start()).unwrap();
        });
        let place = format!("{}:{line}:27", file!());
        assert_eq!(tasks(&pool), [&place, "end", "second", "end"]);
        let message = failed.unwrap_err().to_string();
        assert!(message.starts_with("second ("), "{message}");
    }

    #[test]
    fn nested_tasks() {
        let pool = traced_pool();
        let inner = || tidegate::task().named("inner").spawn(|| ()).join();
        pool.install(|| tidegate::task().named("outer").spawn(inner).join());
        assert_eq!(tasks(&pool), ["outer", "inner", "end", "end"]);
    }

    /// The unrelated task is not shown as a part of the task below it.
    #[test]
    fn unrelated_task_on_top() {
        let builder = Pool::builder().workers(1).max_threads(1).trace(true);
        let pool = built(builder.wait(WaitPolicy::HelpAny));
        // The worker runs the other task at the end of the scope.
        let task = || tidegate::scope(|_| drop(tidegate::task().named("other").spawn(|| ())));
        pool.install(|| tidegate::task().named("outer").spawn(task).join());
        assert_eq!(
            tasks(&pool),
            ["outer", "none", "other", "end", "end", "end"]
        );
    }

    #[test]
    fn joins_and_scopes_are_left_out() {
        let pool = traced_pool();
        pool.join(|| 1, || 2);
        pool.scope(|s| s.spawn(|_| ()));
        assert_eq!(tasks(&pool), [""; 0]);
    }
}
