//! What has happened in a program.

use super::expected::{Expected, Panic, Sizes};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// The maximum number of mistakes in a report.
const REPORTED: usize = 10;

#[derive(Default)]
struct TaskCounts {
    made: AtomicU32,
    ran: AtomicU32,
    dropped: AtomicU32,
    finished: AtomicBool,
}

#[derive(Default)]
struct PayloadCounts {
    made: AtomicU32,
    reported: AtomicU32,
    dropped: AtomicU32,
}

/// Counts what happens in a program.
pub struct Ledger {
    tasks: Vec<TaskCounts>,
    /// For each catch: 1 plus the number of the payload that it has caught, or 0 if it has caught
    /// none.
    catches: Vec<AtomicUsize>,
    payloads: Vec<PayloadCounts>,
    live: AtomicUsize,
    mistakes: Mutex<Vec<String>>,
}

fn count(counter: &AtomicU32) {
    counter.fetch_add(1, Ordering::Relaxed);
}

fn get(counter: &AtomicU32) -> u32 {
    counter.load(Ordering::Relaxed)
}

fn many<T: Default>(size: usize) -> Vec<T> {
    std::iter::repeat_with(T::default).take(size).collect()
}

impl Ledger {
    pub fn new(sizes: Sizes) -> Self {
        Self {
            tasks: many(sizes.tasks),
            catches: many(sizes.catches),
            payloads: many(sizes.payloads),
            live: AtomicUsize::new(0),
            mistakes: Mutex::default(),
        }
    }

    /// Creates a token for a task's closure.
    pub fn token(self: &Arc<Self>, task: usize) -> Token {
        count(&self.tasks[task].made);
        self.live.fetch_add(1, Ordering::Relaxed);
        Token {
            ledger: Arc::clone(self),
            task,
        }
    }

    /// Returns how many tokens and payloads exist. Payloads are included because a panic outlives
    /// the closure that it comes from.
    pub fn live(&self) -> usize {
        self.live.load(Ordering::Acquire)
    }

    /// Whether the task has run to its end. Relaxed: the runtime must order the task before the
    /// caller; otherwise the caller may see the old value.
    pub fn has_finished(&self, task: usize) -> bool {
        self.tasks[task].finished.load(Ordering::Relaxed)
    }

    /// Whether the task's closure has been dropped, or was never created.
    pub fn is_over(&self, task: usize) -> bool {
        let TaskCounts { made, dropped, .. } = &self.tasks[task];
        get(made) == get(dropped)
    }

    pub fn mistake(&self, what: impl Into<String>) {
        self.mistakes.lock().unwrap().push(what.into());
    }

    /// Panics without a message.
    pub fn panic(self: &Arc<Self>, panic: Panic) -> ! {
        count(&self.payloads[panic.payload].made);
        self.live.fetch_add(1, Ordering::Relaxed);
        resume_unwind(Box::new(Payload {
            ledger: Arc::clone(self),
            panic,
        }))
    }

    /// Records that `catch` has caught a panic.
    pub fn caught(&self, catch: usize, payload: Box<dyn Any + Send>) {
        if let Some(payload) = self.report(payload) {
            self.catches[catch].store(payload.panic.payload + 1, Ordering::Relaxed);
            // Dropping the payload may panic.
            let _ = catch_unwind(AssertUnwindSafe(|| drop(payload)));
        }
    }

    /// Records a panic that a handler has received, and drops its payload, which may panic.
    pub fn unclaimed(&self, payload: Box<dyn Any + Send>) {
        drop(self.report(payload));
    }

    fn report(&self, payload: Box<dyn Any + Send>) -> Option<Box<Payload>> {
        match payload.downcast::<Payload>() {
            Ok(payload) => {
                count(&self.payloads[payload.panic.payload].reported);
                Some(payload)
            }
            Err(other) => {
                self.mistake(format!("unexpected panic: {}", message(&*other)));
                None
            }
        }
    }

