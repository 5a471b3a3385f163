//! Tasks that declare memory: they end under every policy, and within its bound.

mod support;

use support::{Random, alone};
use tidegate_policy::Space;
use tidegate_sim::{Extent, JobOutcome, Settings};

fn soak(slice: u64) -> u64 {
    let scale: u64 = std::env::var("TIDEGATE_SOAK_SCALE").map_or(1, |text| {
        text.parse().expect("TIDEGATE_SOAK_SCALE is a number")
    });
    println!(
        "soak: {} random dags with leases, each on 1 to 64 processors under each policy",
        slice * scale
    );
    slice * scale
}

fn dag(seed: u64, rests: bool) -> Random {
    Random {
        leases: true,
        rests,
        ..Random::new(seed)
    }
}

fn on(processors: usize, space: &str, seed: u64, rests: bool) -> JobOutcome {
    let settings = Settings {
        seed,
        space: space.parse::<Space>().unwrap(),
        ..Settings::new(processors)
    };
    alone(&settings, dag(seed, rests)).0
}

#[test]
fn every_random_dag_ends_within_the_bound_of_every_policy() {
    for seed in 0..soak(40) {
        let rests = seed % 2 == 1;
        let k = [20, 60, 200][seed as usize % 3];
        let extent = Extent::with_k(&dag(seed, rests), k);
        // A budget names at least a byte.
        let s1 = extent.peak_bytes.max(1);
        for processors in [1, 2, 4, 16, 64] {
            let budget = s1 + [0, 1, s1 / 10, s1][seed as usize % 4];
            let bound = s1 + k * processors as u64 * extent.depth;
            for (policy, bound) in [
                ("none".to_owned(), u64::MAX),
                ("hybrid:alpha=50,beta=5".to_owned(), u64::MAX),
                (format!("depth-first:k={k}"), bound),
                (format!("dfdeques:k={k}"), bound),
                (format!("budget:bytes={budget},serial={s1}"), budget),
            ] {
                if rests && policy.starts_with("budget") {
                    // Who rests leaves the reserve to others.
                    continue;
                }
                let job = on(processors, &policy, seed, rests);
                let what = format!("seed {seed}, {policy} on {processors}");
                assert_eq!((job.work, job.span), (extent.work, extent.span), "{what}");
                assert_eq!(job.counters.refusals, 0, "{what}");
                assert!(
                    job.peak_bytes <= bound,
                    "{what}: {} > {bound}",
                    job.peak_bytes
                );
                if processors == 1 && policy == "none" && !rests {
                    assert_eq!(job.peak_bytes, extent.peak_bytes, "{what}");
                }
            }
        }
    }
}
