//! The program `uts` on the published rayon: the hidden command `bench rayon-uts`.

use std::io;

use tidegate_workloads::uts::Uts;
use tidegate_workloads::{Given, On, Program, Rayon, Runtime, find};

use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::trial;

use crate::bench::rayon_programs;
use tidegate_cli_support::arguments::Size;

/// Runs the program `repeat` times on as many threads as `RAYON_NUM_THREADS` says, and checks each
/// answer.
pub fn serve(size: Size, repeat: usize) -> Result<(), Failure> {
    let mut trial = find(Uts::NAME, size.into(), &Given::default())?;
    let failed = |error: io::Error| Failure::Impossible(format!("rayon: {error}"));
    let runtime = Rayon::with_workers(rayon_programs::threads()?).map_err(failed)?;
    let on = On::Rayon(&runtime);
    trial::prepare(&mut *trial)?;
    trial.refer();
    for _ in 0..repeat {
        trial.run(on);
        trial::check_last(&mut *trial, on)?;
    }
    Ok(())
}
