//! Engines that fail in the ways that `docs/fan.md` lists.

mod queue;

use std::cell::RefCell;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::*;
use crate::engine::Alive;
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
    /// `submit` fails.
    refuses: bool,
    /// But the engine starts the round, which `alive` knows when it is called so many times.
    starts: Option<usize>,
    /// No piece publishes.
    loses: bool,
    /// `alive` fails.
    is_silent: bool,
    /// The pieces publish and end between the first call of `alive` and the second.
    is_slow: bool,
    /// A signal is caught during `alive`.
    interrupts: bool,
    /// No piece ends.
    waits: bool,
    /// How many pieces run, as `alive` says.
    running: usize,
    /// `reason` fails.
    is_dumb: bool,
    /// The engine's command is missing, so `alive` can never succeed.
    is_missing: bool,
}

/// What a fake engine was asked for.
#[derive(Default)]
struct Calls {
    rounds: Vec<Round>,
    questions: usize,
    reasons: usize,
    cancelled: usize,
}

struct Fake {
    folder: Folder,
    faults: Faults,
    calls: Rc<RefCell<Calls>>,
    interrupt: Interrupt,
}

impl Fake {
    /// Creates an engine with the faults that `set` sets.
    fn boxed(
        folder: &Folder,
        set: impl FnOnce(&mut Faults),
        calls: &Rc<RefCell<Calls>>,
        interrupt: &Interrupt,
    ) -> Box<Self> {
        let mut faults = Faults::default();
        set(&mut faults);
        Box::new(Self {
            folder: Folder::new(folder.path(), folder.plan().to_owned()),
            faults,
            calls: Rc::clone(calls),
            interrupt: interrupt.clone(),
        })
    }

    fn publish(&self, items: &[Name]) {
        if !self.faults.loses {
            items.iter().for_each(|item| publish(&self.folder, item));
        }
    }
}

/// Publishes a result without a rest.
fn publish(folder: &Folder, item: &Name) {
    let attempt = Attempt::begin(folder, item).expect("a file");
    let done = Done::whole(());
    attempt.publish::<Nothing>(&done).expect("a result");
}

impl Engine for Fake {
    fn submit(&mut self, round: &Round) -> Result<(), Error> {
        self.calls.borrow_mut().rounds.push(round.clone());
        if self.faults.refuses {
            return Err(Error::perhaps("no luck"));
        }
        self.publish(&round.items);
        Ok(())
    }

    fn alive(&mut self, rounds: &[&Round]) -> Result<Vec<Alive>, Error> {
        let mut calls = self.calls.borrow_mut();
        calls.questions += 1;
        if self.faults.is_missing {
            return Err(Error::never("no command"));
        }
        if self.faults.is_silent {
            return Err(Error::perhaps("no answer"));
        }
        if self.faults.interrupts {
            self.interrupt.catch(2);
        }
        let has_started = self.faults.starts == Some(calls.questions);
        if has_started || self.faults.is_slow && calls.questions == 2 {
            rounds.iter().for_each(|round| self.publish(&round.items));
        }
        let is_first = self.faults.is_slow && calls.questions == 1;
        if !self.faults.waits && !is_first && !has_started {
            return Ok(Vec::new());
        }
        let alive = rounds.iter().map(|round| Alive {
            name: round.name.clone(),
            running: self.faults.running,
            waiting: round.items.len(),
        });
        Ok(alive.collect())
    }

    fn reason(&mut self, _: &Round) -> Result<String, Error> {
        self.calls.borrow_mut().reasons += 1;
        if self.faults.is_dumb {
            return Err(Error::perhaps("forbidden"));
        }
        Ok("no node is idle".to_owned())
    }

    fn cancel(&mut self, _: &Round) -> Result<(), Error> {
        self.calls.borrow_mut().cancelled += 1;
        Ok(())
    }

    fn manifest(&self, _: &Round) -> String {
        String::new()
    }
}

fn both() -> Vec<Name> {
    [0, 1].map(Name::planned).to_vec()
}

