//! How figures are shown, by the names of units in the files of the papers.

use tidegate_cli_support::output::{Value, show_bytes, show_nanos, show_ratio, show_seconds};

/// Returns how a figure of a claim is shown.
pub fn show(unit: &str) -> fn(f64) -> String {
    match unit {
        "ratio" => show_ratio,
        "ratio, fine" => |ratio| match ratio {
            ratio if ratio.abs() < 20.0 => format!("{ratio:.3}x"),
            _ => format!("{ratio:.0}x"),
        },
        "ratio, finest" => |ratio| format!("{ratio:.5}x"),
        "ratio of any size" => |ratio| match ratio.abs() {
            0.095..1e4 => format!("{ratio:.2}x"),
            0.0 => "0x".to_owned(),
            _ => format!("{ratio:.1e}x"),
        },
        "share" => |share| format!("{:.1} %", 100.0 * share),
        "share, fine" => |share| format!("{:.2} %", 100.0 * share),
        "count" => |count| format!("{count:.0}"),
        "difference" => |difference| format!("{difference:.3}"),
        "seconds" => show_seconds,
        "nanos" => show_nanos,
        "bytes" => show_bytes,
        _ => panic!("{unit} is a unit of a claim"),
    }
}

/// Returns a cell of a table with a figure.
pub fn cell(unit: &str, figure: f64) -> Value {
    let unit: fn(f64) -> Value = match unit {
        "ratio" => Value::Ratio,
        "share" => Value::Share,
        "seconds" => Value::Seconds,
        "bytes" => Value::Bytes,
        "number" => Value::Number,
        _ => {
            let decimals = unit
                .strip_prefix("number.")
                .and_then(|one| one.parse().ok());
            let decimals: i32 = decimals.unwrap_or_else(|| panic!("{unit} is a unit of a column"));
            let one = 10_f64.powi(decimals);
            return Value::known(Some((figure * one).round() / one), Value::Number);
        }
    };
    Value::known(Some(figure), unit)
}
