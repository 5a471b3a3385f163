//! Tests how jobs divide the processors.

use crate::support::{Home, wants};
use std::time::{Duration, Instant};
use tidegate_policy::tunables::TABLE_STALL;
use tidegate_share::{CpuMask, Kind, Location, Name, Observer, ROWS, Report, Seat};

fn allotments(seats: &mut [Seat]) -> Vec<usize> {
    let shares = seats
        .iter_mut()
        .map(|seat| seat.shares().unwrap().allotment);
    shares.collect()
}

#[test]
fn jobs_divide_processors_by_desire() {
    let home = Home::new();
    let mut seats = ["a", "b", "c"].map(|name| home.seat(name));
    for (seat, desire) in seats.iter_mut().zip([2, 16, 16]) {
        seat.publish(&wants(desire, 16)).unwrap();
    }
    assert_eq!(allotments(&mut seats), [2, 7, 7]);
    seats[1].publish(&wants(0, 16)).unwrap();
    assert_eq!(allotments(&mut seats), [2, 0, 14]);
    let shares = seats[0].shares().unwrap();
    assert_eq!((shares.processors, shares.others), (16, 1));
}

/// An idle job has no allotment but keeps its place, and each reader recognizes its own portion.
#[test]
fn portions_come_in_order_of_arrival() {
    let home = Home::new();
    let mut seats = ["a", "b", "c"].map(|name| home.seat(name));
    for (seat, desire) in seats.iter_mut().zip([6, 0, 16]) {
        seat.publish(&wants(desire, 8)).unwrap();
    }
    for (own, seat) in seats.iter_mut().enumerate() {
        let portions = seat.division().unwrap();
        let found: Vec<_> = portions.iter().map(|p| (p.allotment, p.is_own)).collect();
        let most: Vec<_> = portions.iter().map(|p| p.most).collect();
        assert_eq!(most, [4, 0, 4]);
        assert_eq!(found, [(4, own == 0), (0, own == 1), (4, own == 2)]);
        assert!(portions.iter().all(|p| p.mask == CpuMask::from_cpus(0..8)));
        assert_eq!(seat.shares().unwrap().allotment, portions[own].allotment);
    }
}

/// What a job desires limits what it is entitled to, but not the most that it could get.
#[test]
fn portion_shows_the_most_of_the_reader() {
    let home = Home::new();
    let mut seats = ["a", "b"].map(|name| home.seat(name));
    for seat in &mut seats {
        seat.publish(&wants(1, 8)).unwrap();
    }
    let portions = seats[0].division().unwrap();
    let found: Vec<_> = portions.iter().map(|p| (p.allotment, p.most)).collect();
    assert_eq!(found, [(1, 7), (1, 1)]);
}

#[test]
fn processor_time_of_others_is_published() {
    let home = Home::new();
    let mut seat = home.seat("outside");
    seat.publish_outside(&wants(1, 2), 4711).unwrap();
    let mut observer = Observer::open(&home.location()).unwrap().unwrap();
    assert_eq!(observer.jobs().unwrap()[0].cpu_time, 4711);
}

#[test]
fn leaving_job_returns_its_processors() {
    let home = Home::new();
    let (mut stays, mut leaves) = (home.seat("stays"), home.seat("leaves"));
    stays.publish(&wants(8, 8)).unwrap();
    leaves.publish(&wants(8, 8)).unwrap();
    assert_eq!(stays.shares().unwrap().allotment, 4);
    drop(leaves);
    let shares = stays.shares().unwrap();
    assert_eq!((shares.allotment, shares.others), (8, 0));
}

#[test]
fn weights_and_limits_count() {
    let home = Home::new();
    let mut seats = ["light", "heavy", "limited"].map(|name| home.seat(name));
    let reports = [
        wants(18, 18),
        Report {
            weight: 300,
            ..wants(18, 18)
        },
        Report {
            limit: 2,
            ..wants(18, 18)
        },
    ];
    for (seat, report) in seats.iter_mut().zip(reports) {
        seat.publish(&report).unwrap();
    }
    assert_eq!(allotments(&mut seats), [4, 12, 2]);
}

#[test]
fn excess_jobs_get_one_processor_each() {
    let home = Home::new();
    let mut seats: Vec<Seat> = (0..5).map(|job| home.seat(&job.to_string())).collect();
    for seat in &mut seats {
        seat.publish(&wants(2, 2)).unwrap();
    }
    assert_eq!(allotments(&mut seats), [1; 5]);
}

#[test]
fn confined_jobs_share_only_their_processors() {
    let home = Home::new();
    let mut seats = ["free", "one", "two"].map(|name| home.seat(name));
    let confined = Report {
        desire: 8,
        ..Report::new(CpuMask::from_cpus([0, 1]))
    };
    seats[0].publish(&wants(8, 8)).unwrap();
    seats[1].publish(&confined).unwrap();
    seats[2].publish(&confined).unwrap();
    assert_eq!(allotments(&mut seats), [6, 1, 1]);
}

#[test]
fn all_confined_jobs_divide_their_processors() {
    let home = Home::new();
    let mut seats = ["one", "two"].map(|name| home.seat(name));
    for seat in &mut seats {
        seat.publish(&wants(4, 2)).unwrap();
    }
    assert_eq!(allotments(&mut seats), [1, 1]);
    assert_eq!(seats[0].shares().unwrap().processors, 2);
}

