//! The state of a backoff: the length of the next sleep.
//!
//! Times are `f64`, because a growth factor such as 1.3 needs fractions. `f64` represents whole
//! nanoseconds exactly up to 2^53 (104 days).

use super::backoff::{Backoff, Exponential, Linear, PheetOriginal, Randomness};
use crate::Nanos;
use crate::rng::unit;

/// A sleep time that grows from the minimum to the maximum.
#[derive(Clone, Copy, Debug)]
struct Curve {
    min: f64,
    max: f64,
    growth: Growth,
    randomness: Randomness,
    slow_reset: bool,
    /// The length of the next sleep, in nanoseconds.
    current: f64,
}

#[derive(Clone, Copy, Debug)]
enum Growth {
    Add(f64),
    Times(f64),
}

impl Curve {
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
        let curve = Self::new(p.min, p.max, Growth::Add(p.step as f64));
        Self {
            randomness: p.randomness,
            slow_reset: p.slow_reset,
            ..curve
        }
    }

    fn exponential(p: Exponential) -> Self {
        let curve = Self::new(p.min, p.max, Growth::Times(p.r));
        Self {
            randomness: p.randomness,
            slow_reset: p.slow_reset,
            ..curve
        }
    }

    fn pheet_original(p: PheetOriginal) -> Self {
        Self {
            randomness: Randomness::LimitMax,
            ..Self::new(p.min, p.max, Growth::Times(p.r))
        }
    }

    /// Returns the length of the sleep that begins now, and makes the next one longer.
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

    /// Clamps a sleep to the limits. The lower limit matters because randomness can shorten a
    /// sleep.
    fn limit(&self, time: f64) -> f64 {
        time.max(self.min).min(self.max)
    }
}

/// The state of one thief whose sleeps follow a backoff.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sleeps(Shape);

#[derive(Clone, Copy, Debug)]
enum Shape {
    One(Curve),
    /// The second curve applies after the first has reached its maximum.
    Joined {
        first: Curve,
        second: Curve,
        in_second: bool,
    },
    /// A weighted mean of two curves; `weight` is the weight of `linear`.
    Mixed {
        weight: f64,
        linear: Curve,
        exponential: Curve,
    },
}

impl Sleeps {
    pub(super) fn new(backoff: Backoff) -> Self {
        let add = |step| Growth::Add(step as f64);
        Self(match backoff {
            Backoff::Linear(p) => Shape::One(Curve::linear(p)),
            Backoff::Exponential(p) => Shape::One(Curve::exponential(p)),
            Backoff::PheetOriginal(p) => Shape::One(Curve::pheet_original(p)),
            Backoff::ExponentialLinear(p) => Shape::Joined {
                first: Curve::new(p.min, p.threshold, Growth::Times(p.r)),
                second: Curve::new(p.resume, p.max, add(p.step)),
                in_second: false,
            },
            Backoff::LinearExponential(p) => Shape::Joined {
                first: Curve::new(p.min, p.threshold, add(p.step)),
                second: Curve::new(p.resume, p.max, Growth::Times(p.r)),
                in_second: false,
            },
            Backoff::Combination(p) => Shape::Mixed {
                weight: p.t,
                linear: Curve::new(p.min, p.max, add(p.step)),
                exponential: Curve::new(p.min, p.max, Growth::Times(p.r)),
            },
        })
    }

    /// Returns the length of the sleep that begins now. `draw` is a uniform random number; only
    /// backoffs with randomness use it.
    pub(super) fn next(&mut self, draw: u64) -> Nanos {
        let chance = unit(draw);
        round(match &mut self.0 {
            Shape::One(curve) => curve.next(chance),
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
                        second.next(chance); // `first` has just returned this length
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

    /// After a successful steal, starts over, or goes one step back under a slow reset.
    pub(super) fn reset(&mut self) {
        match &mut self.0 {
            Shape::One(curve) => curve.reset(),
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

pub(super) fn round(time: f64) -> Nanos {
    (time + 0.5) as Nanos
}
