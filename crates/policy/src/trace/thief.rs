//! The rules of one thief: whom to rob, how much to take, how to rest.

use super::question::Question;
use super::tape::Tape;
use crate::limits::MOST_THREADS;
use crate::{Amount, IdleState, Nanos, Peers, Rest, Victim, VictimState};

/// What one thief remembers under the rules.
#[derive(Clone, Debug)]
pub struct Thief {
    idle: IdleState,
    victims: VictimState,
}

/// What the rules see of the others, each look noted.
struct Seen<'a, P, T> {
    peers: &'a P,
    tape: &'a T,
}

impl<P: Peers, T: Tape> Peers for Seen<'_, P, T> {
    fn count(&self) -> usize {
        let count = self.tape.input(|| self.peers.count() as u64);
        // A trace may say anything.
        count.min(MOST_THREADS as u64) as usize
    }

    fn is_candidate(&self, worker: usize) -> bool {
        self.tape.input(|| self.peers.is_candidate(worker).into()) != 0
    }

    fn distance(&self, thief: usize, victim: usize) -> u32 {
        self.tape
            .input(|| self.peers.distance(thief, victim).into()) as u32
    }

    fn last_victim(&self, worker: usize) -> Option<usize> {
        let word = self
            .tape
            .input(|| word_of(self.peers.last_victim(worker).map(|victim| victim as u64)));
        word.checked_sub(1).map(|victim| victim as usize)
    }

    fn are_alike(&self) -> bool {
        self.tape.input(|| self.peers.are_alike().into()) != 0
    }
}

/// A number for one that may be missing.
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

impl Thief {
    /// A thief that has not tried yet, worker `index` of its pool.
    pub fn new(tape: &impl Tape, idle: IdleState, victim: Victim, index: usize) -> Self {
        tape.ask(Question::Begin);
        tape.answer(0);
        Self {
            idle,
            victims: VictimState::new(victim, index),
        }
    }

    /// [`VictimState::next`].
    pub fn next_victim<P: Peers, T: Tape>(
        &mut self,
        tape: &T,
        peers: &P,
        draw: impl FnOnce() -> u64,
    ) -> Option<usize> {
        tape.ask(Question::NextVictim);
        let seen = Seen { peers, tape };
        let victim = self.victims.next(&seen, || tape.input(draw));
        tape.answer(word_of(victim.map(|victim| victim as u64)));
        victim
    }

    /// [`VictimState::stolen_from`].
    pub fn stolen_from(&mut self, tape: &impl Tape, victim: impl FnOnce() -> u64) {
        tape.ask(Question::StolenFrom);
        let victim = tape.input(victim);
        self.victims.stolen_from(victim as usize);
        tape.answer(0);
    }

    /// [`IdleState::attempt_failed`].
    pub fn attempt_failed(&mut self, tape: &impl Tape, now: impl FnOnce() -> Nanos) -> Rest {
        tape.ask(Question::AttemptFailed);
        let rest = self.idle.attempt_failed(|| tape.input(now));
        tape.answer(word_of_rest(rest));
        rest
    }

    /// [`IdleState::sweep_failed`].
    pub fn sweep_failed(
        &mut self,
        tape: &impl Tape,
        now: impl FnOnce() -> Nanos,
        draw: impl FnOnce() -> u64,
    ) -> Rest {
        tape.ask(Question::SweepFailed);
        let rest = self
            .idle
            .sweep_failed(|| tape.input(now), || tape.input(draw));
        tape.answer(word_of_rest(rest));
        rest
    }

    /// [`IdleState::steal_succeeded`].
    pub fn steal_succeeded(&mut self, tape: &impl Tape, now: impl FnOnce() -> Nanos) {
        tape.ask(Question::StealSucceeded);
        self.idle.steal_succeeded(|| tape.input(now));
        tape.answer(0);
    }

    /// [`IdleState::rested`].
    pub fn rested(&mut self, tape: &impl Tape, now: impl FnOnce() -> Nanos) {
        tape.ask(Question::Rested);
        self.idle.rested(|| tape.input(now));
        tape.answer(0);
    }

    /// [`Amount::take`] of so many that wait.
    pub fn take(tape: &impl Tape, amount: Amount, waiting: impl FnOnce() -> u64) -> usize {
        tape.ask(Question::Amount);
        let take = amount.take(tape.input(waiting) as usize);
        tape.answer(take as u64);
        take
    }
}
