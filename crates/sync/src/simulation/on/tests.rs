//! Tests of the turn, with threads of this crate alone.

use super::super::Choice;
use super::*;
use crate::park::Parker;
use crate::thread::start;
use std::sync::atomic::AtomicUsize;
use std::sync::mpsc::{Sender, channel};

const SETTINGS: Settings = Settings {
    steps: 1_000,
    patience: Duration::from_secs(60),
};
const STACK: usize = 1 << 20;

/// Runs the next thread in the order of their numbers.
fn in_turn(choice: &Choice<'_>) -> usize {
    let later = choice.ready.iter().find(|thread| **thread > choice.last);
    *later.unwrap_or(&choice.ready[0])
}

fn unexpected(report: &Report) {
    panic!("{report:?}");
}

/// Runs `threads` in a simulation and returns how it has stopped. Threads that have stopped
/// stay parked.
fn reason(settings: Settings, threads: impl FnOnce() + Send + 'static) -> Reason {
    let (stopped, stops) = channel();
    let report = move |report: &Report| {
        let stopped: &Sender<Reason> = &stopped;
        stopped.send(report.reason).unwrap();
    };
    std::thread::spawn(move || {
        let simulation = Simulation::begin(settings, in_turn, report).unwrap();
        threads();
        drop(simulation);
    });
    stops.recv().unwrap()
}

#[test]
fn one_thread_runs_at_a_time() {
    let running = Arc::new(AtomicUsize::new(0));
    let simulation = Simulation::begin(SETTINGS, in_turn, unexpected).unwrap();
    let threads: Vec<_> = (0..4)
        .map(|n| {
            let running = running.clone();
            let body = move || {
                for _ in 0..20 {
                    assert_eq!(running.fetch_add(1, Ordering::Relaxed), 0);
                    std::thread::yield_now();
                    assert_eq!(running.fetch_sub(1, Ordering::Relaxed), 1);
                    switch("steps");
                }
            };
            start(format!("thread {n}"), STACK, body).unwrap()
        })
        .collect();
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
    let observer = simulation.observer();
    let order: Vec<usize> = observer.events().iter().map(|event| event.next).collect();
    assert_eq!(order[..8], [1, 2, 3, 4, 1, 2, 3, 4]);
    drop(simulation);
    assert!(!is_simulated());
}

#[test]
fn parked_thread_continues_after_unpark_or_limit() {
    let simulation = Simulation::begin(SETTINGS, in_turn, unexpected).unwrap();
    let parker = Arc::new(Parker::new());
    let other = parker.clone();
    let thread = start("waker".into(), STACK, move || _ = other.unpark()).unwrap();
    parker.park();
    let before = crate::clock::now();
    assert!(!parker.park_timeout(Duration::from_secs(3600)));
    assert!(crate::clock::now() - before >= 3_600_000_000_000);
    thread.join().unwrap();
    drop(simulation);
}

// Threads that have stopped remain, which Miri reports.
#[cfg_attr(miri, ignore = "leaves threads behind")]
#[test]
fn deadlock_is_noticed() {
    assert_eq!(reason(SETTINGS, || Parker::new().park()), Reason::Deadlock);
}

#[cfg_attr(miri, ignore = "leaves threads behind")]
#[test]
fn endless_run_is_noticed() {
    let spin = || {
        loop {
            crate::spin_loop();
        }
    };
    assert_eq!(reason(SETTINGS, spin), Reason::Endless);
}

#[cfg_attr(miri, ignore = "leaves threads behind")]
#[test]
fn thread_that_keeps_its_turn_is_noticed() {
    let patience = Duration::from_millis(1);
    let stuck = || {
        let thread = start("stuck".into(), STACK, freeze_without_turn).unwrap();
        thread.join().unwrap();
    };
    assert_eq!(
        reason(
            Settings {
                patience,
                ..SETTINGS
            },
            stuck
        ),
        Reason::Stuck
    );
}

fn freeze_without_turn() {
    loop {
        std::thread::park();
    }
}
