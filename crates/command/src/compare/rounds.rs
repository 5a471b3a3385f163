//! Samples in rounds.

use std::thread;
use std::time::Duration;

use super::lane::Lane;
use super::row::Row;
use crate::failure::Failure;
use crate::output::Progress;

/// Time between two samples, in which the threads of the lane before come to rest.
const SETTLE: Duration = Duration::from_millis(1);

/// Takes `repeat` samples of each lane, one per round, after a round that does not count if `warm_up`.
pub fn take(mut lanes: Vec<Lane<'_>>, repeat: u32, warm_up: bool) -> Result<Vec<Row>, Failure> {
    let rounds = repeat + u32::from(warm_up);
    let progress = Progress::start(u64::from(rounds) * lanes.len() as u64);
    let mut rows: Vec<Row> = lanes.iter().map(Row::new).collect();
    for round in 0..rounds {
        for (lane, row) in lanes.iter_mut().zip(&mut rows) {
            progress.say(&format!(
                "{} on {} {}",
                lane.case, lane.runtime, lane.workers
            ));
            if let Some(sample) = &mut lane.take {
                thread::sleep(SETTLE);
                let sample = sample()?;
                if round > 0 || !warm_up {
                    row.add(sample);
                }
            }
            progress.step();
        }
    }
    Row::relate(&mut rows);
    Ok(rows)
}
