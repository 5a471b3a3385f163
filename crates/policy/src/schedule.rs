//! The order in which the threads of a simulated pool run.
//!
//! A simulated pool runs one thread at a time. Wherever another thread may run, [`Turns::next`]
//! chooses one. A [`Schedule`] determines all choices, so the same schedule repeats the same run.
//!
//! Without a reason to do otherwise, a thread runs until it must wait, and then the next one runs,
//! in the order of their numbers. A run is described by the steps that *deviate* from this rule. A
//! schedule is either a seed, from which deviations are drawn, or a list of them.
//!
//! A bug may need many switches between threads, or a few at the right places. So the seed also
//! chooses how to draw:
//!
//! * a thread that can run is drawn uniformly, at each step or at a fraction of the steps,
//! * each thread has a random priority, the thread with the highest priority runs, and at a few
//!   random steps the running thread gets the lowest priority: Burckhardt, Kothari, Musuvathi and
//!   Nagarakatte, "A randomized scheduler with probabilistic guarantees of finding bugs", 2010,
//!   section 3. A bug that needs d ordering constraints is found with a probability that falls
//!   exponentially in d only. The length of the run is not known in advance here, so each step has
//!   a fixed probability instead.
//!
//! A thread that gives way has nothing to do until another thread has run, so another one runs next
//! if it can.

use crate::error::ParseError;
use crate::rng::Rng;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

/// Determines the order in which the threads of a simulated pool run: a seed, or a list of the
/// steps at which the order deviates from the usual one.
///
/// ```
/// use tidegate_policy::schedule::Schedule;
///
/// let schedule: Schedule = "3:1,17:0".parse()?;
/// assert_eq!(schedule.to_string(), "3:1,17:0");
/// assert_eq!(Schedule::from(7), "7".parse()?);
/// # Ok::<(), tidegate_policy::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// The deviations are drawn from this seed.
    Seed(u64),
    /// These deviations, in the order of their steps.
    Deviations(Vec<Deviation>),
}

/// A step at which another thread than the usual one runs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deviation {
    /// The number of the step, counted from 1.
    pub step: u64,
    /// The number of the thread that runs next. A thread that cannot run is ignored.
    pub thread: usize,
}

impl From<u64> for Schedule {
    fn from(seed: u64) -> Self {
        Self::Seed(seed)
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seed(seed) => write!(f, "{seed}"),
            Self::Deviations(deviations) if deviations.is_empty() => f.write_str("none"),
            Self::Deviations(deviations) => {
                for (n, Deviation { step, thread }) in deviations.iter().enumerate() {
                    let comma = if n > 0 { "," } else { "" };
                    write!(f, "{comma}{step}:{thread}")?;
                }
                Ok(())
            }
        }
    }
}

impl FromStr for Schedule {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        if let Ok(seed) = text.parse() {
            return Ok(Self::Seed(seed));
        }
        if text == "none" {
            return Ok(Self::Deviations(Vec::new()));
        }
        let deviation = |part: &str| {
            let (step, thread) = part.split_once(':')?;
            let (step, thread) = (step.parse().ok()?, thread.parse().ok()?);
            Some(Deviation { step, thread })
        };
        let deviations: Option<Vec<_>> = text.split(',').map(deviation).collect();
        let in_order = |all: &Vec<Deviation>| all.is_sorted_by_key(|deviation| deviation.step);
        let deviations = deviations.filter(in_order);
        deviations.map(Self::Deviations).ok_or_else(|| {
            let expected = "a seed, none, or steps with threads in order, such as 3:1,17:0";
            ParseError::value("schedule", text, expected)
        })
    }
}

/// What the threads of a simulated pool can do at one step.
#[derive(Clone, Copy, Debug)]
pub struct Choice<'a> {
    /// The number of the step, counted from 1.
    pub step: u64,
    /// The thread that has run until now.
    pub last: usize,
    /// Whether that thread has nothing to do until another thread has run.
    pub gives_way: bool,
    /// Whether that thread is in a call to a lock, a channel or another thing that the program
    /// shares between threads.
    pub is_access: bool,
    /// The threads that can run, in ascending order; at least one.
    pub ready: &'a [usize],
}