/// Runs two items, with two retries, on an engine with the faults that `set` sets. Returns how that
/// ended, and what the engine was asked for. If `is_resumed`, an earlier `run` has submitted both
/// items.
fn run(set: impl FnOnce(&mut Faults), is_resumed: bool) -> (Result<(), Error>, Calls) {
    run_in(|_| (), set, is_resumed)
}

/// Like `run`, but in a folder that was prepared.
fn run_in(
    prepare: impl Fn(&Folder),
    set: impl FnOnce(&mut Faults),
    is_resumed: bool,
) -> (Result<(), Error>, Calls) {
    let dir = TempDir::new().expect("a folder");
    let folder = Folder::new(dir.path(), "0123456789".to_owned());
    let calls = Rc::default();
    let interrupt = Interrupt::default();
    let engine = Fake::boxed(&folder, set, &calls, &interrupt);
    prepare(&folder);
    let book = Book::new(&folder, "fake");
    if is_resumed {
        let round = book.round(both()).expect("a list");
        book.note(&round).expect("a line");
    }
    let survey = Survey::new(&[1, 1]);
    let mut driver = Driver::new(&book, survey, engine, String::new(), 2, &interrupt);
    driver.poll = Duration::ZERO;
    let end = driver.run();
    driver.finish();
    (end, calls.take())
}

#[test]
fn faultless_engine_gets_one_round() {
    let (end, calls) = run(|_| (), false);
    assert!(end.is_ok());
    assert_eq!((calls.rounds.len(), calls.questions), (1, 1));
}

/// The engine has not answered, and has started the pieces.
#[test]
fn refused_round_that_started_is_waited_for() {
    let (end, calls) = run(|it| (it.refuses, it.starts) = (true, Some(1)), false);
    assert!(end.is_ok());
    assert_eq!(calls.rounds.len(), 1);
}

#[test]
fn refusing_engine_ends_the_run() {
    let (end, calls) = run(|it| it.refuses = true, false);
    assert!(matches!(end, Err(error) if error.to_string() == "no luck"));
    // None of them is alive.
    assert_eq!((calls.rounds.len(), calls.cancelled), (3, 0));
}

#[test]
fn refused_round_that_may_live_is_cancelled_and_no_other_submitted() {
    let (end, calls) = run(|it| (it.refuses, it.is_silent) = (true, true), false);
    assert!(matches!(end, Err(error) if error.to_string() == "no answer"));
    // The last question is whether to cancel.
    let counts = (calls.rounds.len(), calls.questions, calls.cancelled);
    assert_eq!(counts, (1, 3, 1));
}

#[test]
fn refused_round_is_waited_for_until_the_pause_is_over() {
    with_driver(|mut driver, folder| {
        let calls = Rc::<RefCell<Calls>>::default();
        driver.engine = Fake::boxed(folder, |it| it.refuses = true, &calls, driver.interrupt);
        driver.submit().expect("a retry is left");
        for is_over in [false, true] {
            driver.next_question = Instant::now();
            if is_over {
                driver.next_submission = Instant::now();
            }
            assert!(driver.ask().expect("an answer").is_empty());
            let living = driver.schedule.living().count();
            assert_eq!(living, usize::from(!is_over));
        }
        driver.submit().expect("a retry is left");
        assert_eq!(calls.borrow().rounds.len(), 2);
    });
}

#[test]
fn lost_results_fail() {
    let (end, calls) = run(|it| it.loses = true, false);
    assert!(matches!(end, Err(error) if error.code() == 1));
    // None of them is alive.
    assert_eq!((calls.rounds.len(), calls.cancelled), (3, 0));
}

#[test]
fn results_count_without_an_answer() {
    let (end, calls) = run(|it| it.is_silent = true, false);
    assert!(end.is_ok());
    assert_eq!((calls.rounds.len(), calls.cancelled), (1, 1));
}

#[test]
fn round_of_an_earlier_run_is_waited_for() {
    let (end, calls) = run(|it| it.is_slow = true, true);
    assert!(end.is_ok());
    assert_eq!(calls.rounds.len(), 0);
}

