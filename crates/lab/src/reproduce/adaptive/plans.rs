//! What runs: the programs of the thesis under its rules and loads.

use tidegate::machine::Machine as Here;
use tidegate_cli_support::failure::Failure;
use tidegate_policy::Nanos;
use tidegate_sim::{Costs, Settings};
use tidegate_workloads::Size;
use toml::Value;

use super::machines::{MACHINES, MARS, Machine, SATURN};
use super::runs;
use crate::engine::Session;
use crate::reproduce::measured::{Batch, Named};
use crate::reproduce::observed::Observed;
use crate::reproduce::page::Setting;
use crate::reproduce::paper::{Paper, Results, items_of, texts};
use crate::reproduce::plan::{Load, Plan, Rule};
use crate::reproduce::simulated::Workload;

/// The number of runs of each cell in a sweep, as in the thesis.
const RUNS_OF_A_SWEEP: u64 = 7;
/// The maximum number of runs of UTS-7, because a single run at the size of the thesis takes
/// minutes.
const RUNS_OF_UTS_7: u64 = 3;

const MS: Nanos = 1_000_000;

/// A program of the thesis that has a dag, by size: its parameters, how many times as long its tasks
/// take on simulated machines, and how many times as long again in the outlook.
struct Program {
    name: &'static str,
    program: &'static str,
    given: [&'static str; 3],
    slower: [f64; 3],
    longer: [f64; 3],
}

/// The programs, with tasks so long that two instances take turns on their processors at least 20
/// times. In the thesis (table 5.5), the sleeps on each of 80 processors add up to 1.4 s for LU and
/// to 0.2 s for quicksort. With small inputs LU has a fifteenth of the work, because it would
/// otherwise take an hour to simulate thieves that never rest. With blocks of 128 rows, LU has
/// hardly more steals on 40 processors than on 20, and no more on 80, as in figure 4.2.
///
/// In the outlook, each program takes more than a second alone on all processors. A job that
/// estimates its desire begins with one processor, so a shorter program would mainly show how long
/// that start takes.
#[rustfmt::skip]
const PROGRAMS: [Program; 6] = [
    Program { name: "lu", program: "lu", given: ["", "block=128", "block=128"], slower: [1.0, 6.5, 100.0], longer: [1.0, 20.0, 1.0] },
    Program { name: "prefixsum", program: "prefixsum", given: ["", "", ""], slower: [1.0, 250.0, 100.0], longer: [1.0, 20.0, 15.0] },
    Program { name: "quicksort", program: "quicksort", given: ["n=2000", "n=1000000", "n=10000000"], slower: [1.0, 11.0, 5.0], longer: [1.0, 40.0, 10.0] },
    Program { name: "UTS-0", program: "uts", given: ["tree=tiny", "tree=small", "tree=T1"], slower: [1.0, 250.0, 15.0], longer: [1.0, 20.0, 20.0] },
    Program { name: "UTS-4", program: "uts", given: ["tree=T4 depth=4", "tree=T4 depth=12", "tree=T4"], slower: [1.0, 250.0, 15.0], longer: [1.0, 20.0, 20.0] },
    // In the thesis, the tree of UTS-7 has 111 million nodes.
    Program { name: "UTS-7", program: "uts", given: ["tree=tiny-binomial b0=100", "tree=tiny-binomial b0=8000", "tree=T3L"], slower: [1.0, 250.0, 1.0], longer: [1.0; 3] },
];

/// Returns the programs except UTS-7, and UTS-7.
fn works(size: Size, slower: fn(&Program) -> [f64; 3]) -> (Vec<Workload>, Workload) {
    let place = size as usize;
    let work = |program: &Program| Workload {
        slower: slower(program)[place],
        ..Workload::new(program.name, program.program, size, program.given[place])
    };
    let mut works: Vec<Workload> = PROGRAMS.iter().map(work).collect();
    let tree = works.pop().expect("a program");
    (works, tree)
}

fn rules(paper: &Paper, list: &str) -> Vec<Rule> {
    let names = texts(&paper.lists[list], "rule");
    names.map(|rule| Rule::new(rule, rule)).collect()
}

fn loads(paper: &Paper, list: &str) -> Vec<Load> {
    texts(&paper.lists[list], "load").map(Load::of).collect()
}

/// A sweep over a parameter of a rule (sections 4.4, 5.4 and 5.5), as the file of the paper has it.
/// The thesis ran, of the UTS programs, only UTS-0.
struct Sweep<'a>(&'a Value);

