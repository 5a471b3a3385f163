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

fn work(size: Size, name: &'static str, program: &'static str, given: [&str; 3]) -> Workload {
    Workload::new(name, program, size, given[size as usize])
}

/// Returns tree A, or a smaller tree at size tiny.
fn uts_a(size: Size) -> Workload {
    let (tiny, full) = ("tree=tiny-binomial form=spawn b0=300", "tree=T3 form=spawn");
    work(size, "UTS A", "uts", [tiny, full, full])
}

/// Returns tree B, or a smaller tree at size tiny. Size small has the whole tree, because a tree of
/// a million nodes would be less deep than A.
fn uts_b(size: Size) -> Workload {
    let tiny = "tree=tiny-binomial form=spawn b0=100 m=3 q=0.32";
    let full = "tree=BOTS-tiny form=spawn";
    work(size, "UTS B", "uts", [tiny, full, full])
}

fn fib(size: Size) -> Workload {
    work(size, "fib", "fib", ["n=16", "n=33", "n=40"])
}

fn sparselu(size: Size) -> Workload {
    work(size, "SparseLU", "sparselu", [""; 3])
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
fn works(
    program: &'static str,
    size: Size,
    inputs: [&[(&'static str, &'static str)]; 3],
) -> Vec<Workload> {
    let inputs = inputs[size as usize].iter();
    inputs
        .map(|(name, given)| Workload::new(name, program, size, given))
        .collect()
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
    let fibs = [
        "bottommost",
        "fixed 2",
        "fixed 4",
        "fixed 8",
        "fixed 16",
        "dynamic",
    ];
    let [a, b] = loads_of_trees(size);
    let mut all = vec![uts_a(size), uts_b(size), fib(size), sparselu(size)];
    all.extend(strassen(size).into_iter().chain(fft(size)));
    vec![
        (plan(vec![uts_a(size)], &OF_TREES, a), LONG_RUNS),
        (plan(vec![uts_b(size)], &OF_TREES, b), LONG_RUNS),
        (plan(vec![fib(size)], &fibs, "24"), LONG_RUNS),
        (plan(strassen(size), &OF_OTHERS, "2 4 8 12 16"), RUNS),
        (
            plan(vec![sparselu(size)], &OF_OTHERS, "2 4 8 12 16 20"),
            RUNS,
        ),
        (plan(fft(size), &OF_OTHERS, "2 4 8 12 16 20"), RUNS),
        (plan(all, &["bottommost"], "1"), 1),
    ]
}

/// Returns the plans whose results depend on the cost of a steal. They are also simulated at this
/// runtime's costs.
pub fn at_own_costs(size: Size) -> Vec<Plan> {
    vec![
        plan(vec![uts_a(size)], &OF_TREES, "24"),
        plan(vec![fib(size)], &OF_OTHERS, "24"),
    ]
}

/// Returns the plans that run on this machine.
pub fn here(size: Size) -> Vec<Plan> {
    let mut others = vec![fib(size), sparselu(size)];
    others.extend(strassen(size).into_iter().chain(fft(size)));
    vec![
        plan(vec![uts_a(size), uts_b(size)], &OF_TREES, "2"),
        plan(others, &OF_OTHERS, "2"),
        plan(vec![sparselu(size)], &["bottommost"], "1"),
    ]
}

/// Returns the programs that run on one worker (section 4.3.1, figures 7 and 8).
pub fn on_one_worker(size: Size) -> [Workload; 2] {
    let (tiny, full) = ("tree=tiny-binomial form=spawn", "tree=T3 form=spawn");
    [
        work(size, "fib 30", "fib", ["n=16", "n=30", "n=30"]),
        work(size, "UTS A", "uts", [tiny, full, full]),
    ]
}
