//! Replays events that no pool has recorded. Whatever a trace contains, its replay must end and
//! report what is wrong.

use super::*;
use crate::trace::{StreamRecorder, TaskOrigin};
use crate::tunables::EST_CYCLE;
use crate::{DesirePolicy, Rng, VictimPolicy};
use alloc::string::{String, ToString};
use alloc::vec;

/// Idle policies that keep state between events.
const IDLES: &[&str] = &[
    "elastic",
    "linear",
    "exponential",
    "pheet-original",
    "quanta",
    "long-quanta",
    "custom",
];
const MEMORY_POLICIES: &[&str] = &[
    "depth-first:k=1KiB",
    "dfdeques:k=1KiB",
    "budget:100KiB,serial=10KiB",
];

fn rules(rng: &mut Rng) -> Rules {
    let mut one_of =
        |names: &[&'static str]| names[crate::rng::below(rng.draw(), names.len() as u64) as usize];
    Rules {
        // `custom` is not an idle policy and gives `None`, as in a trace with a user-defined
        // backoff, whose decisions are inputs.
        idle: one_of(IDLES).parse().ok(),
        steal: one_of(&["one", "half", "half-above:3", "fixed:2"])
            .parse()
            .unwrap(),
        victim: one_of(VictimPolicy::NAMES).parse().unwrap(),
        memory: one_of(MEMORY_POLICIES).parse().unwrap(),
        share: one_of(&["off", "auto", "on"]).parse().unwrap(),
        desire: one_of(DesirePolicy::names()).parse().unwrap(),
        est_cycle: EST_CYCLE.parse(one_of(&["100us", "100ms"])).unwrap(),
        workers: 4,
        pool: String::new(),
    }
}

/// Returns a random number that is usually small, so that a task, scope or thread with this number
/// probably exists.
fn number(rng: &mut Rng) -> u64 {
    match rng.draw() % 16 {
        0 => rng.draw(),
        1 => u64::MAX,
        2 => 1 << (rng.draw() % 64),
        more => rng.draw() % more,
    }
}

/// Replays random events, continuing after invalid ones. Returns the number of valid events.
fn replay_anything(source: Source, events: &[Event], seed: u64) -> usize {
    let mut rng = Rng::new(seed);
    let rules = rules(&mut rng);
    let player = Player::default();
    let mut actor = Actor::new(&rules, source, &player).unwrap();
    let mut taken = 0;
    for _ in 0..400 {
        let event = events[rng.draw() as usize % events.len()];
        let length = rng.draw() % 5 + rng.draw() % 16 / 15 * 30;
        let inputs: Vec<u64> = (0..length).map(|_| number(&mut rng)).collect();
        player.load(&inputs);
        taken += usize::from(actor.replay(&rules, event, &player));
    }
    taken
}

fn replay_all(source: Source, seeds: u64, is_its: impl Fn(u8) -> bool) -> usize {
    let events: Vec<Event> = (0..=u8::MAX)
        .filter(|code| is_its(*code))
        .filter_map(Event::of)
        .collect();
    let seeds = if cfg!(miri) { 2 } else { seeds };
    (0..seeds)
        .map(|seed| replay_anything(source, &events, seed))
        .sum()
}

#[test]
fn a_thief_accepts_any_input() {
    assert!(
        replay_all(Source::Worker(2), 30, |code| code == 0
            || (16..32).contains(&code))
            > 0
    );
    assert!(replay_all(Source::Worker(usize::MAX - 2), 3, |code| code == 20) > 0);
}

#[test]
fn a_controller_accepts_any_input() {
    assert!(
        replay_all(Source::ShareController, 100, |code| code == 0
            || (32..48).contains(&code))
            > 0
    );
}

#[test]
fn a_plan_gets_only_possible_events() {
    let taken = replay_all(Source::Plan, 600, |code| code >= 48);
    assert!(taken > 0);
}

#[test]
fn unknown_names_are_damage() {
    let cases: [(Event, &[u64]); 9] = [
        (Event::Half, &[1 << 40]),
        (Event::Half, &[]),
        (Event::Close, &[0]),
        (Event::Expect, &[3]),
        (Event::Spawn, &[0, 0]),
        (Event::Joined, &[7]),
        (Event::TakeBack, &[u64::MAX]),
        (Event::GiveBack, &[0, 0, 8]),
        (Event::SetBudget, &[8]),
    ];
    for (event, inputs) in cases {
        let mut recorder = StreamRecorder::new(1 << 16, || 0);
        recorder.record(event, inputs);
        let mut rules = rules(&mut Rng::new(1));
        rules.memory = "dfdeques".parse().unwrap();
        let trace = Trace {
            rules,
            origins: Vec::new(),
            streams: vec![recorder.stream(Source::Plan)],
        };
        let found = replay(&Trace::from_bytes(&trace.to_bytes()).unwrap());
        let Err(Failed::Damaged(damaged)) = found else {
            panic!("{event:?} {inputs:?}: {found:?}");
        };
        assert!(damaged.to_string().contains("decision 1"), "{damaged}");
    }
}

#[test]
fn unknown_origins_are_damage() {
    let origin = TaskOrigin {
        name: String::new(),
        at: "a.rs:1:2".into(),
    };
    for (inputs, is_known) in [
        (&[0_u64][..], true),
        (&[1], true),
        (&[2], false),
        (&[], false),
    ] {
        let mut recorder = StreamRecorder::new(1 << 16, || 0);
        recorder.record(Event::TaskBegins, inputs);
        recorder.record(Event::TaskEnds, &[]);
        let trace = Trace {
            rules: rules(&mut Rng::new(1)),
            origins: vec![origin.clone()],
            streams: vec![recorder.stream(Source::Worker(0))],
        };
        assert_eq!(replay(&trace).is_ok(), is_known, "{inputs:?}");
    }
}
