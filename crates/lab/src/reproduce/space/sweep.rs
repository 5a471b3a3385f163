//! What the parameters of the schedulers are worth, which the source calls "voodoo" and leaves open.

use tidegate_policy::Space;
use tidegate_policy::space::{DepthFirst, DfDeques};

use super::tables::Results;
use super::{DFDEQUES, HYBRID, NARLIKAR, STEALING, hybrid};
use crate::reproduce::grid::{Grid, Load, Plan, Rule};
use crate::reproduce::page::{Section, Sheet};
use crate::reproduce::simulated::Work;
use tidegate_command::output::show_ratio;

/// Parameters, as parts of what the serial run declares.
const PARTS: [u64; 4] = [1, 4, 16, 64];

const SCHEDULERS: [&str; 3] = [HYBRID, NARLIKAR, DFDEQUES];

/// Work stealing, and each scheduler with each parameter, on sixteen processors.
pub fn plan(work: Work, s1: u64) -> Plan {
    let mut rules = vec![Rule::with_memory(STEALING, Space::None)];
    for parts in PARTS {
        let k = s1.div_ceil(parts) as usize;
        let spaces = [
            hybrid(k),
            Space::DepthFirst(DepthFirst { k }),
            Space::DfDeques(DfDeques { k }),
        ];
        let named = SCHEDULERS.into_iter().zip(spaces);
        rules.extend(named.map(|(name, space)| Rule::with_memory(name, space)));
    }
    Plan {
        rules,
        works: vec![work],
        loads: vec![Load {
            processors: 16,
            instances: 1,
        }],
    }
}

/// What came of the plans.
pub fn section(grids: &[Grid]) -> Section {
    Section {
        title: "Simulated: parameters".to_owned(),
        text: "A task that wants memory goes on at once if it is less than a parameter (k, or alpha and beta times processors), and else waits the longer the more it wants. Most memory and time on 16 \
               processors, by those of work stealing; the parameter by what the serial run declares."
            .to_owned(),
        charts: vec![],
        tables: grids.iter().map(table).collect(),
    }
}

fn table(grid: &Grid) -> Sheet {
    let results = Results { grid, s1: 1 };
    let ratios = |rule: usize| {
        let peak = results.peak(rule, 0).value / results.peak(0, 0).value;
        let seconds = results.seconds(rule, 0).value / results.seconds(0, 0).value;
        format!("{}, {}", show_ratio(peak), show_ratio(seconds))
    };
    let row = |(number, parts): (usize, &u64)| {
        let mut row = vec![format!("1/{parts}")];
        let first = 1 + number * SCHEDULERS.len();
        row.extend((first..first + SCHEDULERS.len()).map(ratios));
        row
    };
    let columns = ["parameter"].into_iter().chain(SCHEDULERS);
    Sheet {
        title: format!("{}: most memory, time", results.name()),
        columns: columns.map(str::to_owned).collect(),
        rows: PARTS.iter().enumerate().map(row).collect(),
    }
}
