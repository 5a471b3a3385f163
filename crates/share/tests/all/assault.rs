//! Other programs overwrite a table that is in use. Jobs must get errors or valid shares; they must
//! never panic, and no signal may kill them.

use crate::support::assault::{CLAIMS, FIRST_ROW, LENGTH, ROW, assault};
use crate::support::{Home, overwrite, wants};
use std::fs::{self, File};
use std::time::Duration;
use tidegate_share::{CpuMask, Kind, Observer, ROWS, Refusal, Seat};
use tidegate_testkit::soak;

#[test]
fn random_tables_never_break_limits() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let home = Home::new();
    for _ in 0..soak(1_000, "tables") {
        let length = if random.u8(..16) == 0 {
            5 + LENGTH as usize
        } else {
            5 + random.usize(..1200)
        };
        let mut data: Vec<u8> = std::iter::repeat_with(|| random.u8(..))
            .take(length)
            .collect();
        // Bytes that are all equal are more likely to form valid values.
        match random.u8(..4) {
            0 => data[5..].fill(0),
            1 => data[5..].fill(0xff),
            _ => {}
        }
        assault(home.folder.path(), &data);
    }
}

/// Performs every operation of a job. Returns the error of each step, if any.
fn all_that_a_job_does(mut seat: Seat) -> Vec<(&'static str, Option<Refusal>)> {
    let mut done = vec![
        ("publish", seat.publish(&wants(4, 4)).err()),
        ("shares", seat.shares().err()),
        ("wait_change", seat.wait_change(Duration::ZERO).err()),
    ];
    let mut alone = |what, act: fn(&mut Seat) -> Option<Refusal>| done.push((what, act(&mut seat)));
    alone("shares again", |seat| seat.shares().err());
    alone("publish again", |seat| seat.publish(&wants(2, 4)).err());
    drop(seat);
    done
}

/// If the table is truncated, every operation that needs a missing part returns an error.
#[test]
fn truncating_used_table_causes_errors() {
    for length in [
        0,
        8,
        100,
        2048,
        4096,
        4097,
        FIRST_ROW + ROW,
        FIRST_ROW + ROW + 8,
    ] {
        for first in ["publish", "shares", "wait_change", "drop"] {
            let home = Home::new();
            let mut seats = ["a", "b"].map(|name| home.seat(name));
            for seat in &mut seats {
                seat.publish(&wants(4, 4)).unwrap();
                seat.shares().unwrap();
            }
            File::options()
                .write(true)
                .open(home.path())
                .unwrap()
                .set_len(length)
                .unwrap();
            let [_a, mut b] = seats;
            let refused = match first {
                "publish" => b.publish(&wants(2, 4)).err(),
                "shares" => Some(b.shares().expect_err("its row is gone")),
                "wait_change" => b.wait_change(Duration::ZERO).err(),
                _ => None,
            };
            if let Some(refusal) = refused {
                let text = refusal.to_string();
                assert_eq!(refusal.kind(), Kind::Damaged, "{first} at {length}: {text}");
                assert!(
                    text.contains("remove it") && text.lines().count() == 1,
                    "{text}"
                );
            }
            // Afterwards, each operation of the job succeeds or reports the damage again.
            for (what, refusal) in all_that_a_job_does(b) {
                let kind = refusal.as_ref().map(Refusal::kind);
                let kinds = [None, Some(Kind::Damaged)];
                assert!(
                    kinds.contains(&kind),
                    "{what} after {first} at {length}: {refusal:?}"
                );
            }
        }
    }
}

#[test]
fn newcomer_rejects_a_truncated_table() {
    for length in [0, 2048, 4096, 100_000] {
        let home = Home::new();
        let seat = home.seat("a");
        File::options()
            .write(true)
            .open(home.path())
            .unwrap()
            .set_len(length)
            .unwrap();
        drop(seat);
        let error = Observer::open(&home.location()).unwrap_err();
        assert_eq!(error.kind(), Kind::Damaged, "{error}");
    }
}

/// Jobs that have a removed table open continue to use it until they check whether it is current.
#[test]
fn removed_table_works_until_noticed() {
    let home = Home::new();
    let mut seats = ["a", "b"].map(|name| home.seat(name));
    fs::remove_file(home.path()).unwrap();
    for seat in &mut seats {
        seat.publish(&wants(4, 4)).unwrap();
    }
    assert_eq!(
        seats
            .each_mut()
            .map(|seat| seat.shares().unwrap().allotment),
        [2, 2]
    );
    assert!(seats.iter().all(|seat| !seat.is_current()));
    let [a, b] = seats;
    assert!(
        all_that_a_job_does(a)
            .iter()
            .all(|(_, refusal)| refusal.is_none())
    );
    drop(b);
    assert!(!home.path().exists());
}