#[test]
fn forgotten_round_is_submitted_again() {
    let (end, calls) = run(|_| (), true);
    assert!(end.is_ok());
    assert_eq!(calls.rounds.len(), 1);
}

#[test]
fn missing_command_ends_a_resumed_run() {
    let (end, calls) = run(|it| it.is_missing = true, true);
    assert!(matches!(end, Err(error) if error.to_string() == "no command"));
    assert!(calls.rounds.is_empty());
}

#[test]
fn old_failures_are_not_final() {
    let fail = |folder: &Folder| {
        let item = Name::planned(0);
        record(folder.path(), &item, &Error::never("old")).expect("a line");
    };
    let (end, calls) = run_in(fail, |it| (it.is_slow, it.loses) = (true, true), true);
    assert!(matches!(end, Err(error) if error.code() == 1));
    assert_eq!(calls.rounds.len(), 3);
}

#[test]
fn nothing_is_submitted_without_a_record() {
    let block = |folder: &Folder| fs::create_dir(folder.path().join("rounds")).expect("a folder");
    let (end, calls) = run_in(block, |_| (), false);
    assert!(end.is_err());
    assert!(calls.rounds.is_empty());
}

#[test]
fn interrupted_run_submits_nothing() {
    let (end, calls) = run(|it| (it.loses, it.interrupts) = (true, true), false);
    assert!(end.is_ok());
    assert_eq!(calls.rounds.len(), 1);
}

#[test]
fn published_run_needs_no_engine() {
    let publish = |folder: &Folder| both().iter().for_each(|item| publish(folder, item));
    let (end, calls) = run_in(publish, |it| it.is_missing = true, true);
    assert!(end.is_ok());
    assert_eq!((calls.questions, calls.cancelled), (0, 0));
}

/// Makes a driver for one item, which has surveyed its folder.
fn with_driver(test: impl FnOnce(Driver<'_>, &Folder)) {
    let dir = TempDir::new().expect("a folder");
    let folder = Folder::new(dir.path(), "0123456789".to_owned());
    let interrupt = Interrupt::default();
    let engine = Fake::boxed(&folder, |_| (), &Rc::default(), &interrupt);
    let book = Book::new(&folder, "fake");
    let survey = Survey::new(&[1]);
    let mut driver = Driver::new(&book, survey, engine, String::new(), 2, &interrupt);
    driver.survey().expect("a survey");
    test(driver, &folder);
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
        let round = driver.book.round(vec![item.clone()]).expect("a list");
        driver.count(round).expect("a result");
        assert!(driver.schedule.failures([&item].into_iter()).is_empty());
        assert!(driver.survey.missing().eq([&item.child(0)]));
        publish(folder, &item.child(0));
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
        publish(folder, &item);
        let round = driver.book.round(vec![item]).expect("a list");
        driver.count(round).expect("no failure");
        assert_eq!(driver.survey.weight(), (0, 1));
    });
}

#[test]
fn rounds_are_cancelled_without_a_survey() {
    let contradict = |folder: &Folder| {
        let file = folder.path().join("0~here~1~1.differs");
        fs::write(file, "").expect("a file");
    };
    let (end, calls) = run_in(contradict, |it| it.waits = true, true);
    assert!(end.is_err());
    assert_eq!((calls.rounds.len(), calls.cancelled), (0, 1));
}

#[test]
fn cut_off_lines_cost_no_others() {
    with_driver(|driver, folder| {
        let item = Name::planned(0);
        let cut = [b"{\"host\":\"", &"ä".as_bytes()[..1]].concat();
        for name in ["0.err", "rounds"] {
            fs::write(folder.path().join(name), &cut).expect("a file");
        }
        record(folder.path(), &item, &Error::never("no")).expect("a line");
        let round = driver.book.round(vec![item.clone()]).expect("a list");
        driver.book.note(&round).expect("a line");
        assert_eq!(folder.failures(&item).expect("a file").len(), 1);
        assert_eq!(driver.book.rounds().expect("a file").len(), 1);
    });
}
