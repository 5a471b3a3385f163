//! What hints of where tasks run are worth on a machine like that of the thesis: two packages of four processors, each with a cache.

use tidegate::machine::Topology;
use tidegate_sim::Settings;
use tidegate_workloads::Size;
use tidegate_workloads::locality::Locality;

use super::localities::PUBLISHED;
use crate::reproduce::observed::Observed;
use crate::reproduce::page::{Chart, Finding, Line, Page, Section, Setting, Sheet};
use crate::reproduce::sample::{Mean, Sample};
use crate::reproduce::simulated::{Case, Work, observe};
use tidegate_command::failure::Failure;
use tidegate_command::output::{Progress, show_bytes, show_ratio, show_seconds};

const MACHINE: &str = "cpus 0-7\nL3 0-3 4-7 size=8M\nnode 0-3 4-7\npackage 0-3 4-7";

/// Of which the arrays of the smallest size are large parts, as those of the source are of 8 MiB.
const TINY_CACHE: u64 = 20_480;
const CACHE: u64 = 8 << 20;

/// Misses of the last cache by those in the best locality: tables 5.2, 5.4 and 5.6.
const MISSES: [(&str, &[(Locality, f64)]); 3] = [
    (
        "cachestress",
        &[
            (Locality::Ignorant, 837.0 / 275.0),
            (Locality::Random, 854.0 / 275.0),
            (Locality::Worst, 837.0 / 275.0),
        ],
    ),
    (
        "mergesort",
        &[
            (Locality::Ignorant, 42.0 / 39.0),
            (Locality::Worst, 41.0 / 39.0),
        ],
    ),
    ("blockmatmul", &[(Locality::Worst, 374.0 / 352.0)]),
];

/// The runs of a program in a locality.
struct Row {
    program: &'static str,
    locality: Locality,
    runs: Vec<Observed>,
}

impl Row {
    fn mean(&self, figure: fn(&Observed) -> f64) -> Mean {
        Sample::new(self.runs.iter().map(figure).collect()).mean()
    }

    fn seconds(&self) -> Mean {
        self.mean(|run| run.seconds)
    }
}

/// Adds what comes of it.
pub fn add(page: &mut Page, size: Size, runs: u64) -> Result<(), Failure> {
    let settings = machine(size);
    page.made.push(Setting::new(
        "simulated",
        format!(
            "two places of four processors with {} of cache each, of which a KiB that is missing takes {} ns",
            show_bytes(settings.cache as f64),
            settings.costs.miss
        ),
    ));
    let rows = rows(&settings, size, runs)?;
    page.findings.extend(findings(&rows));
    page.sections.push(section(&rows));
    Ok(())
}

fn machine(size: Size) -> Settings {
    let topology: Topology = MACHINE.parse().expect("a topology of this program");
    let cpus = topology.cpus();
    Settings {
        places: topology.places(cpus.as_slice()),
        cache: match size {
            Size::Tiny => TINY_CACHE,
            Size::Small | Size::Paper => CACHE,
        },
        ..Settings::new(cpus.len())
    }
}

const fn given(locality: Locality) -> &'static [(&'static str, &'static str)] {
    match locality {
        Locality::Best => &[("locality", "best")],
        Locality::Ignorant => &[("locality", "ignorant")],
        Locality::Random => &[("locality", "random")],
        Locality::Worst => &[("locality", "worst")],
    }
}

fn rows(settings: &Settings, size: Size, runs: u64) -> Result<Vec<Row>, Failure> {
    let programs = PUBLISHED.iter().map(|(program, _)| *program);
    let kinds = programs.flat_map(|program| Locality::ALL.map(|locality| (program, locality)));
    let kinds: Vec<_> = kinds.collect();
    let case = |&(program, locality): &(&'static str, Locality)| Case {
        work: Work::new(program, program, size, given(locality)),
        settings: settings.clone(),
        instances: 1,
    };
    let cases: Vec<Case> = kinds.iter().map(case).collect();
    let progress = Progress::start(cases.len() as u64 * runs);
    let observed = observe(&cases, runs, &progress)?;
    let row = |((program, locality), runs)| Row {
        program,
        locality,
        runs,
    };
    Ok(kinds.into_iter().zip(observed).map(row).collect())
}

