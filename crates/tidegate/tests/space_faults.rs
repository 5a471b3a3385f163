//! Declared memory where something has gone wrong: leases that nobody gives back.
//!
//! Each case runs in a process of its own, whose standard error is read while it runs.
#![cfg(all(target_os = "linux", not(any(miri, tidegate_tsan))))]

mod support;

use std::io::Read;
use support::Gate;
use support::jobs::{Job, plays};
use tidegate::space;
use tidegate::{Pool, Share, Space};

const KIB: usize = 1 << 10;

/// Where [`forget`] asks for its lease.
const FORGOTTEN_AT: u32 = line!() + 4;

/// Leases so much, and gives nothing back.
fn forget(bytes: usize) {
    std::mem::forget(space::lease(bytes).unwrap());
}

/// Beside 8 KiB that were forgotten the second half has no room for its 6 as long as the first one holds 4; alone the two would fit. The first one goes on
/// when the test has had enough.
fn asks_beside_a_forgotten_lease() {
    let space: Space = "budget:bytes=15KiB,serial=5KiB".parse().unwrap();
    let builder = Pool::builder().workers(2).name("harbour");
    let pool = builder.share(Share::Off).space(space).build().unwrap();
    pool.install(|| forget(8 * KIB));
    let holds = Gate::new();
    let first = || {
        let _held = space::lease(4 * KIB).unwrap();
        holds.open();
        tidegate::blocking(|| std::io::stdin().read_to_end(&mut vec![]).unwrap())
    };
    let second = || {
        holds.wait();
        space::lease(6 * KIB).map(|lease| lease.bytes())
    };
    let (_, asked) = pool.install(|| tidegate::join(first, second));
    assert_eq!(asked, Ok(6 * KIB));
    let space = pool.stats().space;
    assert_eq!((space.declared, space.peak), (8 << 10, 14 << 10));
    eprintln!("ended");
}

#[test]
fn who_waits_long_beside_a_forgotten_lease_names_its_place_and_goes_on_when_there_is_room() {
    const NAME: &str =
        "who_waits_long_beside_a_forgotten_lease_names_its_place_and_goes_on_when_there_is_room";
    if plays(NAME) {
        return asks_beside_a_forgotten_lease();
    }
    let folder = tempfile::tempdir().unwrap();
    let mut job = Job::start(NAME, &folder.path().join("table"), &[]);
    let report = job.says("waits for memory");
    let begins = format!(
        "tidegate: pool harbour: a task waits for memory: 12KiB of 15KiB are declared; held: 8KiB by {}:{FORGOTTEN_AT}:",
        file!()
    );
    assert!(report.starts_with(&begins), "{report}");
    assert!(report.contains(", 4KiB by "), "{report}");
    let all = job.end();
    let of = |text: &str| all.iter().filter(|line| line.contains(text)).count();
    assert_eq!((of("waits for memory"), of("ended")), (1, 1), "{all:?}");
}
