//! Where one thief stands in its sweep, and whom it asks next.

use super::{Peers, Victim};
use crate::rng::below;

/// Where one thief stands in its sweep.
///
/// ```
/// use tidegate_policy::{Peers, Victim, VictimState};
///
/// struct Four;
/// impl Peers for Four {
///     fn count(&self) -> usize { 4 }
///     fn is_candidate(&self, worker: usize) -> bool { worker != 3 }
///     fn distance(&self, _: usize, _: usize) -> u32 { 1 }
///     fn last_victim(&self, _: usize) -> Option<usize> { None }
/// }
///
/// let mut victims = VictimState::new(Victim::Random, 0);
/// let mut asked = vec![];
/// while let Some(victim) = victims.next(&Four, || 42) {
///     asked.push(victim); // and try to steal there
/// }
/// asked.sort();
/// assert_eq!(asked, [1, 2]); // all candidates had nothing: the sweep failed
/// ```
#[derive(Clone, Debug)]
pub struct VictimState {
    rule: Victim,
    thief: usize,
    /// The victim of the last success.
    last: Option<usize>,
    sweep: Sweep,
}

/// What has been asked since the sweep began.
#[derive(Clone, Copy, Debug, Default)]
struct Sweep {
    begun: bool,
    /// The thief's last victim, where it was asked.
    asked_last: Option<usize>,
    /// The victim that the rule chose just now, and whose last victim comes next.
    chosen: Option<usize>,
    circle: Option<Circle>,
    /// The largest distance asked so far.
    distance: u32,
}

/// A round through all numbers from `start` on.
#[derive(Clone, Copy, Debug)]
struct Circle {
    start: usize,
    next: usize,
    wrapped: bool,
}

impl Circle {
    /// The next number below `count`, which may have changed meanwhile.
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
    /// The state of worker `thief`, which has not stolen yet.
    #[must_use]
    pub fn new(rule: Victim, thief: usize) -> Self {
        Self {
            rule,
            thief,
            last: None,
            sweep: Sweep::default(),
        }
    }

    /// The next victim to ask, or `None` when the sweep is over; the call after that begins another. Calling it says that
    /// the victim named before had nothing. `draw` gives a uniform number and is called at most once.
    ///
    /// A victim named is a candidate and never the thief. Under `hierarchical` a call looks at every worker twice,
    /// unless all are [alike](Peers::are_alike) or [counted](Peers::census).
    pub fn next(&mut self, peers: &impl Peers, draw: impl FnOnce() -> u64) -> Option<usize> {
        let victim = self.revisit(peers).or_else(|| self.choose(peers, draw));
        match victim {
            Some(_) => self.sweep.begun = true,
            None => self.sweep = Sweep::default(),
        }
        victim
    }

    /// The victim named last had a task; the sweep is over.
    pub fn stolen_from(&mut self, victim: usize) {
        self.last = Some(victim);
        self.sweep = Sweep::default();
    }

    /// The victim of this thief's last success, for other thieves to see.
    #[must_use]
    pub fn last_victim(&self) -> Option<usize> {
        self.last
    }

    /// A last victim, where one is due: at the beginning the thief's own, later that of the victim chosen before.
    fn revisit(&mut self, peers: &impl Peers) -> Option<usize> {
        if self.rule == Victim::Random {
            return None;
        }
        if !self.sweep.begun {
            self.sweep.asked_last = self.last.filter(|&victim| self.is_open(peers, victim));
            return self.sweep.asked_last;
        }
        let chosen = self.sweep.chosen.take()?;
        peers
            .last_victim(chosen)
            .filter(|&victim| self.is_open(peers, victim))
    }

    fn choose(&mut self, peers: &impl Peers, draw: impl FnOnce() -> u64) -> Option<usize> {
        let chosen = match self.rule {
            Victim::Random | Victim::LastVictim => self.next_on_circle(peers, draw),
            Victim::Hierarchical => self.next_in_tree(peers, draw),
        };
        self.sweep.chosen = chosen;
        chosen
    }

    fn next_on_circle(&mut self, peers: &impl Peers, draw: impl FnOnce() -> u64) -> Option<usize> {
        let mut circle = self
            .sweep
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
        self.sweep.circle = Some(circle);
        victim
    }

    /// Starts at a random worker other than the thief, else the one after it would come first twice as often.
    fn begin_circle(&self, count: usize, draw: impl FnOnce() -> u64) -> Circle {
        let others = count.saturating_sub(usize::from(self.thief < count));
        let drawn = below(draw(), others as u64) as usize;
        let start = drawn + usize::from(drawn >= self.thief);
        Circle {
            start,
            next: start,
            wrapped: false,
        }
    }

    fn next_in_tree(&mut self, peers: &impl Peers, draw: impl FnOnce() -> u64) -> Option<usize> {
        let drawn = draw();
        if peers.are_alike() {
            return self.next_among_alike(peers.count(), drawn);
        }
        loop {
            let (distance, candidates) = self.next_distance(peers)?;
            self.sweep.distance = distance;
            let at_distance = |&worker: &usize| {
                self.is_open(peers, worker) && peers.distance(self.thief, worker) == distance
            };
            let nth = below(drawn, candidates as u64) as usize;
            if let Some(census) = peers.census() {
                return Some(census.nth(self.thief, distance, self.sweep.asked_last, nth));
            }
            // Candidates may have gone since they were counted: then the next distance is asked.
            if let Some(victim) = (0..peers.count()).filter(at_distance).nth(nth) {
                return Some(victim);
            }
        }
    }

    /// The same where all `count` workers are candidates, at distance 1.
    fn next_among_alike(&mut self, count: usize, drawn: u64) -> Option<usize> {
        let asked = self.sweep.asked_last;
        let candidates =
            count.saturating_sub(usize::from(self.thief < count) + usize::from(asked.is_some()));
        if self.sweep.distance >= 1 || candidates == 0 {
            return None;
        }
        self.sweep.distance = 1;
        let nth = below(drawn, candidates as u64) as usize;
        let mut passed = [self.thief, asked.unwrap_or(usize::MAX)];
        passed.sort_unstable();
        let pass = |worker, &other: &usize| worker + usize::from(worker >= other);
        Some(passed.iter().fold(nth, pass))
    }

    /// The smallest distance not asked yet, and how many candidates are there.
    fn next_distance(&self, peers: &impl Peers) -> Option<(u32, usize)> {
        if let Some(census) = peers.census() {
            let (thief, passed) = (self.thief, self.sweep.asked_last);
            return census.beyond(thief, self.sweep.distance, passed);
        }
        let mut nearest = None;
        for worker in (0..peers.count()).filter(|&worker| self.is_open(peers, worker)) {
            let distance = peers.distance(self.thief, worker);
            nearest = match nearest {
                _ if distance <= self.sweep.distance => nearest,
                Some((near, candidates)) if near == distance => Some((near, candidates + 1)),
                Some((near, _)) if near < distance => nearest,
                _ => Some((distance, 1)),
            };
        }
        nearest
    }

    /// Whether this worker may be named now.
    fn is_open(&self, peers: &impl Peers, worker: usize) -> bool {
        worker != self.thief
            && self.sweep.asked_last != Some(worker)
            && worker < peers.count()
            && peers.is_candidate(worker)
    }
}
