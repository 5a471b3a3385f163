//! Published claims, and verdicts on how our figures compare with them.

use std::fmt;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::Interval;
use crate::reproduce::page::Finding;

/// A published claim that a measured figure can contradict.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The claim's name in tables.
    id: String,
    /// One sentence that states the claim, with the published figure.
    what: String,
    /// The section, figure or table of the source that contains the claim.
    source: String,
    published: Option<f64>,
    agrees: RangeInclusive<f64>,
    refuted: Refuted,
}

/// Describes the figures that contradict a claim.
#[derive(Deserialize, Clone, Copy, Debug, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Refuted {
    /// Figures of at least this value, because the source reports a smaller one.
    AtLeast(f64),
    /// Figures of at most this value, because the source reports a larger one.
    AtMost(f64),
    /// Figures outside these bounds or equal to a bound, because the source reports no difference.
    Outside(f64, f64),
}

#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The figure is in the range that agrees with the source.
    Agrees,
    /// The effect has the published direction, but is larger.
    Stronger,
    /// The effect has the published direction, but is smaller.
    Weaker,
    /// The figure's confidence interval contains both figures that contradict the claim and figures
    /// that do not.
    Undecided,
    /// All figures in the confidence interval contradict the claim.
    Contradicts,
    /// The programs are too small to show the effect.
    TooSmall,
    /// This machine cannot show the effect.
    CannotTell,
    /// `--only` left out cells that the figure needs.
    NotMeasured,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Agrees => "agrees",
            Self::Stronger => "stronger",
            Self::Weaker => "weaker",
            Self::Undecided => "undecided",
            Self::Contradicts => "contradicts",
            Self::TooSmall => "too small",
            Self::CannotTell => "cannot be told here",
            Self::NotMeasured => "not measured",
        })
    }
}

impl Refuted {
    fn holds(self, figure: f64) -> bool {
        match self {
            Self::AtLeast(end) => figure >= end,
            Self::AtMost(end) => figure <= end,
            Self::Outside(low, high) => figure < low || high < figure,
        }
    }
}

impl Claim {
    /// Creates a claim. Figures in `agrees` reproduce the claim; figures in `refuted` contradict
    /// it.
    pub fn new(
        id: impl Into<String>,
        what: impl Into<String>,
        source: impl Into<String>,
        agrees: RangeInclusive<f64>,
        refuted: Refuted,
    ) -> Self {
        Self {
            id: id.into(),
            what: what.into(),
            source: source.into(),
            published: None,
            agrees,
            refuted,
        }
    }

    pub fn published(self, figure: f64) -> Self {
        Self {
            published: Some(figure),
            ..self
        }
    }

    pub fn judge(&self, ours: Interval) -> Verdict {
        let Interval { value, low, high } = ours;
        if !ours.is_measured() {
            return Verdict::NotMeasured;
        }
        let ends = [low, high].map(|end| self.refuted.holds(end));
        match ends {
            [true, true] if self.refuted.holds(value) => return Verdict::Contradicts,
            [false, false] => {}
            _ => return Verdict::Undecided,
        }
        let below = value < *self.agrees.start();
        match self.refuted {
            _ if self.agrees.contains(&value) => Verdict::Agrees,
            Refuted::AtLeast(_) if below => Verdict::Stronger,
            Refuted::AtMost(_) if !below => Verdict::Stronger,
            _ => Verdict::Weaker,
        }
    }

    /// Returns the finding for our figure. `show` formats its numbers.
    pub fn finding(&self, ours: Interval, show: impl Fn(f64) -> String) -> Finding {
        let published = self.published.map_or_else(String::new, &show);
        Finding {
            id: self.id.clone(),
            what: self.what.clone(),
            source: self.source.clone(),
            published,
            range: self.range(&show),
            ours: ours.show(show),
            verdict: self.judge(ours),
            why: String::new(),
        }
    }

    /// Describes which figures agree with the claim and which contradict it.
    fn range(&self, show: impl Fn(f64) -> String) -> String {
        let (start, end) = (*self.agrees.start(), *self.agrees.end());
        let agrees = match (start.is_finite(), end.is_finite()) {
            (true, true) => format!("{} to {}", show(start), show(end)),
            (true, false) => format!("{} or more", show(start)),
            (false, _) => format!("{} or less", show(end)),
        };
        let refuted = match self.refuted {
            Refuted::AtLeast(end) => format!("{} or more", show(end)),
            Refuted::AtMost(end) => format!("{} or less", show(end)),
            Refuted::Outside(low, high) => {
                format!("less than {} or more than {}", show(low), show(high))
            }
        };
        format!("agrees: {agrees}; contradicts: {refuted}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(agrees: RangeInclusive<f64>, refuted: Refuted) -> Claim {
        Claim::new(
            "test",
            "it takes three times as long",
            "figure 1",
            agrees,
            refuted,
        )
        .published(3.0)
    }

    fn interval(low: f64, value: f64, high: f64) -> Interval {
        Interval { value, low, high }
    }

    #[test]
    fn slower_by_a_published_factor() {
        let claim = claim(2.0..=4.5, Refuted::AtMost(1.0));
        for (ours, verdict) in [
            (interval(2.8, 3.0, 3.1), Verdict::Agrees),
            (interval(1.1, 1.2, 1.3), Verdict::Weaker),
            (interval(8.0, 9.0, 9.5), Verdict::Stronger),
            (interval(0.9, 1.2, 3.0), Verdict::Undecided),
            (interval(0.8, 0.9, 0.95), Verdict::Contradicts),
            (Interval::exact(f64::NAN), Verdict::NotMeasured),
        ] {
            assert_eq!(claim.judge(ours), verdict, "{ours:?}");
        }
    }

    #[test]
    fn faster_by_a_published_factor() {
        let claim = claim(0.4..=0.7, Refuted::AtLeast(0.95));
        for (value, verdict) in [
            (0.5, Verdict::Agrees),
            (0.3, Verdict::Stronger),
            (0.9, Verdict::Weaker),
            (1.0, Verdict::Contradicts),
        ] {
            assert_eq!(claim.judge(Interval::exact(value)), verdict, "{value}");
        }
    }

    #[test]
    fn alike_within_a_range() {
        let claim = claim(0.9..=1.1, Refuted::Outside(0.8, 1.25));
        for (ours, verdict) in [
            (interval(0.95, 1.0, 1.05), Verdict::Agrees),
            (interval(1.1, 1.15, 1.2), Verdict::Weaker),
            (interval(1.1, 1.2, 1.3), Verdict::Undecided),
            (interval(1.3, 1.4, 1.5), Verdict::Contradicts),
        ] {
            assert_eq!(claim.judge(ours), verdict, "{ours:?}");
        }
    }

    #[test]
    fn range_names_both_verdicts() {
        let finding = claim(2.0..=f64::INFINITY, Refuted::AtMost(1.0))
            .finding(Interval::exact(3.0), |value| format!("{value:.2}x"));
        assert_eq!(
            finding.range,
            "agrees: 2.00x or more; contradicts: 1.00x or less"
        );
        assert_eq!((&*finding.published, &*finding.ours), ("3.00x", "3.00x"));
    }
}
