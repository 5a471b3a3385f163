//! The variables that the program gets in addition to those of the command.
//!
//! A program chooses its number of threads once, when it starts, so it must learn then how many
//! processors it may ever have. A thread that waits by spinning wastes the processor that its
//! partner needs as soon as the program is confined: a program with libgomp then took 16 times as
//! long. So waiting becomes passive.
//!
//! Java has no variable of this kind: its virtual machine reads affinity and quota itself.

use std::ffi::{CString, OsString};
use std::fmt;
use std::os::unix::ffi::OsStringExt;

use tidegate_share::confinement::VARIABLE;

use crate::jobserver::Server;

#[rustfmt::skip]
const THREADS: [&str; 9] = [
    "OMP_NUM_THREADS", "RAYON_NUM_THREADS", "TOKIO_WORKER_THREADS", "GOMAXPROCS",
    "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "POLARS_MAX_THREADS",
    "JULIA_NUM_THREADS",
];

/// How threads wait. Each runtime lets one of these override another, so they are set together or
/// not at all.
///
/// GCC's threads first spin for some tens of microseconds, about as long as it takes to wake one.
/// A program of many short parallel regions takes 1.4 times as long without any spinning, and is as
/// fast as ever with these 1,000 rounds. While two such programs share the processors, they cost
/// each 8 percent.
const WAITING: [(&str, &str); 3] = [
    ("OMP_WAIT_POLICY", "passive"),
    ("KMP_BLOCKTIME", "0"),
    ("GOMP_SPINCOUNT", "1000"),
];

/// The variables to set.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Additions {
    set: Vec<(&'static str, String)>,
    /// The variables that stay as the user has set them.
    kept: Vec<&'static str>,
}

impl Additions {
    /// Chooses the variables for a program that has up to `threads` processors. Leaves a variable
    /// alone if it `is_set` by the user.
    pub fn choose(threads: usize, is_set: impl Fn(&str) -> bool) -> Self {
        let mut chosen = Self::default();
        for name in THREADS {
            chosen.add(name, threads.to_string(), &is_set);
        }
        // The seat of the command stands for the whole program, even if the user has switched
        // sharing on.
        chosen.set.push(("TIDEGATE_SHARE", "off".to_owned()));
        let by_user = WAITING
            .map(|(name, _)| name)
            .into_iter()
            .filter(|name| is_set(name));
        let by_user: Vec<&str> = by_user.collect();
        if by_user.is_empty() {
            let passive = WAITING.map(|(name, value)| (name, value.to_owned()));
            chosen.set.extend(passive);
        } else {
            chosen.kept.extend(by_user)
        }
        chosen
    }

    /// Adds the name by which processes of the program are recognized.
    pub fn with_name(mut self, name: Option<&str>) -> Self {
        self.set
            .extend(name.map(|name| (VARIABLE, name.to_owned())));
        self
    }

    /// Adds the address of a jobserver to the flags that the user has set.
    pub fn with_makeflags(mut self, server: Option<&Server>) -> Self {
        for name in ["MAKEFLAGS", "CARGO_MAKEFLAGS"] {
            let flags = server.map(|server| (name, server.makeflags(name)));
            self.set.extend(flags);
        }
        self
    }

    fn add(&mut self, name: &'static str, value: String, is_set: impl Fn(&str) -> bool) {
        if is_set(name) {
            self.kept.push(name)
        } else {
            self.set.push((name, value))
        }
    }

    /// Returns the environment `before` with these variables, as a list of `NAME=VALUE`.
    pub fn applied(&self, before: impl Iterator<Item = (OsString, OsString)>) -> Vec<CString> {
        let is_replaced = |name: &OsString| self.set.iter().any(|(set, _)| name == set);
        let kept = before.filter(|(name, _)| !is_replaced(name));
        let added = self
            .set
            .iter()
            .map(|(name, value)| (name.into(), value.into()));
        let line = |(mut name, value): (OsString, OsString)| {
            name.push("=");
            name.push(value);
            CString::new(name.into_vec()).ok()
        };
        kept.chain(added).filter_map(line).collect()
    }
}

/// One line for `TIDEGATE_EXPLAIN=1`.
impl fmt::Display for Additions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set = self
            .set
            .iter()
            .map(|(name, value)| format!("{name}={value}"));
        let set: Vec<String> = set.collect();
        if set.is_empty() {
            f.write_str("sets no variables")?
        } else {
            write!(f, "sets {}", set.join(" "))?
        }
        if self.kept.is_empty() {
            Ok(())
        } else {
            write!(f, "; leaves {} as set by the user", self.kept.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(additions: &Additions, before: &[(&str, &str)]) -> Vec<String> {
        let before = before
            .iter()
            .map(|(name, value)| (name.into(), value.into()));
        let lines = additions.applied(before).into_iter();
        lines
            .map(|line| line.into_string().expect("text"))
            .collect()
    }

    #[test]
    fn empty_environment_gets_all() {
        let additions = Additions::choose(3, |_| false).with_name(Some("exec-7-9.masks"));
        let mut expected: Vec<String> = THREADS.map(|name| format!("{name}=3")).into();
        expected.extend(["TIDEGATE_SHARE=off", "OMP_WAIT_POLICY=passive"].map(String::from));
        expected.extend(["KMP_BLOCKTIME=0", "GOMP_SPINCOUNT=1000"].map(String::from));
        expected.push("TIDEGATE_EXEC=exec-7-9.masks".into());
        assert_eq!(applied(&additions, &[]), expected);
    }

    /// Even an empty value is the user's.
    #[test]
    fn variables_of_the_user_stay() {
        for name in THREADS {
            let additions = Additions::choose(3, |other| other == name);
            let found = applied(&additions, &[(name, "")]);
            assert!(found.contains(&format!("{name}=")), "{found:?}");
            assert_eq!(found.len(), THREADS.len() + 1 + WAITING.len(), "{found:?}");
            let told = additions.to_string();
            assert!(
                told.ends_with(&format!("; leaves {name} as set by the user")),
                "{told}"
            );
        }
    }

    /// The program must not take a second seat.
    #[test]
    fn sharing_is_always_off() {
        let additions = Additions::choose(3, |_| true);
        let found = applied(&additions, &[("TIDEGATE_SHARE", "on")]);
        assert_eq!(found, ["TIDEGATE_SHARE=off"]);
    }

    /// `GOMP_SPINCOUNT=1000` would override `OMP_WAIT_POLICY=active`.
    #[test]
    fn waiting_is_set_together_or_not() {
        for (name, _) in WAITING {
            let additions = Additions::choose(3, |other| other == name);
            let found = applied(&additions, &[(name, "1")]).join(" ");
            let named = WAITING.map(|(other, _)| found.contains(other));
            assert_eq!(named, WAITING.map(|(other, _)| other == name), "{found}");
        }
    }

    /// The name of another command's record would lead to the wrong masks.
    #[test]
    fn record_replaces_an_older_one() {
        let additions = Additions::choose(3, |_| true).with_name(Some("new"));
        let found = applied(&additions, &[(VARIABLE, "old"), ("A", "b=c")]);
        assert_eq!(found, ["A=b=c", "TIDEGATE_SHARE=off", "TIDEGATE_EXEC=new"]);
    }

    #[test]
    fn nothing_is_added_without_a_seat() {
        let additions = Additions::default();
        assert_eq!(applied(&additions, &[("A", "b")]), ["A=b"]);
        assert_eq!(additions.to_string(), "sets no variables");
    }
}
