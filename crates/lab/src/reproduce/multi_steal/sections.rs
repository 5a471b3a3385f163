//! The charts and tables of the source, drawn from our runs.

use super::programs::{FIB, SWEEP, UTS_A, UTS_PROCESSORS};
use super::results::{Results, busy, idle, seconds, steal, steals};
use super::{BOTTOMMOST, DYNAMIC, FIXED_2, FIXED_20};
use crate::engine::Interval;
use crate::reproduce::grid::Grid;
use crate::reproduce::page::{Chart, Line, Point, Section};
use tidegate_command::output::{Table, Value};

/// Creates the sections on the simulated programs.
pub fn simulated(source: &Results, own: &Results, nodes: &[u64]) -> Vec<Section> {
    let [a, b, fib, strassen, sparselu, fft, ..] = &source.0[..] else {
        unreachable!("a grid for each figure");
    };
    let mut strassens = curves(source, strassen);
    strassens.push(by_size(source, strassen, FIXED_2));
    let mut ffts = curves(source, fft);
    ffts.extend([BOTTOMMOST, DYNAMIC, FIXED_2].map(|strategy| by_size(source, fft, strategy)));
    vec![
        trees(source, [a, b], nodes),
        section(
            "Fibonacci (figures 15 and 16)",
            "Shares of the time of 24 workers, by the number of tasks a steal takes. The speed-ups \
             of the source, 1.9 on 24 processors, come from what each of its tasks costs; those of \
             this runtime cost far less, so they are not compared.",
            vec![sweep(source)],
            vec![breakdown(&[fib])],
        ),
        section(
            "Strassen (figures 17 to 19)",
            "Speed-ups on up to 16 workers, where the source's figures end.",
            strassens,
            vec![breakdown(&[strassen])],
        ),
        section(
            "SparseLU (figures 20 and 21)",
            "A loop spawns a task for each block, so a stack holds one waiting task at most.",
            curves(source, sparselu),
            vec![breakdown(&[sparselu])],
        ),
        section(
            "Fast Fourier transform (figures 22 to 24)",
            "Speed-ups on up to 20 workers, where the source's figures end.",
            ffts,
            vec![breakdown(&[fft])],
        ),
        section(
            "With the costs of this runtime",
            "Tree A and fib again, with what a steal costs here. Not published.",
            vec![],
            vec![breakdown(&own.0.iter().collect::<Vec<_>>())],
        ),
    ]
}

fn section(title: &str, text: &str, charts: Vec<Chart>, tables: Vec<Table>) -> Section {
    Section {
        title: title.to_owned(),
        text: text.to_owned(),
        charts,
        tables,
    }
}

fn trees(source: &Results, [a, b]: [&Grid; 2], nodes: &[u64]) -> Section {
    let mut charts = curves(source, a);
    charts.extend(curves(source, b));
    let throughputs = nodes.iter().zip([a, b]);
    charts.extend(throughputs.map(|(nodes, grid)| throughput(grid, *nodes)));
    section(
        "Trees of UTS (figures 9 to 14, table 2)",
        "Simulated with the costs of the source. Speed-ups are against one processor. \"Stealing\" is \
         the share of the workers' time in which they look for tasks and take them. The source also \
         counts the time of switches between threads and of the management of stack frames, which \
         this runtime does not have; its shares are recomputed without them. Not reproduced: the \
         30 % that workers are busy for longer under the bottommost first (a simulated task always \
         takes the same time), and the curves of Cilk and OpenMP.",
        charts,
        vec![table_2(source), breakdown(&[a, b])],
    )
}

/// For each program of a grid, draws the speed-up and the fraction of time spent stealing against
/// the number of processors.
fn curves(results: &Results, grid: &Grid) -> Vec<Chart> {
    let names: Vec<&str> = grid.plan().works.iter().map(|work| work.name).collect();
    if grid.plan().loads.len() < 2 {
        return vec![];
    }
    let speedup = |name: &&str| {
        over_processors(grid, name, "speed-up", |strategy, processors| {
            results.speedup(name, strategy, processors)
        })
    };
    let stealing = |name: &&str| {
        let title = format!("{name}: stealing");
        over_processors(grid, &title, "% of all time", |strategy, processors| {
            let share = results.sample(name, strategy, processors, steal);
            share.interval().times(100.0)
        })
    };
    names
        .iter()
        .map(speedup)
        .chain(names.iter().map(stealing))
        .collect()
}

fn over_processors(
    grid: &Grid,
    title: &str,
    y: &str,
    figure: impl Fn(&str, usize) -> Interval,
) -> Chart {
    let strategies = grid.plan().rules.iter().map(|rule| rule.name.as_str());
    lines(grid, title, y, strategies, figure)
}

