//! Runs every program at size tiny, in each of its forms, on Tidegate pools with combinations of
//! policies, and compares the answers with the serial version's. A normal test run covers a slice
//! of all combinations; `xtask soak policies` covers all of them. Programs with intervals take
//! longer, so they run only with the default policies, on each queue.

use std::fmt;

use tidegate::policy::idle::Backoff;
use tidegate::{
    Pool,
    policy::{Choose, IdlePolicy, QueueKind, StealAmount, VictimPolicy, WaitPolicy},
};
use tidegate_workloads::parameter::Kind;
use tidegate_workloads::registry::{ENTRIES, Entry};
use tidegate_workloads::{Given, On, Tidegate};

use crate::support::trial;

const AMOUNTS: [StealAmount; 4] = [
    StealAmount::One,
    StealAmount::Fixed(2),
    StealAmount::Half,
    StealAmount::HalfAbove(4),
];
const VICTIMS: [VictimPolicy; 4] = [
    VictimPolicy::Random,
    VictimPolicy::RoundRobin,
    VictimPolicy::LastVictim,
    VictimPolicy::Hierarchical,
];

/// The numbers of slices into which the policies are divided: all of them, and the usual ones.
const SLICES: usize = 60;
const USUAL_SLICES: usize = 6;

/// The names of the parameters that select a program's form.
const FORMS: [&str; 2] = ["form", "order"];

/// The policies of a pool that this test varies.
#[derive(Clone, Copy)]
struct Policies {
    idle: IdlePolicy,
    amount: StealAmount,
    victim: VictimPolicy,
    wait: WaitPolicy,
    queue: QueueKind,
}

impl Policies {
    /// Builds a pool with three workers: with two, a thief has only one victim and the victim
    /// policy has no effect.
    fn pool(self) -> Tidegate {
        let builder = Pool::builder().workers(3).idle(self.idle);
        let builder = builder.steal(self.amount).victim(self.victim);
        Tidegate::new(builder.wait(self.wait).queue(self.queue).build().unwrap())
    }
}

impl fmt::Display for Policies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            idle,
            amount,
            victim,
            wait,
            queue,
        } = self;
        write!(f, "{idle} {amount} {victim} {wait} {queue}")
    }
}

/// Returns every idle policy in the help, with every backoff if the policy takes one.
fn idles() -> Vec<IdlePolicy> {
    let is_backoff = |name: &&&str| name.parse::<Backoff>().is_ok();
    let mut idles = Vec::new();
    for name in IdlePolicy::names() {
        match name.strip_suffix("BACKOFF") {
            Some(before) => {
                let backoffs = IdlePolicy::names().iter().filter(is_backoff);
                idles.extend(backoffs.map(|backoff| format!("{before}{backoff}")));
            }
            None => idles.push((*name).to_owned()),
        }
    }
    idles.iter().map(|name| name.parse().unwrap()).collect()
}

/// Returns all combinations. Queues other than the default ignore the steal amount, the victim and
/// the idle policy, so these queues get only the default policies.
fn combinations() -> Vec<Policies> {
    let mut all = Vec::new();
    for wait in [WaitPolicy::Descendants, WaitPolicy::HelpAny] {
        for idle in idles() {
            for amount in AMOUNTS {
                for victim in VICTIMS {
                    all.push(Policies {
                        idle,
                        amount,
                        victim,
                        wait,
                        queue: QueueKind::Split,
                    });
                }
            }
        }
        let others = QueueKind::ALL
            .iter()
            .filter(|queue| **queue != QueueKind::Split);
        all.extend(others.map(|queue| Policies {
            idle: IdlePolicy::default(),
            amount: StealAmount::default(),
            victim: VictimPolicy::default(),
            wait,
            queue: *queue,
        }));
    }
    all
}

/// Selects the combinations with the default policies, one for each queue and wait policy.
fn usual(all: &[Policies]) -> Vec<Policies> {
    let usual = (
        IdlePolicy::default(),
        StealAmount::default(),
        VictimPolicy::default(),
    );
    let kept = |p: &&Policies| (p.idle, p.amount, p.victim) == usual;
    all.iter().filter(kept).copied().collect()
}

/// Runs a program under each of the policies, on a new pool each time, and checks its answers.
fn is_right_under(all: &[Policies], name: &str, given: &Given) {
    let mut trial = trial(name, given);
    for policies in all {
        trial.reset();
        trial.run(On::Tidegate(&policies.pool()));
        let check = trial.check_last().expect("there is a reference");
        assert_eq!(check.wrong, 0, "{name} under {policies}");
    }
}

/// Returns the parameters for a program's runs: each of its forms, its required parameters, or no
/// parameters.
fn givens(entry: &Entry) -> Vec<Given> {
    let named = |name: &str, value: &str| Given {
        named: vec![(name.to_owned(), value.into())],
        ..Given::default()
    };
    if entry.name == "digest" {
        return vec![named("path", concat!(env!("CARGO_MANIFEST_DIR"), "/src"))];
    }
    let form = entry.parameters.iter().find(|p| FORMS.contains(&p.name));
    match form.map(|form| (form.name, form.kind)) {
        Some((form, Kind::Choice(names))) => names.iter().map(|name| named(form, name)).collect(),
        _ => vec![Given::default()],
    }
}

/// Returns `scale` of `slices` slices of what programs run under. The offset differs between
/// programs, so that each is tested with some of the programs.
pub fn slice<T: Copy>(all: &[T], offset: usize, scale: usize, slices: usize) -> Vec<T> {
    let numbered = all.iter().enumerate();
    let kept = numbered.filter(|(n, _)| (n + offset) % slices < scale);
    kept.map(|(_, one)| *one).collect()
}

#[test]
fn every_program_is_right_under_policies() {
    let scale = tidegate_testkit::scale();
    let all = combinations();
    let usual = usual(&all);
    assert_eq!(usual.len(), 2 * QueueKind::ALL.len());
    let (mut runs, mut whole) = (0, 0);
    for (offset, entry) in ENTRIES.iter().enumerate() {
        let (all, slices) = if entry.intervals {
            (&usual, USUAL_SLICES)
        } else {
            (&all, SLICES)
        };
        let policies = slice(all, offset, scale, slices);
        for given in givens(entry) {
            is_right_under(&policies, entry.name, &given);
            runs += policies.len();
            whole += all.len();
        }
    }
    println!("soak: {runs} of {whole} runs of programs under policies");
}

#[test]
fn test_covers_idle_policies_and_forms() {
    let tried: Vec<_> = idles().iter().map(IdlePolicy::to_string).collect();
    for name in ["elastic", "linear", "yield-then-combination", "long-quanta"] {
        assert!(tried.iter().any(|tried| tried == name), "{name}");
    }
    let forms = |name| ENTRIES.iter().find(|e| e.name == name).map(givens);
    assert_eq!(forms("uts").map(|forms| forms.len()), Some(2));
    assert_eq!(forms("loopy").map(|forms| forms.len()), Some(2));
    assert_eq!(forms("sssp").map(|forms| forms.len()), Some(2));
}
