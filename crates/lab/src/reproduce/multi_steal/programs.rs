//! The programs of each figure, with their strategies and numbers of processors.

use tidegate_policy::StealAmount;
use tidegate_workloads::Size;

use super::{BOTTOMMOST, DYNAMIC, FIXED_2, FIXED_4, FIXED_8, FIXED_16, FIXED_20};
use crate::reproduce::grid::{Load, Plan, Rule};
use crate::reproduce::simulated::Work;

/// In the source, a thief sleeps for 100 us after `LIMIT` failures, but the value of `LIMIT` is not
/// printed. Here, a thief sleeps after it has looked at all other workers once.
const IDLE: &str = "linear:min=100us,step=0ns,max=100us";

/// The trees of table 1.
pub const TREE_A: &str = "T3";
pub const TREE_B: &str = "BOTS-tiny";

pub const UTS_A: &str = "UTS A";
pub const UTS_B: &str = "UTS B";
pub const FIB: &str = "fib";
pub const SPARSELU: &str = "SparseLU";

/// The numbers of processors. The source's machine has two Opterons with twelve cores each; its
/// figures for fib, Strassen, SparseLU and the FFT end at fewer processors.
const ALL: &[usize] = &[2, 4, 8, 12, 16, 20, 24];
pub const UTS_PROCESSORS: usize = 24;
pub const STRASSEN_PROCESSORS: usize = 16;
pub const LOOP_PROCESSORS: usize = 20;

/// The numbers of tasks per steal in figure 15.
pub const SWEEP: [(usize, &str); 4] = [(2, FIXED_2), (4, FIXED_4), (8, FIXED_8), (16, FIXED_16)];

/// Returns the rule for thieves under a strategy.
pub fn rule(strategy: &str) -> Rule {
    Rule::new(strategy, IDLE).taking(amount(strategy))
}

pub fn amount(strategy: &str) -> StealAmount {
    match strategy {
        BOTTOMMOST => StealAmount::One,
        DYNAMIC => StealAmount::Half,
        _ => {
            let number = strategy.strip_prefix("fixed ").and_then(|d| d.parse().ok());
            StealAmount::Fixed(number.expect("a strategy of this experiment"))
        }
    }
}

fn plan(works: Vec<Work>, strategies: &[&str], processors: &[usize]) -> Plan {
    Plan {
        rules: strategies.iter().map(|strategy| rule(strategy)).collect(),
        works,
        loads: processors.iter().map(|number| load(*number)).collect(),
    }
}

pub fn load(processors: usize) -> Load {
    Load {
        processors,
        instances: 1,
    }
}

/// Returns tree A, or a smaller tree at size tiny.
fn uts_a(size: Size) -> Work {
    let given: &str = match size {
        Size::Tiny => "tree=tiny-binomial form=spawn b0=300",
        Size::Small | Size::Paper => "tree=T3 form=spawn",
    };
    Work::new(UTS_A, "uts", size, given)
}

/// Returns tree B, or a smaller tree at size tiny. Size small has the whole tree, because a tree of
/// a million nodes would be less deep than A.
fn uts_b(size: Size) -> Work {
    let given: &str = match size {
        Size::Tiny => "tree=tiny-binomial form=spawn b0=100 m=3 q=0.32",
        Size::Small | Size::Paper => "tree=BOTS-tiny form=spawn",
    };
    Work::new(UTS_B, "uts", size, given)
}

fn fib(size: Size) -> Work {
    let given: &str = match size {
        Size::Tiny => "n=16",
        Size::Small => "n=33",
        Size::Paper => "n=40",
    };
    Work::new(FIB, "fib", size, given)
}

