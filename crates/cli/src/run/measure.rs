//! Runs a program repeatedly, on a pool or serially, and measures its time and resources.

use std::path::PathBuf;
use std::time::Duration;

use tidegate::Stats;
use tidegate::interval::Graph;
use tidegate_workloads::{Counted, Recorded, Tidegate};

use crate::arguments::PictureArguments;
use tidegate_command::busy::Watch;
use tidegate_command::failure::Failure;
use tidegate_command::options::Options;
use tidegate_command::output::{Progress, show_seconds, write_file};
use tidegate_command::statistics::Sample;
use tidegate_command::subject::{Check, On, Subject};
use tidegate_command::usage::{self, Usage};

/// The number of measured runs, unless the user sets it.
pub const REPEAT: u32 = 3;

/// Runs shorter than this, in seconds, say little about a runtime, because starting and waking the
/// workers dominates.
const SHORT: f64 = 10e-3;

/// What to run, and how.
pub struct Plan {
    /// The pool's options.
    pub options: Options,
    /// The number of measured runs, at least one.
    pub repeat: u32,
    /// Whether an unmeasured run comes first.
    pub warm_up: bool,
    /// Whether to run the serial version instead of the parallel version.
    pub serial: bool,
    /// The pictures to draw.
    pub pictures: PictureArguments,
    /// Where to write the pool's trace; `None` to record no trace.
    pub trace: Option<PathBuf>,
}

/// The outcome of all runs.
pub struct Run {
    /// The comparison with the reference answer; `None` if no reference is known.
    pub check: Option<Check>,
    /// Times of the measured runs.
    pub seconds: Sample,
    /// Time of the serial version.
    pub serial_seconds: f64,
    /// The resources that all measured runs together used.
    pub used: Usage,
    /// Peak memory of the process until the end of the measured runs, in bytes.
    pub peak_rss_bytes: Option<u64>,
    /// Peak of the memory that tasks had declared, in bytes.
    pub peak_declared_bytes: u64,
    /// The pool's counters; `None` if there was no pool.
    pub stats: Option<Stats>,
    /// The intervals of an additional, unmeasured run; `None` if no pictures are drawn.
    pub graph: Option<Graph>,
    /// How many processors other programs kept busy during the runs; `None` if too few to disturb
    /// the runs.
    pub disturbance: Option<f64>,
}

impl Run {
    /// Returns an error if a result is wrong.
    pub fn verdict(&self, program: &str) -> Result<(), Failure> {
        match &self.check {
            Some(Check {
                runs,
                wrong,
                reference,
                ..
            }) if *wrong > 0 => Err(Failure::Wrong(format!(
                "{program}: {wrong} of {runs} runs gave a different answer than {reference}"
            ))),
            _ => Ok(()),
        }
    }

    /// Returns reasons to distrust the times.
    pub fn notes(&self) -> Vec<String> {
        let median = self.seconds.median();
        let short = (median < SHORT).then(|| {
            let median = show_seconds(median);
            format!("{median} is too short to judge a speedup; try a larger problem")
        });
        let busy = self.disturbance.map(|others| {
            format!("machine busy: other programs used {others:.1} processors during these runs")
        });
        short.into_iter().chain(busy).collect()
    }
}

/// The runs of a program according to a plan.
pub struct Runs<'a> {
    plan: &'a Plan,
    progress: Progress,
    /// Whether to draw pictures.
    drawn: bool,
}

impl<'a> Runs<'a> {
    /// Checks the plan. The caller does this before it prepares the input.
    pub fn begin(plan: &'a Plan, name: &str, intervals: bool) -> Result<Self, Failure> {
        let drawn = plan.pictures.wanted(name, intervals)?;
        let progress = Progress::start(u64::from(plan.repeat) + u64::from(!plan.serial));
        progress.say("making the input");
        Ok(Self {
            plan,
            progress,
            drawn,
        })
    }

    /// Runs `program` as planned and checks its answers.
    pub fn all(&self, program: &mut dyn Subject<'_>) -> Result<Run, Failure> {
        if self.plan.warm_up {
            self.warm_up(program)?;
        }
        let watch = Watch::start();
        let mut run = if self.plan.serial {
            let mut run = self.repeat(program, On::Thread);
            run.serial_seconds = run.seconds.median();
            run
        } else {
            let mut run = self.on_pool(program)?;
            let (_, took) = self.once(program, "serial version, for comparison", On::Thread);
            run.serial_seconds = took.as_secs_f64();
            run
        };
        run.disturbance = watch.disturbance();
        run.check = program.check();
        Ok(run)
    }

