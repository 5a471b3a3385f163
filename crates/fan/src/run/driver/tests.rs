//! Engines that fail in the ways that `docs/fan.md` lists.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::*;
use crate::folder::{Folder, record};
use crate::publish::Attempt;
use crate::{Budget, Done, Split, Weighted};

/// A program without results.
#[derive(clap::Args, Serialize, Deserialize)]
struct Nothing {}

#[derive(Serialize)]
struct Report;

impl fmt::Display for Report {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

impl Split for Nothing {
    const NAME: &'static str = "nothing";
    const VERSION: &'static str = "1";
    type Item = ();
    type Out = ();
    type Report = Report;

    fn plan(&self, _: usize) -> Result<Vec<Weighted<()>>, Error> {
        Ok(Vec::new())
    }

    fn run(&self, (): (), _: &Budget) -> Result<Done<(), ()>, Error> {
        Ok(Done::whole(()))
    }

    fn merge(&self, _: Vec<()>) -> Result<Report, Error> {
        Ok(Report)
    }
}

/// How a fake engine fails.
#[derive(Clone, Copy, Default)]
struct Faults {
    /// `submit` fails.
    refuses: bool,
    /// But it has the job, and `find` knows it when it is called so many times.
    takes: Option<usize>,
    /// No piece publishes.
    loses: bool,
    /// `ended` fails.
    is_silent: bool,
    /// The pieces publish and end between the first call of `ended` and the second.
    is_slow: bool,
    /// After `submit`, nothing can be written into `jobs`.
    blocks: bool,
    /// The engine's command is missing, so `ended` can never succeed.
    is_missing: bool,
}

/// What `jobs` says of a submission.
type Recorded = (Submission, Option<String>);

/// What a fake engine was asked for.
#[derive(Default)]
struct Asked {
    submissions: Vec<Submission>,
    polls: usize,
    searches: usize,
    cancelled: usize,
}

struct Fake {
    folder: Folder,
    faults: Faults,
    asked: Rc<RefCell<Asked>>,
}

impl Fake {
    fn publish(&self, items: &[Name]) {
        if !self.faults.loses {
            for item in items {
                let attempt = Attempt::begin(&self.folder, item).expect("a file");
                attempt
                    .publish::<Nothing>(&Done::whole(()))
                    .expect("a result");
            }
        }
    }
}

impl Engine for Fake {
    fn submit(&mut self, submission: &Submission) -> Result<String, Error> {
        self.asked.borrow_mut().submissions.push(submission.clone());
        if !self.faults.refuses {
            self.publish(&submission.items);
        }
        if self.faults.blocks {
            let jobs = self.folder.path().join("jobs");
            fs::remove_file(&jobs).expect("a file");
            fs::create_dir(&jobs).expect("a folder");
        }
        match self.faults.refuses {
            true => Err(Error::perhaps("no luck")),
            false => Ok(submission.name.clone()),
        }
    }

    fn find(&mut self, submission: &str) -> Result<Option<String>, Error> {
        let mut asked = self.asked.borrow_mut();
        asked.searches += 1;
        let has_started = self
            .faults
            .takes
            .is_some_and(|start| asked.searches >= start);
        if has_started {
            let taken = asked
                .submissions
                .iter()
                .find(|taken| taken.name == submission);
            let items = taken.map_or_else(both, |taken| taken.items.clone());
            self.publish(&items);
        }
        Ok(has_started.then(|| submission.to_owned()))
    }

    fn ended(&mut self, job: &Job) -> Result<Vec<Ended>, Error> {
        if self.faults.is_missing {
            return Err(Error::never("no command"));
        }
        if self.faults.is_silent {
            return Err(Error::perhaps("no answer"));
        }
        let mut asked = self.asked.borrow_mut();
        asked.polls += 1;
        if self.faults.is_slow {
            match asked.polls {
                1 => return Ok(Vec::new()),
                _ => self.publish(&job.submission.items),
            }
        }
        let items = job.submission.items.iter();
        Ok(items.map(|item| ended(item, 0, "")).collect())
    }

    fn cancel(&mut self, _: &Job) -> Result<(), Error> {
        self.asked.borrow_mut().cancelled += 1;
        Ok(())
    }

