//! The state of one thief in its current round, and the choice of the next victim.

use super::{Peers, VictimPolicy};
use crate::rng::below;

/// The state of one thief in its round over the victims.
///
/// ```
/// use tidegate_policy::{Peers, VictimPolicy, VictimState};
///
/// struct Four;
/// impl Peers for Four {
///     fn count(&self) -> usize { 4 }
///     fn is_candidate(&self, worker: usize) -> bool { worker != 3 }
///     fn distance(&self, _: usize, _: usize) -> u32 { 1 }
///     fn last_victim(&self, _: usize) -> Option<usize> { None }
/// }
///
/// let mut victims = VictimState::new(VictimPolicy::Random, 0);
/// let mut asked = vec![];
/// while let Some(victim) = victims.next(&Four, || 42) {
///     asked.push(victim); // and try to steal there
/// }
/// asked.sort();
/// assert_eq!(asked, [1, 2]); // no candidate had a task: the round failed
/// ```
#[derive(Clone, Debug)]
pub struct VictimState {
    rule: VictimPolicy,
    thief: usize,
    /// The victim of the last successful steal.
    last: Option<usize>,
    /// The victim with which a round-robin thief begins its next round.
    target: usize,
    round: VictimRound,
}

/// The victims tried since the round began.
#[derive(Clone, Copy, Debug, Default)]
struct VictimRound {
    begun: bool,
    /// The thief's own last victim, if this round began with it.
    asked_last: Option<usize>,
    /// The victim that the rule chose in the last call. That victim's own last victim comes next.
    chosen: Option<usize>,
    circle: Option<Circle>,
    /// The largest distance tried so far.
    distance: u32,
}

/// A walk over all workers that begins at `start` and wraps around after the last worker.
#[derive(Clone, Copy, Debug)]
struct Circle {
    start: usize,
    next: usize,
    wrapped: bool,
}

impl Circle {
    /// Returns the next worker below `count`. `count` may differ from call to call.
    fn step(&mut self, count: usize) -> Option<usize> {
        if !self.wrapped && self.next >= count {
            self.wrapped = true;
            self.next = 0;
        }
        if self.wrapped && self.next >= self.start {
            return None;
        }
        self.next += 1;
        Some(self.next - 1)
    }
}

impl VictimState {
    /// Creates the state of worker `thief`, which has not stolen yet.
    #[must_use]
    pub fn new(rule: VictimPolicy, thief: usize) -> Self {
        Self {
            rule,
            thief,
            last: None,
            target: thief.saturating_add(1),
            round: VictimRound::default(),
        }
    }

    /// Returns the next victim to try, or `None` at the end of the round; the next call then begins
    /// a new round. A call implies that the previous victim had no task. `draw` returns a uniform
    /// random number and is called at most once.
    ///
    /// A victim is always a candidate and never the thief. Under `hierarchical`, a call looks at
    /// every worker twice, unless all are [alike](Peers::are_alike) or [indexed](Peers::census).
    pub fn next(&mut self, peers: &impl Peers, draw: impl FnOnce() -> u64) -> Option<usize> {
        let victim = self.revisit(peers).or_else(|| self.choose(peers, draw));
        match victim {
            Some(_) => self.round.begun = true,
            None => self.round = VictimRound::default(),
        }
        victim
    }

    /// Ends the round, because `victim` had a task.
    pub fn stolen_from(&mut self, victim: usize) {
        self.last = Some(victim);
        self.round = VictimRound::default();
    }

    /// Returns the victim of this thief's last successful steal, which other thieves use.
    #[must_use]
    pub fn last_victim(&self) -> Option<usize> {
        self.last
    }

    /// Returns the last victim to try now, if the rule calls for one: at the start of a round, the
    /// thief's own last victim; later, that of the victim chosen before.
    fn revisit(&mut self, peers: &impl Peers) -> Option<usize> {
        if matches!(self.rule, VictimPolicy::Random | VictimPolicy::RoundRobin) {
            return None;
        }
        if !self.round.begun {
            self.round.asked_last = self.last.filter(|&victim| self.is_open(peers, victim));
            return self.round.asked_last;
        }
        let chosen = self.round.chosen.take()?;
        peers
            .last_victim(chosen)
            .filter(|&victim| self.is_open(peers, victim))
    }

