//! Replays a trace: applies the rules to the recorded inputs and compares the decisions.

use super::bytes::take;
use super::contents::{Rules, Source, Stream, Trace};
use super::controller::{ShareController, Wait};
use super::event::Event;
use super::file::Damaged;
use super::orders::Orders;
use super::record::Record;
use super::recorder::Recorder;
use super::thief::Thief;
mod command;

use crate::desire::{DesireState, Seen};
use crate::idle::CustomBackoff;
use crate::{IdleState, Peers, Rest};
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use command::command_of;
use core::cell::{Cell, RefCell};
use core::fmt;

/// The result of a replay that found no differences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// The number of events that were replayed with the same decision.
    pub events: u64,
    /// The number of events that were not recorded because a stream was full.
    pub left_out: u64,
}

/// The first event of a stream whose decision differs in the replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The source of the stream.
    pub source: Source,
    /// The number of events that precede this event in the stream.
    pub step: u64,
    /// The event and its inputs.
    pub record: Record,
    /// The recorded decision.
    pub then: u64,
    /// The decision in the replay. `None` if the rule now reads more or fewer inputs, so that the
    /// decisions cannot be compared.
    pub now: Option<u64>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Record { at, event, inputs } = &self.record;
        write!(
            f,
            "{}, decision {}, {}: decided {} then, ",
            self.source,
            self.step + 1,
            event.text(),
            self.then
        )?;
        match self.now {
            Some(now) => write!(f, "{now} now")?,
            None => f.write_str("and the rules now use other inputs")?,
        }
        write!(f, " (at {at} ns, from {inputs:?})")
    }
}

/// Supplies the recorded inputs of one event to a rule, and keeps the rule's decision.
#[derive(Default)]
struct Player {
    inputs: RefCell<Vec<u64>>,
    read: Cell<usize>,
    decision: Cell<u64>,
}

impl Player {
    fn load(&self, inputs: &[u64]) {
        self.read.set(0);
        let mut loaded = self.inputs.borrow_mut();
        loaded.clear();
        loaded.extend_from_slice(inputs);
    }

    /// Returns the decision if the rule read exactly the recorded inputs.
    fn decision(&self) -> Option<u64> {
        (self.read.get() == self.inputs.borrow().len()).then(|| self.decision.get())
    }
}

impl Recorder for Player {
    fn begin(&self, _: Event) {}

    fn input(&self, _: impl FnOnce() -> u64) -> u64 {
        let at = self.read.get();
        self.read.set(at + 1);
        // If no input is left, return the largest number, which ends loops over inputs; `decision`
        // then reports the mismatch.
        self.inputs.borrow().get(at).copied().unwrap_or(u64::MAX)
    }

    fn end(&self, decision: u64) {
        self.decision.set(decision);
    }
}

/// Stands in for the other workers. Never called, because the player supplies the recorded numbers.
struct NoPeers;

impl Peers for NoPeers {
    fn count(&self) -> usize {
        0
    }

    fn is_candidate(&self, _: usize) -> bool {
        false
    }

    fn distance(&self, _: usize, _: usize) -> u32 {
        0
    }

    fn last_victim(&self, _: usize) -> Option<usize> {
        None
    }
}

/// Stands in for a user-defined backoff. Its decisions are inputs, which the player supplies.
struct NoBackoff;

impl CustomBackoff for NoBackoff {
    fn backoff(&mut self, _: u64) -> Rest {
        Rest::Retry
    }

    fn reset(&mut self) {}
}

/// Replays each event of the trace with its recorded inputs, and compares its decision with the
/// recorded one.
///
/// # Errors
/// If a decision differs, returns the first difference of the first stream that has one. Also fails
/// if the trace is damaged.
pub fn replay(trace: &Trace) -> Result<Replayed, Failed> {
    let mut replayed = Replayed::default();
    for stream in &trace.streams {
        replayed.events += replay_stream(trace, stream)?;
        replayed.left_out += stream.left_out;
    }
    Ok(replayed)
}

/// Why a replay failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failed {
    /// A decision differs from the recorded one.
    Differs(Box<Difference>),
    /// The trace is damaged.
    Damaged(Damaged),
}

impl From<Damaged> for Failed {
    fn from(damaged: Damaged) -> Self {
        Self::Damaged(damaged)
    }
}

