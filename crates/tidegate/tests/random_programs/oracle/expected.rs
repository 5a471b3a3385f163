//! What a program may do, written down before it runs.

use std::collections::BTreeSet;

/// The value of a step that has caught a panic or a failure.
pub const CAUGHT: u64 = 0xca06;

/// Combines `value` with `next`; the order matters.
pub fn mix(value: u64, next: u64) -> u64 {
    (value ^ next)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .rotate_left(23)
}

/// The number of tasks, catches and payloads of a program; each kind is numbered from 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sizes {
    pub tasks: usize,
    pub catches: usize,
    pub payloads: usize,
}

/// A panic on purpose.
#[derive(Clone, Copy, Debug)]
pub struct Panic {
    pub payload: usize,
    /// Whether the payload's drop panics, too.
    pub drop_panics: bool,
}

/// How often a task may run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    /// A panic always prevents it.
    #[default]
    Never,
    /// A panic may prevent it.
    AtMostOnce,
    Once,
}

impl Fate {
    /// Like this fate, but a panic may prevent the run.
    pub fn unless_a_panic_prevents_it(self) -> Self {
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

/// A value, or the payloads of several panics, one of which surfaces.
pub type Outcome = Result<u64, BTreeSet<usize>>;

/// What a program may do, according to a serial evaluation.
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

/// What the tasks of a scope return in a serial evaluation.
#[derive(Default)]
pub struct Sum {
    value: u64,
    payloads: BTreeSet<usize>,
}

impl Sum {
    /// The scope that is `outward` further out than the innermost one, as the only one.
    pub fn outward(scopes: &mut [Sum], outward: usize) -> &mut [Sum] {
        let number = scopes.len() - 1 - outward;
        &mut scopes[number..=number]
    }

    /// A task of the scope has ended.
    pub fn add(&mut self, outcome: Outcome) {
        match outcome {
            Ok(value) => self.value = self.value.wrapping_add(value),
            Err(payloads) => self.payloads.extend(payloads),
        }
    }

    /// Evaluates a scope inside others. A panic of the body takes precedence over those of tasks.
    pub fn scope(scopes: &mut [Sum], body: impl FnOnce(&mut [Sum]) -> Outcome) -> Outcome {
        let mut inside: Vec<Sum> = scopes.iter_mut().map(std::mem::take).collect();
        inside.push(Sum::default());
        let outcome = body(&mut inside);
        let own = inside.pop().expect("pushed above");
        for (scope, sum) in scopes.iter_mut().zip(inside) {
            *scope = sum;
        }
        let value = outcome?;
        match own.payloads.is_empty() {
            true => Ok(mix(value, own.value)),
            false => Err(own.payloads),
        }
    }
}
