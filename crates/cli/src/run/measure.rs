//! Running a program: on a pool or serially, repeatedly, and what it cost.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use tidegate::Stats;
use tidegate::interval::Graph;
use tidegate_workloads::{Counted, Program, Recorded, Runtime, Tidegate};

use crate::arguments::PictureArguments;
use tidegate_command::failure::Failure;
use tidegate_command::options::Options;
use tidegate_command::output::{Progress, write_file};
use tidegate_command::reference::{Found, Reference};
use tidegate_command::statistics::Summary;
use tidegate_command::usage::{self, Usage};

/// What is to be run and how.
pub struct Plan {
    /// The pool's options.
    pub options: Options,
    /// How often, at least once.
    pub repeat: u32,
    /// Whether the serial version takes the place of the parallel one.
    pub serial: bool,
    /// Of what is drawn.
    pub pictures: PictureArguments,
    /// Where the pool's notes go, if it takes any.
    pub trace: Option<PathBuf>,
}

/// What came of it.
pub struct Run<P: Program> {
    /// What the last run found, without what changed meanwhile.
    pub found: Found<P>,
    /// What it was compared with; none if there was nothing.
    pub check: Option<Check>,
    /// Times of the runs.
    pub seconds: Summary,
    /// Time of the serial version.
    pub serial_seconds: f64,
    /// What the runs used together.
    pub used: Usage,
    /// The most memory that the process had until the end of the runs, in bytes.
    pub peak_rss_bytes: Option<u64>,
    /// The most that the tasks of the runs had declared at a time, in bytes.
    pub peak_declared_bytes: u64,
    /// What the pool counted; none if there was no pool.
    pub stats: Option<Stats>,
    /// The intervals of a run that is not among those timed, if they are to be drawn.
    pub graph: Option<Graph>,
}

/// The comparison of all runs with the reference answer.
#[derive(Default)]
pub struct Check {
    /// Where that answer is from.
    pub reference: &'static str,
    /// How many runs there were.
    pub runs: usize,
    /// How many of them had another answer.
    pub wrong: usize,
    /// What changed meanwhile and was left out.
    pub changed: Vec<String>,
}

impl<P: Program> Run<P> {
    /// An error if a result is wrong.
    pub fn verdict(&self) -> Result<(), Failure> {
        match &self.check {
            Some(Check {
                runs,
                wrong,
                reference,
                ..
            }) if *wrong > 0 => Err(Failure::Wrong(format!(
                "{}: {wrong} of {runs} runs gave another answer than {reference}",
                P::NAME,
            ))),
            _ => Ok(()),
        }
    }
}

/// Runs `program` as planned and checks what comes out.
pub fn run<P: Program>(program: &P, plan: &Plan) -> Result<Run<P>, Failure> {
    let drawn = plan.pictures.wanted::<P>()?;
    let progress = Progress::start(u64::from(plan.repeat) + u64::from(!plan.serial));
    progress.say("making the input");
    let mut input = program
        .prepare()
        .map_err(|error| Failure::Impossible(error.to_string()))?;
    if plan.serial {
        let runs = repeat(program, &mut input, plan, &progress, serial);
        let took = runs.seconds.median();
        return Ok(runs.check(program, &input, Reference::published(program), took));
    }
    let pool = Tidegate::new(plan.options.build(P::NAME)?);
    program.fits(&pool)?;
    let mut runs = repeat(program, &mut input, plan, &progress, |program, input| {
        pool.install(|fork| {
            let start = Instant::now();
            let output = program.parallel::<Tidegate>(black_box(input), fork);
            (start.elapsed(), output)
        })
    });
    let stats = pool.pool().stats();
    runs.peak_declared_bytes = stats.space.peak;
    runs.stats = Some(stats);
    if let (Some(file), Some(trace)) = (&plan.trace, pool.pool().trace()) {
        write_file(file, "a trace", |out| out.write_all(&trace.to_bytes()))?;
    }
    if drawn {
        runs.record(program, &mut input, pool, &progress);
    } else {
        drop(pool);
    }
    program.reset(&mut input);
    let what = format!("{}: the serial version, to compare", P::NAME);
    let (took, output) = progress.watch(&what, program.progress(), || serial(program, &mut input));
    let found = Found::new(program, &input, output);
    let reference = Reference::published(program).unwrap_or_else(|| Reference::serial(found));
    Ok(runs.check(program, &input, Some(reference), took.as_secs_f64()))
}

/// Times one run of the serial version.
fn serial<P: Program>(program: &P, input: &mut P::Input) -> (Duration, P::Output) {
    let start = Instant::now();
    let output = program.serial(black_box(input));
    (start.elapsed(), output)
}

/// The runs before they are compared.
struct Runs<P: Program> {
    last: Found<P>,
    others: Vec<Found<P>>,
    seconds: Summary,
    used: Usage,
    peak_rss_bytes: Option<u64>,
    peak_declared_bytes: u64,
    stats: Option<Stats>,
    graph: Option<Graph>,
}