    /// Runs once without measuring, so that files are cached and memory is mapped. This run has its
    /// own pool, so that it affects neither the counters nor the trace. Only the measured pool
    /// prints an explanation with `TIDEGATE_EXPLAIN=1`.
    fn warm_up(&self, program: &mut dyn Subject<'_>) -> Result<(), Failure> {
        const WHAT: &str = "warm-up";
        if self.plan.serial {
            self.once(program, WHAT, On::Thread);
            // Read the peak in order to reset it.
            let _ = Counted::take_peak();
            return Ok(());
        }
        let options = self.plan.options.unobserved();
        let pool = Tidegate::new(options.build(program.name())?);
        program.fits(&pool)?;
        self.once(program, WHAT, On::Pool(&pool));
        Ok(())
    }

    fn on_pool(&self, program: &mut dyn Subject<'_>) -> Result<Run, Failure> {
        let pool = Tidegate::new(self.plan.options.build(program.name())?);
        program.fits(&pool)?;
        let mut run = self.repeat(program, On::Pool(&pool));
        let stats = pool.pool().stats();
        run.peak_declared_bytes = stats.memory.peak;
        run.stats = Some(stats);
        if let (Some(file), Some(trace)) = (&self.plan.trace, pool.pool().trace()) {
            write_file(file, "a trace", |out| out.write_all(&trace.to_bytes()))?;
        }
        if self.drawn {
            run.graph = Some(self.record(program, pool));
        }
        Ok(run)
    }

    fn repeat(&self, program: &mut dyn Subject<'_>, on: On<'_>) -> Run {
        let mut used = Usage::none();
        let mut seconds = Vec::new();
        for number in 1..=self.plan.repeat {
            let what = format!("run {number} of {}", self.plan.repeat);
            let (cost, took) = self.once(program, &what, on);
            used = used.and(cost);
            seconds.push(took.as_secs_f64());
            self.progress.step();
            program.keep();
        }
        Run {
            check: None,
            seconds: Sample::new(seconds),
            serial_seconds: 0.0,
            used,
            peak_rss_bytes: usage::peak_rss_bytes(),
            // This is the serial version's peak. If there is a pool, the pool's own figure replaces
            // it.
            peak_declared_bytes: Counted::take_peak(),
            stats: None,
            graph: None,
            disturbance: None,
        }
    }

    /// Runs the program once more, to record its intervals.
    fn record(&self, program: &mut dyn Subject<'_>, pool: Tidegate) -> Graph {
        let pool = Recorded::new(pool);
        self.once(program, "recorded run", On::Recorded(&pool));
        program.keep();
        pool.end()
    }

    /// Runs the program once. `what` describes the run in the progress line.
    fn once(&self, program: &mut dyn Subject<'_>, what: &str, on: On<'_>) -> (Usage, Duration) {
        program.reset();
        let what = format!("{}: {what}", program.name());
        let shown = program.progress();
        Usage::of(|| self.progress.watch(&what, shown, || program.run(on)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Args, FromArgMatches};
    use std::process::ExitCode;
    use tidegate_command::options::Flags;
    use tidegate_command::subject::Trial;
    use tidegate_workloads::parameter::{Parameter, ParameterError, Values};
    use tidegate_workloads::{Answer, program::Field};
    use tidegate_workloads::{Program, Runtime};

    /// A program whose parallel version returns `parallel` and whose serial version returns 1.
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

    fn run_twice(parallel: u64) -> Run {
        let command = Flags::augment_args(clap::Command::new("test"));
        let matches = command.get_matches_from(["test", "--workers", "1"]);
        let flags = Flags::from_arg_matches(&matches).unwrap();
        let plan = Plan {
            options: Options::resolve(&flags).unwrap(),
            repeat: 2,
            warm_up: true,
            serial: false,
            pictures: PictureArguments::default(),
            trace: None,
        };
        let program = Answers { parallel };
        let runs = Runs::begin(&plan, Answers::NAME, false).unwrap();
        runs.all(&mut Trial::new(&program).unwrap()).unwrap()
    }

    #[test]
    fn wrong_answers_end_with_code_one() {
        let wrong = run_twice(2).verdict("answers").unwrap_err();
        assert_eq!(wrong.code(), ExitCode::from(1));
        assert!(wrong.to_string().contains("2 of 2 runs"), "{wrong}");
    }

    #[test]
    fn right_answers_are_no_failure() {
        assert!(run_twice(1).verdict("answers").is_ok());
    }

    #[test]
    fn note_reports_too_short_runs() {
        let notes = run_twice(1).notes();
        assert!(notes[0].contains("too short to judge"), "{notes:?}");
    }
}
