//! Pieces that wait in the engine.

use super::*;
use crate::run::book::queue;

/// Returns what `status` reads, and how often the engine was asked for a reason, after two questions
/// during which so many pieces run.
fn queued(running: usize, patience: Option<Duration>, act: impl Fn(&Folder)) -> (String, usize) {
    let set = |it: &mut Faults| (it.waits, it.running) = (true, running);
    queued_with(set, patience, act)
}

fn queued_with(
    set: impl FnOnce(&mut Faults),
    patience: Option<Duration>,
    act: impl Fn(&Folder),
) -> (String, usize) {
    let mut result = (String::new(), 0);
    with_driver(|mut driver, folder| {
        let calls = Rc::<RefCell<Calls>>::default();
        driver.engine = Fake::boxed(folder, set, &calls, driver.interrupt);
        driver.patience = patience.unwrap_or(driver.patience);
        let round = driver.book.round(both()).expect("a list");
        driver.schedule.submitted(round);
        for _ in 0..2 {
            driver.next_question = Instant::now();
            assert!(driver.ask().expect("no error").is_empty());
            act(folder);
            driver.survey().expect("a survey");
        }
        let noted = queue(folder.path());
        let text = noted.map_or_else(String::new, |(text, _)| text);
        result = (text, calls.borrow().reasons);
        driver.finish();
        assert_eq!(queue(folder.path()), None);
    });
    result
}

/// A killed `run` has noted that pieces wait.
#[test]
fn new_run_clears_the_reason() {
    with_driver(|driver, folder| {
        let book = driver.book;
        let round = book.round(both()).expect("a list");
        book.note(&round).expect("a line");
        book.note_queue("no node is idle").expect("a line");
        let set = |it: &mut Faults| it.is_missing = true;
        let engine = Fake::boxed(folder, set, &Rc::default(), driver.interrupt);
        let survey = Survey::new(&[1, 1]);
        let mut driver = Driver::new(book, survey, engine, String::new(), 2, driver.interrupt);
        driver.run().expect_err("no command");
        assert_eq!(queue(folder.path()), None);
    });
}

#[test]
fn waiting_pieces_are_explained() {
    let text = "2 pieces wait in fake: no node is idle";
    let at_once = Some(Duration::ZERO);
    assert_eq!(queued(0, at_once, |_| ()), (text.to_owned(), 2));
    // Those that run take the processors.
    assert_eq!(queued(1, at_once, |_| ()), (String::new(), 0));
    assert_eq!(queued(0, None, |_| ()), (String::new(), 0));
    let start = |folder: &Folder| {
        fs::write(folder.path().join("0~here~1~1.running"), "").expect("a file");
    };
    assert_eq!(queued(0, at_once, start), (String::new(), 1));
}

#[test]
fn unknown_reasons_are_told() {
    let set = |it: &mut Faults| (it.waits, it.is_dumb) = (true, true);
    let (text, _) = queued_with(set, Some(Duration::ZERO), |_| ());
    assert_eq!(text, "2 pieces wait in fake: why is not known: forbidden");
}
