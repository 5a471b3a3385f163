//! Engines that fail in the ways that `docs/fan.md` lists.

mod queue;

use std::cell::RefCell;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::*;
use crate::engine::Queue;
use crate::folder::{Folder, record};
use crate::publish::Attempt;
use crate::testing::split;
use crate::{Done, Weighted};

/// A program without results.
#[derive(clap::Args, Serialize, Deserialize)]
struct Nothing {}

split!(Nothing, "nothing");

/// How a fake engine fails.
#[derive(Clone, Copy, Default)]
struct Faults {
    /// `submit` is refused.
    refuses: bool,
    /// `submit` has no answer.
    is_mute: bool,
    /// But there is a job, which `find` knows when it is called so many times.
    starts: Option<usize>,
    /// `find` is refused.
    is_blind: bool,
    /// No piece publishes.
    loses: bool,
    /// `ended` has no answer.
    is_silent: bool,
    /// The pieces publish and end between the first call of `ended` and the second.
    is_slow: bool,
    /// A signal is caught during `ended`.
    interrupts: bool,
    /// After `submit`, nothing can be written into `jobs`.
    blocks: bool,
    /// No piece ends.
    waits: bool,
    /// How many pieces run, as `queue` says.
    running: usize,
    /// The engine's command is missing, so `ended` can never succeed.
    is_missing: bool,
}

impl Faults {
    fn with(set: impl FnOnce(&mut Self)) -> Self {
        let mut faults = Self::default();
        set(&mut faults);
        faults
    }
}

/// What `jobs` says of a submission.
type Recorded = (Submission, Option<String>);

/// What a fake engine was asked for.
#[derive(Default)]
struct Asked {
    submissions: Vec<Submission>,
    /// The jobs about which `ended` was asked.
    polls: Vec<String>,
    searches: usize,
    /// How often `queue` was asked.
    queues: usize,
    cancelled: usize,
}

struct Fake {
    folder: Folder,
    faults: Faults,
    asked: Rc<RefCell<Asked>>,
    interrupt: Interrupt,
}

impl Fake {
    fn boxed(
        folder: &Folder,
        faults: Faults,
        asked: &Rc<RefCell<Asked>>,
        interrupt: &Interrupt,
    ) -> Box<Self> {
        Box::new(Self {
            folder: Folder::new(folder.path(), folder.plan().to_owned()),
            faults,
            asked: Rc::clone(asked),
            interrupt: interrupt.clone(),
        })
    }

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
    fn submit(&mut self, submission: &Submission) -> Result<String, Fault> {
        self.asked.borrow_mut().submissions.push(submission.clone());
        if self.faults.blocks {
            let jobs = self.folder.path().join("jobs");
            fs::remove_file(&jobs).expect("a file");
            fs::create_dir(&jobs).expect("a folder");
        }
        if self.faults.refuses {
            return Err(Fault::Refused(Error::perhaps("no luck")));
        }
        if self.faults.is_mute {
            return Err(Fault::Silent(Error::perhaps("no answer")));
        }
        self.publish(&submission.items);
        Ok(submission.name.clone())
    }

    fn find(&mut self, submission: &str) -> Result<Option<String>, Fault> {
        let mut asked = self.asked.borrow_mut();
        asked.searches += 1;
        if self.faults.is_blind {
            return Err(Fault::Refused(Error::perhaps("no list")));
        }
        let starts = self.faults.starts;
        let has_started = starts.is_some_and(|start| asked.searches >= start);
        if has_started {
            let mut given = asked.submissions.iter();
            let given = given.find(|given| given.name == submission);
            let items = given.map_or_else(both, |given| given.items.clone());
            self.publish(&items);
        }
        Ok(has_started.then(|| submission.to_owned()))
    }

    fn ended(&mut self, job: &Job) -> Result<Vec<Ended>, Fault> {
        let mut asked = self.asked.borrow_mut();
        asked.polls.push(job.id.clone());
        if self.faults.is_missing {
            return Err(Fault::Refused(Error::never("no command")));
        }
        if self.faults.is_silent {
            return Err(Fault::Silent(Error::perhaps("no answer")));
        }
        if self.faults.interrupts {
            self.interrupt.catch(2);
        }
        if self.faults.is_slow {
            match asked.polls.len() {
                1 => return Ok(Vec::new()),
                _ => self.publish(&job.submission.items),
            }
        }
        if self.faults.waits {
            return Ok(Vec::new());
        }
        let items = job.submission.items.iter();
        Ok(items.map(|item| ended(item, 0, "")).collect())
    }

    fn queue(&mut self, job: &Job) -> Result<Queue, Fault> {
        self.asked.borrow_mut().queues += 1;
        Ok(Queue {
            running: self.faults.running,
            waiting: job.submission.items.len(),
            reason: "no node is idle".to_owned(),
        })
    }