    /// Compares what has happened with what may happen in the program.
    pub fn check(&self, expected: &Expected) -> Result<(), String> {
        let mut mistakes = std::mem::take(&mut *self.mistakes.lock().unwrap());
        mistakes.extend(self.wrong_tasks(expected));
        mistakes.extend(self.wrong_payloads(expected));
        for (number, (caught, allowed)) in self.catches.iter().zip(&expected.catches).enumerate() {
            if let Some(payload) = caught.load(Ordering::Relaxed).checked_sub(1) {
                if !allowed.contains(&payload) {
                    mistakes.push(format!(
                        "catch {number} caught payload {payload}, expected one of {allowed:?}"
                    ));
                }
            }
        }
        mistakes.truncate(REPORTED);
        if mistakes.is_empty() {
            return Ok(());
        }
        Err(mistakes.join("\n"))
    }

    fn wrong_tasks(&self, expected: &Expected) -> impl Iterator<Item = String> {
        let counts = self.tasks.iter().zip(&expected.fates).enumerate();
        counts.filter_map(|(number, (counts, fate))| {
            let [made, ran, dropped] = [&counts.made, &counts.ran, &counts.dropped].map(get);
            let right = made <= 1 && dropped == made && fate.allows(ran);
            (!right).then(|| {
                let counts = format!("made {made}, ran {ran}, dropped {dropped}");
                format!("task {number}: {counts}; expected to run: {fate:?}")
            })
        })
    }

    fn wrong_payloads(&self, expected: &Expected) -> impl Iterator<Item = String> {
        let counts = self.payloads.iter().enumerate();
        counts.filter_map(|(number, counts)| {
            let [made, reported, dropped] =
                [&counts.made, &counts.reported, &counts.dropped].map(get);
            let quiet = expected.unreported.contains(&number) && reported == 0;
            let right = made <= 1 && dropped == made && (quiet || reported == made);
            (!right).then(|| {
                format!("payload {number}: made {made}, reported {reported}, dropped {dropped}")
            })
        })
    }
}

/// Like [`Ledger::unclaimed`], but for handlers that serve several programs: the payload refers to
/// its ledger. Resumes any other panic.
pub fn unclaimed(payload: Box<dyn Any + Send>) {
    match payload.downcast::<Payload>() {
        Ok(payload) => Arc::clone(&payload.ledger).unclaimed(payload),
        Err(other) => resume_unwind(other),
    }
}

fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("no text")
}

/// A value in a task's closure that counts how often the closure runs and is dropped.
pub struct Token {
    ledger: Arc<Ledger>,
    task: usize,
}

impl Token {
    pub fn run<R>(self, f: impl FnOnce() -> R) -> R {
        let counts = &self.ledger.tasks[self.task];
        count(&counts.ran);
        let value = f();
        counts.finished.store(true, Ordering::Relaxed);
        value
    }

    /// Duplicates the token, as a faulty runtime would do if it ran the task twice.
    pub(super) fn duplicate(&self) -> Self {
        self.ledger.live.fetch_add(1, Ordering::Relaxed);
        Self {
            ledger: Arc::clone(&self.ledger),
            task: self.task,
        }
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        count(&self.ledger.tasks[self.task].dropped);
        self.ledger.live.fetch_sub(1, Ordering::Release);
    }
}

/// The payload of an intentional panic.
pub struct Payload {
    ledger: Arc<Ledger>,
    panic: Panic,
}

impl Drop for Payload {
    fn drop(&mut self) {
        let Panic {
            payload,
            drop_panics,
        } = self.panic;
        count(&self.ledger.payloads[payload].dropped);
        self.ledger.live.fetch_sub(1, Ordering::Release);
        if drop_panics && !std::thread::panicking() {
            resume_unwind(Box::new("the drop of a payload, on purpose"));
        }
    }
}