    fn choose(&mut self, peers: &impl Peers, draw: impl FnOnce() -> u64) -> Option<usize> {
        let chosen = match self.rule {
            VictimPolicy::Random | VictimPolicy::RoundRobin | VictimPolicy::LastVictim => {
                self.next_on_circle(peers, draw)
            }
            VictimPolicy::Hierarchical => self.next_in_tree(peers, draw),
        };
        self.round.chosen = chosen;
        chosen
    }

    fn next_on_circle(&mut self, peers: &impl Peers, draw: impl FnOnce() -> u64) -> Option<usize> {
        let mut circle = self
            .round
            .circle
            .unwrap_or_else(|| self.begin_circle(peers.count(), draw));
        let victim = loop {
            if let Some(census) = peers.census() {
                circle.next = census.first_from(circle.next).unwrap_or(peers.count());
            }
            match circle.step(peers.count()) {
                Some(worker) if !self.is_open(peers, worker) => {}
                found => break found,
            }
        };
        self.round.circle = Some(circle);
        self.target = victim.map_or(self.target, |victim| victim + 1);
        victim
    }

    fn begin_circle(&self, count: usize, draw: impl FnOnce() -> u64) -> Circle {
        let start = match self.rule {
            VictimPolicy::RoundRobin if self.target < count => self.target,
            VictimPolicy::RoundRobin => 0,
            _ => self.random_other(count, draw),
        };
        Circle {
            start,
            next: start,
            wrapped: false,
        }
    }

    /// Returns a random worker other than the thief. The thief itself is never drawn: otherwise,
    /// the worker after it would come first twice as often as the others.
    fn random_other(&self, count: usize, draw: impl FnOnce() -> u64) -> usize {
        let others = count.saturating_sub(usize::from(self.thief < count));
        let drawn = below(draw(), others as u64) as usize;
        drawn + usize::from(drawn >= self.thief)
    }

    fn next_in_tree(&mut self, peers: &impl Peers, draw: impl FnOnce() -> u64) -> Option<usize> {
        let drawn = draw();
        if peers.are_alike() {
            return self.next_among_alike(peers.count(), drawn);
        }
        loop {
            let (distance, candidates) = self.next_distance(peers)?;
            self.round.distance = distance;
            let at_distance = |&worker: &usize| {
                self.is_open(peers, worker) && peers.distance(self.thief, worker) == distance
            };
            let nth = below(drawn, candidates as u64) as usize;
            if let Some(census) = peers.census() {
                return Some(census.nth(self.thief, distance, self.round.asked_last, nth));
            }
            // Candidates may have disappeared since they were counted. If so, try the next
            // distance.
            if let Some(victim) = (0..peers.count()).filter(at_distance).nth(nth) {
                return Some(victim);
            }
        }
    }

    /// Like [`next_in_tree`](Self::next_in_tree), but assumes that all `count` workers are
    /// candidates at distance 1.
    fn next_among_alike(&mut self, count: usize, drawn: u64) -> Option<usize> {
        let asked = self.round.asked_last;
        let candidates =
            count.saturating_sub(usize::from(self.thief < count) + usize::from(asked.is_some()));
        if self.round.distance >= 1 || candidates == 0 {
            return None;
        }
        self.round.distance = 1;
        let nth = below(drawn, candidates as u64) as usize;
        let mut passed = [self.thief, asked.unwrap_or(usize::MAX)];
        passed.sort_unstable();
        let pass = |worker, &other: &usize| worker + usize::from(worker >= other);
        Some(passed.iter().fold(nth, pass))
    }

    /// Returns the smallest distance not yet tried at which there are candidates, and the number of
    /// these candidates.
    fn next_distance(&self, peers: &impl Peers) -> Option<(u32, usize)> {
        if let Some(census) = peers.census() {
            let (thief, passed) = (self.thief, self.round.asked_last);
            return census.beyond(thief, self.round.distance, passed);
        }
        let mut nearest = None;
        for worker in (0..peers.count()).filter(|&worker| self.is_open(peers, worker)) {
            let distance = peers.distance(self.thief, worker);
            nearest = match nearest {
                _ if distance <= self.round.distance => nearest,
                Some((near, candidates)) if near == distance => Some((near, candidates + 1)),
                Some((near, _)) if near < distance => nearest,
                _ => Some((distance, 1)),
            };
        }
        nearest
    }

    fn is_open(&self, peers: &impl Peers, worker: usize) -> bool {
        worker != self.thief
            && self.round.asked_last != Some(worker)
            && worker < peers.count()
            && peers.is_candidate(worker)
    }
}
