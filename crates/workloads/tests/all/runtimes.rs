//! Runs every program at size tiny on every runtime that supports it, and checks the reference
//! answer.

use tidegate_workloads::registry::ENTRIES;
use tidegate_workloads::{Given, On, Runtime, Serial, Threads, Tidegate, Trial};

use crate::support::{given, is_right, trial};

/// Runs a program serially and on every runtime, and checks its answers.
fn everywhere(name: &str, given: &Given) {
    let mut trial = trial(name, given);
    trial.reset();
    trial.run(On::Thread);
    trial.keep();
    // If the serial answer were wrong, comparing the other runs with it would prove nothing.
    let expected = trial.answer();
    let is_wrong = expected.values().any(|told| *told == false);
    assert!(!is_wrong, "{expected:?}");
    is_right(&mut *trial, On::Thread);
    is_right_on::<Threads>(&mut *trial);
    is_right_on::<Tidegate>(&mut *trial);
    #[cfg(feature = "rayon")]
    is_right_on::<tidegate_workloads::Rayon>(&mut *trial);
    #[cfg(feature = "chili")]
    is_right_on::<tidegate_workloads::Chili>(&mut *trial);
}

fn is_right_on<R: Runtime>(trial: &mut dyn Trial)
where
    for<'a> On<'a>: From<&'a R>,
{
    for workers in [1, 2, 3] {
        let runtime = R::with_workers(workers).unwrap();
        if let Err(refusal) = trial.fits(On::from(&runtime)) {
            let name = trial.name();
            let needs = match name {
                "sssp" if !R::PRIORITIES => "with order nearest needs tasks with priorities",
                _ => "needs intervals",
            };
            let told = format!("{name} {needs}, and {} has none", R::NAME);
            let rightly = name == "sssp" || trial.intervals() && !R::INTERVALS;
            let refusal = refusal.to_string();
            assert!(rightly && refusal.starts_with(&told), "{refusal}");
            return;
        }
        is_right(trial, On::from(&runtime));
        if workers == 3 {
            is_right(trial, On::from(&runtime));
        }
    }
}

#[test]
fn runtimes_give_the_reference_answer() {
    for entry in ENTRIES {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
        match entry.name {
            "digest" => everywhere(entry.name, &given(&[("path", path)])),
            name => everywhere(name, &Given::default()),
        }
    }
}

#[test]
fn both_forms_give_equal_answers() {
    // The test above covers the default forms, so this one covers the other forms.
    let joins = ["loopy", "nested", "sortmany", "decompress"];
    let spawns = ["uts", "knary", "matmul", "strassen"];
    let forms = [("join", &joins[..]), ("spawn", &spawns)];
    for (form, names) in forms {
        names
            .iter()
            .for_each(|name| everywhere(name, &given(&[("form", form)])));
    }
    everywhere("sssp", &given(&[("order", "youngest")]));
}

#[test]
#[should_panic(expected = "series can't run on std")]
fn runtime_without_intervals_rejects_programs() {
    let threads = Threads::with_workers(2).unwrap();
    trial("series", &Given::default()).run(On::Threads(&threads));
}

#[test]
fn every_runtime_rejects_zero_workers() {
    assert!(Serial::with_workers(0).is_err());
    assert!(Threads::with_workers(0).is_err());
    assert!(Tidegate::with_workers(0).is_err());
    #[cfg(feature = "rayon")]
    assert!(tidegate_workloads::Rayon::with_workers(0).is_err());
    #[cfg(feature = "chili")]
    assert!(tidegate_workloads::Chili::with_workers(0).is_err());
}
