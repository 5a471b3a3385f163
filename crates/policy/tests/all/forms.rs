//! Checks text forms: a value that is printed and parsed stays the same, and an invalid text gives
//! an error that explains the problem.

use tidegate_policy::idle::{
    Backoff, Combination, Elastic, Exponential, ExponentialLinear, Inefficient, Linear,
    LinearExponential, LongQuanta, PheetOriginal, Quanta, Randomness,
};
use tidegate_policy::{IdlePolicy, Rng, StealAmount, VictimPolicy, WaitPolicy};

/// Draws random values in the allowed ranges. Some are whole microseconds, so that all units are
/// printed.
struct Values(Rng);

impl Values {
    fn time(&mut self, min: u64, max: u64) -> u64 {
        let time = min + self.0.below(max - min + 1);
        if self.0.below(2) == 0 {
            time
        } else {
            (time / 1_000 * 1_000).clamp(min, max)
        }
    }

    fn sorted<const N: usize>(&mut self) -> [u64; N] {
        let mut times = [0; N].map(|_| self.time(1, 1_000_000_000));
        times.sort_unstable();
        times
    }

    fn ratio(&mut self, min: f64, max: f64) -> f64 {
        min + (max - min) * (self.0.below(1_000_000_007) as f64 / 1_000_000_007.0)
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.0.below(all.len() as u64) as usize]
    }

    fn randomness(&mut self) -> Randomness {
        self.one_of(&[Randomness::None, Randomness::Constant, Randomness::LimitMax])
    }

    fn backoff(&mut self) -> Backoff {
        let ([min, threshold, resume, max], step) = (self.sorted(), self.time(0, 1_000_000_000));
        let (r, t) = (self.ratio(1.0, 16.0), self.ratio(0.0, 1.0));
        let (randomness, slow_reset) = (self.randomness(), self.one_of(&[true, false]));
        match self.0.below(6) {
            0 => Backoff::Linear(Linear {
                min,
                step,
                max,
                randomness,
                slow_reset,
            }),
            1 => Backoff::Exponential(Exponential {
                min,
                r,
                max,
                randomness,
                slow_reset,
            }),
            2 => Backoff::PheetOriginal(PheetOriginal { min, r, max }),
            3 => Backoff::ExponentialLinear(ExponentialLinear {
                min,
                r,
                threshold,
                resume,
                step,
                max,
            }),
            4 => Backoff::LinearExponential(LinearExponential {
                min,
                step,
                threshold,
                resume,
                r,
                max,
            }),
            _ => Backoff::Combination(Combination {
                t,
                min,
                step,
                r,
                max,
            }),
        }
    }

    fn idle(&mut self) -> IdlePolicy {
        let length = self.time(1_000, 1_000_000_000);
        let (max, insert) = (
            self.time(1, 1_000_000_000),
            1 + self.0.below(1_000_000) as usize,
        );
        let (threshold, c) = (self.ratio(0.0, 1.0), self.ratio(0.0, 100.0));
        let (s1, s2) = (self.ratio(0.0, 100.0), self.ratio(0.0, 100.0));
        match self.0.below(8) {
            0 => IdlePolicy::Elastic(Elastic { search: length }),
            1 => self.one_of(&[IdlePolicy::None, IdlePolicy::Yield, IdlePolicy::AbpYield]),
            2 | 3 => IdlePolicy::Backoff(self.backoff()),
            4 => IdlePolicy::YieldThen(self.backoff()),
            5 | 6 => IdlePolicy::Quanta(Quanta {
                length,
                threshold,
                s1,
                s2,
                c,
                max,
                insert,
            }),
            _ => {
                let long = self.time(1_000, 10_000_000_000);
                let all = [
                    Inefficient::Short,
                    Inefficient::Either,
                    Inefficient::Both,
                    Inefficient::Mean,
                ];
                let inefficient = self.one_of(&all);
                IdlePolicy::LongQuanta(LongQuanta {
                    length,
                    long,
                    threshold,
                    inefficient,
                    s1,
                    s2,
                    c,
                    max,
                    insert,
                })
            }
        }
    }
}

#[test]
fn idle_policies_round_trip_as_text() {
    let mut values = Values(Rng::new(11));
    for _ in 0..20_000 {
        let idle = values.idle();
        idle.check()
            .unwrap_or_else(|error| panic!("{idle}: {error}"));
        assert_eq!(idle.to_string().parse(), Ok(idle), "{idle}");
    }
}

