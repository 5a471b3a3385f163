//! What may happen in a program, determined before it runs.

use std::collections::BTreeSet;

/// The value of a step that catches a panic or a failure.
pub const CAUGHT: u64 = 0xca06;

/// Combines two values. The order matters.
pub fn mix(value: u64, next: u64) -> u64 {
    (value ^ next)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .rotate_left(23)
}

/// The number of tasks, catches and payloads in a program. Each kind is numbered from 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sizes {
    pub tasks: usize,
    pub catches: usize,
    pub payloads: usize,
}

/// An intentional panic.
#[derive(Clone, Copy, Debug)]
pub struct Panic {
    pub payload: usize,
    /// Whether dropping the payload also panics.
    pub drop_panics: bool,
}

/// How often a task may run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    /// The program always prevents the task from running.
    #[default]
    Never,
    /// A panic, an abort or a cancellation may prevent the task from running.
    AtMostOnce,
    Once,
}

impl Fate {
    /// Returns this fate, except that the task may be prevented from running.
    pub fn unless_prevented(self) -> Self {
        match self {
            Self::Never => Self::Never,
            _ => Self::AtMostOnce,
        }
    }

    pub(super) fn allows(self, runs: u32) -> bool {
        match self {
            Self::Never => runs == 0,
            Self::AtMostOnce => runs <= 1,
            Self::Once => runs == 1,
        }
    }
}

/// The value of a step, or the payloads of its panics, of which only one surfaces.
pub type Outcome = Result<u64, BTreeSet<usize>>;

/// What may happen in a program, according to a serial evaluation.
pub struct Expected {
    pub fates: Vec<Fate>,
    /// For each catch, the payloads that it may catch.
    pub catches: Vec<BTreeSet<usize>>,
    /// The payloads that the runtime may drop without reporting them.
    pub unreported: BTreeSet<usize>,
}

impl Expected {
    pub fn new(sizes: Sizes) -> Self {
        Self {
            fates: vec![Fate::Never; sizes.tasks],
            catches: vec![BTreeSet::new(); sizes.catches],
            unreported: BTreeSet::new(),
        }
    }
}

/// The sum of the values that a scope's tasks return in a serial evaluation.
#[derive(Default)]
pub struct Sum {
    value: u64,
    payloads: BTreeSet<usize>,
}

impl Sum {
    /// Returns a slice that contains only the scope `outward` levels outside the innermost scope.
    pub fn outward(scopes: &mut [Sum], outward: usize) -> &mut [Sum] {
        let number = scopes.len() - 1 - outward;
        &mut scopes[number..=number]
    }

    /// Adds the outcome of one of the scope's tasks.
    pub fn add(&mut self, outcome: Outcome) {
        match outcome {
            Ok(value) => self.value = self.value.wrapping_add(value),
            Err(payloads) => self.payloads.extend(payloads),
        }
    }

    /// Evaluates a scope inside other scopes. A panic of its body takes precedence over panics of
    /// its tasks.
    pub fn scope(scopes: &mut [Sum], body: impl FnOnce(&mut [Sum]) -> Outcome) -> Outcome {
        let mut inside: Vec<Sum> = scopes.iter_mut().map(std::mem::take).collect();
        inside.push(Sum::default());
        let outcome = body(&mut inside);
        let own = inside.pop().expect("pushed above");
        for (scope, sum) in scopes.iter_mut().zip(inside) {
            *scope = sum;
        }
        let value = outcome?;
        if own.payloads.is_empty() {
            Ok(mix(value, own.value))
        } else {
            Err(own.payloads)
        }
    }
}
