//! Tests that can also run as soak tests. They run one slice of their work, or the number of slices
//! that `TIDEGATE_SOAK_SCALE` sets.

use std::fmt::Display;
use std::ops::Mul;

/// The value of a variable that must be a number.
fn number<N: TryFrom<u64>>(variable: &str) -> Option<N> {
    let text = std::env::var(variable).ok()?;
    let number = text.parse().ok().and_then(|n: u64| n.try_into().ok());
    Some(number.unwrap_or_else(|| panic!("{variable} is not such a number: {text}")))
}

/// Returns the number of slices to run.
pub fn scale<N: TryFrom<u64> + From<u8>>() -> N {
    number("TIDEGATE_SOAK_SCALE").unwrap_or_else(|| 1.into())
}

/// Returns and prints the total size of a soak test whose slices have size `slice`.
pub fn soak<N>(slice: N, unit: &str) -> N
where
    N: TryFrom<u64> + From<u8> + Mul<Output = N> + Display,
{
    let size = slice * scale();
    println!("soak: {size} {unit}");
    size
}

/// Returns the seeds of a soak test, starting with 0. If `TIDEGATE_SOAK_SEED` is set, returns only
/// that seed, repeatedly: a program that has failed once need not fail every time.
pub fn seeds(slice: u64, unit: &str) -> impl Iterator<Item = u64> {
    let only = number("TIDEGATE_SOAK_SEED");
    (0..soak(slice, unit)).map(move |seed| only.unwrap_or(seed))
}