/// Draws one line per name, with the number of processors on the x axis.
fn lines<'a>(
    grid: &Grid,
    title: &str,
    y: &str,
    names: impl Iterator<Item = &'a str>,
    figure: impl Fn(&str, usize) -> Interval,
) -> Chart {
    let loads = || grid.plan().loads.iter().enumerate();
    let line = |name: &str| Line {
        name: name.to_owned(),
        points: loads()
            .filter_map(|(x, load)| Point::new(x as f64, figure(name, load.processors)))
            .collect(),
    };
    Chart {
        title: title.to_owned(),
        x: "processors".to_owned(),
        y: y.to_owned(),
        labels: loads().map(|(_, load)| load.name()).collect(),
        log: false,
        lines: names.map(line).collect(),
    }
}

/// Draws the speed-up of a program under one strategy, with a line for each size of the program.
fn by_size(results: &Results, grid: &Grid, strategy: &str) -> Chart {
    let names = grid.plan().works.iter().map(|work| work.name);
    let title = format!("{strategy}, by size");
    lines(grid, &title, "speed-up", names, |name, processors| {
        results.speedup(name, strategy, processors)
    })
}

/// Draws the nodes per second of a grid's only program.
fn throughput(grid: &Grid, nodes: u64) -> Chart {
    let title = format!("{}: throughput", grid.plan().works[0].name);
    let y = "million nodes a second";
    over_processors(grid, &title, y, |strategy, processors| {
        let loads = &grid.plan().loads;
        let load = loads.iter().position(|load| load.processors == processors);
        let cell = (grid.rule(strategy), 0, load.expect("a load of the grid"));
        let rate = grid.sample(cell, |run| nodes as f64 / run.seconds / 1e6);
        rate.interval()
    })
}

/// Draws figure 15: how workers spend their time, against the number of tasks per steal.
fn sweep(results: &Results) -> Chart {
    let line = |(name, figure): (&str, fn(&_) -> f64)| {
        let share = |strategy| {
            results
                .sample(FIB, strategy, UTS_PROCESSORS, figure)
                .interval()
        };
        let points = SWEEP.iter().enumerate();
        Line {
            name: name.to_owned(),
            points: points
                .filter_map(|(x, (_, strategy))| Point::new(x as f64, share(strategy).times(100.0)))
                .collect(),
        }
    };
    Chart {
        title: "fib: where the time goes".to_owned(),
        x: "tasks a steal takes".to_owned(),
        y: "% of all time".to_owned(),
        labels: SWEEP.iter().map(|(number, _)| number.to_string()).collect(),
        log: false,
        lines: [
            ("busy", busy as fn(&_) -> f64),
            ("steal", steal),
            ("idle", idle),
        ]
        .map(line)
        .into(),
    }
}

/// Creates table 2, without the classes of time that this runtime does not have.
fn table_2(results: &Results) -> Table {
    let columns = [
        "strategy",
        "busy, published",
        "here",
        "steal, published",
        "here",
        "idle, published",
        "here",
    ];
    let mut table = Table::new(columns).titled("Shares of the time of 24 workers on UTS A");
    let published = [
        (BOTTOMMOST, [0.635, 0.340, 0.025]),
        (FIXED_20, [0.887, 0.078, 0.035]),
        (DYNAMIC, [0.895, 0.072, 0.033]),
    ];
    for (strategy, published) in published {
        let here = [busy, steal, idle].map(|figure| {
            results
                .sample(UTS_A, strategy, UTS_PROCESSORS, figure)
                .median()
        });
        let pair = |(published, here)| {
            [
                Value::Share(published),
                Value::known(Some(here), Value::Share),
            ]
        };
        let shares = published.into_iter().zip(here).flat_map(pair);
        table.row(std::iter::once(Value::from(strategy)).chain(shares));
    }
    table
}

/// Creates a table of how workers spent their time on the largest number of processors, by program
/// and strategy.
pub fn breakdown(grids: &[&Grid]) -> Table {
    let columns = [
        "program",
        "strategy",
        "processors",
        "time",
        "by bottommost",
        "busy",
        "steal",
        "idle",
        "steals",
    ];
    let mut table = Table::new(columns).titled("Where the workers' time went");
    for grid in grids {
        let plan = grid.plan();
        let load = plan.loads.len() - 1;
        for (work, program) in plan.works.iter().enumerate() {
            let base = grid.seconds(grid.rule(BOTTOMMOST), work, load);
            for (rule, strategy) in plan.rules.iter().enumerate() {
                let of = |figure: fn(&_) -> f64| grid.sample((rule, work, load), figure);
                let known = |figure: f64, unit: fn(f64) -> Value| Value::known(Some(figure), unit);
                table.row([
                    Value::from(program.name),
                    Value::from(strategy.name.clone()),
                    Value::from(plan.loads[load].name()),
                    known(of(seconds).median(), Value::Seconds),
                    known(of(seconds).over(&base).value, Value::Ratio),
                    known(of(busy).median(), Value::Share),
                    known(of(steal).median(), Value::Share),
                    known(of(idle).median(), Value::Share),
                    known(of(steals).median(), Value::Number),
                ]);
            }
        }
    }
    table
}
