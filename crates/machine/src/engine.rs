//! The number of CPUs that an engine has given to this process: a batch system or a workflow engine
//! that divides a machine among its jobs.
//!
//! Engines pass the number in an environment variable. It is a promise between the engine and its
//! jobs: unless the engine also sets an affinity or a quota, the kernel lets each job use the whole
//! machine, and every job that sizes itself by the kernel's limits takes all of it.
//!
//! | variable | engine | value |
//! |---|---|---|
//! | `HQ_CPUS` | HyperQueue, for each task that is not spread over several nodes | the ids of the CPUs, such as `0,1,5`; of a partly assigned CPU, as for `--cpus=2.5`, the whole id, at the end |
//! | `SLURM_CPUS_PER_TASK` | Slurm, for jobs submitted with `--cpus-per-task` | a number of CPUs |
//! | `TIDEGATE_CPU_REQUEST` | Kubernetes, by the downward API | the container's CPU request in thousandths of a CPU; 0, a container without a request, or `all` mean that the request does not count |
//!
//! Only the number of HyperQueue's ids counts here. The ids need not be those of the kernel: a
//! worker that was started with `--cpus=2x12` numbers its CPUs itself.
//!
//! In Kubernetes a container's CPU limit is a cgroup quota, and the static CPU manager sets the
//! affinity. A CPU request is a weight, which limits nothing: a container without a limit may use
//! the whole node while nobody else wants it, and many pools as large as the node disturb each other
//! when somebody does. Twice the request, and at least 2, leaves room for both. Under a quota, which
//! says how much the container may use, the request does not count.

use std::ffi::OsString;
use std::fmt;

use tidegate_policy::tunables::REQUEST_VARIABLE;

use crate::cpus::CpuList;
use crate::files::invalid;

const HQ_CPUS: &str = "HQ_CPUS";
const SLURM_CPUS_PER_TASK: &str = "SLURM_CPUS_PER_TASK";

/// The number of CPUs that an engine, such as HyperQueue or Slurm, has given to this process.
///
/// Its `Display` form is such as `2 cpus listed by HQ_CPUS`.
///
/// # Examples
/// ```
/// let machine = tidegate_machine::Machine::read();
/// for grant in machine.grants() {
///     println!("{}: {} CPUs", grant.variable, grant.cpus);
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Grant {
    /// The environment variable in which the engine passed the number.
    pub variable: &'static str,
    /// The number of CPUs; at least 1.
    pub cpus: usize,
}

impl fmt::Display for Grant {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = match self.variable {
            HQ_CPUS => "listed by",
            REQUEST_VARIABLE => "for",
            _ => "granted by",
        };
        let plural = if self.cpus == 1 { "" } else { "s" };
        write!(out, "{} cpu{plural} {source} {}", self.cpus, self.variable)
    }
}

/// Reads the variables of all engines; `variable` returns the value of one. Adds problems to
/// `notes`.
pub(crate) fn read(
    variable: &dyn Fn(&str) -> Option<OsString>,
    notes: &mut Vec<String>,
) -> Vec<Grant> {
    let mut grants = Vec::new();
    for engine in &ENGINES {
        let Some(value) = variable(engine.variable) else {
            continue;
        };
        let value = value.to_string_lossy();
        match (engine.parse)(&value) {
            Some(usize::MAX) => {}
            Some(cpus) if cpus > 0 => grants.push(Grant {
                variable: engine.variable,
                cpus,
            }),
            _ => notes.push(invalid(engine.variable, &value, engine.expected)),
        }
    }
    grants
}

struct Engine {
    variable: &'static str,
    /// Returns the number of CPUs, or `usize::MAX` if the value sets no limit.
    parse: fn(&str) -> Option<usize>,
    /// What a value should be, for the message about an invalid one.
    expected: &'static str,
}

const ENGINES: [Engine; 3] = [
    Engine {
        variable: HQ_CPUS,
        parse: ids,
        expected: "a list of CPU ids such as 0,1,5",
    },
    Engine {
        variable: SLURM_CPUS_PER_TASK,
        parse: count,
        expected: "a number of CPUs such as 4",
    },
    Engine {
        variable: REQUEST_VARIABLE,
        parse: twice,
        expected: "thousandths of a CPU such as 1500, or all",
    },
];

fn ids(value: &str) -> Option<usize> {
    Some(value.parse::<CpuList>().ok()?.len())
}

fn count(value: &str) -> Option<usize> {
    value.trim().parse().ok()
}

fn twice(request: &str) -> Option<usize> {
    match request.trim() {
        "0" | "all" => Some(usize::MAX),
        thousandths => {
            let twice = thousandths.parse::<usize>().ok()?.saturating_mul(2);
            Some(twice.div_ceil(1000).max(2))
        }
    }
}
