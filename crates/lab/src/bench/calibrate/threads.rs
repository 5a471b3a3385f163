//! Costs of the system and the caches: threads that read each other's memory, wake each other and
//! take turns on a processor.

use std::hint::spin_loop;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use tidegate_cli_support::affinity::bind_to;
use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::statistics::Sample;
use tidegate_cli_support::usage::thread_cpu;

/// Starts two threads at the same moment, each bound to its own processor, and returns their
/// results.
fn pair<A: Send, B: Send>(
    cpus: [usize; 2],
    one: impl FnOnce(&Thread) -> A + Send,
    other: impl FnOnce() -> B + Send,
) -> Result<(A, B), Failure> {
    let barrier = &Barrier::new(2);
    let begin = move |cpu| {
        let bound = bind_to(cpu);
        barrier.wait();
        bound
    };
    thread::scope(|scope| {
        let other = scope.spawn(move || begin(cpus[1]).map(|()| other()));
        let thread = other.thread().clone();
        let one = scope.spawn(move || begin(cpus[0]).map(|()| one(&thread)));
        let ended = "threads that measure do not panic";
        Ok((one.join().expect(ended)?, other.join().expect(ended)?))
    })
}

/// Returns how long it takes a thread to see what another thread has written: half a round trip
/// between two threads that answer each other. A thief that checks a running victim waits this
/// long. If a thread only read the word repeatedly, the reads would seem free: the word might not
/// have changed in between, or the processor might have executed the reads early.
pub fn attempt(cpus: [usize; 2], rounds: u64) -> Result<f64, Failure> {
    let line = &Line(AtomicU64::new(0));
    // Acquire pairs with the other thread's Release: each answers only after it has seen the
    // other's turn.
    let await_turn = |turn| {
        // No pause instruction, because it would add to the measured time.
        while line.0.load(Ordering::Acquire) != turn {}
    };
    let one = move |_: &Thread| {
        let start = Instant::now();
        for round in 0..rounds {
            line.0.store(2 * round + 1, Ordering::Release);
            await_turn(2 * round + 2);
        }
        start.elapsed().as_nanos() as f64 / (2 * rounds) as f64
    };
    let other = move || {
        for round in 0..rounds {
            await_turn(2 * round + 1);
            line.0.store(2 * round + 2, Ordering::Release);
        }
    };
    Ok(pair(cpus, one, other)?.0)
}

/// Returns how much a reader slows down a thread that keeps writing a word: the added time for each
/// value that the reader has seen.
pub fn look(cpus: [usize; 2], writes: u64) -> Result<f64, Failure> {
    const OVER: u64 = 1 << 63;
    let [alone, looked_at] = [0; 2].map(|zero| Line(AtomicU64::new(zero)));
    // Relaxed throughout: the word publishes no other data.
    let write = |line: &Line| {
        let start = Instant::now();
        for _ in 0..writes {
            line.0.fetch_add(1, Ordering::Relaxed);
        }
        start.elapsed().as_nanos() as f64
    };
    let one = |_: &Thread| {
        let undisturbed = write(&alone);
        let disturbed = write(&looked_at);
        looked_at.0.fetch_or(OVER, Ordering::Relaxed);
        disturbed - undisturbed
    };
    let other = || {
        let (mut last, mut seen) = (0, 0_u64);
        while last & OVER == 0 {
            let value = looked_at.0.load(Ordering::Relaxed);
            seen += u64::from(value != last);
            last = value;
        }
        seen
    };
    let (added, seen) = pair(cpus, one, other)?;
    Ok(added / seen.max(1) as f64)
}

/// A word that has its cache line to itself, and also the next line, which some processors prefetch
/// along with it.
#[repr(align(128))]
struct Line(AtomicU64);

/// Returns the cost of a yield when no other thread wants the processor.
pub fn yields(count: u32) -> f64 {
    let start = Instant::now();
    (0..count).for_each(|_| thread::yield_now());
    start.elapsed().as_nanos() as f64 / f64::from(count)
}

pub struct Wake {
    /// The CPU time for one sleep and wake-up of the thread; `None` if the system does not report
    /// CPU time per thread.
    pub sleep: Option<f64>,
    /// The time from the call to `unpark` until the woken thread runs.
    pub latency: f64,
    pub call: f64,
}

/// How long the sleeper sleeps before it is woken, so that its processor is idle by then.
const ASLEEP: Duration = Duration::from_micros(200);

