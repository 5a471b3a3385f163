//! Sweeps over parameters of the rules (sections 4.4, 5.4 and 5.5). The thesis ran each cell seven
//! times and, of the UTS programs, only UTS-0.

use super::machines::{MARS, Machine, SATURN};
use crate::reproduce::grid::{Plan, Rule};
use crate::reproduce::simulated::Work;

pub struct Sweep {
    /// The name by which claims refer to the sweep.
    pub title: &'static str,
    /// What the x axis shows.
    pub x: &'static str,
    pub machine: Machine,
    /// The only program in the figure of the thesis; `None` if the figure shows all programs.
    only: Option<&'static str>,
    /// The values as displayed, each with its rule.
    values: &'static [(&'static str, &'static str)],
}

impl Sweep {
    /// Creates a plan with all values, on these programs, with one, two and four instances.
    pub fn plan(&self, works: &[Work]) -> Plan {
        let rule = |(name, idle): &(&str, &str)| Rule::new(name, idle);
        let is_shown = |work: &&Work| match self.only {
            Some(only) => work.name == only,
            None => work.name != "UTS-4",
        };
        Plan {
            rules: self.values.iter().map(rule).collect(),
            works: works.iter().filter(is_shown).cloned().collect(),
            loads: self.machine.full(),
        }
    }

    /// Creates a sweep over a parameter, on all programs.
    const fn new(
        machine: Machine,
        title: &'static str,
        x: &'static str,
        values: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self {
            title,
            x,
            machine,
            only: None,
            values,
        }
    }

    /// Restricts the sweep to one program.
    const fn of(self, program: &'static str) -> Self {
        Self {
            only: Some(program),
            ..self
        }
    }
}