fn replay_stream(trace: &Trace, stream: &Stream) -> Result<u64, Failed> {
    let (rules, player) = (&trace.rules, Player::default());
    let mut actor = Actor::new(rules, stream.source, &player)?;
    let mut decisions = &stream.decisions[..];
    let mut events = 0;
    for (step, record) in (0..).zip(stream.records()) {
        let record = record?;
        let then = take(&mut decisions).ok_or_else(|| stream.damaged(step))?;
        player.load(&record.inputs);
        if !trace.has_origin_of(&record) || !actor.replay(rules, record.event, &player) {
            return Err(stream.damaged(step).into());
        }
        let now = player.decision();
        if now != Some(then) {
            return Err(Failed::Differs(Box::new(Difference {
                source: stream.source,
                step,
                record,
                then,
                now,
            })));
        }
        events += 1;
    }
    if !decisions.is_empty() {
        return Err(stream.damaged(events).into());
    }
    Ok(events)
}

impl Trace {
    /// Whether the record is not the beginning of a task, or the task's origin is in the table.
    fn has_origin_of(&self, record: &Record) -> bool {
        let is_known = |number: &u64| *number <= self.origins.len() as u64;
        record.event != Event::TaskBegins || record.inputs.first().is_some_and(is_known)
    }
}

/// The state of the rules whose decisions a stream records.
enum Actor<'p> {
    Thief(Thief, usize),
    ShareController(ShareController),
    Plan(Box<Orders<(), &'p Player>>),
}

impl<'p> Actor<'p> {
    fn new(rules: &Rules, source: Source, player: &'p Player) -> Result<Self, Damaged> {
        Ok(match source {
            Source::Worker(index) => Self::Thief(new_thief(rules, index, player)?, index),
            Source::ShareController => Self::ShareController(new_controller(rules, player)?),
            Source::Plan => {
                let orders = Orders::new(rules.memory, rules.workers, player);
                let orders = orders.ok_or_else(|| {
                    Damaged(format!(
                        "the trace has a plan, and {} has none",
                        rules.memory
                    ))
                })?;
                Self::Plan(Box::new(orders))
            }
        })
    }

    /// Replays an event. Returns `false` if such an event cannot occur in this stream.
    fn replay(&mut self, rules: &Rules, event: Event, player: &Player) -> bool {
        use Event::{Phase, Stole, TaskBegins, TaskEnds};
        if matches!(event, Phase | Stole | TaskBegins | TaskEnds) {
            player.read.set(player.inputs.borrow().len());
            player.decision.set(0);
            return true;
        }
        match self {
            Self::Thief(thief, index) => replay_thief(thief, *index, rules, event, player),
            Self::ShareController(controller) => {
                replay_controller(controller, rules, event, player)
            }
            Self::Plan(orders) => replay_plan(orders, event, player),
        }
    }
}

fn new_thief(rules: &Rules, index: usize, player: &Player) -> Result<Thief, Damaged> {
    let idle = match &rules.idle {
        Some(idle) => IdleState::new(idle).map_err(|error| Damaged(format!("{error}")))?,
        None => IdleState::custom(Box::new(NoBackoff)),
    };
    Ok(Thief::new(player, idle, rules.victim, index))
}

fn new_controller(rules: &Rules, player: &Player) -> Result<ShareController, Damaged> {
    let desire = DesireState::new(&rules.desire).map_err(|error| Damaged(format!("{error}")))?;
    Ok(ShareController::new(
        player,
        desire,
        rules.est_cycle,
        rules.share,
    ))
}

/// Stands in for a live input. Never called, because the player supplies the recorded input.
fn unused() -> u64 {
    0
}

fn replay_thief(
    thief: &mut Thief,
    index: usize,
    rules: &Rules,
    event: Event,
    player: &Player,
) -> bool {
    match event {
        Event::Begin => match new_thief(rules, index, player) {
            Ok(fresh) => *thief = fresh,
            Err(_) => return false,
        },
        Event::NextVictim => drop(thief.next_victim(player, &NoPeers, unused)),
        Event::StolenFrom => thief.stolen_from(player, unused),
        Event::AttemptFailed => drop(thief.attempt_failed(player, unused)),
        Event::SweepFailed => drop(thief.sweep_failed(player, unused, unused)),
        Event::StealSucceeded => thief.steal_succeeded(player, unused),
        Event::Rested => thief.rested(player, unused),
        Event::Amount => drop(Thief::take(player, rules.steal, unused)),
        _ => return false,
    }
    true
}

