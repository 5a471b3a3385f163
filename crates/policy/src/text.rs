//! Text forms of durations, sizes and plain numbers. Parsing is exact: a value that cannot be
//! represented is rejected, never rounded.

use crate::Nanos;
use crate::error::ParseError;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

pub(crate) const US: Nanos = 1_000;
pub(crate) const MS: Nanos = 1_000 * US;
pub(crate) const S: Nanos = 1_000 * MS;
pub(crate) const KIB: u64 = 1 << 10;
pub(crate) const MIB: u64 = 1 << 20;
pub(crate) const GIB: u64 = 1 << 30;
const TIB: u64 = 1 << 40;

/// The units and their scales, from the smallest to the largest. `SIZES` is in the same order.
const TIMES: &[(&str, u64)] = &[("ns", 1), ("us", US), ("ms", MS), ("s", S)];
const SIZES: &[(&str, u64)] = &[
    ("", 1),
    ("KiB", KIB),
    ("MiB", MIB),
    ("GiB", GIB),
    ("TiB", TIB),
];

/// Returns the error for a name that isn't in `names`. The error suggests the closest name or lists
/// all of them.
pub fn unknown(kind: &str, text: &str, names: &[&str]) -> ParseError {
    let problem = format!("unknown {kind} {text:?}");
    match closest(text, names.iter().copied()) {
        Some(name) => ParseError::misspelled(&problem, name),
        None => ParseError::new("", &problem, &listed(names)),
    }
}

/// Returns the names with commas between them.
pub(crate) fn listed(names: &[&str]) -> String {
    let mut text = String::new();
    for name in names {
        let comma = if text.is_empty() { "" } else { ", " };
        text += comma;
        text += name;
    }
    text
}

/// Returns the name that `text` probably misspells, if any.
///
/// ```
/// let names = ["fib", "fft", "quicksort"];
/// assert_eq!(tidegate_policy::closest("fob", names), Some("fib"));
/// assert_eq!(tidegate_policy::closest("quiksort", names), Some("quicksort"));
/// assert_eq!(tidegate_policy::closest("nothing", names), None);
/// ```
pub fn closest<'a>(text: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distances = names.into_iter().map(|name| (edits(text, name), name));
    let (distance, name) = distances.min_by_key(|&(distance, _)| distance)?;
    let length = text.chars().count().max(name.chars().count());
    (distance * 3 <= length).then_some(name)
}

/// Returns the minimum number of insertions, deletions, replacements and swaps of adjacent
/// characters that turn `from` into `to`.
fn edits(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=to.len()).collect()];
    for i in 1..=from.len() {
        let mut row = vec![i];
        for j in 1..=to.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(from[i - 1] != to[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[from.len()][to.len()]
}

/// Parses a time such as `"1.5ms"` into nanoseconds.
pub(crate) fn read_time(text: &str) -> Option<Nanos> {
    read_scaled(text, TIMES)
}

/// Parses a size such as `"16MiB"` into bytes.
pub(crate) fn read_size(text: &str) -> Option<u64> {
    read_scaled(text, SIZES)
}

/// Formats a duration in the largest unit that gives a whole number, in the form that options
/// accept.
pub fn show_time(value: Nanos) -> String {
    show_scaled(value, TIMES)
}

/// Formats a number of bytes in the largest unit that gives a whole number, in the form that
/// options accept.
pub fn show_size(value: u64) -> String {
    show_scaled(value, SIZES)
}

/// Accepts `digits[.digits]` and nothing else.
fn is_decimal(text: &str) -> bool {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    [whole, fraction]
        .iter()
        .all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
}

/// Parses a decimal number without sign or exponent.
pub(crate) fn read_ratio(text: &str) -> Option<f64> {
    if is_decimal(text) {
        text.parse().ok()
    } else {
        None
    }
}

/// Parses a whole number without sign.
pub(crate) fn read_count(text: &str) -> Option<usize> {
    if text.bytes().all(|b| b.is_ascii_digit()) {
        text.parse().ok()
    } else {
        None
    }
}

fn read_scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let split = text
        .find(|c: char| c.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let &(_, scale) = units.iter().find(|&&(name, _)| name == unit)?;
    if !is_decimal(number) {
        return None;
    }
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let whole = whole.parse::<u64>().ok()?.checked_mul(scale)?;
    // The fractional part, as `rest / ten` units. It must be a whole number of the smallest unit.
    let (mut rest, mut ten) = (0u128, 1u128);
    for digit in fraction.trim_end_matches('0').bytes() {
        ten = ten.checked_mul(10)?;
        rest = rest.checked_mul(10)? + u128::from(digit - b'0');
    }
    let rest = rest.checked_mul(u128::from(scale))?;
    if rest % ten != 0 {
        return None;
    }
    whole.checked_add(u64::try_from(rest / ten).ok()?)
}

fn show_scaled(value: u64, units: &[(&str, u64)]) -> String {
    let fits = |&&(_, scale): &&(&str, u64)| value != 0 && value % scale == 0;
    let &(unit, scale) = units.iter().rev().find(fits).unwrap_or(&units[0]);
    format!("{}{unit}", value / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_parse_exactly_or_fail() {
        for (text, ns) in [
            ("10us", 10_000),
            ("1.5ms", 1_500_000),
            ("0.5ms", 500_000),
            ("2s", 2 * S),
            ("7ns", 7),
            ("0ns", 0),
        ] {
            assert_eq!(read_time(text), Some(ns), "{text}");
        }
        for bad in [
            "",
            "10",
            "us",
            "-1us",
            "+1us",
            "1e3us",
            "1.us",
            ".5us",
            "1 us",
            "1us ",
            "0.5ns",
            "1.2345us",
            "99999999999999s",
            "1min",
        ] {
            assert_eq!(read_time(bad), None, "{bad}");
        }
    }

    #[test]
    fn shown_times_and_sizes_round_trip() {
        let mut rng = crate::Rng::new(5);
        for shift in 0..64 {
            let value = rng.draw() >> shift;
            assert_eq!(read_time(&show_time(value)), Some(value));
            assert_eq!(read_size(&show_size(value)), Some(value));
        }
        assert_eq!(show_time(500 * US), "500us");
        assert_eq!(show_time(0), "0ns");
        assert_eq!(show_size(16 * MIB), "16MiB");
        assert_eq!(read_size("1.5MiB"), Some(3 << 19));
        assert_eq!(read_size("0.0009765625KiB"), Some(1));
        assert_eq!(read_size("2TiB"), Some(2 << 40));
        for bad in ["23.91MiB", "0.3KiB", "0.5", "2 KiB", "1MB", "16777216TiB"] {
            assert_eq!(read_size(bad), None, "{bad}");
        }
    }

    #[test]
    fn signs_exponents_and_names_are_rejected() {
        for bad in ["", "-1", "+1", "1e3", "NaN", "inf", "1.", ".5", " 1"] {
            assert_eq!(read_ratio(bad), None, "{bad}");
            assert_eq!(read_count(bad), None, "{bad}");
        }
        assert_eq!(read_ratio("1.3"), Some(1.3));
        assert_eq!(read_count("20"), Some(20));
    }
}
