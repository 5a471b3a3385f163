//! Runs a program repeatedly, on a pool or serially, and measures the times and the resources used.

use std::path::PathBuf;
use std::time::Duration;

use tidegate::Stats;
use tidegate::interval::Graph;
use tidegate_workloads::trial::Check;
use tidegate_workloads::{Counted, On, Recorded, Tidegate, Trial};

use super::pictures::PictureArguments;
use tidegate_cli_support::busy::Watch;
use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::options::Options;
use tidegate_cli_support::output::{Progress, show_seconds, write_file};
use tidegate_cli_support::statistics::Sample;
use tidegate_cli_support::usage::{self, Usage};

/// The default number of measured runs.
pub const REPEAT: u32 = 3;

/// The time in seconds below which a run is too short to judge a runtime, because starting and
/// waking workers dominates.
const SHORT: f64 = 10e-3;

pub struct Plan {
    pub options: Options,
    /// The number of measured runs, at least one.
    pub repeat: u32,
    /// Whether an unmeasured run comes first.
    pub warm_up: bool,
    /// Whether to run only the serial version, without a pool.
    pub serial: bool,
    pub pictures: PictureArguments,
    /// Where to write the pool's trace; `None` to record no trace.
    pub trace: Option<PathBuf>,
}

/// The results of all runs.
pub struct Run {
    /// How the answers compare with the reference; `None` if no reference is known.
    pub check: Option<Check>,
    /// The times of the measured runs.
    pub seconds: Sample,
    /// The time of the serial version in seconds.
    pub serial_seconds: f64,
    /// The resources that all measured runs together used.
    pub used: Usage,
    /// The process's peak memory in bytes, read after the last measured run.
    pub peak_rss_bytes: Option<u64>,
    /// The peak of the memory that tasks declared, in bytes.
    pub peak_declared_bytes: u64,
    /// The pool's statistics; `None` if there was no pool.
    pub stats: Option<Stats>,
    /// The intervals of an additional, unmeasured run; `None` if no pictures are drawn.
    pub graph: Option<Graph>,
    /// How many processors other programs kept busy during the runs; `None` if they were too few to
    /// disturb the runs.
    pub disturbance: Option<f64>,
}

impl Run {
    /// Returns a failure if any answer is wrong.
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

/// Carries out the runs of a plan.
pub struct Runs<'a> {
    plan: &'a Plan,
    progress: Progress,
    drawn: bool,
}

impl<'a> Runs<'a> {
    /// Checks the plan. Must be called before the input is prepared, so that an invalid plan fails
    /// early.
    pub fn begin(plan: &'a Plan, program: &dyn Trial) -> Result<Self, Failure> {
        let drawn = plan.pictures.wanted(program.name(), program.intervals())?;
        let progress = Progress::start(u64::from(plan.repeat) + u64::from(!plan.serial));
        progress.say("making the input");
        Ok(Self {
            plan,
            progress,
            drawn,
        })
    }

    /// Runs `program` as planned, and checks its answers.
    pub fn all(&self, program: &mut dyn Trial) -> Result<Run, Failure> {
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

    /// Runs the program once without measuring it, so that files are cached and memory is mapped.
    /// This run has its own pool, so it affects neither the counters nor the trace, and only the
    /// measured pool prints an explanation if `TIDEGATE_EXPLAIN=1` is set.
    fn warm_up(&self, program: &mut dyn Trial) -> Result<(), Failure> {
        const WHAT: &str = "warm-up";
        if self.plan.serial {
            self.once(program, WHAT, On::Thread);
            // Reading the peak resets it, so that the warm-up does not count.
            let _ = Counted::take_peak();
            return Ok(());
        }
        let options = self.plan.options.unobserved();
        let pool = Tidegate::new(options.build(program.name())?);
        program.fits(On::Tidegate(&pool))?;
        self.once(program, WHAT, On::Tidegate(&pool));
        Ok(())
    }

    fn on_pool(&self, program: &mut dyn Trial) -> Result<Run, Failure> {
        let pool = Tidegate::new(self.plan.options.build(program.name())?);
        program.fits(On::Tidegate(&pool))?;
        let mut run = self.repeat(program, On::Tidegate(&pool));
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

    fn repeat(&self, program: &mut dyn Trial, on: On<'_>) -> Run {
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
            // The peak of the serial version. If there is a pool, the pool's own count replaces it.
            peak_declared_bytes: Counted::take_peak(),
            stats: None,
            graph: None,
            disturbance: None,
        }
    }

    /// Runs the program once more in order to record its intervals.
    fn record(&self, program: &mut dyn Trial, pool: Tidegate) -> Graph {
        let pool = Recorded::new(pool);
        self.once(program, "recorded run", On::Recorded(&pool));
        program.keep();
        pool.end()
    }

    /// Runs the program once. The progress line shows `what`.
    fn once(&self, program: &mut dyn Trial, what: &str, on: On<'_>) -> (Usage, Duration) {
        program.reset();
        let what = format!("{}: {what}", program.name());
        let shown = program.progress();
        Usage::of(|| {
            self.progress
                .watch(&what, shown.as_deref(), || program.run(on))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Args, FromArgMatches};
    use std::process::ExitCode;
    use tidegate_cli_support::options::Flags;
    use tidegate_workloads::parameter::{Parameter, ParameterError, Values};
    use tidegate_workloads::{Answer, program::Field};
    use tidegate_workloads::{Program, Runtime, TrialOf};

    /// A program whose parallel version answers `parallel` and whose serial version answers 1.
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
        let mut trial = TrialOf::new(Answers { parallel });
        let runs = Runs::begin(&plan, &trial).unwrap();
        trial.prepare().unwrap();
        runs.all(&mut trial).unwrap()
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