/// All sweeps. The parameters that a sweep does not vary have their values from the thesis.
pub const SWEEPS: [Sweep; 17] = [
    Sweep::new(
        SATURN,
        "linear: step",
        "step, from 100 ns to 1 s",
        &[
            ("1 us", "linear:min=100ns,step=1us,max=1s"),
            ("10 us", "linear:min=100ns,step=10us,max=1s"),
            ("50 us", "linear:min=100ns,step=50us,max=1s"),
            ("0.1 ms", "linear:min=100ns,step=100us,max=1s"),
            ("1 ms", "linear:min=100ns,step=1ms,max=1s"),
            ("10 ms", "linear:min=100ns,step=10ms,max=1s"),
            ("0.1 s", "linear:min=100ns,step=100ms,max=1s"),
        ],
    ),
    Sweep::new(
        SATURN,
        "linear: minimum",
        "shortest sleep",
        &[
            ("0", "linear:min=0ns,max=1s"),
            ("10 us", "linear:min=10us,max=1s"),
            ("0.1 ms", "linear:min=100us,max=1s"),
            ("1 ms", "linear:min=1ms,max=1s"),
            ("10 ms", "linear:min=10ms,max=1s"),
            ("0.1 s", "linear:min=100ms,max=1s"),
        ],
    ),
    Sweep::new(
        SATURN,
        "linear: maximum",
        "longest sleep",
        &[
            ("10 us", "linear:max=10us"),
            ("0.1 ms", "linear:max=100us"),
            ("0.5 ms", "linear:max=500us"),
            ("1 ms", "linear:max=1ms"),
            ("10 ms", "linear:max=10ms"),
            ("1 s", "linear:max=1s"),
        ],
    ),
    Sweep::new(
        SATURN,
        "linear: randomness and slow reset",
        "variant",
        &[
            ("no-rand", "linear"),
            ("rand-const", "linear:randomness=constant"),
            ("limit-max", "linear:randomness=limit-max"),
            ("limit-max 20 us", "linear:min=20us,randomness=limit-max"),
            ("slow-reset", "linear:slow-reset=on"),
            ("yield first", "yield-then-linear"),
        ],
    ),
    Sweep::new(
        SATURN,
        "exponential: factor",
        "factor r, from 10 ns to 1 s",
        &[
            ("1.1", "exponential:min=10ns,r=1.1,max=1s"),
            ("1.3", "exponential:min=10ns,r=1.3,max=1s"),
            ("1.5", "exponential:min=10ns,r=1.5,max=1s"),
            ("2", "exponential:min=10ns,r=2,max=1s"),
            ("2.5", "exponential:min=10ns,r=2.5,max=1s"),
            ("3.5", "exponential:min=10ns,r=3.5,max=1s"),
        ],
    ),
    Sweep::new(
        SATURN,
        "exponential: minimum",
        "shortest sleep, r 1.3, up to 1 s",
        &[
            ("10 ns", "exponential:min=10ns,max=1s"),
            ("10 us", "exponential:min=10us,max=1s"),
            ("1 ms", "exponential:min=1ms,max=1s"),
            ("10 ms", "exponential:min=10ms,max=1s"),
            ("0.1 s", "exponential:min=100ms,max=1s"),
        ],
    ),
    Sweep::new(
        SATURN,
        "exponential: maximum",
        "longest sleep, r 1.3, from 10 us",
        &[
            ("0.1 ms", "exponential:max=100us"),
            ("0.5 ms", "exponential:max=500us"),
            ("1 ms", "exponential:max=1ms"),
            ("10 ms", "exponential:max=10ms"),
            ("0.1 s", "exponential:max=100ms"),
            ("1 s", "exponential:max=1s"),
        ],
    ),
    Sweep::new(
        SATURN,
        "exponential: randomness and slow reset",
        "variant",
        &[
            ("no-rand", "exponential"),
            ("const", "exponential:randomness=constant"),
            (
                "limit-max 20 us",
                "exponential:min=20us,randomness=limit-max",
            ),
            ("slow-reset", "exponential:slow-reset=on"),
        ],
    ),
    Sweep::new(
        SATURN,
        "exponential-linear: threshold",
        "where the linear part begins",
        &[
            ("50 us", "exponential-linear:threshold=50us"),
            ("200 us", "exponential-linear:threshold=200us"),
            ("400 us", "exponential-linear:threshold=400us"),
        ],
    ),
    Sweep::new(
        SATURN,
        "linear-exponential: threshold",
        "where the exponential part begins",
        &[
            ("50 us", "linear-exponential:threshold=50us"),
            ("100 us", "linear-exponential:threshold=100us"),
            ("400 us", "linear-exponential:threshold=400us"),
        ],
    ),
    Sweep::new(
        SATURN,
        "combination: weight",
        "weight t of the linear part",
        &[
            ("0.1", "combination:t=0.1"),
            ("0.25", "combination:t=0.25"),
            ("0.5", "combination:t=0.5"),
            ("0.75", "combination:t=0.75"),
            ("0.9", "combination:t=0.9"),
        ],
    )
    .of("quicksort"),
    Sweep::new(
        MARS,
        "quanta: S1 and S2 (twice S1)",
        "S1, quanta of 300 us",
        &[
            ("0.003", "quanta:length=300us,s1=0.003,s2=0.006"),
            ("0.03", "quanta:length=300us,s1=0.03,s2=0.06"),
            ("0.1", "quanta:length=300us,s1=0.1,s2=0.2"),
            ("0.3", "quanta:length=300us,s1=0.3,s2=0.6"),
        ],
    ),
    Sweep::new(
        MARS,
        "quanta: longest sleep",
        "longest sleep",
        &[
            ("0.1 ms", "quanta:max=100us"),
            ("0.5 ms", "quanta:max=500us"),
            ("1 ms", "quanta:max=1ms"),
            ("1.5 ms", "quanta:max=1500us"),
            ("5 ms", "quanta:max=5ms"),
            ("none", "quanta:max=1s"),
        ],
    )
    .of("quicksort"),
    Sweep::new(
        MARS,
        "quanta: length",
        "length of a quantum, S1 and S2 with it",
        &[
            ("16 us", "quanta:length=16us,s1=1.6,s2=3.2"),
            ("33 us", "quanta:length=33us,s1=0.8,s2=1.6"),
            ("75 us", "quanta:length=75us,s1=0.4,s2=0.8"),
            ("150 us", "quanta:length=150us,s1=0.2,s2=0.4"),
            ("300 us", "quanta:length=300us,s1=0.1,s2=0.2"),
            ("600 us", "quanta:length=600us,s1=0.05,s2=0.1"),
        ],
    ),
    Sweep::new(
        MARS,
        "quanta: threshold T",
        "threshold T",
        &[
            ("0.3", "quanta:threshold=0.3"),
            ("0.5", "quanta:threshold=0.5"),
            ("0.7", "quanta:threshold=0.7"),
        ],
    ),
    Sweep::new(
        MARS,
        "quanta: C",
        "constant C",
        &[
            ("0.2", "quanta:c=0.2"),
            ("2", "quanta:c=2"),
            ("20", "quanta:c=20"),
        ],
    ),
    Sweep::new(
        MARS,
        "long quanta: inefficient",
        "which share counts",
        &[
            ("either", "long-quanta:inefficient=either"),
            ("short", "long-quanta:inefficient=short"),
            ("both", "long-quanta:inefficient=both"),
            ("mean", "long-quanta:inefficient=mean"),
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_workloads::Size;

    #[test]
    fn every_value_is_another_rule() {
        let works = super::super::works(Size::Tiny);
        for sweep in &SWEEPS {
            let plan = sweep.plan(&works);
            let names = plan.rules.iter().map(|rule| rule.idle.to_string());
            let mut names: Vec<String> = names.collect();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), plan.rules.len(), "{}", sweep.title);
            let programs = if sweep.only.is_some() { 1 } else { 4 };
            assert_eq!(plan.works.len(), programs, "{}", sweep.title);
        }
    }
}
