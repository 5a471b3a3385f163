use super::*;
use crate::engine::Submission;

/// What happens to a schedule with two retries. Items are separated by spaces.
enum Event {
    Adopt(&'static str, &'static str),
    Submit(&'static str, &'static str),
    /// The engine says that these pieces of the job have ended, each with its code.
    End(&'static str, &'static [(&'static str, Option<i32>)]),
    /// These results are published.
    Publish(&'static str),
    /// These items were left by a piece.
    Leave(&'static str),
    /// Then these items are ready.
    Ready(&'static str),
    Over(bool),
    /// Then these items have failed, each so many times.
    Failed(&'static [(&'static str, usize)]),
}
use Event::*;

fn names(text: &str) -> impl Iterator<Item = Name> {
    text.split_whitespace().map(|name| name.parse().unwrap())
}

fn job(id: &str, items: &str) -> Job {
    Job {
        id: id.to_owned(),
        submission: Submission {
            name: id.to_owned(),
            list: "fake.json".into(),
            items: names(items).collect(),
        },
    }
}

/// Plays the events on a plan with the items 0 and 1, as `run` does.
fn play(events: &[Event]) {
    let mut schedule = Schedule::new(2);
    let mut missing: BTreeSet<Name> = names("0 1").collect();
    for (at, event) in events.iter().enumerate() {
        match *event {
            Adopt(id, items) => schedule.adopt(job(id, items)),
            Submit(id, items) => schedule.submitted(job(id, items)),
            End(id, ended) => {
                let ended = ended.iter().map(|(item, code)| Ended {
                    item: item.parse().unwrap(),
                    code: *code,
                    text: String::new(),
                });
                for ended in schedule.ended(id, ended.collect()) {
                    if missing.contains(&ended.item) {
                        let cause = Cause {
                            host: None,
                            code: ended.code,
                            text: ended.text,
                        };
                        schedule.failed(&ended.item, cause);
                    }
                }
            }
            Publish(items) => names(items).for_each(|item| assert!(missing.remove(&item))),
            Leave(items) => missing.extend(names(items)),
            Ready(items) => {
                let ready: Vec<_> = names(items).collect();
                assert_eq!(schedule.ready(missing.iter()), ready, "event {at}");
            }
            Over(is_over) => assert_eq!(schedule.is_over(missing.iter()), is_over, "event {at}"),
            Failed(expected) => {
                let failures = schedule.failures(missing.iter());
                let failures = failures
                    .iter()
                    .map(|(item, failure)| (item.to_string(), failure.attempts));
                let expected = expected
                    .iter()
                    .map(|(item, attempts)| ((*item).to_owned(), *attempts));
                assert!(failures.eq(expected), "event {at}");
            }
        }
    }
}

const DONE: Option<i32> = Some(0);
const PANIC: Option<i32> = Some(1);
const SIGNAL: Option<i32> = None;

#[test]
fn published_items_are_over() {
    play(&[
        Ready("0 1"),
        Submit("a", "0 1"),
        Ready(""),
        Over(false),
        Publish("0 1"),
        Over(true),
        End("a", &[("0", DONE), ("1", DONE)]),
        Over(true),
        Failed(&[]),
    ]);
}

#[test]
fn repeated_ends_count_once() {
    play(&[
        Submit("a", "0 1"),
        End("a", &[("0", PANIC)]),
        End("a", &[("0", PANIC)]),
        Failed(&[("0", 1)]),
        Ready("0"),
        Submit("b", "0"),
        End("a", &[("0", PANIC), ("0", PANIC)]),
        Failed(&[("0", 1)]),
        Ready(""),
    ]);
}

#[test]
fn lost_results_are_attempted_again() {
    play(&[
        Submit("a", "0 1"),
        Publish("1"),
        End("a", &[("0", DONE), ("1", DONE)]),
        Failed(&[("0", 1)]),
        Ready("0"),
        Over(false),
    ]);
}

#[test]
fn late_results_count() {
    play(&[
        Submit("a", "0 1"),
        End("a", &[("0", Some(2)), ("1", Some(2))]),
        Over(true),
        Publish("0 1"),
        Over(true),
        Failed(&[]),
    ]);
}

#[test]
fn code_2_is_final() {
    play(&[
        Submit("a", "0 1"),
        End("a", &[("0", Some(2))]),
        Ready(""),
        Over(false),
        Publish("1"),
        Over(true),
        Failed(&[("0", 1)]),
    ]);
}

#[test]
fn retries_are_exhausted() {
    play(&[
        Submit("a", "0 1"),
        Publish("1"),
        End("a", &[("0", SIGNAL)]),
        Ready("0"),
        Submit("b", "0"),
        End("b", &[("0", Some(3))]),
        Ready("0"),
        Submit("c", "0"),
        Over(false),
        End("c", &[("0", PANIC)]),
        Ready(""),
        Over(true),
        Failed(&[("0", 3)]),
    ]);
}

#[test]
fn children_of_a_split_item_are_ready() {
    play(&[
        Submit("a", "0 1"),
        Publish("0"),
        Leave("0.0 0.1"),
        Ready("0.0 0.1"),
        Submit("b", "0.0 0.1"),
        End("b", &[("0.1", PANIC)]),
        Publish("0.0"),
        Leave("0.0.0"),
        Ready("0.0.0 0.1"),
        Over(false),
    ]);
}

#[test]
fn adopted_pieces_are_waited_for() {
    play(&[
        Adopt("old", "0 1"),
        Ready(""),
        // Item 0 has ended before this run began.
        End("old", &[("0", PANIC)]),
        Ready("0"),
        Failed(&[]),
        Submit("a", "0"),
        End("old", &[("0", PANIC), ("1", PANIC)]),
        Ready("1"),
        Failed(&[("1", 1)]),
    ]);
}

#[test]
fn forgotten_jobs_cost_no_attempt() {
    let all: &[_] = &[("0", SIGNAL), ("1", SIGNAL)];
    play(&[
        Adopt("old", "0 1"),
        Adopt("older", "0 1"),
        Adopt("oldest", "0 1"),
        End("oldest", all),
        End("older", all),
        Ready(""),
        End("old", all),
        Ready("0 1"),
        Failed(&[]),
    ]);
}

#[test]
fn last_of_two_pieces_counts() {
    play(&[
        Adopt("old", "0"),
        Adopt("older", "0"),
        End("old", &[]),
        End("older", &[]),
        End("old", &[("0", PANIC)]),
        Failed(&[]),
        End("older", &[("0", PANIC)]),
        Failed(&[("0", 1)]),
    ]);
}

#[test]
fn unknown_ends_are_ignored() {
    play(&[
        Submit("a", "0"),
        End("b", &[("0", Some(2))]),
        End("a", &[("1", Some(2)), ("7", Some(2))]),
        Failed(&[]),
        Ready("1"),
    ]);
}

#[test]
fn silent_engine_changes_nothing() {
    // `run` does not call `ended` if the engine does not answer.
    play(&[Submit("a", "0 1"), Ready(""), Over(false), Failed(&[])]);
}

#[test]
fn refusals_in_a_row_give_up() {
    let mut schedule = Schedule::new(2);
    assert!(!schedule.refused());
    assert!(!schedule.refused());
    schedule.submitted(job("a", "0"));
    assert!((0..5).all(|_| !schedule.refused()), "a piece lives");
    schedule.ended(
        "a",
        vec![Ended {
            item: Name::planned(0),
            code: DONE,
            text: String::new(),
        }],
    );
    assert!(schedule.refused());
}