impl<'a> Sweep<'a> {
    fn text(&self, name: &str) -> &'a str {
        self.0[name].as_str().expect("a text")
    }

    fn machine(&self) -> &'static Machine {
        let mut machines = MACHINES.iter();
        let found = machines.find(|machine| machine.name == self.text("machine"));
        found.expect("a machine")
    }

    fn loads(&self, paper: &Paper) -> Vec<Load> {
        loads(paper, &format!("full {}", self.text("machine")))
    }

    /// Returns the values, each with its rule.
    fn values(&self) -> impl Iterator<Item = (&'a str, String)> {
        let values = self.0["value"].as_array().expect("values").iter();
        let idle = &self.0["idle"];
        values.enumerate().map(move |(place, value)| {
            let value = value.as_str().expect("a value");
            let idle = match idle {
                Value::String(pattern) => pattern.replace("{}", &value.replace(' ', "")),
                each => each[place].as_str().expect("a rule").to_owned(),
            };
            (value, idle)
        })
    }

    fn cells(&self, paper: &Paper, works: &[Workload]) -> Vec<Named<Observed>> {
        let rules = self.values().map(|(name, idle)| Rule::new(name, &idle));
        let plan = Plan {
            rules: rules.collect(),
            works: self.works(works),
            loads: self.loads(paper),
        };
        let (title, machine) = (self.text("sweep"), self.machine());
        let place = format!("{}/{title}", machine.place());
        plan.on_machine(title, &place, |processors| machine.settings(processors))
    }

    fn works(&self, works: &[Workload]) -> Vec<Workload> {
        let only = self.0.get("only").map(|only| only.as_str());
        let is_shown = |work: &&Workload| match only {
            Some(only) => Some(work.name) == only,
            None => work.name != "UTS-4",
        };
        works.iter().filter(is_shown).cloned().collect()
    }
}

fn sweeps(paper: &Paper) -> impl Iterator<Item = Sweep<'_>> {
    paper.lists["sweep"].iter().map(Sweep)
}

/// Returns what runs on simulated machines like those of the thesis.
pub fn simulated(paper: &Paper, session: &Session) -> Vec<Batch<Observed>> {
    let (works, tree) = works(session.size().into(), |program| program.slower);
    let runs = runs(session);
    let mut batches = vec![];
    for machine in &MACHINES {
        let plan = |rules_of, works, loads_of: &str| Plan {
            rules: rules(paper, rules_of),
            works,
            loads: loads(paper, &format!("{loads_of} {}", machine.name)),
        };
        let whole = plan("rule", works.clone(), "load");
        let tree = plan("seven", vec![tree.clone()], "tree");
        for (plan, runs) in [(whole, runs), (tree, runs.min(RUNS_OF_UTS_7))] {
            let settings = |processors| machine.settings(processors);
            let cells = plan.on_machine(machine.name, &machine.place(), settings);
            batches.push(Batch::simulated(runs, cells));
        }
    }
    batches.extend(sweeps(paper).map(|sweep| {
        let cells = sweep.cells(paper, &works);
        Batch::simulated(runs.min(RUNS_OF_A_SWEEP), cells)
    }));
    batches.push(Batch::simulated(runs, costs(paper, works)));
    batches.push(Batch::simulated(
        runs,
        outlook(paper, session.size().into()),
    ));
    batches
}

/// Returns cells with other costs of a look or of a call, which may slow running threads down.
fn costs(paper: &Paper, works: Vec<Workload>) -> Vec<Named<Observed>> {
    let plan = Plan {
        rules: rules(paper, "charged"),
        works: works.into_iter().filter(|work| work.name == "lu").collect(),
        loads: loads(paper, "looked"),
    };
    let cells = paper.lists["cost"].iter().flat_map(|item| {
        let name = item["cost"].as_str().expect("a name");
        let nanos = item["nanos"].as_integer().expect("a number");
        let place = format!("{}/{name}={nanos}ns", MARS.place());
        plan.on_machine(&format!("{name}/{nanos}"), &place, |processors| {
            let mut machine = MARS.settings(processors);
            for (tunable, cost) in machine.costs.rows() {
                if tunable.name == name {
                    *cost = nanos as Nanos;
                }
            }
            machine
        })
    });
    cells.collect()
}