/// A figure of a program in a locality, by that in the best.
fn by_best(rows: &[Row], program: &str, locality: Locality, figure: fn(&Observed) -> f64) -> f64 {
    let of = |locality| {
        let mut rows = rows.iter();
        let row = rows.find(|row| (row.program, row.locality) == (program, locality));
        row.map_or(f64::NAN, |row| row.mean(figure).value)
    };
    of(locality) / of(Locality::Best)
}

fn findings(rows: &[Row]) -> Vec<Finding> {
    let more = |what: &str, (program, locality): (&str, Locality), published: f64, figure| {
        let ratio = by_best(rows, program, locality, figure);
        Finding {
            what: format!(
                "{program}, simulated: {what} in {} locality by that in the best",
                locality.name()
            ),
            published: show_ratio(published),
            ours: show_ratio(ratio),
            agrees: ratio > 1.01,
            why: why(program, locality).to_owned(),
        }
    };
    let mut findings = Vec::new();
    for (program, published) in PUBLISHED {
        for &(locality, published) in published {
            findings.push(more("the time", (program, locality), published, |run| {
                run.seconds
            }));
        }
    }
    for (program, published) in MISSES {
        for &(locality, published) in published {
            findings.push(more("misses", (program, locality), published, |run| {
                run.missed
            }));
        }
    }
    findings
}

/// What there is to say of a program's figures.
fn why(program: &str, locality: Locality) -> &'static str {
    match (program, locality) {
        ("cachestress", _) => {
            "A simulated cache holds all of the data that were touched last: in the best locality an array is missing once, as nothing else disturbs the cache."
        }
        ("mergesort", Locality::Ignorant) => {
            "Without hints all sorters lie in the deque of one worker, from which the others steal one by one; put into places they lie in queues, which are quicker to take from."
        }
        _ => {
            "What is missing comes at the speed of this machine's memory, 20 ns a KiB by default, read from front to back; merging and multiplying take 25 times as long."
        }
    }
}

fn section(rows: &[Row]) -> Section {
    let shown = |row: &Row| {
        let ratio = by_best(rows, row.program, row.locality, |run| run.seconds);
        vec![
            row.program.to_owned(),
            row.locality.name().to_owned(),
            show_seconds(row.seconds().value),
            show_ratio(ratio),
            show_bytes(row.mean(|run| run.missed).value),
            format!("{:.0}", row.mean(|run| run.steals).value),
        ]
    };
    let columns = ["program", "locality", "time", "by best", "missed", "steals"];
    Section {
        title: "Localities, simulated".to_owned(),
        text: "Two packages with a cache each, as in the thesis; which place a task is put into is all that differs.".to_owned(),
        charts: vec![chart(rows)],
        tables: vec![Sheet {
            title: "Programs in each locality".to_owned(),
            columns: columns.map(str::to_owned).into(),
            rows: rows.iter().map(shown).collect(),
        }],
    }
}

fn chart(rows: &[Row]) -> Chart {
    let line = |rows: &[Row]| {
        let unit = rows[0].seconds().value;
        let points = rows.iter().zip(0u32..);
        let points = points.map(|(row, x)| row.seconds().over(unit).at(x.into()));
        Line {
            name: rows[0].program.to_owned(),
            points: points.collect(),
        }
    };
    Chart {
        title: "Time by that in the best locality".to_owned(),
        x: "locality".to_owned(),
        y: "time / best".to_owned(),
        labels: Locality::ALL.map(|one| one.name().to_owned()).into(),
        lines: rows.chunks(Locality::ALL.len()).map(line).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many findings agree if each locality but the best takes and misses so much more.
    fn agreeing(factor: f64) -> (usize, usize) {
        let programs = PUBLISHED.iter().map(|(program, _)| *program);
        let rows = programs.flat_map(|program| {
            Locality::ALL.map(|locality| {
                let worse = if locality == Locality::Best {
                    1.0
                } else {
                    factor
                };
                let run = Observed {
                    seconds: worse,
                    missed: 100.0 * worse,
                    ..Observed::default()
                };
                Row {
                    program,
                    locality,
                    runs: vec![run; 3],
                }
            })
        });
        let findings = findings(&rows.collect::<Vec<_>>());
        let agreeing = findings.iter().filter(|finding| finding.agrees);
        (agreeing.count(), findings.len())
    }

    #[test]
    fn what_is_worse_elsewhere_agrees_and_what_is_not_does_not() {
        assert_eq!(agreeing(1.1), (12, 12));
        assert_eq!(agreeing(1.0), (0, 12));
        assert_eq!(agreeing(f64::NAN), (0, 12));
    }
}
