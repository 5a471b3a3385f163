//! `compare join-arms`: joins two long arms that never fork, which should run at the same time.
//!
//! The reported time is how long both arms ran at the same time. Ideally, this is the length of one
//! arm.

use std::time::{Duration, Instant};

use tidegate_workloads::Runtime;

use crate::engine::Session;
use tidegate_cli_support::compare::lane::{Lane, Measurement};
use tidegate_cli_support::compare::race::{self, Race};
use tidegate_cli_support::compare::row::{Outcome, Row};
use tidegate_cli_support::compare::time::{compute, nanos_between};
use tidegate_cli_support::compare::{Rival, Setting};
use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::output::show_nanos;

/// The default number of samples per row.
const SAMPLES: u32 = 20;

const ARM: Duration = Duration::from_millis(50);
/// How long an arm computes with `--size tiny`.
const TINY_ARM: Duration = Duration::from_millis(2);

pub fn compare(setting: &Setting, session: &Session) -> Result<Outcome, Failure> {
    let arms = Arms(setting.sized(TINY_ARM, ARM));
    let workers = setting.at_least_two_workers("join-arms")?;
    let rivals = setting.rivals(&[Rival::Rayon, Rival::Chili, Rival::Std])?;
    let lanes = race::lanes(&arms, &rivals, &workers)?;
    let rows = super::rows(session, lanes, setting.repeat(SAMPLES))?;
    let length = arms.0.as_nanos() as f64;
    let missing = |row: &Row| {
        let missing = show_nanos((length - row.median()?).max(0.0));
        Some(format!(
            "{} {}: {missing} short of {}",
            row.runtime,
            row.workers,
            show_nanos(length)
        ))
    };
    let notes = rows.iter().filter_map(missing).collect();
    Ok(Outcome::new(rows, "how long both arms ran at once", notes))
}

struct Arms(Duration);

impl<'a> Race<'a> for Arms {
    fn name(&self) -> String {
        "join-arms".into()
    }

    fn on<R: Runtime + 'a>(&self, workers: usize) -> Result<Lane<'a>, Failure> {
        let runtime = race::start::<R>(workers)?;
        let length = self.0;
        let arm = move || {
            let begin = Instant::now();
            compute(length);
            (begin, Instant::now())
        };
        let take = move || {
            Ok(Measurement::of(|| {
                let (a, b) = runtime.install(|fork| R::join(fork, |_| arm(), |_| arm()));
                nanos_between(a.0.max(b.0), a.1.min(b.1))
            }))
        };
        Ok(Lane::new(&self.name(), R::NAME, workers, take))
    }
}
