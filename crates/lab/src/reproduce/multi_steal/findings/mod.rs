//! The source's claims, each tested with one figure.
//!
//! The source has numbers for UTS A (table 2), for fib, and for the time that the FFT spends on
//! stealing. All other claims are words and curves without numbers, which this module turns into
//! ranges: "as well as" is [`alike`], "lower performance" is [`slower`].

mod fib;
mod regular;
#[cfg(test)]
mod tests;
mod uts;

use tidegate_workloads::Size;

use super::results::Results;
use crate::engine::{Claim, Refuted, Verdict};
use crate::reproduce::page::Finding;

pub use regular::fails_with_two;
pub use uts::two_workers;

const fn from(start: f64) -> std::ops::RangeInclusive<f64> {
    start..=f64::INFINITY
}

const fn up_to(end: f64) -> std::ops::RangeInclusive<f64> {
    f64::NEG_INFINITY..=end
}

/// Creates a claim that times are equal. The source calls a gap of 2 % "comparable" (fib). The
/// range is five times as wide, to allow for other seeds and costs. A time that is a quarter longer
/// contradicts the claim.
pub fn alike(id: &str, what: &str, source: &str) -> Claim {
    Claim::new(id, what, source, 0.9..=1.1, Refuted::AtLeast(1.25))
}

/// Creates a claim that times are longer. The smallest difference that is visible in the source's
/// charts is 5 %.
fn slower(id: &str, what: &str, source: &str) -> Claim {
    Claim::new(id, what, source, from(1.05), Refuted::AtMost(1.01))
}

/// Judges all claims about the simulated machine at the source's costs. If the cost of a steal is
/// decisive, also judges them at this runtime's costs.
pub fn findings(source: &Results, own: &Results, size: Size) -> Vec<Finding> {
    let mut all = uts::findings(source, own);
    all.extend(fib::findings(source, own, size));
    all.extend(regular::findings(source, size));
    let too_small = |finding: Finding| finding.unless(size == Size::Tiny, Verdict::TooSmall);
    all.into_iter().map(too_small).collect()
}