impl Choice<'_> {
    /// Returns the thread that runs next by the usual rule.
    fn usual(&self) -> usize {
        if !self.gives_way && self.ready.contains(&self.last) {
            return self.last;
        }
        let later = self.ready.iter().find(|thread| **thread > self.last);
        *later.unwrap_or(&self.ready[0])
    }

    /// Returns the threads that may run next: all that can run, without the last one if it gives
    /// way to others.
    fn candidates(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        let others = self.gives_way && self.ready.iter().any(|thread| *thread != self.last);
        let ready = self.ready.iter().copied();
        ready.filter(move |thread| !others || *thread != self.last)
    }
}

/// The choices of a run under one [`Schedule`].
#[derive(Clone, Debug)]
pub struct Turns {
    rule: Rule,
    deviations: Vec<Deviation>,
    /// The number of steps in a row after which the same thread ran on.
    streak: u32,
}

/// After this many steps in a row, a thread counts as giving way: it may poll for something that
/// another thread must do first.
const LONGEST_STREAK: u32 = 1_000;

#[derive(Clone, Debug)]
enum Rule {
    /// Draws a thread at some steps.
    Uniform { rng: Rng, sparsity: Sparsity },
    /// Runs the thread with the highest priority. At some steps, the running thread gets the lowest
    /// one.
    Priorities {
        rng: Rng,
        sparsity: Sparsity,
        /// The priority of each thread.
        ranks: Vec<i64>,
        /// The lowest priority so far.
        lowest: i64,
    },
    /// Follows the remaining part of a list.
    Listed(Vec<Deviation>),
}

/// How rarely a rule intervenes.
#[derive(Clone, Copy, Debug)]
struct Sparsity {
    /// The rule intervenes at one in 2^`access` accesses,
    access: u32,
    /// and at one in 2^`other` other steps.
    other: u32,
}

impl Sparsity {
    fn drawn(rng: &mut Rng) -> Self {
        Self {
            access: 1 + rng.below(3) as u32,
            other: 1 + rng.below(6) as u32,
        }
    }

    fn intervenes(self, rng: &mut Rng, choice: &Choice<'_>) -> bool {
        let sparsity = if choice.is_access {
            self.access
        } else {
            self.other
        };
        rng.below(1 << sparsity) == 0
    }
}

impl Turns {
    /// Begins a run.
    #[must_use]
    pub fn new(schedule: &Schedule) -> Self {
        let rule = match schedule {
            Schedule::Seed(seed) => Rule::drawn(Rng::new(*seed)),
            Schedule::Deviations(list) => Rule::Listed(list.iter().rev().copied().collect()),
        };
        Self {
            rule,
            deviations: Vec::new(),
            streak: 0,
        }
    }

    /// Chooses the thread that runs next.
    pub fn next(&mut self, choice: &Choice<'_>) -> usize {
        let gives_way = choice.gives_way || self.streak >= LONGEST_STREAK;
        let choice = &Choice {
            gives_way,
            ..*choice
        };
        let usual = choice.usual();
        let thread = self.rule.choose(choice).unwrap_or(usual);
        self.streak = if thread == choice.last {
            self.streak + 1
        } else {
            0
        };
        if thread != usual {
            let step = choice.step;
            self.deviations.push(Deviation { step, thread });
        }
        thread
    }

    /// Returns the choices so far as deviations from the usual order.
    #[must_use]
    pub fn deviations(&self) -> &[Deviation] {
        &self.deviations
    }
}

impl Rule {
    fn drawn(mut rng: Rng) -> Self {
        let rule = rng.below(8);
        let sparsity = Sparsity::drawn(&mut rng);
        match rule {
            0 => Self::Uniform {
                rng,
                sparsity: Sparsity {
                    access: 0,
                    other: 0,
                },
            },
            1 | 2 => Self::Uniform { rng, sparsity },
            _ => Self::Priorities {
                rng,
                sparsity,
                ranks: Vec::new(),
                lowest: 0,
            },
        }
    }