/// Wakes a thread `count` times and returns the median costs.
pub fn wake(cpus: [usize; 2], count: u32) -> Result<Wake, Failure> {
    let start = Instant::now();
    let now = move || start.elapsed().as_nanos() as u64;
    let woken = &AtomicU64::new(0);
    let asked = &AtomicU64::new(0);
    let waker = move |sleeper: &Thread| {
        let (mut latencies, mut calls) = (Vec::new(), Vec::new());
        for number in 1..=u64::from(count) {
            let pause = Instant::now();
            while pause.elapsed() < ASLEEP {
                spin_loop();
            }
            // Relaxed, like the other accesses: each word publishes no other data, and the accesses
            // to one word have a total order.
            asked.store(number, Ordering::Relaxed);
            let call = now();
            sleeper.unpark();
            calls.push((now() - call) as f64);
            while woken.load(Ordering::Relaxed) < call {
                spin_loop();
            }
            latencies.push((woken.load(Ordering::Relaxed) - call) as f64);
        }
        (latencies, calls)
    };
    let sleeper = move || {
        let before = thread_cpu();
        for number in 1..=u64::from(count) {
            while asked.load(Ordering::Relaxed) < number {
                thread::park();
            }
            woken.store(now(), Ordering::Relaxed);
        }
        let used = thread_cpu()?.checked_sub(before?)?;
        Some(used.as_nanos() as f64 / f64::from(count))
    };
    let ((latencies, calls), sleep) = pair(cpus, waker, sleeper)?;
    Ok(Wake {
        sleep,
        latency: Sample::new(latencies).median(),
        call: Sample::new(calls).median(),
    })
}

/// The requested duration of the sleeps whose lateness is measured.
const ASKED: Duration = Duration::from_micros(100);

/// Returns how much later than requested a sleeping thread wakes: the median of `count` sleeps.
pub fn lateness(cpu: usize, count: u32) -> Result<f64, Failure> {
    let sleeper = move || -> Result<Vec<f64>, Failure> {
        bind_to(cpu)?;
        let late = (0..count).map(|_| {
            let start = Instant::now();
            thread::sleep(ASKED);
            start.elapsed().saturating_sub(ASKED).as_nanos() as f64
        });
        Ok(late.collect())
    };
    let late = thread::scope(|scope| scope.spawn(sleeper).join());
    let late = late.expect("threads that measure do not panic")?;
    Ok(Sample::new(late).median())
}

/// Returns how long a processor takes to switch between two threads. The first thread wakes the
/// second one and yields; the second one answers and sleeps.
pub fn handover(cpu: usize, rounds: u64) -> Result<f64, Failure> {
    let turn = &AtomicU64::new(0);
    let first = move |other: &Thread| {
        let start = Instant::now();
        for round in 0..rounds {
            // Release pairs with the other thread's Acquire, here and below: each thread's turn
            // begins after the other thread's turn has ended.
            turn.store(2 * round + 1, Ordering::Release);
            other.unpark();
            while turn.load(Ordering::Acquire) != 2 * round + 2 {
                thread::yield_now();
            }
        }
        start.elapsed().as_nanos() as f64 / (2 * rounds) as f64
    };
    let second = move || {
        for round in 0..rounds {
            while turn.load(Ordering::Acquire) != 2 * round + 1 {
                thread::park();
            }
            turn.store(2 * round + 2, Ordering::Release);
        }
    };
    Ok(pair([cpu, cpu], first, second)?.0)
}

/// A thread that has not read the clock for this long counts as descheduled.
const GAP: Duration = Duration::from_micros(100);

/// Returns the length of a time slice: how long a thread keeps its processor while another thread
/// waits for it. This is the median over all slices of two threads during `time`. `None` if no
/// slice ended.
pub fn slice(cpu: usize, time: Duration) -> Result<Option<f64>, Failure> {
    let turns = move || {
        let start = Instant::now();
        let (mut began, mut last) = (start, start);
        let mut turns = Vec::new();
        while last - start < time {
            let now = Instant::now();
            if now - last > GAP {
                turns.push((last - began).as_nanos() as f64);
                began = now;
            }
            last = now;
        }
        turns
    };
    let (mut all, others) = pair([cpu, cpu], move |_| turns(), turns)?;
    all.extend(others);
    Ok((!all.is_empty()).then(|| Sample::new(all).median()))
}
