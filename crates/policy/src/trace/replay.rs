//! Asks the rules again what a trace says that they were asked.

use super::bytes::{take, take_bytes};
use super::file::{Damaged, Rules, Source, Stream, Trace};
use super::orders::Orders;
use super::question::{Question, Record};
use super::steward::{Steward, Wait};
use super::tape::Tape;
use super::thief::Thief;
use crate::desire::{DesireState, Seen};
use crate::space::book::{Lease, Scope, Task, Until};
use crate::{IdleState, Peers};
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};
use core::fmt;

/// What a replay has found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// How many questions were asked again, and decided as before.
    pub questions: u64,
    /// How many were left out when the trace was taken.
    pub left_out: u64,
}

/// The first question of a stream that is decided in another way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Who asked.
    pub source: Source,
    /// How many questions came before it in the stream.
    pub step: u64,
    /// The question.
    pub record: Record,
    /// What was decided then.
    pub then: u64,
    /// What is decided now; none if the rules look at more or fewer numbers than then, so that there is nothing to compare.
    pub now: Option<u64>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Record {
            at,
            question,
            inputs,
        } = &self.record;
        write!(
            f,
            "{}, question {}, {}: decided {} then, ",
            self.source,
            self.step + 1,
            question.text(),
            self.then
        )?;
        match self.now {
            Some(now) => write!(f, "{now} now")?,
            None => f.write_str("and the rules look at other numbers now")?,
        }
        write!(f, " (at {at} ns, from {inputs:?})")
    }
}

/// Hands the numbers of one record to the rules.
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

    /// What was decided, if the rules have looked at all numbers and no more.
    fn decision(&self) -> Option<u64> {
        (self.read.get() == self.inputs.borrow().len()).then(|| self.decision.get())
    }
}

impl Tape for Player {
    fn ask(&self, _: Question) {}

    fn input(&self, _: impl FnOnce() -> u64) -> u64 {
        let at = self.read.get();
        self.read.set(at + 1);
        // Nothing is there, and no rule takes that for something.
        self.inputs.borrow().get(at).copied().unwrap_or(u64::MAX)
    }

    fn answer(&self, decision: u64) {
        self.decision.set(decision);
    }
}

/// What nobody is asked about: the tape has it.
struct Nobody;

impl Peers for Nobody {
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

/// Asks every question of the trace again, with the numbers that it has, and compares what is decided now with what was decided then.
///
/// # Errors
/// The first difference of the first stream that has one; or the trace is damaged.
pub fn replay(trace: &Trace) -> Result<Replayed, Failed> {
    let mut replayed = Replayed::default();
    for stream in &trace.streams {
        replayed.questions += replay_stream(&trace.rules, stream)?;
        replayed.left_out += stream.left_out;
    }
    Ok(replayed)
}

/// Why a replay does not come to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failed {
    /// Something is decided in another way.
    Differs(Box<Difference>),
    /// The trace is no trace.
    Damaged(Damaged),
}

impl From<Damaged> for Failed {
    fn from(damaged: Damaged) -> Self {
        Self::Damaged(damaged)
    }
}

fn replay_stream(rules: &Rules, stream: &Stream) -> Result<u64, Failed> {
    let player = Player::default();
    let mut actor = Actor::new(rules, stream.source, &player)?;
    let mut decisions = &stream.decisions[..];
    let mut questions = 0;
    for (step, record) in (0..).zip(stream.records()) {
        let record = record?;
        let then = take(&mut decisions).ok_or_else(|| stream.damaged(step))?;
        player.load(&record.inputs);
        if !actor.ask(rules, record.question, &player) {
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
        questions += 1;
    }
    if !decisions.is_empty() {
        return Err(stream.damaged(questions).into());
    }
    Ok(questions)
}

impl Stream {
    fn damaged(&self, step: u64) -> Damaged {
        Damaged(format!(
            "the notes of {} cannot be read from question {} on, though the file is whole: was it made by hand? allowed: \
             a trace that a pool of this version has taken",
            self.source,
            step + 1
        ))
    }

    /// What was decided, one after the other.
    pub fn decisions(&self) -> impl Iterator<Item = u64> + '_ {
        let mut rest = &self.decisions[..];
        core::iter::from_fn(move || take(&mut rest))
    }

    /// The questions, one after the other.
    pub fn records(&self) -> impl Iterator<Item = Result<Record, Damaged>> + '_ {
        let (mut rest, mut at, mut step) = (&self.inputs[..], 0_u64, 0_u64);
        core::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let record = record(&mut rest, &mut at);
            step += 1;
            if record.is_none() {
                rest = &[];
            }
            Some(record.ok_or_else(|| self.damaged(step - 1)))
        })
    }
}