#[test]
fn every_shown_parameter_is_needed() {
    let mut values = Values(Rng::new(12));
    for _ in 0..2_000 {
        let idle = values.idle();
        let shown = idle.to_string();
        let Some((name, list)) = shown.split_once(':') else {
            continue;
        };
        let parts: Vec<&str> = list.split(',').collect();
        for left_out in 0..parts.len() {
            let others: Vec<&str> = (0..parts.len())
                .filter(|&i| i != left_out)
                .map(|i| parts[i])
                .collect();
            let shorter = if others.is_empty() {
                name.to_string()
            } else {
                format!("{name}:{}", others.join(","))
            };
            assert_ne!(
                shorter.parse(),
                Ok(idle),
                "{shown} is no longer than it must be"
            );
        }
    }
}

#[test]
fn defaults_are_shown_by_name_alone() {
    for name in IdlePolicy::names() {
        let name = name.replace("BACKOFF", "linear-exponential");
        assert_eq!(name.parse::<IdlePolicy>().unwrap().to_string(), name);
    }
    assert_eq!(IdlePolicy::default().to_string(), "elastic");
}

#[test]
fn parameters_accept_any_order_and_unit() {
    let linear: IdlePolicy = "linear:max=0.5ms,step=50us,min=10000ns".parse().unwrap();
    assert_eq!(linear.to_string(), "linear");
    let other: IdlePolicy = "linear:max=1s,step=0.02ms,min=0ns".parse().unwrap();
    assert_eq!(other.to_string(), "linear:min=0ns,step=20us,max=1s");
    let nested: IdlePolicy = "yield-then-linear:min=20us".parse().unwrap();
    assert_eq!(
        nested,
        IdlePolicy::YieldThen(Backoff::Linear(Linear {
            min: 20_000,
            ..Linear::default()
        }))
    );
}

#[test]
fn derived_parameter_shows_only_if_different() {
    let followed: IdlePolicy = "exponential-linear:threshold=50us".parse().unwrap();
    assert_eq!(followed.to_string(), "exponential-linear:threshold=50us");
    let set: IdlePolicy = "exponential-linear:threshold=50us,resume=60us"
        .parse()
        .unwrap();
    assert_eq!(
        set.to_string(),
        "exponential-linear:threshold=50us,resume=60us"
    );
    let short: IdlePolicy = "elastic:search=5us".parse().unwrap();
    assert_eq!(short, IdlePolicy::Elastic(Elastic { search: 5_000 }));
}

/// Invalid idle policies, each with the start of its error message.
#[rustfmt::skip]
const REFUSED: &[(&str, &str)] = &[
    ("", "unknown idle policy \"\": expected elastic, none, yield, abp-yield, linear, exponential, "),
    ("lineal", "unknown idle policy \"lineal\"; did you mean \"linear\"?"),
    ("Linear", "unknown idle policy \"Linear\""),
    ("none:min=1us", "unexpected parameters \"min=1us\" in none: expected no parameters"),
    ("linear:", "invalid parameter \"\" in linear: expected key=value"),
    ("linear:min", "invalid parameter \"min\" in linear: expected key=value"),
    ("linear:r=2", "unknown parameter \"r\" in linear: expected min, step, max, randomness, slow-reset"),
    ("linear:min=1us,min=2us", "duplicate parameter \"min\" in linear: expected each parameter once"),
    ("linear:step=50", "invalid value \"50\" for step in linear: expected a time such as 5ms (ns, us, ms, s) from 0ns to 1s"),
    ("linear:step=-1us", "invalid value \"-1us\" for step in linear: expected"),
    ("linear:step=2s", "invalid value \"2s\" for step in linear: expected a time such as 5ms (ns, us, ms, s) from 0ns to 1s"),
    ("linear:max=0ns", "invalid value \"0ns\" for max in linear: expected a time such as 5ms (ns, us, ms, s) from 1ns to 1s"),
    ("linear:min=600us", "min=600us is above max=500us in linear: expected min <= max"),
    ("linear:randomness=some", "unknown randomness \"some\" in randomness in linear: expected none, constant, limit-max"),
    ("linear:slow-reset=yes", "invalid value \"yes\" for slow-reset in linear: expected on or off"),
    ("exponential:min=0ns", "invalid value \"0ns\" for min in exponential: expected a time such as 5ms (ns, us, ms, s) from 1ns to 1s"),
    ("exponential:r=0.9", "invalid value \"0.9\" for r in exponential: expected a number from 1 to 16"),
    ("exponential:r=NaN", "invalid value \"NaN\" for r in exponential: expected a number from 1 to 16"),
    ("quanta:insert=0", "invalid value \"0\" for insert in quanta: expected an integer from 1 to 1000000"),
    ("quanta:insert=1.5", "invalid value \"1.5\" for insert in quanta: expected an integer from 1 to 1000000"),
    (
        "long-quanta:inefficient=all",
        "unknown condition \"all\" in inefficient in long-quanta: expected short, either, both, mean",
    ),
    ("linear:min=600us", "min=600us is above max=500us in linear: expected min <= max"),
    ("yield-then-none", "unknown backoff \"none\": expected linear, exponential, pheet-original, "),
    ("yield-then-yield-then-linear", "unknown backoff \"yield-then-linear\""),
    ("yield-then-linear:step=0", "invalid value \"0\" for step in linear: expected"),
];

