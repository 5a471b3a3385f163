//! Reads the environment variables of rayon and of the standard library.

use std::env;

/// A pool's number of threads, and the setting that determines it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Threads {
    pub(crate) number: usize,
    pub(crate) by: &'static str,
}

/// Reads the number of threads from rayon's variables. Returns `None` if Tidegate's own variable is
/// set, which takes precedence.
pub(crate) fn threads() -> Option<Threads> {
    chosen_threads(|name| env::var(name).ok())
}

/// Reads the number from the first variable with a valid number. A value of 0 means the default.
fn chosen_threads(variable: impl Fn(&str) -> Option<String>) -> Option<Threads> {
    if variable("TIDEGATE_WORKERS").is_some() {
        return None;
    }
    let number = |by| {
        let number = variable(by)?.parse().ok()?;
        Some(Threads { number, by })
    };
    number("RAYON_NUM_THREADS")
        .or_else(|| number("RAYON_RS_NUM_CPUS"))
        .filter(|threads| threads.number > 0)
}

/// Reads the standard library's variable for the default stack size, in bytes. Returns `None` if
/// Tidegate's own variable is set, which takes precedence.
pub(crate) fn stack_size() -> Option<usize> {
    if env::var_os("TIDEGATE_STACK_SIZE").is_some() {
        return None;
    }
    env::var("RUST_MIN_STACK").ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(set: &[(&str, &str)]) -> Option<(usize, &'static str)> {
        let variable = |name: &str| {
            let found = set.iter().find(|(other, _)| *other == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        chosen_threads(variable).map(|threads| (threads.number, threads.by))
    }

    #[test]
    fn new_variable_precedes_old_one() {
        let (new, old) = (("RAYON_NUM_THREADS", "3"), ("RAYON_RS_NUM_CPUS", "5"));
        assert_eq!(chosen(&[old, new]), Some((3, "RAYON_NUM_THREADS")));
        assert_eq!(chosen(&[old]), Some((5, "RAYON_RS_NUM_CPUS")));
        assert_eq!(chosen(&[]), None);
    }

    /// The value 0 is valid, so it is not skipped. It means the default.
    #[test]
    fn invalid_numbers_are_skipped() {
        let old = ("RAYON_RS_NUM_CPUS", "5");
        assert_eq!(
            chosen(&[("RAYON_NUM_THREADS", "many"), old]),
            Some((5, "RAYON_RS_NUM_CPUS"))
        );
        assert_eq!(chosen(&[("RAYON_NUM_THREADS", "0"), old]), None);
        assert_eq!(chosen(&[("RAYON_RS_NUM_CPUS", "-1")]), None);
    }

    #[test]
    fn tidegate_variable_precedes_both() {
        let set = [("RAYON_NUM_THREADS", "3"), ("TIDEGATE_WORKERS", "2")];
        assert_eq!(chosen(&set), None);
    }
}
