//! Checks the programs whose tasks share data: their results in every locality, and errors on
//! runtimes that would ignore hints.

use tidegate_workloads::locality::Locality;
use tidegate_workloads::{
    ParameterError, Program, Runtime, Serial, Size, Threads, Tidegate, Visitor, visit,
};

use crate::support::{given, refusal};

const PROGRAMS: [&str; 3] = ["cachestress", "mergesort", "blockmatmul"];

fn pool(workers: usize, places: &str, bind: bool) -> Tidegate {
    let builder = tidegate::Pool::builder().workers(workers).bind(bind);
    Tidegate::new(builder.places(places.parse().unwrap()).build().unwrap())
}

/// Runs a program twice on a pool with several places and checks its answers.
struct RightOn<'a>(&'a Tidegate);

impl Visitor for RightOn<'_> {
    type Out = ();

    fn visit<P: Program>(self, program: P) {
        let mut input = program.prepare().unwrap();
        let output = program.serial(&mut input);
        let expected = program.answer(&input, &output);
        assert_eq!(program.fits(self.0), Ok(()));
        for _ in 0..2 {
            program.reset(&mut input);
            let run = |fork: &mut ()| program.parallel::<Tidegate>(&mut input, fork);
            let output = self.0.install(run);
            let answer = program.answer(&input, &output);
            assert_eq!(answer, expected, "{} {:?}", P::NAME, program.parameters());
        }
    }
}

#[test]
fn every_locality_gives_serial_answer() {
    let sizes: [&[(&str, &str)]; 3] = [
        &[("n", "64")],
        &[("n", "64"), ("sorters", "1")],
        &[("n", "64"), ("block", "64")],
    ];
    for pool in [
        pool(2, "each:1", false),
        pool(3, "each:1", true),
        pool(4, "each:3", false),
    ] {
        for (name, small) in PROGRAMS.into_iter().zip(sizes) {
            for locality in Locality::ALL {
                for sized in [&[], small] {
                    let hint = [("locality", locality.name())];
                    let given = given(&[&hint[..], sized].concat());
                    visit(name, Size::Tiny, &given, RightOn(&pool)).unwrap();
                }
            }
        }
    }
}

#[test]
fn cache_stress_matches_a_single_pass() {
    struct Agrees;

    impl Visitor for Agrees {
        type Out = ();

        fn visit<P: Program>(self, program: P) {
            let mut input = program.prepare().unwrap();
            let output = program.serial(&mut input);
            let known = program.published().expect("it is known beforehand");
            assert_eq!(program.answer(&input, &output), known.answer);
        }
    }
    for (arrays, tasks) in [("1", "1"), ("2", "7"), ("3", "2")] {
        let given = given(&[("arrays", arrays), ("tasks", tasks)]);
        visit("cachestress", Size::Tiny, &given, Agrees).unwrap();
    }
}

/// `fits` must return an error if there are no places, or too few for the locality `worst`.
#[test]
fn unused_hints_are_rejected() {
    struct Fits<'a, R>(&'a R);

    impl<R: Runtime> Visitor for Fits<'_, R> {
        type Out = Result<(), ParameterError>;

        fn visit<P: Program>(self, program: P) -> Self::Out {
            program.fits(self.0)
        }
    }
    fn told<R: Runtime>(name: &str, locality: &str, runtime: &R) -> String {
        let given = given(&[("locality", locality)]);
        let fits = visit(name, Size::Tiny, &given, Fits(runtime)).unwrap();
        fits.map_or_else(|refusal| refusal.to_string(), |()| String::new())
    }
    let threads = Threads::with_workers(2).unwrap();
    let one = pool(2, "machine", false);
    for name in PROGRAMS {
        for hint in ["best", "random", "worst"] {
            let allowed = "expected \"ignorant\", because std has no places";
            assert!(told(name, hint, &threads).ends_with(allowed));
            assert!(told(name, hint, &Serial).contains("because serial has"));
        }
        assert_eq!(told(name, "ignorant", &threads), "");
        assert_eq!(told(name, "best", &one), "");
        let few = told(name, "worst", &one);
        assert!(
            few.contains("requires 2 places, but this pool has 1"),
            "{few}"
        );
    }
}

#[test]
fn incompatible_parameters_name_allowed_values() {
    for (name, wrong, told) in [
        (
            "mergesort",
            [("sorters", "3")],
            "invalid value 3 for sorters: expected a power of two",
        ),
        (
            "blockmatmul",
            [("n", "100")],
            "invalid value 100 for n: expected block, which is 8, times a power of two",
        ),
        (
            "blockmatmul",
            [("n", "4")],
            "invalid value 4 for n: expected block",
        ),
        (
            "cachestress",
            [("arrays", "0")],
            "invalid value \"0\" for arrays: expected an integer from 1",
        ),
        (
            "cachestress",
            [("locality", "near")],
            "expected one of best, ignorant, random, worst",
        ),
    ] {
        let refusal = refusal(name, &wrong).to_string();
        assert!(refusal.contains(told), "{refusal}");
    }
}
