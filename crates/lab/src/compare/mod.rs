//! `tidegate-lab compare`: compares runtimes on one mechanism, in interleaved runs.
//!
//! | module | measures |
//! |---|---|
//! | [`wake`] | forks that must wake a worker |
//! | [`idle`] | idle pools |
//! | [`arms`] | joins with two long arms |
//! | [`hidden`] | work behind an owner that does not poll |
//! | [`loops`] | short loops |
//! | [`spawn`] | detached tasks, and handles |
//! | [`iter`] | rayon's iterators, on stock rayon-core and on Tidegate, each in its own process; Tidegate's own loops beside them |

mod arguments;
mod arms;
mod fact;
mod hidden;
mod idle;
pub mod iter;
mod loops;
mod spawn;
mod wake;

use tidegate_cli_support::compare::carry_out;
use tidegate_cli_support::compare::lane::Lane;
use tidegate_cli_support::compare::row::Row;
use tidegate_cli_support::failure::Failure;

use crate::engine::Session;
pub use arguments::{CompareArguments, Mechanism};

pub fn compare(arguments: &CompareArguments) -> Result<(), Failure> {
    carry_out(&arguments.flags, |setting| {
        let name = format!("compare-{}", arguments.mechanism.name());
        let session = Session::whole(name, setting.size, &arguments.keep);
        let mut outcome = match &arguments.mechanism {
            Mechanism::Wake => wake::compare(setting, &session),
            Mechanism::Idle => idle::compare(setting, &session),
            Mechanism::JoinArms => arms::compare(setting, &session),
            Mechanism::Hidden => hidden::compare(setting, &session),
            Mechanism::Loop => loops::compare(setting, &session),
            Mechanism::Spawn => spawn::compare(setting, &session),
            Mechanism::Iter { chains } => iter::compare(iter::ITERATORS, chains, setting, &session),
            Mechanism::Native { loops } => iter::compare(iter::LOOPS, loops, setting, &session),
        }?;
        outcome.notes.extend(session.notes());
        Ok(outcome)
    })
}

/// Measures each lane `repeat` times, with interleaved runs, and computes the ratios within each
/// case.
fn rows(session: &Session, mut lanes: Vec<Lane<'_>>, repeat: u32) -> Result<Vec<Row>, Failure> {
    let is_able = |lane: &usize| lanes[*lane].take.is_some();
    let able: Vec<usize> = (0..lanes.len()).filter(is_able).collect();
    let names: Vec<String> = able.iter().map(|lane| lanes[*lane].name()).collect();
    let measured = session.share_turns(&names, repeat.into(), |cell, _| {
        lanes[able[cell]].measure().expect("it is able to")
    })?;
    let mut taken = vec![Vec::new(); lanes.len()];
    for (lane, measured) in able.into_iter().zip(measured) {
        taken[lane] = measured;
    }
    Ok(Row::all(&lanes, &taken))
}
