//! Formats numbers for human readers, with three or four digits and a unit.

use std::time::Duration;

/// Formats a number: integers with all digits, fractions with four digits.
pub fn show_number(number: f64) -> String {
    let rounded = format!("{number:.3e}").parse();
    if number.fract() == 0.0 {
        number.to_string()
    } else {
        rounded.unwrap_or(number).to_string()
    }
}

/// Formats a time that is given in nanoseconds.
pub fn show_nanos(nanos: f64) -> String {
    scaled(nanos, 1000.0, &["ns", "us", "ms", "s"])
}

/// Formats a time that is given in seconds.
pub fn show_seconds(seconds: f64) -> String {
    // This rounding keeps a whole number of nanoseconds whole.
    show_nanos((seconds * 1e12).round() / 1e3)
}

/// Formats a number of bytes.
pub fn show_bytes(bytes: f64) -> String {
    scaled(bytes, 1024.0, &["B", "KiB", "MiB", "GiB", "TiB"])
}

/// Formats an exact number of bytes, in the largest unit that divides it.
pub fn show_whole_bytes(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let whole = |&(shift, _): &(u32, &str)| bytes > 0 && bytes.is_multiple_of(1 << shift);
    let (shift, unit) = units.into_iter().find(whole).unwrap_or((0, "B"));
    format!("{} {unit}", bytes >> shift)
}

/// Formats a number of bytes per second.
pub fn show_rate(bytes_per_second: f64) -> String {
    format!("{}/s", show_bytes(bytes_per_second))
}

/// Formats a count with its noun, as in `1 task` or `2 tasks`. The plural must be `noun` plus an s.
pub fn show_count(number: usize, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{ending}")
}

/// Formats a ratio.
pub fn show_ratio(ratio: f64) -> String {
    format!("{ratio:.2}x")
}

/// Formats an age in one or two units, without spaces.
pub fn show_age(age: Duration) -> String {
    let seconds = age.as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds}s"),
        (0, 0, _) => format!("{minutes}m{:02}s", seconds % 60),
        (0, _, _) => format!("{hours}h{:02}m", minutes % 60),
        _ => format!("{days}d{:02}h", hours % 24),
    }
}

/// Formats `value` in the first unit in which it is less than `step`, the ratio of successive
/// units.
fn scaled(mut value: f64, step: f64, units: &[&str]) -> String {
    let mut unit = 0;
    while value.abs() >= step && unit + 1 < units.len() {
        value /= step;
        unit += 1;
    }
    let decimals = match value.abs() {
        v if v == v.trunc() && unit == 0 => 0,
        v if v < 10.0 => 3,
        v if v < 100.0 => 2,
        _ => 1,
    };
    format!("{value:.decimals$} {}", units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        let shown = [0, 1, 2].map(|number| show_count(number, "job"));
        assert_eq!(shown, ["0 jobs", "1 job", "2 jobs"]);
    }

    #[test]
    fn ages_have_at_most_two_units() {
        let shown = |seconds| show_age(Duration::from_secs(seconds));
        let ages = [0, 59, 60, 3599, 3600, 86_399, 86_400, 8_640_000].map(shown);
        let expected = [
            "0s", "59s", "1m00s", "59m59s", "1h00m", "23h59m", "1d00h", "100d00h",
        ];
        assert_eq!(ages, expected);
    }

    #[test]
    fn numbers_have_few_digits() {
        assert_eq!(show_nanos(999.0), "999 ns");
        assert_eq!(show_nanos(1.25), "1.250 ns");
        assert_eq!(show_nanos(12_345.0), "12.35 us");
        assert_eq!(show_seconds(0.1234), "123.4 ms");
        assert_eq!(show_seconds(7200.0), "7200.0 s");
        assert_eq!(show_seconds(49e-9), "49 ns");
        assert_eq!(show_bytes(1536.0), "1.500 KiB");
        assert_eq!(show_bytes(0.0), "0 B");
        assert_eq!(show_rate(1048576.0), "1.000 MiB/s");
    }

    #[test]
    fn integers_keep_all_digits() {
        let shown = [1_234_567.0, 12.5, 3.876_543, 0.000_123_45, 1234.5].map(show_number);
        assert_eq!(shown, ["1234567", "12.5", "3.877", "0.0001234", "1234"]);
    }

    #[test]
    fn whole_bytes_are_exact() {
        let shown = [0, 1023, 1536, 32 << 10, 1536 << 10, 3 << 40].map(show_whole_bytes);
        let expected = ["0 B", "1023 B", "1536 B", "32 KiB", "1536 KiB", "3072 GiB"];
        assert_eq!(shown, expected);
    }
}
