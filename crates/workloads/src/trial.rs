//! A program as a trait object, so that code that runs any program is compiled only once.
//!
//! The bodies stay generic: each is compiled here, once for each runtime. The virtual call happens
//! once per run, and the clock is read on its other side.

use std::hint::black_box;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::parameter::ParameterError;
use crate::program::{Answer, Program, Progress};
#[cfg(feature = "chili")]
use crate::runtime::Chili;
#[cfg(feature = "rayon")]
use crate::runtime::Rayon;
use crate::runtime::{Recorded, Runtime, Threads, Tidegate};

/// The minimum total time of the runs in a sample, because a program may be too short for the
/// clock.
pub const SAMPLE: Duration = Duration::from_millis(5);

/// Where and how a program runs.
#[derive(Clone, Copy)]
pub enum On<'a> {
    /// On the calling thread, with the program's serial version.
    Thread,
    /// On a pool, with the program's parallel body.
    Tidegate(&'a Tidegate),
    /// On a pool that records intervals. The program must consist of intervals.
    Recorded(&'a Recorded),
    /// On scoped threads, with the program's parallel body.
    Threads(&'a Threads),
    /// On rayon, with the program's parallel body.
    #[cfg(feature = "rayon")]
    Rayon(&'a Rayon),
    /// On chili, with the program's parallel body.
    #[cfg(feature = "chili")]
    Chili(&'a Chili),
}

/// Converts references to these runtimes to [`On`].
macro_rules! on {
    ($($(#[$feature:meta])? $runtime:ident)*) => {$(
        $(#[$feature])?
        impl<'a> From<&'a $runtime> for On<'a> {
            fn from(runtime: &'a $runtime) -> Self {
                Self::$runtime(runtime)
            }
        }
    )*};
}

on! { Tidegate Recorded Threads #[cfg(feature = "rayon")] Rayon #[cfg(feature = "chili")] Chili }

/// Evaluates `$work` for the runtime of an [`On`], or `$serial` if there is none.
macro_rules! for_runtime {
    ($on:expr, $serial:expr, $runtime:ident => $work:expr) => {
        match $on {
            On::Thread => $serial,
            On::Tidegate($runtime) => $work,
            On::Recorded($runtime) => $work,
            On::Threads($runtime) => $work,
            #[cfg(feature = "rayon")]
            On::Rayon($runtime) => $work,
            #[cfg(feature = "chili")]
            On::Chili($runtime) => $work,
        }
    };
}

/// The outcome of comparing runs with the reference answer.
///
/// The reference is the published answer or, if none is published, the answer of the serial
/// version. If a program reads files, its answers may differ because the files changed between two
/// runs. Such a program removes the changed files from both outputs before they are compared.
#[derive(Default)]
pub struct Check {
    /// The source of the reference answer.
    pub reference: &'static str,
    /// How many runs were compared.
    pub runs: usize,
    /// How many of these runs had a different answer.
    pub wrong: usize,
    /// Descriptions of changes outside the program during the runs. The comparison ignored them.
    /// The text is safe to print on a terminal.
    pub changed: Vec<String>,
}

/// A program with its input and the results of its runs.
pub trait Trial: Send {
    /// Returns the program's name.
    fn name(&self) -> &'static str;

    /// Returns the parameters that affect a run, with their values.
    fn parameters(&self) -> Answer;

    /// Returns whether the program reads files.
    fn reads_files(&self) -> bool;

    /// Returns whether the program consists of intervals, so that its runs can be recorded.
    fn intervals(&self) -> bool;

    /// Returns the progress of the current run, if the program reports it.
    fn progress(&self) -> Option<Arc<Progress>>;

    /// Returns a trial of the same program, without an input.
    fn another(&self) -> Box<dyn Trial>;

    /// Returns whether the program can run tasks in parallel there.
    fn applies_to(&self, on: On<'_>) -> bool;

    /// Checks that the runtime supports what the program needs with these parameters.
    ///
    /// # Errors
    /// If the runtime lacks a feature; the message names it.
    fn fits(&self, on: On<'_>) -> Result<(), ParameterError>;

    /// Creates the input. Must be called before the first run.
    ///
    /// # Errors
    /// If the input is unavailable; the message names the input.
    fn prepare(&mut self) -> io::Result<()>;

    /// Restores the input to its initial state after a run.
    fn reset(&mut self);

    /// Runs the program once, and returns the time that this took.
    fn run(&mut self, on: On<'_>) -> Duration;

    /// Runs the program until its runs have taken [`SAMPLE`] in total, and returns the mean in
    /// nanoseconds. Each run is timed separately, so the reset before it isn't included.
    fn sample(&mut self, on: On<'_>) -> f64;

    /// Keeps the output of the last run for the next check.
    fn keep(&mut self);

    /// Ensures that there is a reference: the published answer, or else the answer of the last run.
    /// Without a last run, the serial version runs. It leaves its changes in the input.
    fn refer(&mut self);

    /// Compares all kept outputs with the reference. If there is none yet, it is the output of the
    /// last run. Returns `None` if that has been kept, because it can't be its own reference.
    fn check(&mut self) -> Option<Check>;

    /// Compares the output of the last run with the reference, and drops it.
    fn check_last(&mut self) -> Option<Check>;

    /// Returns the answer of the last run that was kept.
    ///
    /// # Panics
    /// If none was kept.
    fn answer(&self) -> &Answer;
}

impl On<'_> {
    /// Returns the runtime's name on the command line.
    pub fn name(self) -> &'static str {
        fn name<R: Runtime>(_: &R) -> &'static str {
            R::NAME
        }
        for_runtime!(self, "serial", runtime => name(runtime))
    }
}

/// A program of type `P` as a [`Trial`].
pub struct TrialOf<P: Program> {
    program: Arc<P>,
    input: Option<P::Input>,
    /// The output of the last run, until it is kept or checked.
    output: Option<P::Output>,
    kept: Vec<Found<P>>,
    reference: Option<Reference<P>>,
}

/// The result of a run.
struct Found<P: Program> {
    answer: Answer,
    output: P::Output,
}

/// The correct answer of a program, and where it comes from.
struct Reference<P: Program> {
    answer: Answer,
    source: &'static str,
    /// The serial version's output, if the answer comes from it.
    output: Option<P::Output>,
}

impl<P: Program> TrialOf<P> {
    /// Creates a trial of this program, without an input.
    pub fn new(program: P) -> Self {
        Self::of(Arc::new(program))
    }

    fn of(program: Arc<P>) -> Self {
        Self {
            program,
            input: None,
            output: None,
            kept: Vec::new(),
            reference: None,
        }
    }

    /// Returns the output of the last run that was kept.
    ///
    /// # Panics
    /// If none was kept.
    pub fn output(&self) -> &P::Output {
        &self.last().output
    }

    fn last(&self) -> &Found<P> {
        self.kept.last().expect("a run was kept")
    }

    fn take(&mut self) -> Option<Found<P>> {
        let output = self.output.take()?;
        let input = self.input.as_ref().expect(PREPARED);
        Some(Found {
            answer: self.program.answer(input, &output),
            output,
        })
    }

    /// Sets the reference, unless there is one: to the published answer, or else to the last run.
    fn find_reference(&mut self) {
        if self.reference.is_some() {
            return;
        }
        let published = self.program.published().map(|published| Reference {
            answer: published.answer,
            source: published.source,
            output: None,
        });
        self.reference = published.or_else(|| {
            let Found { answer, output } = self.take()?;
            Some(Reference {
                answer,
                source: "the serial version",
                output: Some(output),
            })
        });
    }

    /// Runs the program until its runs have taken this long in total, and resets the input before
    /// each of them; `None` stands for one run without a reset. Returns the total time and the
    /// number of runs.
    fn runs(&mut self, on: On<'_>, total: Option<Duration>) -> (Duration, u32) {
        // The conditions are constant, so the compiler doesn't instantiate bodies that never run.
        match on {
            On::Thread => self.repeat(total, |program, input| program.serial(input)),
            On::Tidegate(pool) => self.on_runtime(pool, total),
            On::Recorded(pool) if P::INTERVALS => self.on_runtime(pool, total),
            On::Threads(pool) if !P::INTERVALS => self.on_runtime(pool, total),
            #[cfg(feature = "rayon")]
            On::Rayon(pool) if !P::INTERVALS => self.on_runtime(pool, total),
            #[cfg(feature = "chili")]
            On::Chili(pool) if !P::INTERVALS => self.on_runtime(pool, total),
            _ => panic!("{} can't run on {}", P::NAME, on.name()),
        }
    }

    fn on_runtime<R: Runtime>(&mut self, runtime: &R, total: Option<Duration>) -> (Duration, u32) {
        let mut took = None;
        inside(runtime, &mut |fork| {
            let body = |program: &P, input: &mut P::Input| program.parallel::<R>(input, fork);
            took = Some(self.repeat(total, body));
        });
        took.expect("it has run")
    }

    fn repeat(
        &mut self,
        total: Option<Duration>,
        mut once: impl FnMut(&P, &mut P::Input) -> P::Output,
    ) -> (Duration, u32) {
        let input = self.input.as_mut().expect(PREPARED);
        let (mut took, mut runs) = (Duration::ZERO, 0);
        loop {
            if total.is_some() {
                self.program.reset(input);
            }
            let start = Instant::now();
            let output = black_box(once(&self.program, black_box(input)));
            took += start.elapsed();
            runs += 1;
            self.output = Some(output);
            if took >= total.unwrap_or_default() {
                return (took, runs);
            }
        }
    }
}

impl<P: Program> Reference<P> {
    /// If the answers differ, removes from both outputs whatever changed outside the program, and
    /// returns the names of what it removed.
    fn settle(&mut self, program: &P, input: &P::Input, found: &mut Found<P>) -> Vec<String> {
        let output = self.output.as_mut().filter(|_| found.answer != self.answer);
        let Some(output) = output else {
            return Vec::new();
        };
        let changed = program.settle(&mut found.output, output);
        if !changed.is_empty() {
            self.answer = program.answer(input, output);
            found.answer = program.answer(input, &found.output);
        }
        changed
    }
}

const PREPARED: &str = "the input is prepared before the first run";

/// Runs `body` as the root task on `runtime`. The body is a trait object, because otherwise each
/// program would instantiate the runtime's entry code again.
fn inside<'a, R: Runtime + 'a>(runtime: &R, body: &mut (dyn FnMut(&mut R::Fork<'_>) + Send + 'a)) {
    runtime.install(|fork| body(fork));
}

impl<P: Program> Trial for TrialOf<P> {
    fn name(&self) -> &'static str {
        P::NAME
    }

    fn parameters(&self) -> Answer {
        self.program.parameters()
    }

    fn reads_files(&self) -> bool {
        P::READS_FILES
    }

    fn intervals(&self) -> bool {
        P::INTERVALS
    }

    fn progress(&self) -> Option<Arc<Progress>> {
        self.program.progress().cloned()
    }

    fn another(&self) -> Box<dyn Trial> {
        Box::new(Self::of(self.program.clone()))
    }

    fn applies_to(&self, on: On<'_>) -> bool {
        fn applies<R: Runtime>(program: &impl Program, _: &R) -> bool {
            program.applies_to::<R>()
        }
        for_runtime!(on, true, runtime => applies(&*self.program, runtime))
    }

    fn fits(&self, on: On<'_>) -> Result<(), ParameterError> {
        for_runtime!(on, Ok(()), runtime => self.program.fits(runtime))
    }

    fn prepare(&mut self) -> io::Result<()> {
        self.input = Some(self.program.prepare()?);
        Ok(())
    }

    fn reset(&mut self) {
        self.program.reset(self.input.as_mut().expect(PREPARED));
    }

    fn run(&mut self, on: On<'_>) -> Duration {
        self.runs(on, None).0
    }

    fn sample(&mut self, on: On<'_>) -> f64 {
        let (took, runs) = self.runs(on, Some(SAMPLE));
        took.as_nanos() as f64 / f64::from(runs)
    }

    fn keep(&mut self) {
        let found = self.take();
        self.kept.extend(found);
    }

    fn refer(&mut self) {
        self.find_reference();
        if self.reference.is_none() {
            self.run(On::Thread);
            self.find_reference();
        }
        self.output = None;
    }

    fn check(&mut self) -> Option<Check> {
        self.find_reference();
        let reference = self.reference.as_mut()?;
        let input = self.input.as_ref().expect(PREPARED);
        let mut check = Check {
            reference: reference.source,
            runs: self.kept.len(),
            ..Check::default()
        };
        for found in &mut self.kept {
            let changed = reference.settle(&*self.program, input, found);
            check.wrong += usize::from(found.answer != reference.answer);
            check.changed.extend(changed);
        }
        check.changed.sort();
        check.changed.dedup();
        Some(check)
    }

    fn check_last(&mut self) -> Option<Check> {
        self.keep();
        let check = self.check();
        self.kept.clear();
        check
    }

    fn answer(&self) -> &Answer {
        &self.last().answer
    }
}
