//! Phrases of messages: times, lists of items, and numbers with their nouns.

use crate::name::Name;

/// How many items a list names.
const NAMED: usize = 8;

/// Returns a time as text, such as `9 s` or `1:20 min`.
pub fn span(seconds: f64) -> String {
    let seconds = seconds.max(0.0) as u64;
    let minutes = seconds / 60;
    match minutes {
        0 => format!("{seconds} s"),
        1..60 => format!("{minutes}:{:02} min", seconds % 60),
        _ => format!("{}:{:02} h", minutes / 60, minutes % 60),
    }
}

/// Returns the names of the first items, and how many more there are.
pub fn list(names: &[&Name]) -> String {
    let named: Vec<_> = names.iter().take(NAMED).map(ToString::to_string).collect();
    let more = match names.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    named.join(", ") + &more
}

/// Returns the names of items with their noun: `item 1`, `items 1, 2`.
pub fn items(names: &[&Name]) -> String {
    let plural = if names.len() == 1 { "" } else { "s" };
    format!("item{plural} {}", list(names))
}

/// Returns a number with its noun: `1 piece`, `2 pieces`.
pub fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_two_units() {
        let times = [-1.0, 0.9, 59.9, 60.0, 3599.0, 3660.0, 360_000.0].map(span);
        #[rustfmt::skip]
        let texts = [
            "0 s", "0 s", "59 s", "1:00 min", "59:59 min", "1:01 h", "100:00 h",
        ];
        assert_eq!(times, texts);
    }

    #[test]
    fn long_lists_are_cut() {
        let names: Vec<_> = (0..NAMED + 2).map(Name::planned).collect();
        let names: Vec<_> = names.iter().collect();
        assert_eq!(list(&names[..2]), "0, 1");
        assert_eq!(items(&names[..1]), "item 0");
        assert_eq!(items(&names[..2]), "items 0, 1");
        assert_eq!(list(&names), "0, 1, 2, 3, 4, 5, 6, 7 and 2 more");
    }
}