fn replay_controller(
    controller: &mut ShareController,
    rules: &Rules,
    event: Event,
    player: &Player,
) -> bool {
    match event {
        Event::Begin => match new_controller(rules, player) {
            Ok(fresh) => *controller = fresh,
            Err(_) => return false,
        },
        Event::Desire => drop(controller.next_desire(player, &Seen::default())),
        Event::Slots => drop(ShareController::slots(player, rules.share, [0; 3])),
        Event::Cycle => drop(controller.cycle(player, rules.share, [0; 2])),
        Event::Lend => drop(controller.lend(player, Wait::default())),
        Event::ForgetLoans => controller.forget_loans(player),
        _ => return false,
    }
    true
}

/// Applies the recorded command to the plan. The player supplies the numbers that the plan draws.
fn replay_plan(orders: &mut Orders<(), &Player>, event: Event, player: &Player) -> bool {
    let command = command_of(event, &player.inputs.borrow());
    let Some(command) = command.filter(|command| orders.plan().allows(command)) else {
        return false;
    };
    orders.apply(command, |_| 0);
    true
}

#[cfg(test)]
mod hostile;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::StreamRecorder;
    use crate::tunables::EST_CYCLE;
    use alloc::string::String;
    use alloc::vec;

    const SEEN: Seen<'_> = Seen {
        length: 1_000_000,
        allotment: 4,
        usage: 4,
        attempts: 9,
        failed_empty: 0,
        lengths_seen: 30,
        working: 4_000_000,
        searching: 0,
        deques: &[3; 4],
        queued: 0,
        busy: 4,
        free: 0,
        lent: 0,
    };

    fn rules(desire: &str) -> Rules {
        Rules {
            idle: Some(crate::IdlePolicy::default()),
            steal: crate::StealAmount::default(),
            victim: crate::VictimPolicy::default(),
            memory: crate::MemoryPolicy::None,
            share: crate::share::SharePolicy::Auto,
            desire: desire.parse().unwrap(),
            est_cycle: EST_CYCLE.default,
            workers: 4,
            pool: String::new(),
        }
    }

    /// Records some cycles of a share controller in a pool in which every worker is busy and has
    /// more tasks waiting.
    fn controller(desire: &str) -> Stream {
        let recorder = RefCell::new(StreamRecorder::new(1 << 16, || 0));
        let rule = desire.parse().unwrap();
        let state = DesireState::new(&rule).unwrap();
        let mut controller =
            ShareController::new(&recorder, state, EST_CYCLE.default, rules("wsap").share);
        for _ in 0..5 {
            controller.next_desire(&recorder, &SEEN);
        }
        recorder.borrow().stream(Source::ShareController)
    }

    fn replayed(desire: &str, stream: Stream) -> Result<Replayed, Failed> {
        replay(&Trace {
            rules: rules(desire),
            origins: Vec::new(),
            streams: vec![stream],
        })
    }

    #[test]
    fn other_rule_desires_something_else() {
        let same = replayed("wsap:eta=0.5", controller("wsap:eta=0.5")).unwrap();
        assert_eq!(same.events, 6);
        let other = replayed("instantaneous", controller("wsap:eta=0.5"));
        assert!(matches!(other, Err(Failed::Differs(_))), "{other:?}");
    }

    #[test]
    fn decisions_without_question_are_damage() {
        let mut stream = controller("wsap");
        stream.decisions.push(7);
        let found = replayed("wsap", stream);
        assert!(matches!(found, Err(Failed::Damaged(_))), "{found:?}");
    }

    #[test]
    fn excessive_worker_count_is_still_read() {
        let mut recorder = StreamRecorder::new(1 << 16, || 0);
        recorder.record(Event::Begin, &[]);
        recorder.record(Event::Desire, &[u64::MAX]);
        let found = replayed("wsap", recorder.stream(Source::ShareController));
        assert!(matches!(found, Err(Failed::Differs(_))), "{found:?}");
    }
}