    fn cancel(&mut self, _: &Job) -> Result<(), Fault> {
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
fn run(faults: Faults, is_resumed: bool) -> (Result<(), Error>, Asked, Vec<Recorded>) {
    run_in(|_| (), faults, is_resumed)
}

/// Like `run`, but in a folder that was prepared.
fn run_in(
    prepare: impl Fn(&Folder),
    faults: Faults,
    is_resumed: bool,
) -> (Result<(), Error>, Asked, Vec<Recorded>) {
    let dir = TempDir::new().expect("a folder");
    let folder = Folder::new(dir.path(), "0123456789".to_owned());
    let asked = Rc::default();
    let interrupt = Interrupt::default();
    let engine = Fake::boxed(&folder, faults, &asked, &interrupt);
    prepare(&folder);
    let book = Book::new(&folder, "fake");
    if is_resumed {
        let submission = book.list(both()).expect("a list");
        book.note_submission(&submission).expect("a line");
        book.note_job(&submission.name, "old").expect("a line");
    }
    let mut driver = Driver::new(
        &book,
        Survey::new(&[1, 1]),
        engine,
        String::new(),
        2,
        &interrupt,
    );
    driver.poll = Duration::ZERO;
    let end = driver.run();
    driver.finish();
    let jobs = book.jobs().unwrap_or_default();
    (end, asked.take(), jobs)
}

#[test]
fn faultless_engine_is_asked_once() {
    let (end, asked, jobs) = run(Faults::default(), false);
    assert!(end.is_ok());
    assert_eq!((asked.submissions.len(), asked.cancelled), (1, 0));
    assert_eq!(jobs[0].1.as_ref(), Some(&asked.submissions[0].name));
}

#[test]
fn started_job_is_found() {
    let faults = Faults::with(|it| (it.is_mute, it.starts) = (true, Some(1)));
    let (end, asked, jobs) = run(faults, false);
    assert!(end.is_ok());
    assert_eq!((asked.submissions.len(), jobs.len()), (1, 1));
}

#[test]
fn refusing_engine_ends_the_run() {
    let faults = Faults::with(|it| it.refuses = true);
    let (end, asked, jobs) = run(faults, false);
    assert!(matches!(end, Err(error) if error.to_string() == "no luck"));
    assert_eq!((asked.submissions.len(), jobs.len()), (3, 0));
    // It was looked for once, because the engine may have taken it all the same.
    assert_eq!(asked.searches, 3);
}

/// Slurm may have a submission that timed out with an error.
#[test]
fn refused_submission_that_cannot_be_looked_up_is_kept() {
    let faults = Faults::with(|it| (it.refuses, it.is_blind) = (true, true));
    let (end, asked, jobs) = run(faults, false);
    assert!(matches!(end, Err(error) if error.to_string() == "no list"));
    // Nothing else is submitted before it is known whether there is a job.
    assert_eq!(asked.submissions.len(), 1);
    assert_eq!((jobs.len(), &jobs[0].1), (1, &None));
}

#[test]
fn lost_results_fail() {
    let faults = Faults::with(|it| it.loses = true);
    let (end, asked, _) = run(faults, false);
    assert!(matches!(end, Err(error) if error.code() == 1));
    assert_eq!(asked.submissions.len(), 3);
}

#[test]
fn results_count_without_an_answer() {
    let faults = Faults::with(|it| it.is_silent = true);
    let (end, asked, _) = run(faults, false);
    assert!(end.is_ok());
    assert_eq!((asked.submissions.len(), asked.cancelled), (1, 1));
}

#[test]
fn recorded_job_is_waited_for() {
    let faults = Faults::with(|it| it.is_slow = true);
    let (end, asked, jobs) = run(faults, true);
    assert!(end.is_ok());
    assert_eq!((asked.submissions.len(), jobs.len()), (0, 1));
}

#[test]
fn forgotten_job_is_submitted_again() {
    let (end, asked, jobs) = run(Faults::default(), true);
    assert!(end.is_ok());
    assert_eq!((asked.submissions.len(), jobs.len()), (1, 2));
}

#[test]
fn missing_command_ends_a_resumed_run() {
    let faults = Faults::with(|it| it.is_missing = true);
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
    let faults = Faults::with(|it| (it.is_slow, it.loses) = (true, true));
    let (end, asked, _) = run_in(fail, faults, true);
    assert!(matches!(end, Err(error) if error.code() == 1));
    assert_eq!(asked.submissions.len(), 2);
}

#[test]
fn unrecorded_job_is_cancelled() {
    let faults = Faults::with(|it| (it.loses, it.blocks) = (true, true));
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
    let faults = Faults::with(|it| (it.is_mute, it.starts) = (true, Some(2)));
    let (end, asked, jobs) = run(faults, false);
    assert!(end.is_ok());
    assert_eq!((asked.submissions.len(), asked.searches), (1, 2));
    assert_eq!(jobs[0].1.as_ref(), Some(&jobs[0].0.name));
}

#[test]
fn late_job_is_cancelled_at_the_end() {
    let faults = Faults {
        is_mute: true,
        loses: true,
        // Each submission is looked for once after it, and once before each later one.
        starts: Some(1 + 2 + 3 + 1),
        ..Faults::default()
    };
    let (end, asked, _) = run(faults, false);
    assert!(matches!(end, Err(error) if error.to_string() == "no answer"));
    assert_eq!((asked.submissions.len(), asked.cancelled), (3, 3));
}

/// The earlier `run` was killed before the engine answered.
#[test]
fn unanswered_submission_of_an_earlier_run_is_found() {
    let submit = |folder: &Folder| {
        let book = Book::new(folder, "fake");
        let submission = book.list(both()).expect("a list");
        book.note_submission(&submission).expect("a line");
    };
    let faults = Faults::with(|it| it.starts = Some(1));
    let (end, asked, jobs) = run_in(submit, faults, false);
    assert!(end.is_ok());
    assert!(asked.submissions.is_empty());
    assert_eq!(jobs[0].1.as_ref(), Some(&jobs[0].0.name));
    // Its failures are no attempts of this run.
    let faults = Faults {
        loses: true,
        ..faults
    };
    let (end, asked, _) = run_in(submit, faults, false);
    assert!(end.is_err());
    assert_eq!(asked.submissions.len(), 3);
}

#[test]
fn interrupted_run_submits_nothing() {
    let faults = Faults::with(|it| (it.loses, it.interrupts) = (true, true));
    let (end, asked, _) = run(faults, false);
    assert!(end.is_ok());
    assert_eq!(asked.submissions.len(), 1);
}

#[test]
fn published_run_needs_no_engine() {
    let publish = |folder: &Folder| {
        for item in both() {
            let attempt = Attempt::begin(folder, &item).expect("a file");
            let done = Done::whole(());
            attempt.publish::<Nothing>(&done).expect("a result");
        }
    };
    let faults = Faults::with(|it| it.is_missing = true);
    let (end, asked, _) = run_in(publish, faults, true);
    assert!(end.is_ok());
    assert_eq!((asked.polls.len(), asked.cancelled), (0, 0));
}

/// A call that has no answer takes as long as its limit.
#[test]
fn silent_engine_is_asked_about_one_job_at_a_time() {
    with_driver(|mut driver, folder| {
        let asked = Rc::<RefCell<Asked>>::default();
        let faults = Faults::with(|it| it.is_silent = true);
        driver.engine = Fake::boxed(folder, faults, &asked, driver.interrupt);
        for id in ["a", "b", "c"] {
            let submission = driver.book.list(both()).expect("a list");
            let id = id.to_owned();
            driver.schedule.submitted(Job { id, submission });
        }
        for _ in 0..4 {
            driver.next_question = Instant::now();
            assert!(driver.ask().expect("no error").is_empty());
        }
        assert_eq!(asked.borrow().polls, ["a", "b", "c", "a"]);
    });
}

/// Makes a driver for one item, which has surveyed its folder.
fn with_driver(test: impl FnOnce(Driver<'_>, &Folder)) {
    let dir = TempDir::new().expect("a folder");
    let folder = Folder::new(dir.path(), "0123456789".to_owned());
    let interrupt = Interrupt::default();
    let engine = Fake::boxed(&folder, Faults::default(), &Rc::default(), &interrupt);
    let book = Book::new(&folder, "fake");
    let mut driver = Driver::new(
        &book,
        Survey::new(&[1]),
        engine,
        String::new(),
        2,
        &interrupt,
    );
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
        let found = folder.look_up_missing(&mut survey, |_, error| Err(error));
        found.expect("results");
        assert_eq!((survey.published.len(), survey.weights.len()), (2, 2));
    });
}

/// It was left by a piece whose result the listing does not show.
#[test]
fn unknown_item_is_no_failure() {
    with_driver(|mut driver, folder| {
        let item = Name::planned(0).child(3);
        let attempt = Attempt::begin(folder, &item).expect("a file");
        let whole = Done::whole(());
        attempt.publish::<Nothing>(&whole).expect("a result");
        driver.count(ended(&item, 0, "")).expect("no failure");
        assert_eq!(driver.survey.weight(), (0, 1));
    });
}

#[test]
fn jobs_are_cancelled_without_a_survey() {
    let contradict = |folder: &Folder| {
        let file = folder.path().join("0~here~1~1.differs");
        fs::write(file, "").expect("a file");
    };
    let (end, asked, _) = run_in(contradict, Faults::default(), true);
    assert!(end.is_err());
    assert_eq!((asked.submissions.len(), asked.cancelled), (0, 1));
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
        assert_eq!(folder.failures(&item).expect("a file").len(), 1);
        assert_eq!(driver.book.jobs().expect("a file").len(), 1);
    });
}