/// If claims or rows in use are overwritten, jobs get errors. At the next publish, a job replaces
/// its overwritten row.
#[test]
fn overwritten_rows_hold_until_next_publish() {
    for byte in [0x00, 0x01, 0x80, 0xff] {
        for (at, length) in [
            (CLAIMS, ROWS as u64 * 8),
            (FIRST_ROW, ROW),
            (FIRST_ROW, LENGTH - FIRST_ROW),
        ] {
            let home = Home::new();
            let mut seats = ["a", "b"].map(|name| home.seat(name));
            for seat in &mut seats {
                seat.publish(&wants(4, 4)).unwrap();
            }
            overwrite(&home, at, &vec![byte; length as usize]);
            let what = format!("{byte:x} at {at}");
            match (at == CLAIMS, seats[0].shares()) {
                (_, Err(error)) => assert_eq!(error.kind(), Kind::Damaged, "{what}"),
                (true, Ok(shares)) => panic!("{what}: {shares:?}"),
                (false, Ok(_)) => panic!("{what}: its row is another's"),
            }
            // A job counts again once it has rewritten its row.
            for seat in &mut seats {
                seat.publish(&wants(4, 4)).unwrap();
            }
            let shares = seats
                .each_mut()
                .map(|seat| seat.shares().ok().map(|it| it.allotment));
            let expected = if at == CLAIMS { None } else { Some(2) };
            assert_eq!(shares, [expected; 2], "{what}");
            drop(seats);
            let mut next = home.seat("next");
            next.publish(&wants(4, 4)).unwrap();
            assert_eq!(next.shares().unwrap().allotment, 4, "{what}");
        }
    }
}

/// The fields of a row that other jobs need to divide the machine, or that observers read: each
/// field's name, and its index in words.
const FIELDS: [(&str, u64); 10] = [
    ("pid", 1),
    ("started", 2),
    ("namespace", 3),
    ("arrived", 4),
    ("desire", 5),
    ("usage", 6),
    ("weight", 7),
    ("limit", 8),
    ("beat", 9),
    ("neighbours", 13),
];

#[test]
fn extreme_fields_cost_only_fairness() {
    for (field, word) in FIELDS {
        for value in [0, 1, 1 << 31, 1 << 32, 1 << 63, u64::MAX - 1, u64::MAX] {
            let home = Home::new();
            let mut seats = ["liar", "other"].map(|name| home.seat(name));
            for seat in &mut seats {
                seat.publish(&wants(4, 4)).unwrap();
            }
            overwrite(&home, FIRST_ROW + 8 * word, &value.to_ne_bytes());
            let shares = seats[1].shares().unwrap();
            let what = format!("{field} {value}: {shares:?}");
            assert!((1..=4).contains(&shares.allotment), "{what}");
            assert_eq!(
                (shares.processors, shares.others),
                (4, usize::from((field, value) != ("desire", 0))),
                "{what}"
            );
            assert!(
                shares.neighbours <= 4 && shares.usage <= ROWS * CpuMask::MOST,
                "{what}"
            );
            let mut observer = Observer::open(&home.location()).unwrap().unwrap();
            let jobs = observer.jobs().unwrap();
            assert_eq!(jobs.len(), 2, "{what}");
            for job in jobs {
                let most = job.desire.max(job.usage).max(job.limit);
                assert!(most <= CpuMask::MOST && job.limit >= 1, "{job:?}");
            }
            assert!(Observer::check(&home.location()).unwrap().is_some());
        }
    }
}

#[test]
fn name_never_contains_control_characters() {
    let home = Home::new();
    let _seat = home.seat("liar");
    for byte in 0..=0xff {
        overwrite(&home, FIRST_ROW + 8 * 16, &[byte; 64]);
        let mut observer = Observer::open(&home.location()).unwrap().unwrap();
        let name = observer.jobs().unwrap()[0].name.to_string();
        assert!(name.chars().all(|c| !c.is_control()), "{name:?}");
    }
}

/// A job stops using its row if the claim and the generation now belong to another job.
#[test]
fn job_does_not_adopt_foreign_row() {
    let home = Home::new();
    let mut seats = ["robbed", "other"].map(|name| home.seat(name));
    for seat in &mut seats {
        seat.publish(&wants(4, 4)).unwrap();
    }
    overwrite(&home, CLAIMS, &(5_u64 << 1 | 1).to_ne_bytes());
    overwrite(&home, FIRST_ROW, &5_u64.to_ne_bytes());
    let error = seats[0].shares().unwrap_err();
    assert_eq!(error.kind(), Kind::Damaged, "{error}");
    assert_eq!(seats[1].shares().unwrap().allotment, 2);
}

#[test]
fn extreme_cpu_set_spares_other_jobs() {
    for byte in [0x00, 0xff] {
        let home = Home::new();
        let mut seats = ["liar", "other", "third"].map(|name| home.seat(name));
        for seat in &mut seats {
            seat.publish(&wants(4, 4)).unwrap();
        }
        overwrite(&home, FIRST_ROW + 8 * 32, &[byte; 128]);
        let shares = seats[1].shares().unwrap();
        // A reader replaces another job's empty set with its own set, so three jobs divide four
        // processors. If the set contains every possible processor, the other two jobs share their
        // four.
        let expected = if byte == 0 { (1, 4) } else { (2, 1024) };
        assert_eq!((shares.allotment, shares.processors), expected);
    }
}