#[test]
fn busy_processors_stay_with_other_processes() {
    let home = Home::new();
    let mut seats = ["measures", "other"].map(|name| home.seat(name));
    seats[0]
        .publish(&Report {
            neighbours: 2_100,
            ..wants(8, 8)
        })
        .unwrap();
    seats[1].publish(&wants(8, 8)).unwrap();
    assert_eq!(allotments(&mut seats), [3, 3]);
    assert_eq!(seats[1].shares().unwrap().neighbours, 2);
}

/// A change that is announced before the wait starts is not missed.
#[test]
fn change_wakes_a_waiting_job() {
    let home = Home::new();
    let (mut waits, mut acts) = (home.seat("waits"), home.seat("acts"));
    waits.publish(&wants(2, 2)).unwrap();
    waits.shares().unwrap();
    acts.publish(&wants(2, 2)).unwrap();
    // A change that was announced after the read and before the wait ends the wait immediately.
    let started = Instant::now();
    waits.wait_change(Duration::from_secs(60)).unwrap();
    waits.shares().unwrap();
    let actor = std::thread::spawn(move || {
        acts.publish(&wants(1, 2)).unwrap();
        acts
    });
    waits.wait_change(Duration::from_secs(60)).unwrap();
    assert!(
        started.elapsed() < Duration::from_secs(60),
        "woken, not timed out"
    );
    drop(actor.join().unwrap());
}

#[test]
fn full_table_rejects_further_jobs() {
    let home = Home::new();
    let mut seats = Vec::new();
    for job in 0..300 {
        match Seat::take(&home.location(), &Name::new(&job.to_string())) {
            Ok(seat) => seats.push(seat),
            Err(error) => {
                assert_eq!(error.kind(), Kind::Full);
                assert!(
                    error.to_string().contains("all of its 256 rows are taken"),
                    "{error}"
                );
                assert!(job >= ROWS);
            }
        }
    }
    assert_eq!(seats.len(), ROWS);
    for seat in &mut seats {
        seat.publish(&wants(4, 4)).unwrap();
    }
    assert!(
        allotments(&mut seats[..3])
            .iter()
            .all(|allotment| *allotment == 1)
    );
    seats.pop();
    seats.push(home.seat("next"));
}

/// Before the first job, an observer finds no table and does not create one.
#[test]
fn observer_lists_jobs_in_arrival_order() {
    let home = Home::new();
    assert!(Observer::open(&home.location()).unwrap().is_none());
    assert!(!home.path().exists());
    let (mut one, _two) = (home.seat("one"), home.seat("two"));
    one.publish(&Report {
        usage: 2,
        allotment: 3,
        efficiency: 900,
        ..wants(4, 4)
    })
    .unwrap();
    let mut observer = Observer::open(&home.location()).unwrap().unwrap();
    let jobs = observer.jobs().unwrap();
    let names: Vec<String> = jobs.iter().map(|job| job.name.to_string()).collect();
    assert_eq!(names, ["one", "two"]);
    let seen = (
        jobs[0].pid,
        jobs[0].desire,
        jobs[0].allotment,
        jobs[0].usage,
        jobs[0].efficiency,
    );
    assert_eq!(seen, (std::process::id(), 4, 3, 2, Some(900)));
    assert_eq!(jobs[1].efficiency, None);
    let soundness = Observer::check(&home.location()).unwrap().unwrap();
    assert_eq!(
        (
            soundness.alive.len(),
            soundness.dead.len(),
            soundness.repaired
        ),
        (2, 0, 0)
    );
}

#[test]
fn infrequent_observer_sees_stalled_jobs() {
    let home = Home::new();
    let mut seats = ["still", "idle", "moves"].map(|name| home.seat(name));
    for (seat, desire) in seats.iter_mut().zip([1, 0, 1]) {
        seat.publish(&wants(desire, 4)).unwrap();
    }
    let mut observer = Observer::open(&home.location()).unwrap().unwrap();
    let mut stalled = || {
        let jobs = observer.jobs().unwrap();
        let stalled = jobs.iter().filter(|job| job.stalled);
        stalled.map(|job| job.name.to_string()).collect::<Vec<_>>()
    };
    assert!(stalled().is_empty(), "nobody knows yet");
    std::thread::sleep(Duration::from_nanos(TABLE_STALL.default));
    seats[2].publish(&wants(1, 4)).unwrap();
    assert_eq!(stalled(), ["still"]);
    // Both publish, because any time may have passed since the last look.
    seats[0].publish(&wants(1, 4)).unwrap();
    seats[2].publish(&wants(1, 4)).unwrap();
    assert!(stalled().is_empty());
}

#[test]
fn removed_table_is_noticed_and_replaced() {
    let home = Home::new();
    let mut seat = home.seat("first");
    assert!(seat.is_current());
    std::fs::remove_file(home.path()).unwrap();
    seat.publish(&wants(2, 2)).unwrap();
    assert!(!seat.is_current());
    let other = home.seat("second");
    assert!(!seat.is_current() && other.is_current());
    let again = seat.take_again().unwrap();
    assert!(again.is_current());
    let jobs = Observer::open(&home.location())
        .unwrap()
        .unwrap()
        .jobs()
        .unwrap();
    let names: Vec<String> = jobs.iter().map(|job| job.name.to_string()).collect();
    assert_eq!(names, ["second", "first"]);
}

#[test]
fn given_location_reports_its_reason() {
    assert_eq!(Location::at("/x").why(), "named by the caller");
    assert!(Location::find().is_ok());
}