/// The error says where the value is, what it is and what is allowed.
#[test]
fn invalid_idle_policy_error_is_specific() {
    for (text, message) in REFUSED {
        let error = text.parse::<IdlePolicy>().expect_err(text).to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
}

#[test]
fn overlapping_combined_backoff_is_rejected() {
    for (text, message) in [
        (
            "exponential-linear:threshold=300us,resume=200us",
            "threshold=300us is above resume=200us in exponential-linear: expected threshold <= resume",
        ),
        (
            "linear-exponential:threshold=300us,resume=200us",
            "threshold=300us is above resume=200us",
        ),
        (
            "exponential-linear:threshold=600us",
            "resume=600us is above max=500us",
        ),
        (
            "linear-exponential:min=200us",
            "min=200us is above threshold=100us",
        ),
    ] {
        let error = text.parse::<IdlePolicy>().expect_err(text).to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
}

#[test]
fn policy_made_in_code_is_checked() {
    let overlapping = ExponentialLinear {
        threshold: 300_000,
        ..ExponentialLinear::default()
    };
    let error = tidegate_policy::IdleState::new(&IdlePolicy::Backoff(Backoff::ExponentialLinear(
        overlapping,
    )))
    .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("threshold=300us is above resume=200us"),
        "{error}"
    );
    let steep = IdlePolicy::YieldThen(Backoff::Exponential(Exponential {
        r: f64::NAN,
        ..Exponential::default()
    }));
    assert!(
        steep
            .check()
            .unwrap_err()
            .to_string()
            .contains("expected a number from 1 to 16")
    );
    assert!(StealAmount::Fixed(0).check().is_err());
    assert!(StealAmount::HalfAbove(0).check().is_err());
}

/// Covers steal amounts, victim policies and wait policies.
#[test]
fn other_policies_round_trip_as_text() {
    for amount in [
        StealAmount::One,
        StealAmount::Half,
        StealAmount::HalfAbove(16),
        StealAmount::Fixed(1),
        StealAmount::Fixed(65_536),
    ] {
        assert_eq!(amount.to_string().parse(), Ok(amount));
    }
    for victim in [
        VictimPolicy::Random,
        VictimPolicy::LastVictim,
        VictimPolicy::Hierarchical,
    ] {
        assert_eq!(victim.to_string().parse(), Ok(victim));
    }
    for wait in [WaitPolicy::Descendants, WaitPolicy::HelpAny] {
        assert_eq!(wait.to_string().parse(), Ok(wait));
    }
    assert_eq!(StealAmount::Fixed(20).to_string(), "fixed:20");
}

/// Covers steal amounts, victim policies and wait policies.
#[test]
fn unknown_policy_names_are_rejected() {
    let amount = |text: &str| text.parse::<StealAmount>().unwrap_err().to_string();
    assert_eq!(
        amount("two"),
        "unknown steal amount \"two\": expected one, half, half-above:N, fixed:N"
    );
    assert_eq!(
        amount("fixed"),
        "unknown steal amount \"fixed\"; did you mean \"fixed:N\"?"
    );
    assert_eq!(
        amount("fixed:0"),
        "invalid value \"0\" for fixed: expected an integer from 1 to 65536"
    );
    assert_eq!(
        amount("fixed:x"),
        "invalid value \"x\" for fixed: expected an integer from 1 to 65536"
    );
    let victim = "near".parse::<VictimPolicy>().unwrap_err().to_string();
    assert_eq!(
        victim,
        "unknown victim policy \"near\": expected random, round-robin, last-victim, hierarchical"
    );
    let wait = "help".parse::<WaitPolicy>().unwrap_err().to_string();
    assert_eq!(
        wait,
        "unknown wait policy \"help\": expected descendants, help-any"
    );
}
