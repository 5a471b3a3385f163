use super::*;
use crate::engine;

/// What happens to a schedule with two retries. Items and rounds are separated by spaces.
enum Event {
    Adopt(&'static str, &'static str),
    Submit(&'static str, &'static str),
    /// The submission of this round has failed.
    Refuse(&'static str, &'static str),
    /// The engine says that these rounds are alive, and no others. Pieces of an ended round whose
    /// items are missing have failed.
    Alive(&'static str),
    /// So it does before the pause after a refused submission is over.
    StillAlive(&'static str),
    /// From now on, failures are final.
    Final,
    /// These results are published.
    Publish(&'static str),
    /// These items were left by a piece.
    Leave(&'static str),
    /// Then these items are ready.
    Ready(&'static str),
    Over(bool),
    /// Then these items have failed, each so many times.
    Failures(&'static [(&'static str, usize)]),
}
use Event::*;

fn names(text: &str) -> impl Iterator<Item = Name> {
    text.split_whitespace().map(|name| name.parse().unwrap())
}

fn round(name: &str, items: &str) -> Round {
    Round {
        name: name.to_owned(),
        list: "fake.json".into(),
        items: names(items).collect(),
    }
}

fn failed(retry: Retry) -> Failed {
    Failed {
        host: String::new(),
        pid: 0,
        at: 0.0,
        retry,
        text: String::new(),
    }
}

/// Plays the events on a plan with the items 0 and 1, as `run` does.
fn play(events: &[Event]) {
    let mut schedule = Schedule::new(2);
    let mut missing: BTreeSet<Name> = names("0 1").collect();
    let mut retry = Retry::Perhaps;
    for (at, event) in events.iter().enumerate() {
        match *event {
            Adopt(name, items) => schedule.adopt(round(name, items)),
            Submit(name, items) => schedule.submitted(round(name, items)),
            Refuse(name, items) => schedule.doubt(round(name, items)),
            Alive(rounds) | StillAlive(rounds) => {
                let alive = rounds.split_whitespace().map(|name| engine::Alive {
                    name: name.to_owned(),
                    running: 1,
                    waiting: 0,
                });
                let alive: Vec<_> = alive.collect();
                for round in schedule.answered(&alive, matches!(event, StillAlive(_))) {
                    for item in round.items.iter().filter(|item| missing.contains(item)) {
                        schedule.failed(item, failed(retry));
                    }
                }
            }
            Final => retry = Retry::Never,
            Publish(items) => names(items).for_each(|item| assert!(missing.remove(&item))),
            Leave(items) => missing.extend(names(items)),
            Ready(items) => {
                let ready: Vec<_> = names(items).collect();
                assert_eq!(schedule.ready(missing.iter()), ready, "event {at}");
            }
            Over(is_over) => assert_eq!(schedule.is_over(missing.iter()), is_over, "event {at}"),
            Failures(expected) => {
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

#[test]
fn published_items_are_over() {
    play(&[
        Ready("0 1"),
        Submit("a", "0 1"),
        Ready(""),
        Over(false),
        Publish("0 1"),
        Over(true),
        Alive(""),
        Over(true),
        Failures(&[]),
    ]);
}

#[test]
fn failed_items_wait_for_the_end_of_their_round() {
    play(&[
        Submit("a", "0 1"),
        Publish("1"),
        Alive("a"),
        Ready(""),
        Alive(""),
        Failures(&[("0", 1)]),
        Ready("0"),
        Over(false),
    ]);
}

#[test]
fn late_results_count() {
    play(&[
        Submit("a", "0 1"),
        Final,
        Alive(""),
        Over(true),
        Publish("0 1"),
        Over(true),
        Failures(&[]),
    ]);
}

#[test]
fn final_failures_are_not_tried_again() {
    play(&[
        Submit("a", "0"),
        Submit("b", "1"),
        Final,
        Alive("b"),
        Ready(""),
        Over(false),
        Publish("1"),
        Over(true),
        Failures(&[("0", 1)]),
    ]);
}

#[test]
fn retries_are_exhausted() {
    play(&[
        Submit("a", "0 1"),
        Publish("1"),
        Alive(""),
        Ready("0"),
        Submit("b", "0"),
        Alive(""),
        Ready("0"),
        Submit("c", "0"),
        Over(false),
        Alive(""),
        Ready(""),
        Over(true),
        Failures(&[("0", 3)]),
    ]);
}

#[test]
fn children_of_a_split_item_are_ready_at_once() {
    play(&[
        Submit("a", "0 1"),
        Publish("0"),
        Leave("0.0 0.1"),
        Alive("a"),
        Ready("0.0 0.1"),
        Submit("b", "0.0 0.1"),
        Publish("0.0"),
        Leave("0.0.0"),
        Alive("a"),
        Failures(&[("0.1", 1)]),
        Ready("0.0.0 0.1"),
        Over(false),
    ]);
}

#[test]
fn failures_of_adopted_rounds_do_not_count() {
    play(&[
        Adopt("old", "0 1"),
        Adopt("older", "0 1"),
        Alive("old"),
        Ready(""),
        Failures(&[]),
        Alive(""),
        Ready("0 1"),
        Failures(&[]),
    ]);
}

#[test]
fn last_of_two_pieces_counts() {
    play(&[
        Adopt("old", "0"),
        Submit("a", "0 1"),
        Alive("old"),
        Failures(&[("1", 1)]),
        Ready("1"),
        Alive(""),
        Ready("0 1"),
        Failures(&[("1", 1)]),
    ]);
}

#[test]
fn refused_rounds_cost_no_attempt() {
    play(&[
        Refuse("a", "0 1"),
        StillAlive(""),
        Ready(""),
        Alive(""),
        Ready("0 1"),
        Failures(&[]),
    ]);
}

#[test]
fn refused_round_that_starts_counts() {
    play(&[
        Refuse("a", "0 1"),
        StillAlive("a"),
        Alive("a"),
        Ready(""),
        Alive(""),
        Failures(&[("0", 1), ("1", 1)]),
    ]);
}

#[test]
fn refusals_in_a_row_give_up() {
    let mut schedule = Schedule::new(2);
    assert!(!schedule.refused());
    assert!(!schedule.refused());
    schedule.submitted(round("a", "0"));
    assert!((0..5).all(|_| !schedule.refused()), "a piece lives");
    schedule.answered(&[], false);
    schedule.doubt(round("b", "0"));
    assert!(schedule.refused());
}

#[test]
fn rounds_that_may_start_late_are_cancelled() {
    let mut schedule = Schedule::new(2);
    schedule.adopt(round("unknown", "0"));
    schedule.adopt(round("found", "0"));
    schedule.doubt(round("refused", "0"));
    schedule.submitted(round("taken", "0"));
    let alive = ["found", "taken"].map(|name| engine::Alive {
        name: name.to_owned(),
        running: 1,
        waiting: 0,
    });
    assert!(schedule.answered(&alive, false).is_empty());
    assert_eq!(schedule.answered(&[], false).len(), 1);
    schedule.submitted(round("last", "0"));
    let names = schedule.possible().map(|round| round.name.as_str());
    assert!(names.eq(["last", "refused", "found"]));
}
