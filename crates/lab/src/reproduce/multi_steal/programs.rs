//! The programs of each figure, with their strategies and numbers of processors.

use tidegate_policy::StealAmount;
use tidegate_workloads::Size;

use super::{LONG_RUNS, RUNS};
use crate::reproduce::plan::{Load, Plan, Rule};
use crate::reproduce::simulated::Workload;

/// In the source, a thief sleeps for 100 us after `LIMIT` failures, but the value of `LIMIT` is not
/// printed. Here, a thief sleeps after it has looked at all other workers once.
const IDLE: &str = "linear:min=100us,step=0ns,max=100us";

pub const TREES: [&str; 2] = ["T3", "BOTS-tiny"];

const OF_TREES: [&str; 3] = ["bottommost", "fixed 20", "dynamic"];
const OF_OTHERS: [&str; 3] = ["bottommost", "fixed 2", "dynamic"];

/// Returns the rule for thieves that take the oldest task, a fixed number of tasks, or half of them.
pub fn rule(strategy: &str) -> Rule {
    Rule::new(strategy, IDLE).taking(amount(strategy))
}

pub fn amount(strategy: &str) -> StealAmount {
    match strategy {
        "bottommost" => StealAmount::One,
        "dynamic" => StealAmount::Half,
        _ => {
            let number = strategy.strip_prefix("fixed ").and_then(|d| d.parse().ok());
            StealAmount::Fixed(number.expect("a strategy of this experiment"))
        }
    }
}

fn plan(works: Vec<Workload>, strategies: &[&str], processors: &str) -> Plan {
    Plan {
        rules: strategies.iter().map(|strategy| rule(strategy)).collect(),
        works,
        loads: processors.split(' ').map(Load::of).collect(),
    }
}

/// Each program, with its parameters by size. At size tiny, the trees are smaller. Size small has the
/// whole tree B, because a tree of a million nodes would be less deep than A.
#[rustfmt::skip]
const PROGRAMS: [(&str, &str, [&str; 3]); 4] = [
    ("UTS A", "uts", ["tree=tiny-binomial form=spawn b0=300", "tree=T3 form=spawn", "tree=T3 form=spawn"]),
    ("UTS B", "uts", ["tree=tiny-binomial form=spawn b0=100 m=3 q=0.32", "tree=BOTS-tiny form=spawn", "tree=BOTS-tiny form=spawn"]),
    ("fib", "fib", ["n=16", "n=33", "n=40"]),
    ("SparseLU", "sparselu", [""; 3]),
];

/// The programs that run on one worker (section 4.3.1, figures 7 and 8).
#[rustfmt::skip]
const ON_ONE_WORKER: [(&str, &str, [&str; 3]); 2] = [
    ("fib 30", "fib", ["n=16", "n=30", "n=30"]),
    ("UTS A", "uts", ["tree=tiny-binomial form=spawn", "tree=T3 form=spawn", "tree=T3 form=spawn"]),
];

fn works_of<const N: usize>(
    programs: [(&'static str, &'static str, [&str; 3]); N],
    size: Size,
) -> [Workload; N] {
    programs.map(|(name, program, given)| Workload::new(name, program, size, given[size as usize]))
}

/// Returns the programs of the Strassen figure: products of increasingly large matrices.
pub fn strassen(size: Size) -> Vec<Workload> {
    let all = [
        ("Strassen 64", "n=64 form=spawn"),
        ("Strassen 512", "n=512 form=spawn"),
        ("Strassen 1024", "n=1024 form=spawn"),
        ("Strassen 2048", "n=2048 form=spawn"),
        ("Strassen 4096", "n=4096 form=spawn"),
    ];
    works("strassen", size, [&all[..1], &all[1..3], &all[2..]])
}

/// Returns the programs of the FFT figure: transforms of increasingly long vectors.
pub fn fft(size: Size) -> Vec<Workload> {
    let all = [
        ("FFT 2 Ki", "n=2048"),
        ("FFT 4 Mi", "n=4194304"),
        ("FFT 8 Mi", "n=8388608"),
        ("FFT 32 Mi", "n=33554432"),
        ("FFT 64 Mi", "n=67108864"),
    ];
    works("fft", size, [&all[..1], &all[1..3], &all[3..]])
}

/// Returns a program with the inputs of this size, each with its name.
fn works(program: &'static str, size: Size, inputs: [&[(&'static str, &str)]; 3]) -> Vec<Workload> {
    let work = |(name, given): &(&'static str, &str)| Workload::new(name, program, size, given);
    inputs[size as usize].iter().map(work).collect()
}

/// Returns the numbers of processors on which the trees run. The source's machine has two Opterons
/// with twelve cores each.
pub fn loads_of_trees(size: Size) -> [&'static str; 2] {
    match size {
        Size::Small => ["2 8 16 24", "24"],
        Size::Tiny | Size::Paper => ["2 4 8 12 16 20 24"; 2],
    }
}

/// Returns the plans of the source's figures, each with the number of runs. Its figures for fib,
/// Strassen, SparseLU and the FFT end at fewer processors. Speed-ups are relative to the last plan,
/// on one processor, where there are no steals, so that one strategy and one seed suffice.
pub fn source(size: Size) -> Vec<(Plan, u64)> {
    let fixed = ["fixed 2", "fixed 4", "fixed 8", "fixed 16"];
    let fibs = [&["bottommost"], &fixed[..], &["dynamic"]].concat();
    let [of_a, of_b] = loads_of_trees(size);
    let programs = works_of(PROGRAMS, size);
    let all = [&programs[..], &strassen(size), &fft(size)].concat();
    let [a, b, fib, sparselu] = programs.map(|program| vec![program]);
    vec![
        (plan(a, &OF_TREES, of_a), LONG_RUNS),
        (plan(b, &OF_TREES, of_b), LONG_RUNS),
        (plan(fib, &fibs, "24"), LONG_RUNS),
        (plan(strassen(size), &OF_OTHERS, "2 4 8 12 16"), RUNS),
        (plan(sparselu, &OF_OTHERS, "2 4 8 12 16 20"), RUNS),
        (plan(fft(size), &OF_OTHERS, "2 4 8 12 16 20"), RUNS),
        (plan(all, &["bottommost"], "1"), 1),
    ]
}

/// Returns the plans whose results depend on the cost of a steal. They are also simulated at this
/// runtime's costs.
pub fn at_own_costs(size: Size) -> Vec<Plan> {
    let [a, _, fib, _] = works_of(PROGRAMS, size);
    vec![
        plan(vec![a], &OF_TREES, "24"),
        plan(vec![fib], &OF_OTHERS, "24"),
    ]
}

/// Returns the plans that run on this machine.
pub fn here(size: Size) -> Vec<Plan> {
    let [a, b, fib, sparselu] = works_of(PROGRAMS, size);
    let others = [&[fib, sparselu.clone()][..], &strassen(size), &fft(size)].concat();
    vec![
        plan(vec![a, b], &OF_TREES, "2"),
        plan(others, &OF_OTHERS, "2"),
        plan(vec![sparselu], &["bottommost"], "1"),
    ]
}

pub fn on_one_worker(size: Size) -> [Workload; 2] {
    works_of(ON_ONE_WORKER, size)
}