/// Runs `once` as often as planned.
fn repeat<P: Program>(
    program: &P,
    input: &mut P::Input,
    plan: &Plan,
    progress: &Progress,
    mut once: impl FnMut(&P, &mut P::Input) -> (Duration, P::Output),
) -> Runs<P> {
    let mut run = |number: u32| {
        program.reset(input);
        let what = format!("{}: run {number} of {}", P::NAME, plan.repeat);
        let (used, (took, output)) =
            Usage::of(|| progress.watch(&what, program.progress(), || once(program, input)));
        progress.step();
        (used, took.as_secs_f64(), Found::new(program, input, output))
    };
    let (mut used, took, mut last) = run(1);
    let mut seconds = Summary::new(took);
    let mut others = Vec::new();
    for number in 2..=plan.repeat {
        let (cost, took, found) = run(number);
        used = used.and(cost);
        seconds.add(took);
        others.push(std::mem::replace(&mut last, found));
    }
    Runs {
        last,
        others,
        seconds,
        used,
        peak_rss_bytes: usage::peak_rss_bytes(),
        // Of a serial version; a pool has figures of its own.
        peak_declared_bytes: Counted::take_peak(),
        stats: None,
        graph: None,
    }
}

impl<P: Program> Runs<P> {
    /// Runs once more, and takes notes.
    fn record(&mut self, program: &P, input: &mut P::Input, pool: Tidegate, progress: &Progress) {
        let what = format!("{}: a run of which notes are taken", P::NAME);
        program.reset(input);
        let pool = Recorded::new(pool);
        let output = progress.watch(&what, program.progress(), || {
            pool.install(|fork| program.parallel::<Recorded>(input, fork))
        });
        self.others.push(Found::new(program, input, output));
        self.graph = Some(pool.end());
    }

    /// Compares every run with the reference, if there is one.
    fn check(
        mut self,
        program: &P,
        input: &P::Input,
        reference: Option<Reference<P>>,
        serial_seconds: f64,
    ) -> Run<P> {
        let check = reference.map(|mut reference| {
            let mut check = Check {
                reference: reference.source(),
                runs: self.others.len() + 1,
                ..Check::default()
            };
            for found in self.others.iter_mut().chain([&mut self.last]) {
                let verdict = reference.check(program, input, found);
                check.wrong += usize::from(!verdict.agrees);
                check.changed.extend(verdict.changed);
            }
            check.changed.sort();
            check.changed.dedup();
            check
        });
        Run {
            found: self.last,
            check,
            seconds: self.seconds,
            serial_seconds,
            used: self.used,
            peak_rss_bytes: self.peak_rss_bytes,
            peak_declared_bytes: self.peak_declared_bytes,
            stats: self.stats,
            graph: self.graph,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Args, FromArgMatches};
    use std::process::ExitCode;
    use tidegate_command::options::Flags;
    use tidegate_workloads::parameter::{Parameter, ParameterError, Values};
    use tidegate_workloads::{Answer, program::Field};

    /// A program whose parallel body answers `parallel` and whose serial version answers 1.
    struct Answers {
        parallel: u64,
    }

    impl Program for Answers {
        const NAME: &'static str = "answers";
        const SUMMARY: &'static str = "";
        const PARAMETERS: &'static [Parameter] = &[];
        const RESULT: &'static [Field] = &[];
        type Input = ();
        type Output = u64;

        fn from_values(_: &Values) -> Result<Self, ParameterError> {
            Ok(Self { parallel: 1 })
        }

        fn parameters(&self) -> Answer {
            Answer::new()
        }

        fn prepare(&self) -> std::io::Result<()> {
            Ok(())
        }

        fn serial(&self, (): &mut ()) -> u64 {
            1
        }

        fn parallel<R: Runtime>(&self, (): &mut (), _: &mut R::Fork<'_>) -> u64 {
            self.parallel
        }

        fn answer(&self, (): &(), output: &u64) -> Answer {
            [("value".to_owned(), (*output).into())]
                .into_iter()
                .collect()
        }
    }

    fn run_twice(parallel: u64) -> Run<Answers> {
        let command = Flags::augment_args(clap::Command::new("test"));
        let matches = command.get_matches_from(["test", "--workers", "1"]);
        let flags = Flags::from_arg_matches(&matches).unwrap();
        let plan = Plan {
            options: Options::resolve(&flags).unwrap(),
            repeat: 2,
            serial: false,
            pictures: PictureArguments::default(),
            trace: None,
        };
        run(&Answers { parallel }, &plan).unwrap()
    }

    #[test]
    fn a_wrong_answer_is_told_and_ends_with_code_one() {
        let wrong = run_twice(2).verdict().unwrap_err();
        assert_eq!(wrong.code(), ExitCode::from(1));
        assert!(wrong.to_string().contains("2 of 2 runs"), "{wrong}");
    }

    #[test]
    fn a_right_answer_is_no_failure() {
        assert!(run_twice(1).verdict().is_ok());
    }
}
