//! The running part of the backoffs: how long the next sleep is.
//!
//! Times are kept as `f64`: exact for whole nanoseconds up to 2^53 (104 days), and a growth of 1.3 needs fractions.

use super::backoff::{Backoff, Exponential, Linear, PheetOriginal, Randomness};
use crate::Nanos;
use crate::rng::unit;

/// One growing time. The first sleep is the minimum.
#[derive(Clone, Copy, Debug)]
struct Ramp {
    min: f64,
    max: f64,
    growth: Growth,
    randomness: Randomness,
    slow_reset: bool,
    /// The next sleep.
    current: f64,
}

#[derive(Clone, Copy, Debug)]
enum Growth {
    Add(f64),
    Times(f64),
}

impl Ramp {
    fn new(min: Nanos, max: Nanos, growth: Growth) -> Self {
        let (min, max) = (min as f64, max as f64);
        Self {
            min,
            max,
            growth,
            randomness: Randomness::None,
            slow_reset: false,
            current: min,
        }
    }

    fn linear(p: Linear) -> Self {
        let ramp = Self::new(p.min, p.max, Growth::Add(p.step as f64));
        Self {
            randomness: p.randomness,
            slow_reset: p.slow_reset,
            ..ramp
        }
    }

    fn exponential(p: Exponential) -> Self {
        let ramp = Self::new(p.min, p.max, Growth::Times(p.r));
        Self {
            randomness: p.randomness,
            slow_reset: p.slow_reset,
            ..ramp
        }
    }

    fn pheet_original(p: PheetOriginal) -> Self {
        Self {
            randomness: Randomness::LimitMax,
            ..Self::new(p.min, p.max, Growth::Times(p.r))
        }
    }

    /// The length of this sleep; the next one is longer.
    fn next(&mut self, chance: f64) -> f64 {
        let sleep = self.current;
        let constant = self.randomness == Randomness::Constant;
        let grown = match self.growth {
            Growth::Add(step) if constant => sleep + step / 2.0 + step * chance,
            Growth::Add(step) => sleep + step,
            Growth::Times(r) if constant => sleep * r + self.min * (chance - 0.5),
            Growth::Times(r) => sleep * r,
        };
        self.current = self.limit(grown);
        if self.randomness == Randomness::LimitMax {
            sleep * chance
        } else {
            sleep
        }
    }

    fn reset(&mut self) {
        let shrunk = match self.growth {
            _ if !self.slow_reset => self.min,
            Growth::Add(step) => self.current - step,
            Growth::Times(r) => self.current / r,
        };
        self.current = self.limit(shrunk);
    }

    /// Within the limits; the lower one matters where chance shrinks a time.
    fn limit(&self, time: f64) -> f64 {
        time.max(self.min).min(self.max)
    }
}

/// The state of one thief under a backoff.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sleeps(Shape);

#[derive(Clone, Copy, Debug)]
enum Shape {
    One(Ramp),
    /// The second follows once the first has slept its maximum.
    Joined {
        first: Ramp,
        second: Ramp,
        in_second: bool,
    },
    /// The weight is that of the linear ramp.
    Mixed {
        weight: f64,
        linear: Ramp,
        exponential: Ramp,
    },
}

impl Sleeps {
    pub(super) fn new(backoff: Backoff) -> Self {
        let add = |step| Growth::Add(step as f64);
        Self(match backoff {
            Backoff::Linear(p) => Shape::One(Ramp::linear(p)),
            Backoff::Exponential(p) => Shape::One(Ramp::exponential(p)),
            Backoff::PheetOriginal(p) => Shape::One(Ramp::pheet_original(p)),
            Backoff::ExponentialLinear(p) => Shape::Joined {
                first: Ramp::new(p.min, p.threshold, Growth::Times(p.r)),
                second: Ramp::new(p.resume, p.max, add(p.step)),
                in_second: false,
            },
            Backoff::LinearExponential(p) => Shape::Joined {
                first: Ramp::new(p.min, p.threshold, add(p.step)),
                second: Ramp::new(p.resume, p.max, Growth::Times(p.r)),
                in_second: false,
            },
            Backoff::Combination(p) => Shape::Mixed {
                weight: p.t,
                linear: Ramp::new(p.min, p.max, add(p.step)),
                exponential: Ramp::new(p.min, p.max, Growth::Times(p.r)),
            },
        })
    }

    /// The length of this sleep in nanoseconds. `draw` is uniform; it matters only where chance enters.
    pub(super) fn next(&mut self, draw: u64) -> Nanos {
        let chance = unit(draw);
        round(match &mut self.0 {
            Shape::One(ramp) => ramp.next(chance),
            Shape::Joined {
                first,
                second,
                in_second,
            } => {
                if *in_second {
                    second.next(chance)
                } else {
                    let sleep = first.next(chance);
                    *in_second = sleep >= first.max;
                    if *in_second && second.current <= sleep {
                        second.next(chance); // the time where the two meet is slept once
                    }
                    sleep
                }
            }
            Shape::Mixed {
                weight,
                linear,
                exponential,
            } => *weight * linear.next(chance) + (1.0 - *weight) * exponential.next(chance),
        })
    }

    /// A steal succeeded.
    pub(super) fn reset(&mut self) {
        match &mut self.0 {
            Shape::One(ramp) => ramp.reset(),
            Shape::Joined {
                first,
                second,
                in_second,
            } => {
                first.reset();
                second.reset();
                *in_second = false;
            }
            Shape::Mixed {
                linear,
                exponential,
                ..
            } => {
                linear.reset();
                exponential.reset();
            }
        }
    }
}

/// To whole nanoseconds.
pub(super) fn round(time: f64) -> Nanos {
    (time + 0.5) as Nanos
}
