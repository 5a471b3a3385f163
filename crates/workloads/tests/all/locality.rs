//! Checks the programs whose tasks share data: their results in every locality, and errors on
//! runtimes that would ignore hints.

use tidegate_workloads::locality::Locality;
use tidegate_workloads::{On, Runtime, Size, Threads, Tidegate, find};

use crate::support::{assert_refused, given, is_right, trial};

const PROGRAMS: [&str; 3] = ["cachestress", "mergesort", "blockmatmul"];

fn pool(workers: usize, places: &str, bind: bool) -> Tidegate {
    let builder = tidegate::Pool::builder().workers(workers).bind(bind);
    Tidegate::new(builder.places(places.parse().unwrap()).build().unwrap())
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
                    let mut trial = trial(name, &given(&[&hint[..], sized].concat()));
                    assert_eq!(trial.fits(On::Tidegate(&pool)), Ok(()));
                    (0..2).for_each(|_| is_right(&mut *trial, On::Tidegate(&pool)));
                }
            }
        }
    }
}

#[test]
fn cache_stress_matches_a_single_pass() {
    for (arrays, tasks) in [("1", "1"), ("2", "7"), ("3", "2")] {
        let given = given(&[("arrays", arrays), ("tasks", tasks)]);
        is_right(&mut *trial("cachestress", &given), On::Thread);
    }
}

/// `fits` must return an error if there are no places, or too few for the locality `worst`.
#[test]
fn unused_hints_are_rejected() {
    fn told(name: &str, locality: &str, on: On<'_>) -> String {
        let program = find(name, Size::Tiny, &given(&[("locality", locality)])).unwrap();
        let fits = program.fits(on);
        fits.map_or_else(|refusal| refusal.to_string(), |()| String::new())
    }
    let threads = Threads::with_workers(2).unwrap();
    let one = pool(2, "machine", false);
    for name in PROGRAMS {
        for hint in ["best", "random", "worst"] {
            let allowed = "expected \"ignorant\", because std has no places";
            assert!(told(name, hint, On::Threads(&threads)).ends_with(allowed));
        }
        assert_eq!(told(name, "ignorant", On::Threads(&threads)), "");
        assert_eq!(told(name, "best", On::Tidegate(&one)), "");
        let few = told(name, "worst", On::Tidegate(&one));
        let needs = "requires 2 places, but this pool has 1";
        assert!(few.contains(needs), "{few}");
    }
}

#[test]
fn incompatible_parameters_name_allowed_values() {
    assert_refused(&[
        "mergesort sorters 3 invalid value 3 for sorters: expected a power of two",
        "blockmatmul n 100 invalid value 100 for n: expected block, which is 8, times a power of two",
        "blockmatmul n 4 invalid value 4 for n: expected block",
        "cachestress arrays 0 invalid value \"0\" for arrays: expected an integer from 1",
        "cachestress locality near expected one of best, ignorant, in-turn, random, worst",
    ]);
}
