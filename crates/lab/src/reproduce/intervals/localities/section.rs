//! Charts and tables of the simulated localities.

use tidegate_workloads::locality::Locality;

use super::{COSTS, FITTED, Machine, Measured, Observed, PROGRAMS, Program, Variant};
use crate::reproduce::page::{Chart, Line, Point, Section};
use tidegate_command::output::{Table, Value};

pub fn of(measured: &Measured) -> Section {
    Section {
        title: "Localities, simulated".to_owned(),
        text: "Two packages with a cache each, as in the thesis. Only the place that a task is put \
               into differs. The charts show the time by that in the best locality over the cost of \
               memory; what differs even if misses cost nothing is divided out. Tasks are so much \
               slower than on this machine that each program takes as long in the best locality as \
               published."
            .to_owned(),
        charts: PROGRAMS.map(|program| chart(measured, program)).into(),
        tables: vec![
            table(measured, Machine::PlaceDeques),
            table(measured, Machine::WorkerDeques),
        ],
    }
}

fn chart(measured: &Measured, program: Program) -> Chart {
    let line = |locality: Locality| {
        let point = |(number, miss): (usize, u64)| {
            Point::new(number as f64, measured.slowdown(program, locality, miss))
        };
        Line {
            name: locality.name().to_owned(),
            points: COSTS.into_iter().enumerate().filter_map(point).collect(),
        }
    };
    let worse = Locality::ALL
        .into_iter()
        .filter(|one| *one != Locality::Best);
    Chart {
        title: format!("{}: what misses cost", program.name),
        x: "memory cost in ns a KiB".to_owned(),
        y: "time / best, without the effects of free misses".to_owned(),
        labels: COSTS.map(|miss| miss.to_string()).into(),
        log: false,
        lines: worse.map(line).collect(),
    }
}

fn table(measured: &Measured, machine: Machine) -> Table {
    let columns = [
        "program",
        "locality",
        "time",
        "by best",
        "by best, free misses",
        "missed",
        "hit",
        "steals",
    ];
    let title = format!("{}, {FITTED} ns a KiB", machine.name());
    let mut table = Table::new(columns).titled(title);
    for program in PROGRAMS {
        for locality in Locality::ALL {
            let sample = |locality, miss, figure: fn(&Observed) -> f64| {
                let variant = Variant {
                    program,
                    locality,
                    machine,
                    miss,
                };
                measured.sample(variant, figure)
            };
            let ratio = |miss| {
                let seconds = |locality| sample(locality, miss, |run| run.seconds);
                seconds(locality).over(&seconds(Locality::Best)).value
            };
            let figure = |figure| sample(locality, FITTED, figure).median();
            table.row([
                program.name.into(),
                locality.name().into(),
                Value::known(Some(figure(|run| run.seconds)), Value::Seconds),
                Value::known(Some(ratio(FITTED)), Value::Ratio),
                Value::known(Some(ratio(0)), Value::Ratio),
                Value::known(Some(figure(|run| run.missed)), Value::Bytes),
                Value::known(Some(figure(|run| run.touched - run.missed)), Value::Bytes),
                Value::known(Some(figure(|run| run.steals)), Value::Number),
            ]);
        }
    }
    table
}