fn record(rest: &mut &[u8], at: &mut u64) -> Option<Record> {
    let (&code, after) = rest.split_first()?;
    *rest = after;
    let question = Question::of(code)?;
    *at = at.checked_add(take(rest)?)?;
    let length = take(rest)?;
    let mut numbers = take_bytes(rest, length)?;
    let mut inputs = Vec::new();
    while !numbers.is_empty() {
        inputs.push(take(&mut numbers)?);
    }
    Some(Record {
        at: *at,
        question,
        inputs,
    })
}

/// Who asks again.
enum Actor<'p> {
    Thief(Thief, usize),
    Steward(Steward),
    Plan(Box<Orders<(), &'p Player>>),
}

impl<'p> Actor<'p> {
    fn new(rules: &Rules, source: Source, player: &'p Player) -> Result<Self, Damaged> {
        Ok(match source {
            Source::Worker(index) => Self::Thief(thief(rules, index, player)?, index),
            Source::Steward => Self::Steward(steward(rules, player)?),
            Source::Plan => {
                let orders = Orders::new(rules.space, rules.workers, player);
                let orders = orders.ok_or_else(|| {
                    Damaged(format!(
                        "the trace has a plan, and {} has none",
                        rules.space
                    ))
                })?;
                Self::Plan(Box::new(orders))
            }
        })
    }

    /// Asks. Whether that is a question of this one.
    fn ask(&mut self, rules: &Rules, question: Question, player: &Player) -> bool {
        if matches!(question, Question::Phase | Question::Stole) {
            player.read.set(player.inputs.borrow().len());
            player.decision.set(0);
            return true;
        }
        match self {
            Self::Thief(thief, index) => ask_thief(thief, *index, rules, question, player),
            Self::Steward(steward) => ask_steward(steward, rules, question, player),
            Self::Plan(orders) => {
                orders.could_be_asked(question, &player.inputs.borrow())
                    && ask_plan(orders, question)
            }
        }
    }
}

fn thief(rules: &Rules, index: usize, player: &Player) -> Result<Thief, Damaged> {
    let idle = IdleState::new(&rules.idle).map_err(|error| Damaged(format!("{error}")))?;
    Ok(Thief::new(player, idle, rules.victim, index))
}

fn steward(rules: &Rules, player: &Player) -> Result<Steward, Damaged> {
    let desire = DesireState::new(&rules.desire).map_err(|error| Damaged(format!("{error}")))?;
    Ok(Steward::new(player, desire))
}

/// What the world would say; the tape says it.
fn unasked() -> u64 {
    0
}

fn ask_thief(
    asked: &mut Thief,
    index: usize,
    rules: &Rules,
    question: Question,
    player: &Player,
) -> bool {
    match question {
        Question::Begin => match thief(rules, index, player) {
            Ok(fresh) => *asked = fresh,
            Err(_) => return false,
        },
        Question::NextVictim => drop(asked.next_victim(player, &Nobody, unasked)),
        Question::StolenFrom => asked.stolen_from(player, unasked),
        Question::AttemptFailed => drop(asked.attempt_failed(player, unasked)),
        Question::SweepFailed => drop(asked.sweep_failed(player, unasked, unasked)),
        Question::StealSucceeded => asked.steal_succeeded(player, unasked),
        Question::Rested => asked.rested(player, unasked),
        Question::Amount => drop(Thief::take(player, rules.steal, unasked)),
        _ => return false,
    }
    true
}

fn ask_steward(asked: &mut Steward, rules: &Rules, question: Question, player: &Player) -> bool {
    match question {
        Question::Begin => match steward(rules, player) {
            Ok(fresh) => *asked = fresh,
            Err(_) => return false,
        },
        Question::Desire => drop(asked.next_desire(player, &Seen::default())),
        Question::Slots => drop(Steward::slots(player, rules.share, [0; 3])),
        Question::Cycle => drop(Steward::cycle(player, rules.share, [0; 2])),
        Question::Lend => drop(asked.lend(player, Wait::default())),
        Question::ForgetLoans => asked.forget_loans(player),
        _ => return false,
    }
    true
}