    fn manifest(&self, _: &Submission) -> String {
        String::new()
    }
}

fn both() -> Vec<Name> {
    [0, 1].map(Name::planned).to_vec()
}

/// Runs two items, with two retries. Returns how that ended, what the engine was asked for, and the
/// jobs that are recorded. If `is_resumed`, a job with both items is recorded before.
fn run(faults: Faults, is_resumed: bool) -> (Result<End, Error>, Asked, Vec<Recorded>) {
    run_in(|_| (), faults, is_resumed)
}

/// Like `run`, but in a folder that was prepared.
fn run_in(
    prepare: impl Fn(&Folder),
    faults: Faults,
    is_resumed: bool,
) -> (Result<End, Error>, Asked, Vec<Recorded>) {
    let dir = TempDir::new().expect("a folder");
    let folder = || Folder::new(dir.path(), "0123456789".to_owned());
    let asked = Rc::new(RefCell::new(Asked::default()));
    let engine = Fake {
        folder: folder(),
        faults,
        asked: Rc::clone(&asked),
    };
    let folder = folder();
    prepare(&folder);
    let book = Book {
        folder: &folder,
        engine: "fake",
    };
    if is_resumed {
        let submission = book.list(both()).expect("a list");
        book.note_submission(&submission).expect("a line");
        book.note_job(&submission.name, "old").expect("a line");
    }
    let interrupt = Interrupt::default();
    let mut driver = Driver::new(&book, vec![1, 1], Box::new(engine), 2, &interrupt);
    driver.poll = Duration::ZERO;
    let end = driver.run();
    driver.finish();
    let jobs = book.jobs();
    (end, asked.take(), jobs)
}

#[test]
fn faultless_engine_is_asked_once() {
    let (end, asked, jobs) = run(Faults::default(), false);
    assert!(matches!(end, Ok(End::Published)));
    assert_eq!((asked.submissions.len(), asked.cancelled), (1, 0));
    assert_eq!(jobs[0].1.as_ref(), Some(&asked.submissions[0].name));
}

#[test]
fn started_job_is_found() {
    let faults = Faults {
        refuses: true,
        takes: Some(1),
        ..Faults::default()
    };
    let (end, asked, jobs) = run(faults, false);
    assert!(matches!(end, Ok(End::Published)));
    assert_eq!((asked.submissions.len(), jobs.len()), (1, 1));
}

#[test]
fn refusing_engine_ends_the_run() {
    let faults = Faults {
        refuses: true,
        ..Faults::default()
    };
    let (end, asked, jobs) = run(faults, false);
    assert!(matches!(end, Err(error) if error.to_string() == "no luck"));
    assert_eq!((asked.submissions.len(), jobs.len()), (3, 3));
    assert!(jobs.iter().all(|(_, id)| id.is_none()));
}

#[test]
fn lost_results_fail() {
    let faults = Faults {
        loses: true,
        ..Faults::default()
    };
    let (end, asked, _) = run(faults, false);
    assert!(matches!(end, Ok(End::Failed(error)) if error.code() == 1));
    assert_eq!(asked.submissions.len(), 3);
}

#[test]
fn results_count_without_an_answer() {
    let faults = Faults {
        is_silent: true,
        ..Faults::default()
    };
    let (end, asked, _) = run(faults, false);
    assert!(matches!(end, Ok(End::Published)));
    assert_eq!((asked.submissions.len(), asked.cancelled), (1, 1));
}

#[test]
fn recorded_job_is_waited_for() {
    let faults = Faults {
        is_slow: true,
        ..Faults::default()
    };
    let (end, asked, jobs) = run(faults, true);
    assert!(matches!(end, Ok(End::Published)));
    assert_eq!((asked.submissions.len(), jobs.len()), (0, 1));
}

#[test]
fn forgotten_job_is_submitted_again() {
    let (end, asked, jobs) = run(Faults::default(), true);
    assert!(matches!(end, Ok(End::Published)));
    assert_eq!((asked.submissions.len(), jobs.len()), (1, 2));
}

#[test]
fn missing_command_ends_a_resumed_run() {
    let faults = Faults {
        is_missing: true,
        ..Faults::default()
    };
    let (end, asked, _) = run(faults, true);
    assert!(matches!(end, Err(error) if error.to_string() == "no command"));
    assert!(asked.submissions.is_empty());
}

#[test]
fn old_failures_are_not_final() {
    let fail = |folder: &Folder| {
        let item = Name::planned(0);
        record(folder.path(), &item, &Error::never("old")).expect("a line");
    };
    let faults = Faults {
        is_slow: true,
        loses: true,
        ..Faults::default()
    };
    let (end, asked, _) = run_in(fail, faults, true);
    assert!(matches!(end, Ok(End::Failed(error)) if error.code() == 1));
    assert_eq!(asked.submissions.len(), 2);
}

#[test]
fn unrecorded_job_is_cancelled() {
    let faults = Faults {
        loses: true,
        blocks: true,
        ..Faults::default()
    };
    let (end, asked, _) = run(faults, false);
    assert!(end.is_err());
    assert_eq!((asked.submissions.len(), asked.cancelled), (1, 1));
}

#[test]
fn nothing_is_submitted_without_a_record() {
    let block = |folder: &Folder| fs::create_dir(folder.path().join("jobs")).expect("a folder");
    let (end, asked, _) = run_in(block, Faults::default(), false);
    assert!(end.is_err());
    assert!(asked.submissions.is_empty());
}

#[test]
fn late_job_is_found_before_the_next_submission() {
    let faults = Faults {
        refuses: true,
        takes: Some(2),
        ..Faults::default()
    };
    let (end, asked, jobs) = run(faults, false);
    assert!(matches!(end, Ok(End::Published)));
    assert_eq!((asked.submissions.len(), asked.searches), (1, 2));
    assert_eq!(jobs[0].1.as_ref(), Some(&jobs[0].0.name));
}

#[test]
fn late_job_is_cancelled_at_the_end() {
    let faults = Faults {
        refuses: true,
        loses: true,
        // Each submission asks once before and once after it about all that had no answer.
        takes: Some(1 + 3 + 5 + 1),
        ..Faults::default()
    };
    let (end, asked, _) = run(faults, false);
    assert!(matches!(end, Err(error) if error.to_string() == "no luck"));
    assert_eq!((asked.submissions.len(), asked.cancelled), (3, 3));
}

/// The earlier `run` was killed before the engine answered.
#[test]
fn unanswered_submission_of_an_earlier_run_is_found() {
    let submit = |folder: &Folder| {
        let book = Book {
            folder,
            engine: "fake",
        };
        let submission = book.list(both()).expect("a list");
        book.note_submission(&submission).expect("a line");
    };
    let faults = Faults {
        takes: Some(1),
        ..Faults::default()
    };
    let (end, asked, jobs) = run_in(submit, faults, false);
    assert!(matches!(end, Ok(End::Published)));
    assert!(asked.submissions.is_empty());
    assert_eq!(jobs[0].1.as_ref(), Some(&jobs[0].0.name));
}

/// Makes a driver for one item, which has surveyed its folder.
fn with_driver(test: impl FnOnce(Driver<'_>, &Folder)) {
    let dir = TempDir::new().expect("a folder");
    let folder = || Folder::new(dir.path(), "0123456789".to_owned());
    let engine = Fake {
        folder: folder(),
        faults: Faults::default(),
        asked: Rc::default(),
    };
    let folder = folder();
    let book = Book {
        folder: &folder,
        engine: "fake",
    };
    let interrupt = Interrupt::default();
    let mut driver = Driver::new(&book, vec![1], Box::new(engine), 2, &interrupt);
    driver.survey().expect("a survey");
    test(driver, &folder);
}

fn ended(item: &Name, code: i32, text: &str) -> Ended {
    Ended {
        item: item.clone(),
        code: Some(code),
        text: text.to_owned(),
    }
}

/// A network file system may list a folder as it was before the result was published.
#[test]
fn unlisted_result_is_no_failure() {
    with_driver(|mut driver, folder| {
        let item = Name::planned(0);
        let rest = vec![Weighted {
            item: (),
            weight: 1,
        }];
        let attempt = Attempt::begin(folder, &item).expect("a file");
        let split = Done { out: (), rest };
        attempt.publish::<Nothing>(&split).expect("a result");
        driver.count(ended(&item, 0, "")).expect("a result");
        assert!(driver.schedule.failures([&item].into_iter()).is_empty());
        assert!(driver.survey.missing().eq([&item.child(0)]));
        let attempt = Attempt::begin(folder, &item.child(0)).expect("a file");
        let whole = Done::whole(());
        attempt.publish::<Nothing>(&whole).expect("a result");
        // So does `merge`.
        let mut survey = Survey::default();
        survey.weights.insert(item, 1);
        folder.look_up_missing(&mut survey).expect("results");
        assert_eq!((survey.published.len(), survey.weights.len()), (2, 2));
    });
}

#[test]
fn message_has_one_line() {
    with_driver(|driver, _| {
        let ended = ended(&Name::planned(0), 1, "no\nluck");
        assert_eq!(driver.unlogged(&ended).text, "no luck");
    });
}

#[test]
fn cut_off_lines_cost_no_others() {
    with_driver(|driver, folder| {
        let item = Name::planned(0);
        let cut = [b"{\"host\":\"", &"ä".as_bytes()[..1]].concat();
        for name in ["0.err", "jobs"] {
            fs::write(folder.path().join(name), &cut).expect("a file");
        }
        record(folder.path(), &item, &Error::never("no")).expect("a line");
        let submission = driver.book.list(vec![item.clone()]).expect("a list");
        driver.book.note_submission(&submission).expect("a line");
        assert_eq!(folder.failures(&item).len(), 1);
        assert_eq!(driver.book.jobs().len(), 1);
    });
}
