//! The experiment on machines like those of the thesis.

use tidegate_workloads::Size;

use super::findings::{Results, findings};
use super::machines::{MARS, Machine, SATURN};
use super::sweeps::{SWEEPS, Sweep};
use crate::reproduce::grid::{Grid, Plan};
use crate::reproduce::page::{Page, Section, Setting};
use crate::reproduce::simulated::{self, Work};
use tidegate_command::failure::Failure;
use tidegate_command::output::Progress;

/// The most runs of a sweep; the thesis made as many.
const RUNS_OF_A_SWEEP: u64 = 7;

/// The programs of the thesis that have dags: the course of the other two depends on who comes first.
fn works(size: Size) -> Vec<Work> {
    let [geometric, hybrid] = super::trees(size);
    let [lu, prefixsum] = ["lu", "prefixsum"].map(|program| super::work(program, size));
    let works = [lu, prefixsum, super::quicksort(size), geometric, hybrid];
    // The thesis' sleeps (table 5.5) add up to 1.4 s on each of 80 processors for LU and to 0.2 s for quicksort. Where inputs are smaller their
    // tasks are longer, so that they are as much work; LU is a tenth, as thieves that never rest take an hour to simulate otherwise.
    let slower = match size {
        Size::Tiny => [1.0; 5],
        Size::Small => [10.0, 10.0, 10.0, 50.0, 50.0],
        Size::Paper => [100.0, 1.0, 5.0, 1.0, 1.0],
    };
    let slowed = |(work, slower)| Work { slower, ..work };
    works.into_iter().zip(slower).map(slowed).collect()
}

/// Adds what comes of it to the page.
pub fn add(page: &mut Page, size: Size, runs: u64) -> Result<(), Failure> {
    let works = works(size);
    let few = runs.min(RUNS_OF_A_SWEEP);
    let machines = [MARS, SATURN].map(|machine| (machine, whole(&machine, &works)));
    let sweeps = SWEEPS
        .iter()
        .map(|sweep| (sweep.machine, swept(sweep, &works)));
    let plans: Vec<(Machine, Plan, u64)> = machines
        .into_iter()
        .map(|(machine, plan)| (machine, plan, runs))
        .chain(sweeps.map(|(machine, plan)| (machine, plan, few)))
        .collect();
    let steps = plans
        .iter()
        .map(|(_, plan, runs)| plan.cells().count() as u64 * runs);
    let progress = Progress::start(steps.sum());
    let mut grids = Vec::new();
    for (machine, plan, runs) in plans {
        let cases = plan.cases(|processors| machine.settings(processors));
        grids.push(Grid::new(
            plan,
            simulated::observe(&cases, runs, &progress)?,
        ));
    }
    drop(progress);
    let sweeps = grids.split_off(2);
    let [mars, saturn] =
        <[Grid; 2]>::try_from(grids).unwrap_or_else(|_| unreachable!("two machines"));
    let results = Results {
        mars,
        saturn,
        sweeps,
    };
    let slowed = works.iter().filter(|work| work.slower > 1.0);
    let slowed = slowed.map(|work| format!("{} {}x", work.name, work.slower));
    page.made.extend([
        Setting::new(
            "simulated tasks longer than here",
            slowed.collect::<Vec<_>>().join(", "),
        ),
        Setting::new("runs of a sweep", few),
        Setting::new("Mars", MARS.told()),
        Setting::new("Saturn", SATURN.told()),
    ]);
    page.findings.extend(findings(&results));
    page.sections.extend(sections(&results));
    Ok(())
}

/// All rules on a machine.
fn whole(machine: &Machine, works: &[Work]) -> Plan {
    Plan {
        rules: super::rules(),
        works: works.to_vec(),
        loads: machine.loads(),
    }
}

/// All values of a parameter.
fn swept(sweep: &Sweep, works: &[Work]) -> Plan {
    Plan {
        rules: sweep.rules(),
        works: works.to_vec(),
        loads: sweep.machine.full(),
    }
}

fn sections(results: &Results) -> Vec<Section> {
    let Results {
        mars,
        saturn,
        sweeps,
    } = results;
    vec![
        super::overall(
            "Simulated: aggregated",
            &[("Mars", mars), ("Saturn", saturn)],
        ),
        super::by_program("on simulated Mars", mars),
        super::by_program("on simulated Saturn", saturn),
        parameters(sweeps),
        super::sleeps("on all of simulated Mars", mars, "80"),
    ]
}

fn parameters(sweeps: &[Grid]) -> Section {
    let chart = |(sweep, grid): (&Sweep, &Grid)| {
        let title = format!("{}, {}", sweep.title, sweep.machine.name);
        grid.sweep_chart(&title, sweep.x)
    };
    Section {
        title: "Simulated: parameters".to_owned(),
        text: "Each parameter over a range, aggregated over the programs, for one, two and four instances. Lower is better."
            .to_owned(),
        charts: SWEEPS.iter().zip(sweeps).map(chart).collect(),
        tables: vec![],
    }
}