    /// Chooses a thread. `None` stands for the usual one.
    fn choose(&mut self, choice: &Choice<'_>) -> Option<usize> {
        match self {
            Self::Uniform { rng, sparsity } => {
                if !sparsity.intervenes(rng, choice) {
                    return None;
                }
                let candidates = choice.candidates();
                let n = rng.below(candidates.clone().count() as u64);
                candidates.clone().nth(n as usize)
            }
            Self::Priorities {
                rng,
                sparsity,
                ranks,
                lowest,
            } => {
                let most = choice.ready.iter().max().unwrap_or(&0).max(&choice.last);
                while ranks.len() <= *most {
                    ranks.push((rng.draw() >> 2) as i64);
                }
                if choice.gives_way || sparsity.intervenes(rng, choice) {
                    *lowest -= 1;
                    ranks[choice.last] = *lowest;
                }
                choice
                    .ready
                    .iter()
                    .copied()
                    .max_by_key(|thread| ranks[*thread])
            }
            Self::Listed(left) => {
                while left.last().is_some_and(|next| next.step < choice.step) {
                    left.pop();
                }
                let here = left.last().filter(|next| next.step == choice.step)?;
                choice.ready.contains(&here.thread).then_some(here.thread)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::vec;

    /// Runs three threads that never wait for `steps` steps, each of which gives way at every
    /// fourth step. Returns the threads in the order in which they ran.
    fn order(schedule: &Schedule, steps: u64) -> (Vec<usize>, Vec<Deviation>) {
        let (mut turns, mut last) = (Turns::new(schedule), 0);
        let order = (1..=steps).map(|step| {
            last = turns.next(&Choice {
                step,
                last,
                gives_way: step % 4 == 0,
                is_access: step % 2 == 0,
                ready: &[0, 1, 2],
            });
            last
        });
        let order = order.collect();
        (order, turns.deviations)
    }

    #[test]
    fn threads_take_turns_without_deviations() {
        let (order, deviations) = order(&Schedule::Deviations(vec![]), 9);
        assert_eq!(order, [0, 0, 0, 1, 1, 1, 1, 2, 2]);
        assert_eq!(deviations, []);
    }

    #[test]
    fn listed_deviations_repeat_the_run_of_a_seed() {
        for seed in 0..200 {
            let (drawn, deviations) = order(&Schedule::Seed(seed), 100);
            let (listed, again) = order(&Schedule::Deviations(deviations.clone()), 100);
            assert_eq!((drawn, deviations), (listed, again), "seed {seed}");
        }
    }

    #[test]
    fn every_first_pair_of_threads_is_drawn() {
        let mut pairs: Vec<Vec<usize>> = (0..200)
            .map(|seed| order(&Schedule::Seed(seed), 2).0)
            .collect();
        pairs.sort();
        pairs.dedup();
        assert_eq!(pairs.len(), 9);
    }

    #[test]
    fn thread_that_gives_way_runs_only_if_no_other_can() {
        for seed in 0..100 {
            let mut turns = Turns::new(&Schedule::Seed(seed));
            for step in 1..50 {
                let ready: &[usize] = if step % 5 == 0 { &[1] } else { &[0, 1, 2] };
                let next = turns.next(&Choice {
                    step,
                    last: 1,
                    gives_way: true,
                    is_access: false,
                    ready,
                });
                assert_eq!(next == 1, ready.len() == 1, "seed {seed}, step {step}");
            }
        }
    }

    #[test]
    fn text_form_parses_back() {
        for text in ["7", "none", "3:1,17:0"] {
            assert_eq!(text.parse::<Schedule>().unwrap().to_string(), text);
        }
        for bad in ["", "3:", "17:0,3:1", "3:1;4:2", "-1"] {
            let error = bad.parse::<Schedule>().unwrap_err().to_string();
            assert!(error.contains("expected a seed"), "{error}");
        }
    }
}
