//! The setups of chapter 7: which jobs run, and how they get processors.

use std::sync::Arc;

use tidegate_policy::{DesirePolicy, Nanos};
use tidegate_sim::Width;
use tidegate_workloads::Size;

use super::job::{CYCLE, Job, PROCESSORS, SERIES, work};
use super::setup::{Instances, Setup};
use super::wsap;
use crate::reproduce::paper::Paper;
use crate::reproduce::simulated::Workload;

pub const HALF: usize = PROCESSORS / 2;

/// The time of one job of P1 on half of the machine, in seconds. With static halves and a third job
/// that arrives at 0, the published mean response is four thirds of this.
pub const ALONE: f64 = 21.10 * 3.0 / 4.0;

/// A plausible cost of an estimate on the published machine, in nanoseconds: with this cost, the
/// times in figure 7-5 fall by as much as the thesis claims.
const DEAR: Nanos = 40_000;

/// A setup, with the name by which figures refer to it.
type Named = (String, Setup);

type Contender = (&'static str, Width);

fn cilk(processors: usize) -> Contender {
    ("Cilk", Width::Fixed(processors))
}

fn halves() -> Contender {
    ("halves", Width::Fixed(HALF))
}

fn desired(efficiency: f64) -> Contender {
    ("WSAP", Width::Desired(wsap(efficiency)))
}

pub fn all(paper: &Paper, size: Size) -> Vec<Named> {
    let cycles: Vec<u64> = paper.numbers("cycle").collect();
    [
        overhead(&cycles, size),
        late(),
        arrival(size),
        phases(size),
        greedy(paper, size),
        scale(paper, &cycles, size),
    ]
    .concat()
}

fn one_of<T>(size: Size, [tiny, small, paper]: [T; 3]) -> T {
    match size {
        Size::Tiny => tiny,
        Size::Small => small,
        Size::Paper => paper,
    }
}

/// Returns a tree whose nodes spawn all their children, as in Cilk.
fn knary(name: &'static str, given: &str) -> Workload {
    work(name, "knary", &format!("{given} form=spawn"))
}

fn cholesky(size: Size) -> &'static str {
    let full = "n=2048 nonzeros=10000";
    one_of(size, ["n=256 nonzeros=500", full, full])
}

/// Experiments O1 and O2: a job begins with one processor and requests more.
fn overhead(cycles: &[u64], size: Size) -> Vec<Named> {
    let fib = one_of(size, ["n=16", "n=25", "n=33"]);
    let tree = one_of(size, ["n=5 k=6 r=1", "n=7 k=6 r=1", "n=10 k=6 r=1"]);
    let jobs = [
        (work("fib(33)", "fib", fib), 1.044),
        (work("loopy(64)", "loopy", "n=64"), 18.15),
        (knary("knary(10,6,1)", tree), 12.89),
        (
            work("cholesky(2048,10000)", "cholesky", cholesky(size)),
            11.17,
        ),
    ];
    let jobs = jobs.map(|(work, seconds)| Job::of(work, SERIES, PROCESSORS, seconds));
    let mut setups = vec![];
    for job in &jobs {
        let name = job.name;
        let fixed = Setup::new("O1/O2", job, cilk(PROCESSORS));
        setups.push((format!("O/{name}/Cilk"), fixed));
        for &cycle in cycles {
            let mut wsap = Setup::new("O1/O2", job, desired(0.5));
            wsap.cycle = cycle;
            setups.push((format!("O/{name}/WSAP/{cycle}"), wsap.clone()));
            let dear = Setup {
                parts: "O2",
                estimate: DEAR,
                ..wsap
            };
            setups.push((format!("O/{name}/dear/{cycle}"), dear));
        }
    }
    for &cycle in cycles {
        // The desire is simply the number of ready tasks.
        let width = Width::Desired("instantaneous".parse().expect("a rule of this program"));
        let mut counting = Setup::new("O1", &jobs[1], ("counting", width));
        counting.cycle = cycle;
        setups.push((
            format!("O/loopy(64)/counting ready tasks/{cycle}"),
            counting,
        ));
    }
    setups
}

/// Experiment O3: the second of two equal jobs arrives when the first has all processors. The jobs
/// are small at every size.
fn late() -> Vec<Named> {
    // A subtask takes equally long in all three jobs; loopy(64) has four rounds of sixteen.
    let jobs = [
        ("loopy(16)", "n=16", 1.0),
        ("loopy(32)", "n=32", 2.0),
        ("loopy(64)", "n=64", 4.0),
    ];
    let of_job = |(name, given, rounds)| {
        let job = Job::of(
            work(name, "loopy", given),
            SERIES,
            PROCESSORS,
            18.15 / 4.0 * rounds,
        );
        let limited = ("WSAP, limit 8", Width::Limited(wsap(0.5), HALF));
        [halves(), desired(0.5), limited].map(|contender| {
            let setup = Setup::new("O3", &job, contender).with(Instances::SecondWhenAllWork);
            (format!("O3/{name}/{}", setup.contender), setup)
        })
    };
    jobs.into_iter().flat_map(of_job).collect()
}

