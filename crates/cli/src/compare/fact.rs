//! What a comparison concludes: a figure in words, and the goal that it reaches or misses.

use std::fmt;

use serde_json::{Value, json};

use crate::output::show_ratio;

/// A conclusion.
pub struct Fact {
    what: String,
    value: Value,
    words: String,
    goal: Option<Goal>,
}

/// What a ratio should be.
#[derive(Clone, Copy, Debug)]
pub enum Goal {
    /// This or more.
    AtLeast(f64),
    /// This or less.
    AtMost(f64),
}

impl Goal {
    fn is_reached(self, ratio: f64) -> bool {
        match self {
            Self::AtLeast(least) => ratio >= least,
            Self::AtMost(most) => ratio <= most,
        }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(least) => write!(f, "at least {}", show_ratio(*least)),
            Self::AtMost(most) => write!(f, "at most {}", show_ratio(*most)),
        }
    }
}

impl Fact {
    /// A ratio with its goal.
    pub fn ratio(what: String, ratio: f64, goal: Goal) -> Self {
        Self {
            what,
            value: ratio.into(),
            words: show_ratio(ratio),
            goal: Some(goal),
        }
    }

    /// A figure that has no goal, as `words` tell it.
    pub fn plain(what: String, value: Value, words: String) -> Self {
        Self {
            what,
            value,
            words,
            goal: None,
        }
    }

    /// Whether the goal is reached, if there is one.
    fn reached(&self) -> Option<bool> {
        Some(self.goal?.is_reached(self.value.as_f64()?))
    }

    /// The same for programs.
    pub fn to_json(&self) -> Value {
        json!({
            "what": self.what,
            "value": self.value,
            "goal": self.goal.map(|goal| goal.to_string()),
            "reached": self.reached(),
        })
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.words)?;
        let Some((goal, reached)) = self.goal.zip(self.reached()) else {
            return Ok(());
        };
        let outcome = if reached { "reached" } else { "missed" };
        write!(f, ", goal {goal}: {outcome}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_reached_on_its_edge_and_missed_beyond() {
        let told = |ratio, goal| Fact::ratio("time".into(), ratio, goal).to_string();
        assert_eq!(
            told(3.0, Goal::AtLeast(3.0)),
            "time: 3.00x, goal at least 3.00x: reached"
        );
        assert!(told(2.9, Goal::AtLeast(3.0)).ends_with("missed"));
        assert!(told(1.0, Goal::AtMost(1.0)).ends_with("reached"));
        assert!(told(1.1, Goal::AtMost(1.0)).ends_with("missed"));
    }

    #[test]
    fn a_figure_without_a_goal_reaches_nothing() {
        let fact = Fact::plain("stack".into(), json!({ "levels": 1 }), "1 level".into());
        assert_eq!(fact.to_string(), "stack: 1 level");
        assert!(fact.to_json()["reached"].is_null());
    }
}