/// Returns the programs of the Strassen figure: products of increasingly large matrices.
pub fn strassen(size: Size) -> Vec<Work> {
    let all: [(&str, &str); 5] = [
        ("Strassen 64", "n=64 form=spawn"),
        ("Strassen 512", "n=512 form=spawn"),
        ("Strassen 1024", "n=1024 form=spawn"),
        ("Strassen 2048", "n=2048 form=spawn"),
        ("Strassen 4096", "n=4096 form=spawn"),
    ];
    let chosen = match size {
        Size::Tiny => &all[..1],
        Size::Small => &all[1..3],
        Size::Paper => &all[2..],
    };
    let work = |(name, given): &(&'static str, &str)| Work::new(name, "strassen", size, given);
    chosen.iter().map(work).collect()
}

/// Returns the programs of the FFT figure: transforms of increasingly long vectors.
pub fn fft(size: Size) -> Vec<Work> {
    let all: [(&str, &str); 5] = [
        ("FFT 2 Ki", "n=2048"),
        ("FFT 4 Mi", "n=4194304"),
        ("FFT 8 Mi", "n=8388608"),
        ("FFT 32 Mi", "n=33554432"),
        ("FFT 64 Mi", "n=67108864"),
    ];
    let chosen = match size {
        Size::Tiny => &all[..1],
        Size::Small => &all[1..3],
        Size::Paper => &all[3..],
    };
    let work = |(name, given): &(&'static str, &str)| Work::new(name, "fft", size, given);
    chosen.iter().map(work).collect()
}

fn sparselu(size: Size) -> Work {
    Work::new(SPARSELU, "sparselu", size, "")
}

/// The plans of the source's figures.
pub struct Figures {
    pub uts_a: Plan,
    pub uts_b: Plan,
    pub fib: Plan,
    pub strassen: Plan,
    pub sparselu: Plan,
    pub fft: Plan,
    /// Runs every program on one processor; speed-ups are relative to these runs. There are no
    /// steals on one processor, so one strategy and one seed suffice.
    pub alone: Plan,
}

impl Figures {
    pub fn of(size: Size) -> Self {
        let trees = [BOTTOMMOST, FIXED_20, DYNAMIC];
        let others = [BOTTOMMOST, FIXED_2, DYNAMIC];
        let sweep = SWEEP.map(|(_, strategy)| strategy);
        let fibs = [&[BOTTOMMOST], &sweep[..], &[DYNAMIC]].concat();
        let (a, b): (&[_], &[_]) = match size {
            Size::Small => (&[2, 8, 16, 24], &[24]),
            Size::Tiny | Size::Paper => (ALL, ALL),
        };
        let mut all = vec![uts_a(size), uts_b(size), fib(size), sparselu(size)];
        all.extend(strassen(size));
        all.extend(fft(size));
        Self {
            uts_a: plan(vec![uts_a(size)], &trees, a),
            uts_b: plan(vec![uts_b(size)], &trees, b),
            fib: plan(vec![fib(size)], &fibs, &[24]),
            strassen: plan(strassen(size), &others, &[2, 4, 8, 12, 16]),
            sparselu: plan(vec![sparselu(size)], &others, &[2, 4, 8, 12, 16, 20]),
            fft: plan(fft(size), &others, &[2, 4, 8, 12, 16, 20]),
            alone: plan(all, &[BOTTOMMOST], &[1]),
        }
    }

    /// Returns all plans, each with a flag that is true if its runs take long.
    pub fn each(self) -> [(Plan, bool); 7] {
        [
            (self.uts_a, true),
            (self.uts_b, true),
            (self.fib, true),
            (self.strassen, false),
            (self.sparselu, false),
            (self.fft, false),
            (self.alone, true),
        ]
    }
}

/// Returns the plans whose results depend on the cost of a steal. They are also simulated at this
/// runtime's costs.
pub fn at_own_costs(size: Size) -> Vec<Plan> {
    vec![
        plan(vec![uts_a(size)], &[BOTTOMMOST, FIXED_20, DYNAMIC], &[24]),
        plan(vec![fib(size)], &[BOTTOMMOST, FIXED_2, DYNAMIC], &[24]),
    ]
}

/// Returns the plans that run on this machine.
pub fn real(size: Size) -> Vec<Plan> {
    let others = [BOTTOMMOST, FIXED_2, DYNAMIC];
    let mut each = vec![fib(size), sparselu(size)];
    each.extend(strassen(size));
    each.extend(fft(size));
    vec![
        plan(
            vec![uts_a(size), uts_b(size)],
            &[BOTTOMMOST, FIXED_20, DYNAMIC],
            &[2],
        ),
        plan(each, &others, &[2]),
        plan(vec![sparselu(size)], &[BOTTOMMOST], &[1]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [Size; 3] = [Size::Tiny, Size::Small, Size::Paper];

    #[test]
    fn strategies_take_what_their_names_say() {
        assert_eq!(amount(BOTTOMMOST).take(40), 1);
        assert_eq!(amount(DYNAMIC).take(40), 20);
        for (number, strategy) in SWEEP {
            assert_eq!(amount(strategy), StealAmount::Fixed(number));
        }
        assert_eq!(amount(FIXED_20), StealAmount::Fixed(20));
    }

    #[test]
    fn paper_has_published_sizes() {
        let alone = Figures::of(Size::Paper).alone;
        for given in [
            "tree=T3",
            "tree=BOTS-tiny",
            "n=40",
            "n=1024",
            "n=2048",
            "n=4096",
            "n=33554432",
            "n=67108864",
        ] {
            let has = |work: &Work| work.given.split(' ').any(|one| one == given);
            assert!(alone.works.iter().any(has), "{given}");
        }
    }

    #[test]
    fn every_program_runs_alone_once() {
        for size in SIZES {
            let figures = Figures::of(size);
            let alone: Vec<&str> = figures.alone.works.iter().map(|work| work.name).collect();
            for (plan, _) in Figures::of(size).each() {
                for work in plan.works {
                    let found = alone.iter().filter(|name| **name == work.name);
                    assert_eq!(found.count(), 1, "{}", work.name);
                }
            }
        }
    }
}
