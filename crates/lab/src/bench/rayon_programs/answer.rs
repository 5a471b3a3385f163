//! Makes the outputs of two runs of a program comparable.

use super::table::Answer;

/// Returns `text` without the parts that may differ from run to run.
pub fn comparable(text: &str, answer: Answer) -> String {
    match answer {
        Answer::Text => text.to_owned(),
        Answer::Lines => {
            let mut lines: Vec<&str> = text.lines().collect();
            lines.sort_unstable();
            lines.join("\n")
        }
    }
}

/// Returns the answer's FNV-1a hash, which is the same on every machine.
pub fn digest(bytes: &[u8]) -> String {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(first: &str, second: &str, answer: Answer) -> bool {
        comparable(first, answer) == comparable(second, answer)
    }

    #[test]
    fn text_is_compared_line_by_line() {
        assert!(same("a\nb\n", "a\nb\n", Answer::Text));
        assert!(!same("a\nb\n", "b\na\n", Answer::Text));
    }

    #[test]
    fn lines_may_come_in_any_order() {
        assert!(same("a\nb\n", "b\na\n", Answer::Lines));
        assert!(!same("a\nb\n", "a\nb\nb\n", Answer::Lines));
    }

    #[test]
    fn digests_are_those_of_fnv() {
        assert_eq!(digest(b""), "cbf29ce484222325");
        assert_eq!(digest(b"a"), "af63dc4c8601ec8c");
    }
}
