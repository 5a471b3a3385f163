//! Overwrites a table with given bytes, and checks how jobs and observers react.
//!
//! The tests and the fuzzer in `fuzz/` call this with random bytes.

#![allow(dead_code, reason = "each test file uses its own part of this module")]

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;
use tidegate_share::{CpuMask, Location, Name, Observer, ROWS, Refusal, Report, Seat, Shares};

/// The length of a table, in bytes.
pub const LENGTH: u64 = 135_168;
/// The offset of the claims, in bytes.
pub const CLAIMS: u64 = 2048;
pub const FIRST_ROW: u64 = 4096;
pub const ROW: u64 = 512;

const PROCESSORS: usize = 8;
const DESIRES: [usize; 2] = [6, 7];
const LIMITS: [usize; 2] = [8, 5];

/// How to overwrite the table. The first bytes of the input determine when and where the remaining
/// bytes are written.
struct Plan<'a> {
    /// Whether to write before any job opens the table, rather than while two jobs use it.
    early: bool,
    /// Whether to write again after each step.
    often: bool,
    at: u64,
    bytes: &'a [u8],
    /// If set, truncates the file to this length instead of writing.
    length: Option<u64>,
}

impl<'a> Plan<'a> {
    fn of(data: &'a [u8]) -> Option<Self> {
        let (head, bytes) = data.split_at_checked(5)?;
        let at = u64::from(u32::from_le_bytes(head[1..].try_into().ok()?));
        let within = |begin: u64, end: u64| begin + at % (end - begin);
        let (begin, length) = match head[0] >> 2 & 7 {
            0 => (0, None),
            1 => (within(0, FIRST_ROW), None),
            2 => (within(CLAIMS, FIRST_ROW), None),
            // Write into one of the first rows, which are in use.
            3 => (FIRST_ROW + at % (4 * ROW), None),
            // Write behind a row's generation, so that the row still counts.
            4 => (FIRST_ROW + at % 2 * ROW + 8 + at / 256 % (ROW - 8), None),
            5 => (CLAIMS + at % 4 * 8, None),
            6 => (within(0, LENGTH), None),
            _ => (0, Some(at % LENGTH)),
        };
        Some(Self {
            early: head[0] & 1 != 0,
            often: head[0] & 2 != 0,
            at: begin,
            bytes: &bytes[..bytes.len().min((LENGTH - begin) as usize)],
            length,
        })
    }

    fn carry_out(&self, path: &Path) -> io::Result<()> {
        let file = File::options().write(true).open(path)?;
        match self.length {
            Some(length) => file.set_len(length),
            None => file.write_all_at(self.bytes, self.at),
        }
    }
}

/// Overwrites a table in `folder` with `data`, and lets jobs and observers use it.
///
/// # Panics
/// Panics if a step returns neither a one-line error nor a share within its limits.
pub fn assault(folder: &Path, data: &[u8]) {
    let Some(plan) = Plan::of(data) else {
        return;
    };
    let path = folder.join("table");
    // An earlier call may have left a table.
    let _ = fs::remove_file(&path);
    let location = Location::at(&path);
    let seats = [0, 1].map(|job| Seat::take(&location, &Name::new(["a", "b"][job])));
    let mut seats: [Seat; 2] = seats.map(|seat| seat.expect("there is a good table"));
    if plan.early {
        drop(seats);
        plan.carry_out(&path).expect("the file is ours");
        come(&location, &plan);
        return;
    }
    for round in 0..3 {
        if round == 0 || plan.often {
            plan.carry_out(&path).expect("the file is ours");
        }
        divide(&mut seats);
        let _ = seats[0].wait_change(Duration::ZERO).map_err(in_order);
        observe(&location);
        let _ = Observer::check(&location).map_err(in_order);
        come(&location, &plan);
    }
    drop(seats);
    come(&location, &plan);
}

fn in_order(refusal: Refusal) {
    let text = refusal.to_string();
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.contains("table") && text.contains("; "), "{text}");
}

fn divide(seats: &mut [Seat; 2]) {
    for (job, seat) in seats.iter_mut().enumerate() {
        let report = Report {
            desire: DESIRES[job],
            limit: LIMITS[job],
            ..Report::new(CpuMask::from_cpus(0..PROCESSORS))
        };
        let _ = seat.publish(&report).map_err(in_order);
    }
    let shares = seats.each_mut().map(|seat| seat.shares().map_err(in_order));
    let mut sum = 0;
    for (job, shares) in shares.into_iter().enumerate() {
        let Ok(shares) = shares else { return };
        within_limits(&shares);
        assert!(
            shares.allotment <= DESIRES[job].min(LIMITS[job]),
            "{shares:?}"
        );
        assert!(shares.allotment >= 1, "{shares:?}");
        sum += shares.allotment;
    }
    assert!(sum <= PROCESSORS, "{sum} of {PROCESSORS} were given away");
}

fn within_limits(shares: &Shares) {
    assert!(shares.processors <= CpuMask::MOST, "{shares:?}");
    assert!(shares.neighbours <= shares.processors, "{shares:?}");
    assert!(
        shares.usage <= ROWS * CpuMask::MOST && shares.others < ROWS,
        "{shares:?}"
    );
}

fn observe(location: &Location) {
    let observer = Observer::open(location).map_err(in_order);
    let Ok(Some(mut observer)) = observer else {
        return;
    };
    for _ in 0..2 {
        let Ok(jobs) = observer.jobs().map_err(in_order) else {
            return;
        };
        for job in jobs {
            assert!(job.desire.max(job.usage).max(job.limit) <= CpuMask::MOST);
            assert!(job.name.to_string().chars().all(|c| !c.is_control()));
        }
    }
}

/// Lets a new job take a seat and leave. If the job is refused, it must not have changed anything.
fn come(location: &Location, plan: &Plan<'_>) {
    let before = fs::read(location.path()).expect("the file is ours");
    match Seat::take(location, &Name::new("newcomer")) {
        Err(refusal) => {
            in_order(refusal);
            assert!(fs::read(location.path()).expect("the file is ours") == before);
        }
        Ok(mut seat) => {
            let report = Report {
                desire: 2,
                ..Report::new(CpuMask::from_cpus(0..PROCESSORS))
            };
            let _ = seat.publish(&report).map_err(in_order);
            if let Ok(shares) = seat.shares().map_err(in_order) {
                within_limits(&shares);
                assert!((1..=2).contains(&shares.allotment), "{shares:?}");
            }
            let length = fs::metadata(location.path())
                .expect("the file is ours")
                .len();
            assert!(length == LENGTH || plan.length.is_some());
        }
    }
}