fn ask_plan(asked: &mut Orders<(), &Player>, question: Question) -> bool {
    use Question as Q;
    let (thread, scope, task) = (0, Scope::of(0), Task::of(0));
    let draw = |_| 0;
    match question {
        Q::SetWorkers => asked.set_workers(0),
        Q::SetBudget => asked.set_budget(0),
        Q::Half => drop(asked.half(thread, ())),
        Q::Spawn => drop(asked.spawn(thread, scope, ())),
        Q::Detached => drop(asked.detached(thread, ())),
        Q::Open => drop(asked.open()),
        Q::Close => asked.close(scope),
        Q::Expect => asked.expect(scope),
        Q::Stranger => drop(asked.stranger(thread)),
        Q::StrangerIn => drop(asked.stranger_in(thread, scope)),
        Q::TakeBack => drop(asked.take_back(task)),
        Q::Joined => asked.joined(task),
        Q::Blocks => asked.blocks(thread, false),
        Q::Waits => asked.waits(thread, Until::Else),
        Q::GoesOn => asked.goes_on(thread),
        Q::End => asked.end(thread),
        Q::Leave => asked.leave(thread),
        Q::Ask => drop(asked.ask(thread, 0, draw)),
        Q::Answer => drop(asked.answer(thread)),
        Q::GiveBack => asked.give_back(None, Lease::of(0), 0),
        Q::Settle => drop(asked.settle()),
        Q::HasWork => drop(asked.has_work()),
        Q::GivesWay => drop(asked.gives_way(thread)),
        Q::Next => drop(asked.next(thread, draw)),
        Q::NextOf => drop(asked.next_of(thread, scope)),
        Q::Rescue => drop(asked.rescue(thread)),
        Q::ResumeParked => drop(asked.resume_parked()),
        _ => return false,
    }
    true
}

#[cfg(test)]
mod hostile;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Recorder;
    use alloc::string::String;
    use alloc::vec;

    const SEEN: Seen<'_> = Seen {
        length: 1_000_000,
        allotment: 4,
        usage: 4,
        attempts: 9,
        purely_failed: 0,
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
            idle: crate::Idle::default(),
            steal: crate::Amount::default(),
            victim: crate::Victim::default(),
            space: crate::Space::None,
            share: crate::share::Share::Auto,
            desire: desire.parse().unwrap(),
            workers: 4,
            pool: String::new(),
        }
    }

    /// Cycles of a pool of which every worker is busy and has more to do.
    fn steward(desire: &str) -> Stream {
        let tape = RefCell::new(Recorder::new(1 << 16, || 0));
        let rule = desire.parse().unwrap();
        let mut steward = Steward::new(&tape, DesireState::new(&rule).unwrap());
        for _ in 0..5 {
            steward.next_desire(&tape, &SEEN);
        }
        tape.borrow().stream(Source::Steward)
    }

    fn replayed(desire: &str, stream: Stream) -> Result<Replayed, Failed> {
        replay(&Trace {
            rules: rules(desire),
            streams: vec![stream],
        })
    }

    #[test]
    fn a_steward_under_another_rule_desires_something_else() {
        let same = replayed("wsap:eta=0.5", steward("wsap:eta=0.5")).unwrap();
        assert_eq!(same.questions, 6);
        let other = replayed("instantaneous", steward("wsap:eta=0.5"));
        assert!(matches!(other, Err(Failed::Differs(_))), "{other:?}");
    }

    #[test]
    fn decisions_that_belong_to_no_question_are_damage() {
        let mut stream = steward("wsap");
        stream.decisions.push(7);
        let found = replayed("wsap", stream);
        assert!(matches!(found, Err(Failed::Damaged(_))), "{found:?}");
    }

    #[test]
    fn a_trace_that_claims_more_workers_than_there_can_be_is_read_all_the_same() {
        let mut recorder = Recorder::new(1 << 16, || 0);
        recorder.note(Question::Begin, &[]);
        recorder.note(Question::Desire, &[u64::MAX]);
        let found = replayed("wsap", recorder.stream(Source::Steward));
        assert!(matches!(found, Err(Failed::Differs(_))), "{found:?}");
    }
}
