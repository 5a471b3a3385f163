//! Parameters of the rules, one after the other over a range (Haselsteiner, "Adaptive Work-Stealing Techniques", 2015, sections 4.4 and 5.4).

use super::machines::{MARS, Machine, SATURN};
use crate::reproduce::grid::Rule;

/// A parameter and its values.
pub struct Sweep {
    pub title: &'static str,
    /// What the axis means.
    pub x: &'static str,
    pub machine: Machine,
    /// The values as shown, and the rules with them.
    values: &'static [(&'static str, &'static str)],
}

impl Sweep {
    pub fn rules(&self) -> Vec<Rule> {
        let rule = |(name, idle): &(&str, &str)| Rule::new(name, idle);
        self.values.iter().map(rule).collect()
    }
}

/// Which parameter is which sweep.
pub const STEP: usize = 0;
pub const MIN: usize = 1;
pub const MAX: usize = 2;
pub const LENGTH: usize = 6;

/// All of them. Of the parameters of linear backoff the thesis says with which values of the others it varied them; so it does of the quanta.
pub const SWEEPS: [Sweep; 8] = [
    Sweep {
        title: "linear: step",
        x: "step, from 100 ns to 1 s",
        machine: SATURN,
        values: &[
            ("1 us", "linear:min=100ns,step=1us,max=1s"),
            ("10 us", "linear:min=100ns,step=10us,max=1s"),
            ("50 us", "linear:min=100ns,step=50us,max=1s"),
            ("0.1 ms", "linear:min=100ns,step=100us,max=1s"),
            ("1 ms", "linear:min=100ns,step=1ms,max=1s"),
            ("10 ms", "linear:min=100ns,step=10ms,max=1s"),
            ("0.1 s", "linear:min=100ns,step=100ms,max=1s"),
        ],
    },
    Sweep {
        title: "linear: minimum",
        x: "shortest sleep",
        machine: SATURN,
        values: &[
            ("0", "linear:min=0ns,max=1s"),
            ("10 us", "linear:min=10us,max=1s"),
            ("0.1 ms", "linear:min=100us,max=1s"),
            ("1 ms", "linear:min=1ms,max=1s"),
            ("10 ms", "linear:min=10ms,max=1s"),
            ("0.1 s", "linear:min=100ms,max=1s"),
        ],
    },
    Sweep {
        title: "linear: maximum",
        x: "longest sleep",
        machine: SATURN,
        values: &[
            ("10 us", "linear:max=10us"),
            ("0.1 ms", "linear:max=100us"),
            ("0.5 ms", "linear:max=500us"),
            ("1 ms", "linear:max=1ms"),
            ("10 ms", "linear:max=10ms"),
            ("1 s", "linear:max=1s"),
        ],
    },
    Sweep {
        title: "linear: randomness and slow reset",
        x: "variant",
        machine: SATURN,
        values: &[
            ("no-rand", "linear"),
            ("rand-const", "linear:randomness=constant"),
            ("limit-max", "linear:randomness=limit-max"),
            ("slow-reset", "linear:slow-reset=on"),
            ("yield first", "yield-then-linear"),
        ],
    },
    Sweep {
        title: "exponential: factor",
        x: "factor r, from 10 us to 1 s",
        machine: SATURN,
        values: &[
            ("1.1", "exponential:r=1.1,max=1s"),
            ("1.3", "exponential:r=1.3,max=1s"),
            ("1.5", "exponential:r=1.5,max=1s"),
            ("2", "exponential:r=2,max=1s"),
            ("2.5", "exponential:r=2.5,max=1s"),
            ("3.5", "exponential:r=3.5,max=1s"),
        ],
    },
    Sweep {
        title: "quanta: S1 and S2 (twice S1)",
        x: "S1, quanta of 300 us",
        machine: MARS,
        values: &[
            ("0.003", "quanta:length=300us,s1=0.003,s2=0.006"),
            ("0.03", "quanta:length=300us,s1=0.03,s2=0.06"),
            ("0.1", "quanta:length=300us,s1=0.1,s2=0.2"),
            ("0.3", "quanta:length=300us,s1=0.3,s2=0.6"),
        ],
    },
    Sweep {
        title: "quanta: length",
        x: "length of a quantum, S1 and S2 with it",
        machine: MARS,
        values: &[
            ("16 us", "quanta:length=16us,s1=1.6,s2=3.2"),
            ("33 us", "quanta:length=33us,s1=0.8,s2=1.6"),
            ("75 us", "quanta:length=75us,s1=0.4,s2=0.8"),
            ("150 us", "quanta:length=150us,s1=0.2,s2=0.4"),
            ("300 us", "quanta:length=300us,s1=0.1,s2=0.2"),
            ("600 us", "quanta:length=600us,s1=0.05,s2=0.1"),
        ],
    },
    Sweep {
        title: "quanta: longest sleep",
        x: "longest sleep",
        machine: MARS,
        values: &[
            ("0.1 ms", "quanta:max=100us"),
            ("0.5 ms", "quanta:max=500us"),
            ("1.5 ms", "quanta:max=1500us"),
            ("5 ms", "quanta:max=5ms"),
            ("none", "quanta:max=1s"),
        ],
    },
];
