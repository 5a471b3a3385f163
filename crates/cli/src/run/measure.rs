//! Running a program: on a pool or serially, repeatedly, and what it cost.

use std::path::PathBuf;
use std::time::Duration;

use tidegate::Stats;
use tidegate::interval::Graph;
use tidegate_workloads::{Counted, Recorded, Tidegate};

use crate::arguments::PictureArguments;
use tidegate_command::failure::Failure;
use tidegate_command::options::Options;
use tidegate_command::output::{Progress, write_file};
use tidegate_command::statistics::Sample;
use tidegate_command::subject::{Check, On, Subject};
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
pub struct Run {
    /// What it was compared with; none if there was nothing.
    pub check: Option<Check>,
    /// Times of the runs.
    pub seconds: Sample,
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

impl Run {
    /// An error if a result is wrong.
    pub fn verdict(&self, program: &str) -> Result<(), Failure> {
        match &self.check {
            Some(Check {
                runs,
                wrong,
                reference,
                ..
            }) if *wrong > 0 => Err(Failure::Wrong(format!(
                "{program}: {wrong} of {runs} runs gave another answer than {reference}"
            ))),
            _ => Ok(()),
        }
    }
}

/// The runs of a program.
pub struct Runs<'a> {
    plan: &'a Plan,
    progress: Progress,
    /// Whether pictures are to be drawn.
    drawn: bool,
}

impl<'a> Runs<'a> {
    /// The input is made next.
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

    /// Runs `program` as planned and checks what comes out.
    pub fn all(&self, program: &mut dyn Subject<'_>) -> Result<Run, Failure> {
        let mut run = if self.plan.serial {
            let mut run = self.repeat(program, On::Thread);
            run.serial_seconds = run.seconds.median();
            run
        } else {
            let mut run = self.on_pool(program)?;
            let (_, took) = self.once(program, "the serial version, to compare", On::Thread);
            run.serial_seconds = took.as_secs_f64();
            run
        };
        run.check = program.check();
        Ok(run)
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

    /// Runs as often as planned.
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
            // Of a serial version; a pool has figures of its own.
            peak_declared_bytes: Counted::take_peak(),
            stats: None,
            graph: None,
        }
    }

    /// Runs once more, and takes notes.
    fn record(&self, program: &mut dyn Subject<'_>, pool: Tidegate) -> Graph {
        let pool = Recorded::new(pool);
        self.once(
            program,
            "a run of which notes are taken",
            On::Recorded(&pool),
        );
        program.keep();
        pool.end()
    }

    /// Runs once, which is `what`.
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

    fn run_twice(parallel: u64) -> Run {
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
        let program = Answers { parallel };
        let runs = Runs::begin(&plan, Answers::NAME, false).unwrap();
        runs.all(&mut Trial::new(&program).unwrap()).unwrap()
    }

    #[test]
    fn a_wrong_answer_is_told_and_ends_with_code_one() {
        let wrong = run_twice(2).verdict("answers").unwrap_err();
        assert_eq!(wrong.code(), ExitCode::from(1));
        assert!(wrong.to_string().contains("2 of 2 runs"), "{wrong}");
    }

    #[test]
    fn a_right_answer_is_no_failure() {
        assert!(run_twice(1).verdict("answers").is_ok());
    }
}
