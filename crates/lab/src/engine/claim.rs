//! Published claims, and verdicts on how our figures compare with them.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Interval;

/// How far one run alone may be from the median of many. Of the intervals of 3 to 5 runs in
/// docs/findings.md, 19 of 20 end within a fifth of the figure.
const NOISE: f64 = 0.2;

/// What a published claim says about a figure, which can contradict it.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// The lowest and the highest figure that reproduce the claim.
    pub agrees: [f64; 2],
    pub refuted: Refuted,
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
    /// that do not. With one run, the interval is what noise may make of the figure.
    Undecided,
    Contradicts,
    /// The programs are too small to show the effect.
    TooSmall,
    /// This machine cannot show the effect.
    CannotTell,
    /// `--only` left out cells that the figure needs.
    NotMeasured,
}

impl Verdict {
    /// All verdicts, in the order in which summaries list them.
    #[rustfmt::skip]
    pub const ALL: [Self; 8] = [
        Self::Agrees, Self::Stronger, Self::Weaker, Self::Undecided, Self::Contradicts,
        Self::TooSmall, Self::CannotTell, Self::NotMeasured,
    ];
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
    /// Judges a figure, which may come from one run.
    pub fn judge(&self, ours: Interval, once: bool) -> Verdict {
        let noise = if once { NOISE } else { 0.0 };
        let Interval { value, low, high } = ours;
        let [low, high] = [low * (1.0 - noise), high * (1.0 + noise)];
        if !ours.is_measured() {
            return Verdict::NotMeasured;
        }
        let ends = [low, high].map(|end| self.refuted.holds(end));
        match ends {
            [true, true] if self.refuted.holds(value) => return Verdict::Contradicts,
            [false, false] => {}
            _ => return Verdict::Undecided,
        }
        let [start, end] = self.agrees;
        let below = value < start;
        match self.refuted {
            _ if (start..=end).contains(&value) => Verdict::Agrees,
            Refuted::AtLeast(_) if below => Verdict::Stronger,
            Refuted::AtMost(_) if !below => Verdict::Stronger,
            _ => Verdict::Weaker,
        }
    }

    /// Describes which figures agree with the claim and which contradict it.
    pub fn range(&self, show: impl Fn(f64) -> String) -> String {
        let [start, end] = self.agrees;
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

    #[test]
    fn verdicts_depend_on_the_whole_interval() {
        let slower = ([2.0, 4.5], Refuted::AtMost(1.0));
        let faster = ([0.4, 0.7], Refuted::AtLeast(0.95));
        let alike = ([0.9, 1.1], Refuted::Outside(0.8, 1.25));
        for ((agrees, refuted), [low, value, high], verdict) in [
            (slower, [2.8, 3.0, 3.1], Verdict::Agrees),
            (slower, [1.1, 1.2, 1.3], Verdict::Weaker),
            (slower, [8.0, 9.0, 9.5], Verdict::Stronger),
            (slower, [0.9, 1.2, 3.0], Verdict::Undecided),
            (slower, [0.8, 0.9, 0.95], Verdict::Contradicts),
            (slower, [f64::NAN; 3], Verdict::NotMeasured),
            (faster, [0.5; 3], Verdict::Agrees),
            (faster, [0.3; 3], Verdict::Stronger),
            (faster, [0.9; 3], Verdict::Weaker),
            (faster, [1.0; 3], Verdict::Contradicts),
            (alike, [0.95, 1.0, 1.05], Verdict::Agrees),
            (alike, [1.1, 1.15, 1.2], Verdict::Weaker),
            (alike, [1.1, 1.2, 1.3], Verdict::Undecided),
            (alike, [1.3, 1.4, 1.5], Verdict::Contradicts),
        ] {
            let (claim, ours) = (Claim { agrees, refuted }, Interval { value, low, high });
            assert_eq!(claim.judge(ours, false), verdict, "{claim:?} {ours:?}");
        }
        let (agrees, refuted) = faster;
        let once = |figure| Claim { agrees, refuted }.judge(Interval::exact(figure), true);
        // Noise may make 0.95 of it.
        assert_eq!([0.9, 1.0].map(once), [Verdict::Undecided; 2]);
        assert_eq!(once(0.5), Verdict::Agrees);
    }
}