/// Experiment P1: a third equal job arrives. With static halves it waits until another job ends.
fn arrival(size: Size) -> Vec<Named> {
    let given = one_of(size, ["n=16", "n=27", "n=38"]);
    let job = Job::of(work("fib(38)", "fib", given), SERIES, HALF, ALONE);
    let two = Setup::new("P1", &job, halves()).with(Instances::At(vec![0.0, 0.0]));
    let third = |(name, later): (&str, f64)| {
        let width = Width::Limited(wsap(0.5), HALF);
        let setup = Setup::new("P1", &job, ("WSAP", width));
        let arrivals = Instances::At(vec![0.0, 0.0, later]);
        (format!("P1/WSAP/{name}"), setup.with(arrivals))
    };
    let wsap = [("0", 0.0), ("T/2", ALONE / 2.0)].map(third);
    [vec![("P1/halves".to_owned(), two)], wsap.into()].concat()
}

/// Experiment P2: two jobs with a serial and a parallel phase, in opposite orders. Unless the size
/// is tiny, the trees are as deep as published, because fewer levels change their shape.
fn phases(size: Size) -> Vec<Named> {
    let jobs = Job::complementary(one_of(size, [5, 11, 11]), HALF, 31.33);
    let contenders = [
        halves(),
        desired(0.5),
        // A target closer to what the phases can achieve.
        ("WSAP, efficiency 0.75", Width::Desired(wsap(0.75))),
        // The runtime's default weighs the history of usage.
        ("steady", Width::Desired(DesirePolicy::default())),
    ];
    let setup = |contender| {
        let setup = Setup::new("P2", &jobs, contender).with(Instances::At(vec![0.0, 0.0]));
        (format!("P2/{}", setup.contender), setup)
    };
    contenders.map(setup).into()
}

/// Experiment P3: the programs of figure 7-10, with tasks so long that they take the published times
/// under Cilk. They have fewer levels only at size tiny, because fewer levels change the shape of
/// knary.
fn greedy(paper: &Paper, size: Size) -> Vec<Named> {
    let fewer = |tiny, full| one_of(size, [tiny, full, full]);
    let works = [
        knary("knary(11,3,3)", fewer("n=6 k=3 r=3", "n=11 k=3 r=3")),
        knary("knary(11,4,0)", fewer("n=5 k=4 r=0", "n=11 k=4 r=0")),
        knary("knary(10,4,2)", fewer("n=5 k=4 r=2", "n=10 k=4 r=2")),
        work(
            "strassen(1024)",
            "strassen",
            fewer("n=64", "n=1024 cutoff=64"),
        ),
        work("loopy(64)", "loopy", "n=64"),
        work("fib(33)", "fib", one_of(size, ["n=16", "n=25", "n=33"])),
        work("cholesky(2048,10000)", "cholesky", cholesky(size)),
    ];
    let mut setups = vec![];
    for (work, published) in works.into_iter().zip(&paper.lists["greedy"]) {
        let [processors, seconds] =
            ["processors", "cilk"].map(|name| published[name].as_float().expect("a number"));
        let job = Job::of(work, SERIES, processors.ceil() as usize, seconds);
        let wsap = Setup::new("P3", &job, desired(0.75)).with(Instances::OneAndFixed);
        setups.push((format!("P3/{}/WSAP", job.name), wsap));
        for width in paper.numbers("width") {
            let fixed = Setup::new("P3", &job, cilk(width as usize));
            setups.push((format!("P3/{}/{width}", job.name), fixed));
        }
    }
    setups
}

/// An experiment that the thesis plans (chapter 9): machines of other sizes. loopy has sixteen
/// subtasks per processor, which are forked in halves, because a loop that spawns them one by one
/// starts a thousand workers one by one.
fn scale(paper: &Paper, cycles: &[u64], size: Size) -> Vec<Named> {
    let of_machine = |processors: usize| {
        let setup = |job: &Arc<Job>, cycle, contender| Setup {
            processors,
            cycle,
            ..Setup::new("scale", job, contender)
        };
        let loopy = format!("n={} form=join", 16 * processors);
        let jobs = [
            // These take 200 cycles of 5 ms on all processors.
            (work("loopy(16 P)", "loopy", &loopy), 1.0, &[CYCLE][..]),
            (work("knary(8,6,0)", "knary", "n=8 k=6 r=0"), 1.0, &[CYCLE]),
            (work("long loopy(16 P)", "loopy", &loopy), 18.15, cycles),
        ];
        let of_job = |(work, seconds, cycles): (_, f64, &[u64])| {
            let job = Job::of(work, 0, processors, seconds);
            let name = format!("scale/{processors}/{}", job.name);
            let fixed = setup(&job, CYCLE, cilk(processors));
            let wsap = cycles.iter().map(|&cycle| {
                (
                    format!("{name}/WSAP/{cycle}"),
                    setup(&job, cycle, desired(0.5)),
                )
            });
            [vec![(format!("{name}/Cilk"), fixed)], wsap.collect()].concat()
        };
        jobs.into_iter().flat_map(of_job).collect::<Vec<_>>()
    };
    machines(paper, size)
        .iter()
        .flat_map(|machine| {
            of_machine(machine["processors"].as_integer().expect("a number") as usize)
        })
        .collect()
}

/// Returns the machines of the experiment with other sizes.
pub fn machines(paper: &Paper, size: Size) -> &[toml::Value] {
    &paper.lists["machine"][..one_of(size, [2, 5, 6])]
}
