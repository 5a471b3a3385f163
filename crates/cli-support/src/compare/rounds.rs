//! Measures lanes in interleaved rounds.

use super::lane::Lane;
use super::row::Row;
use crate::failure::Failure;
use crate::output::Progress;

/// Measures each lane `repeat` times, once per round, after a warm-up round.
pub fn take(mut lanes: Vec<Lane<'_>>, repeat: u32) -> Result<Vec<Row>, Failure> {
    let rounds = repeat + 1;
    let progress = Progress::start(u64::from(rounds) * lanes.len() as u64);
    let mut taken: Vec<_> = lanes.iter().map(|_| Vec::new()).collect();
    for round in 0..rounds {
        for (lane, taken) in lanes.iter_mut().zip(&mut taken) {
            progress.say(&lane.name());
            let measurement = lane.measure().transpose()?;
            taken.extend(measurement.filter(|_| round > 0));
            progress.step();
        }
    }
    Ok(Row::all(&lanes, &taken))
}