/// The question of chapter 7: are schedulers that estimate how many processors they can use faster
/// than a tuned backoff on all processors? The cycles are those of the evaluations of Cao et al.
/// (section 2.4) and of Sen, "Dynamic processor allocation for adaptively parallel work-stealing
/// jobs", 2004.
fn outlook(paper: &Paper, size: Size) -> Vec<Named<Observed>> {
    let (mut works, _) = works(size, |program| program.slower);
    for (work, program) in works.iter_mut().zip(PROGRAMS) {
        work.slower *= program.longer[size as usize];
    }
    let rule = |name: &str| match name {
        "linear" | "quanta" => Rule::new(name, name),
        "a-steal" | "a-deque" => Rule::new(name, "linear").desiring(name, 10 * MS),
        _ => Rule::new(name, "linear").desiring(name, 5 * MS),
    };
    let machines = [(&MARS, "80 80-4"), (&SATURN, "48 48-4"), (&MARS, "8")];
    let cells = machines.into_iter().flat_map(|(machine, loads)| {
        let plan = Plan {
            rules: texts(&paper.lists["all six"], "rule").map(rule).collect(),
            works: works.clone(),
            loads: loads.split(' ').map(Load::of).collect(),
        };
        let [on, place] = [
            format!("outlook/{}", machine.name),
            format!("{}/outlook", machine.name),
        ];
        // Workers are not pinned, because a job is not always allotted the same processors. Costs
        // are those of this runtime, because the question is not about one machine.
        plan.on_machine(&on, &place, |processors| Settings {
            pinned: false,
            costs: Costs::default(),
            ..machine.settings(processors)
        })
    });
    cells.collect()
}

/// Adds the lists that follow from the sweeps.
pub fn lists(paper: &Paper, results: &mut Results<'_, Observed>) {
    let mut items = vec![];
    for sweep in sweeps(paper) {
        let (works, _) = works(Size::Tiny, |program| program.slower);
        let works: Vec<&str> = sweep.works(&works).iter().map(|work| work.name).collect();
        let title = sweep.text("sweep");
        let values = sweep.values().map(|(value, _)| value);
        results.list(title, items_of("rule", values));
        results.list(&format!("{title}, works"), items_of("work", works.clone()));
        let mut item = sweep.0.clone();
        let fields = item.as_table_mut().expect("a sweep");
        fields.insert("work".to_owned(), works.into());
        let loads = sweep.loads(paper).into_iter().map(Load::name);
        fields.insert("load".to_owned(), loads.collect::<Vec<_>>().into());
        items.push(item);
    }
    results.list("sweep", items);
}

pub fn made(session: &Session) -> Vec<Setting> {
    let runs = runs(session);
    let (mut works, tree) = works(session.size().into(), |program| program.slower);
    works.push(tree);
    let slowed: Vec<String> = works
        .iter()
        .filter(|work| work.slower > 1.0)
        .map(|work| format!("{} {}", work.name, work.slower))
        .collect();
    let mut made = vec![
        Setting::new("runs of a sweep", runs.min(RUNS_OF_A_SWEEP)),
        Setting::new("runs of UTS-7", runs.min(RUNS_OF_UTS_7)),
        Setting::new(
            "machines",
            MACHINES.map(|machine| machine.told()).join("; "),
        ),
        Setting::new(
            "thieves",
            "as in the thesis, they look once at each level of a binary tree of processors, nearest \
             first, before they rest: 7 levels on Mars, 6 on Saturn",
        ),
        Setting::new(
            "looks",
            "each look costs a working victim the time in which it fetches a cache line back",
        ),
        Setting::new(
            "calls",
            format!(
                "on Mars, running threads lose {} ns for each microsecond that a thief spends in a \
                 yield, or to fall asleep and wake up; nothing on Saturn",
                MARS.call
            ),
        ),
        Setting::new(
            "processors",
            "as in the thesis, thread i of each instance stays on processor i",
        ),
    ];
    if !slowed.is_empty() {
        made.push(Setting::new("times as long", slowed.join(", ")));
    }
    made
}

/// Returns what runs on this machine: all programs of the thesis except UTS-7.
pub fn here(paper: &Paper, session: &Session) -> Result<Batch<Observed>, Failure> {
    let plan = Plan {
        rules: rules(paper, "rule"),
        works: works_here(session.size().into()),
        loads: loads_here().iter().map(|load| Load::of(load)).collect(),
    };
    Ok(Batch::real(runs(session), plan.here()?))
}

pub fn processors() -> usize {
    Here::read().usable().len()
}

/// Returns the names of the loads with one, two and four instances.
pub fn loads_here() -> [String; 3] {
    let processors = processors();
    [1, 2, 4].map(|instances| {
        let load = Load {
            processors,
            instances,
        };
        load.name()
    })
}

/// Returns the programs, of which two have no dag, because their tasks depend on which worker comes
/// first. These two have a different graph in each run.
pub fn works_here(size: Size) -> Vec<Workload> {
    let (works, _) = works(size, |_| [1.0; 3]);
    let others = ["bipartition", "sssp"].map(|program| Workload {
        reseeded: true,
        ..Workload::new(program, program, size, "")
    });
    works.into_iter().chain(others).collect()
}

/// Returns the rules of each sweep in full.
#[cfg(test)]
pub fn rules_of_sweeps(paper: &Paper) -> Vec<Vec<String>> {
    let rule = |(name, idle): (&str, String)| Rule::new(name, &idle).idle.to_string();
    sweeps(paper)
        .map(|sweep| sweep.values().map(rule).collect())
        .collect()
}
