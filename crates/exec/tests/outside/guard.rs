use crate::MS;
use tidegate_exec::outside::{Guard, Turns};

/// A program whose threads switch at these rates, per second.
#[derive(Clone, Copy, Debug)]
struct Program {
    threads: usize,
    voluntary: u64,
    involuntary: u64,
}

/// A program with libgomp that was narrowed from two processors to one.
const COLLAPSED: Program = Program::new(2, 3, 130);

impl Program {
    const fn new(threads: usize, voluntary: u64, involuntary: u64) -> Self {
        Self {
            threads,
            voluntary,
            involuntary,
        }
    }

    fn at(self, ms: u64) -> Turns {
        let total = |rate: u64| self.threads as u64 * rate * ms / 1000;
        Turns {
            at: ms * MS,
            threads: self.threads,
            runnable: self.threads,
            program_runnable: self.threads,
            processors: Some(1),
            voluntary: total(self.voluntary),
            involuntary: total(self.involuntary),
        }
    }
}

/// Returns when the guard first reports a collapse, in the first ten seconds.
fn reported(turns: impl Fn(u64) -> Turns) -> Option<u64> {
    let mut guard = Guard::default();
    (0..10_000).step_by(20).find(|ms| guard.next(&turns(*ms)))
}

/// Like `reported`, for a collapsed program that `change` has changed.
fn changed(change: impl Fn(u64, &mut Turns)) -> Option<u64> {
    reported(|ms| {
        let mut turns = COLLAPSED.at(ms);
        change(ms, &mut turns);
        turns
    })
}

#[test]
fn collapse_is_reported_after_a_window() {
    for (voluntary, involuntary) in [(2, 100), (5, 160), (0, 21), (9, 130)] {
        for threads in [2, 16] {
            let program = Program::new(threads, voluntary, involuntary);
            let reported = reported(|ms| program.at(ms));
            assert_eq!(reported, Some(1000), "{program:?}");
        }
    }
}

#[test]
fn late_collapse_is_reported_within_two_seconds() {
    let (calm, start) = (Program::new(2, 3, 5), 3010);
    let later = |ms: u64| match ms.checked_sub(start) {
        None => calm.at(ms),
        Some(after) => Turns {
            at: ms * MS,
            voluntary: calm.at(start).voluntary + COLLAPSED.at(after).voluntary,
            involuntary: calm.at(start).involuntary + COLLAPSED.at(after).involuntary,
            ..COLLAPSED.at(ms)
        },
    };
    let reported = reported(later).unwrap();
    assert!((start..start + 1500).contains(&reported), "{reported}");
}

#[test]
fn long_cycles_do_not_delay_the_report() {
    let mut guard = Guard::default();
    let reports = [0, 500, 1000, 1500].map(|ms| guard.next(&COLLAPSED.at(ms)));
    assert_eq!(reports, [false, false, true, true]);
}

#[test]
fn near_misses_are_not_reported() {
    for (threads, voluntary, involuntary) in [
        (2, 3, 20),
        (2, 10, 130),
        (2, 500, 400),
        (2, 3, 0),
        (1, 3, 130),
        (0, 3, 130),
    ] {
        let program = Program::new(threads, voluntary, involuntary);
        assert_eq!(reported(|ms| program.at(ms)), None, "{program:?}");
    }
    assert_eq!(changed(|_, turns| turns.processors = None), None);
    assert_eq!(changed(|_, turns| turns.runnable = 1), None, "rayon");
}

/// One sleeping thread at one look per second is enough.
#[test]
fn sleeping_thread_restarts_the_window() {
    let each_second = changed(|ms, turns| turns.runnable = if ms % 1000 == 500 { 1 } else { 2 });
    assert_eq!(each_second, None);
    let once = changed(|ms, turns| turns.runnable = if ms == 500 { 1 } else { 2 });
    assert_eq!(once, Some(1520));
}

#[test]
fn new_thread_restarts_the_window() {
    let threads = |ms: u64| if ms < 500 { 2 } else { 3 };
    let reported = reported(|ms| Program::new(threads(ms), 3, 130).at(ms));
    assert_eq!(reported, Some(1500));
}

/// Returns a look at a program that is confined for the first part of each second, and collapses
/// then. In the rest of the second its threads wait, often and all of them.
fn in_bursts(ms: u64, confined: u64) -> Turns {
    let is_confined = ms % 1000 < confined;
    let runnable = if is_confined { 2 } else { 0 };
    let voluntary = COLLAPSED.at(ms).voluntary + ms / 1000 * 1000;
    Turns {
        processors: is_confined.then_some(1),
        runnable,
        program_runnable: runnable,
        voluntary,
        ..COLLAPSED.at(ms)
    }
}

/// The looks of a burst are 20 ms apart, so a burst of 900 ms counts as 880 ms, and one of 300 ms as
/// 280 ms.
#[test]
fn pauses_of_the_confinement_do_not_count() {
    assert_eq!(reported(|ms| in_bursts(ms, 900)), Some(1120));
    assert_eq!(reported(|ms| in_bursts(ms, 300)), Some(3160));
    assert_eq!(reported(|ms| in_bursts(ms, 20)), None, "never two looks");
}

/// In each burst, a thread sleeps at one look.
#[test]
fn sleeping_threads_restart_a_window_with_pauses() {
    let sleeping = |ms: u64| match ms % 1000 {
        100 => Turns {
            runnable: 1,
            ..in_bursts(ms, 300)
        },
        _ => in_bursts(ms, 300),
    };
    assert_eq!(reported(sleeping), None);
}

/// Two processes with two threads each.
#[test]
fn threads_of_other_processes_compete_too() {
    let beside = |processors, program_runnable| {
        changed(|_, turns| {
            turns.processors = Some(processors);
            turns.program_runnable = program_runnable;
        })
    };
    assert_eq!(beside(2, 4), Some(1000));
    assert_eq!(beside(3, 4), Some(1000));
    assert_eq!(beside(4, 4), None);
    assert_eq!(beside(2, 2), None);
    let at_times = changed(|ms, turns| {
        turns.processors = Some(2);
        turns.program_runnable = if ms % 1000 == 500 { 2 } else { 4 };
    });
    assert_eq!(at_times, None, "enough processors at times");
}

#[test]
fn extreme_counts_are_accepted() {
    let most = Turns {
        at: u64::MAX,
        threads: usize::MAX,
        runnable: usize::MAX,
        program_runnable: usize::MAX,
        processors: Some(0),
        voluntary: u64::MAX,
        involuntary: u64::MAX,
    };
    let mut guard = Guard::default();
    let all = [
        Turns::default(),
        most,
        COLLAPSED.at(0),
        most,
        Turns { at: 0, ..most },
        most,
    ];
    assert!(all.iter().all(|turns| !guard.next(turns)));
}

/// Two loops that share one processor, recorded on a busy machine, cannot be told apart from a
/// collapse: time, voluntary and involuntary switches.
#[test]
fn pure_computation_looks_like_a_collapse() {
    let recorded = [
        (633, 0, 72),
        (919, 0, 99),
        (1223, 0, 124),
        (1519, 0, 149),
        (1734, 0, 165),
    ];
    let mut guard = Guard::default();
    let reports = recorded.map(|(ms, voluntary, involuntary)| {
        guard.next(&Turns {
            voluntary,
            involuntary,
            ..COLLAPSED.at(ms)
        })
    });
    assert_eq!(reports, [false, false, false, false, true]);
}
