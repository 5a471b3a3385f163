//! Records the decisions of one thief: which victim to steal from, how much to take, how to rest.

use super::event::Event;
use super::recorder::Recorder;
use crate::limits::MOST_THREADS;
use crate::{IdleState, Nanos, Peers, Rest, StealAmount, VictimPolicy, VictimState};

/// A thief whose decisions are recorded.
#[derive(Debug)]
pub struct Thief {
    idle: IdleState,
    victims: VictimState,
}

/// Records everything that a thief reads about the other workers.
struct Seen<'a, P, T> {
    peers: &'a P,
    recorder: &'a T,
}

impl<P: Peers, T: Recorder> Peers for Seen<'_, P, T> {
    fn count(&self) -> usize {
        let count = self.recorder.input(|| self.peers.count() as u64);
        // A damaged trace may claim any number of workers.
        count.min(MOST_THREADS as u64) as usize
    }

    fn is_candidate(&self, worker: usize) -> bool {
        self.recorder
            .input(|| self.peers.is_candidate(worker).into())
            != 0
    }

    fn distance(&self, thief: usize, victim: usize) -> u32 {
        self.recorder
            .input(|| self.peers.distance(thief, victim).into()) as u32
    }

    fn last_victim(&self, worker: usize) -> Option<usize> {
        let word = self
            .recorder
            .input(|| word_of(self.peers.last_victim(worker).map(|victim| victim as u64)));
        word.checked_sub(1).map(|victim| victim as usize)
    }

    fn are_alike(&self) -> bool {
        self.recorder.input(|| self.peers.are_alike().into()) != 0
    }
}

/// Encodes `None` as 0, and a number as its successor.
pub(super) fn word_of(number: Option<u64>) -> u64 {
    number.map_or(0, |number| number.saturating_add(1))
}

fn word_of_rest(rest: Rest) -> u64 {
    match rest {
        Rest::Retry => 0,
        Rest::Yield => 1,
        Rest::Park => 2,
        Rest::Sleep(nanos) => nanos.saturating_add(3),
    }
}

fn rest_of_word(word: u64) -> Rest {
    match word {
        0 => Rest::Retry,
        1 => Rest::Yield,
        2 => Rest::Park,
        nanos => Rest::Sleep(nanos - 3),
    }
}

impl Thief {
    /// Creates the state of worker `index` before its first attempt to steal.
    pub fn new(
        recorder: &impl Recorder,
        idle: IdleState,
        victim: VictimPolicy,
        index: usize,
    ) -> Self {
        recorder.begin(Event::Begin);
        recorder.end(0);
        Self {
            idle,
            victims: VictimState::new(victim, index),
        }
    }

    /// Calls [`VictimState::next`] and records the decision.
    pub fn next_victim<P: Peers, T: Recorder>(
        &mut self,
        recorder: &T,
        peers: &P,
        draw: impl FnOnce() -> u64,
    ) -> Option<usize> {
        recorder.begin(Event::NextVictim);
        let seen = Seen { peers, recorder };
        let victim = self.victims.next(&seen, || recorder.input(draw));
        recorder.end(word_of(victim.map(|victim| victim as u64)));
        victim
    }

    /// Calls [`VictimState::stolen_from`] and records the call.
    pub fn stolen_from(&mut self, recorder: &impl Recorder, victim: impl FnOnce() -> u64) {
        recorder.begin(Event::StolenFrom);
        let victim = recorder.input(victim);
        self.victims.stolen_from(victim as usize);
        recorder.end(0);
    }

    /// Calls [`IdleState::attempt_failed`] and records the decision.
    pub fn attempt_failed(
        &mut self,
        recorder: &impl Recorder,
        now: impl FnOnce() -> Nanos,
    ) -> Rest {
        recorder.begin(Event::AttemptFailed);
        let rest = self.idle.attempt_failed(|| recorder.input(now));
        recorder.end(word_of_rest(rest));
        rest
    }

    /// Calls [`IdleState::sweep_failed`] and records the decision. The result of a user-defined
    /// backoff is recorded as an input, so that a replay does not need the backoff's code.
    pub fn sweep_failed(
        &mut self,
        recorder: &impl Recorder,
        now: impl FnOnce() -> Nanos,
        draw: impl FnOnce() -> u64,
    ) -> Rest {
        recorder.begin(Event::SweepFailed);
        let rest = self.idle.sweep_failed_asking(
            || recorder.input(now),
            || recorder.input(draw),
            |backoff, draw| rest_of_word(recorder.input(|| word_of_rest(backoff.backoff(draw)))),
        );
        recorder.end(word_of_rest(rest));
        rest
    }

    /// Calls [`IdleState::steal_succeeded`] and records the call.
    pub fn steal_succeeded(&mut self, recorder: &impl Recorder, now: impl FnOnce() -> Nanos) {
        recorder.begin(Event::StealSucceeded);
        self.idle.steal_succeeded(|| recorder.input(now));
        recorder.end(0);
    }

    /// Calls [`IdleState::rested`] and records the call.
    pub fn rested(&mut self, recorder: &impl Recorder, now: impl FnOnce() -> Nanos) {
        recorder.begin(Event::Rested);
        self.idle.rested(|| recorder.input(now));
        recorder.end(0);
    }

    /// Calls [`StealAmount::take`] and records the decision.
    pub fn take(
        recorder: &impl Recorder,
        amount: StealAmount,
        waiting: impl FnOnce() -> u64,
    ) -> usize {
        recorder.begin(Event::Amount);
        let take = amount.take(recorder.input(waiting) as usize);
        recorder.end(take as u64);
        take
    }
}
