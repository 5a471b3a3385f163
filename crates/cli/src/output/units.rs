//! Numbers as people read them: three or four digits and a unit.

/// A number of nanoseconds.
pub fn show_nanos(nanos: f64) -> String {
    scaled(nanos, 1000.0, &["ns", "us", "ms", "s"])
}

/// A number of seconds.
pub fn show_seconds(seconds: f64) -> String {
    show_nanos(seconds * 1e9)
}

/// A number of bytes.
pub fn show_bytes(bytes: f64) -> String {
    scaled(bytes, 1024.0, &["B", "KiB", "MiB", "GiB", "TiB"])
}

/// A number of bytes per second.
pub fn show_rate(bytes_per_second: f64) -> String {
    format!("{}/s", show_bytes(bytes_per_second))
}

/// How many times something.
pub fn show_ratio(ratio: f64) -> String {
    format!("{ratio:.2}x")
}

/// `value` in the first unit in which it has few digits; each unit is `step` of the one before.
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
    fn numbers_have_few_digits_and_the_unit_that_suits_them() {
        assert_eq!(show_nanos(999.0), "999 ns");
        assert_eq!(show_nanos(1.25), "1.250 ns");
        assert_eq!(show_nanos(12_345.0), "12.35 us");
        assert_eq!(show_seconds(0.1234), "123.4 ms");
        assert_eq!(show_seconds(7200.0), "7200.0 s");
        assert_eq!(show_bytes(1536.0), "1.500 KiB");
        assert_eq!(show_bytes(0.0), "0 B");
        assert_eq!(show_rate(1048576.0), "1.000 MiB/s");
    }
}
