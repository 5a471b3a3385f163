//! Questions that no pool has asked: whatever notes say, a replay ends, and tells what is wrong.

use super::*;
use crate::trace::Recorder;
use crate::{Desire, Rng, Victim};
use alloc::string::{String, ToString};
use alloc::vec;

/// Rules of each kind that remembers something.
const IDLES: &[&str] = &[
    "elastic",
    "linear",
    "exponential",
    "pheet-original",
    "quanta",
    "long-quanta",
];
const SPACES: &[&str] = &[
    "depth-first:k=1KiB",
    "dfdeques:k=1KiB",
    "budget:100KiB,serial=10KiB",
];

fn rules(rng: &mut Rng) -> Rules {
    let mut one_of =
        |names: &[&'static str]| names[crate::rng::below(rng.draw(), names.len() as u64) as usize];
    Rules {
        idle: one_of(IDLES).parse().unwrap(),
        steal: one_of(&["one", "half", "fixed:2"]).parse().unwrap(),
        victim: one_of(Victim::NAMES).parse().unwrap(),
        space: one_of(SPACES).parse().unwrap(),
        share: one_of(&["off", "auto", "on"]).parse().unwrap(),
        desire: one_of(Desire::names()).parse().unwrap(),
        workers: 4,
        pool: String::new(),
    }
}

/// Mostly a small number, so that it names something; else any.
fn number(rng: &mut Rng) -> u64 {
    match rng.draw() % 16 {
        0 => rng.draw(),
        1 => u64::MAX,
        2 => 1 << (rng.draw() % 64),
        more => rng.draw() % more,
    }
}

/// Asks a stream of such questions as they are, each whatever came of the one before.
fn ask_anything(source: Source, questions: &[Question], seed: u64) -> usize {
    let mut rng = Rng::new(seed);
    let rules = rules(&mut rng);
    let player = Player::default();
    let mut actor = Actor::new(&rules, source, &player).unwrap();
    let mut taken = 0;
    for _ in 0..400 {
        let question = questions[rng.draw() as usize % questions.len()];
        let length = rng.draw() % 5 + rng.draw() % 16 / 15 * 30;
        let inputs: Vec<u64> = (0..length).map(|_| number(&mut rng)).collect();
        player.load(&inputs);
        taken += usize::from(actor.ask(&rules, question, &player));
    }
    taken
}

fn ask_all(source: Source, seeds: u64, is_its: impl Fn(u8) -> bool) -> usize {
    let questions: Vec<Question> = (0..=u8::MAX)
        .filter(|code| is_its(*code))
        .filter_map(Question::of)
        .collect();
    let seeds = if cfg!(miri) { 2 } else { seeds };
    (0..seeds)
        .map(|seed| ask_anything(source, &questions, seed))
        .sum()
}

#[test]
fn a_thief_takes_any_number_that_a_trace_may_have() {
    assert!(
        ask_all(Source::Worker(2), 30, |code| code == 0
            || (16..32).contains(&code))
            > 0
    );
    assert!(ask_all(Source::Worker(usize::MAX - 2), 3, |code| code == 20) > 0);
}

#[test]
fn a_steward_takes_any_number_that_a_trace_may_have() {
    assert!(
        ask_all(Source::Steward, 100, |code| code == 0
            || (32..48).contains(&code))
            > 0
    );
}

#[test]
fn a_plan_is_told_nothing_that_cannot_be() {
    let taken = ask_all(Source::Plan, 600, |code| code >= 48);
    assert!(taken > 0);
}

#[test]
fn names_of_nothing_are_damage() {
    let cases: [(Question, &[u64]); 9] = [
        (Question::Half, &[1 << 40]),
        (Question::Half, &[]),
        (Question::Close, &[0]),
        (Question::Expect, &[3]),
        (Question::Spawn, &[0, 0]),
        (Question::Joined, &[7]),
        (Question::TakeBack, &[u64::MAX]),
        (Question::GiveBack, &[0, 0, 8]),
        (Question::SetBudget, &[8]),
    ];
    for (question, inputs) in cases {
        let mut recorder = Recorder::new(1 << 16, || 0);
        recorder.note(question, inputs);
        let mut rules = rules(&mut Rng::new(1));
        rules.space = "dfdeques".parse().unwrap();
        let trace = Trace {
            rules,
            streams: vec![recorder.stream(Source::Plan)],
        };
        let found = replay(&Trace::from_bytes(&trace.to_bytes()).unwrap());
        let Err(Failed::Damaged(damaged)) = found else {
            panic!("{question:?} {inputs:?}: {found:?}");
        };
        assert!(damaged.to_string().contains("question 1"), "{damaged}");
    }
}
