//! Runs every program at size tiny on every runtime that supports it, and checks the reference
//! answer.

use tidegate_workloads::registry::ENTRIES;
use tidegate_workloads::{
    Answer, Given, Program, Runtime, Serial, Size, Threads, Tidegate, Visitor, visit,
};

/// Runs a program serially and on every runtime, and checks its answers.
struct EverywhereIsRight;

impl Visitor for EverywhereIsRight {
    type Out = ();

    fn visit<P: Program>(self, program: P) {
        let mut input = program.prepare().unwrap();
        let output = program.serial(&mut input);
        let expected = program.answer(&input, &output);
        // If the serial answer were wrong, comparing the other runs with it would prove nothing.
        assert!(
            !expected.values().any(|told| *told == false),
            "{expected:?}"
        );
        if let Some(reference) = program.published() {
            assert_eq!(expected, reference.answer, "{} serially", P::NAME);
        }
        is_right_on::<P, Serial>(&program, &expected);
        is_right_on::<P, Threads>(&program, &expected);
        is_right_on::<P, Tidegate>(&program, &expected);
        #[cfg(feature = "rayon")]
        is_right_on::<P, tidegate_workloads::Rayon>(&program, &expected);
        #[cfg(feature = "chili")]
        is_right_on::<P, tidegate_workloads::Chili>(&program, &expected);
    }
}

fn is_right_on<P: Program, R: Runtime>(program: &P, expected: &Answer) {
    if let Err(refusal) = program.fits(&R::with_workers(1).unwrap()) {
        let needs = match P::NAME {
            "sssp" if !R::PRIORITIES => "with order nearest needs tasks with priorities",
            _ => "needs intervals",
        };
        let told = format!("{} {needs}, and {} has none", P::NAME, R::NAME);
        assert!(
            P::NAME == "sssp" || P::INTERVALS && !R::INTERVALS,
            "{refusal}"
        );
        return assert!(refusal.to_string().starts_with(&told), "{refusal}");
    }
    let mut input = program.prepare().unwrap();
    for workers in [1, 2, 3] {
        let runtime = R::with_workers(workers).unwrap();
        for _ in 0..2 {
            program.reset(&mut input);
            let output = runtime.install(|fork| program.parallel::<R>(&mut input, fork));
            let answer = program.answer(&input, &output);
            assert_eq!(&answer, expected, "{} on {} {workers}", P::NAME, R::NAME);
        }
    }
}

fn everywhere(name: &str, named: &[(&str, &str)]) {
    let named = named
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).into()))
        .collect();
    let given = Given {
        named,
        ..Given::default()
    };
    visit(name, Size::Tiny, &given, EverywhereIsRight).unwrap();
}

#[test]
fn runtimes_give_the_reference_answer() {
    for entry in ENTRIES {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
        match entry.name {
            "digest" => everywhere(entry.name, &[("path", path)]),
            name => everywhere(name, &[]),
        }
    }
}

#[test]
fn both_forms_give_equal_answers() {
    // The test above covers the default forms, so this one covers the other forms.
    let joins = ["loopy", "nested", "sortmany", "decompress"];
    let spawns = ["uts", "matmul", "strassen"];
    let forms = [("join", &joins[..]), ("spawn", &spawns)];
    for (form, names) in forms {
        names
            .iter()
            .for_each(|name| everywhere(name, &[("form", form)]));
    }
    everywhere("sssp", &[("order", "youngest")]);
}

#[test]
#[should_panic(expected = "std has no intervals")]
fn runtime_without_intervals_rejects_programs() {
    struct OnThreads;

    impl Visitor for OnThreads {
        type Out = ();

        fn visit<P: Program>(self, program: P) {
            let mut input = program.prepare().unwrap();
            let runtime = Threads::with_workers(2).unwrap();
            runtime.install(|fork| program.parallel::<Threads>(&mut input, fork));
        }
    }
    visit("series", Size::Tiny, &Given::default(), OnThreads).unwrap();
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
