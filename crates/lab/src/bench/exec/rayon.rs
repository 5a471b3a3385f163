//! The program `uts` on the published rayon: the hidden command `bench rayon-uts`.

use std::io;

use tidegate_workloads::uts::Uts;
use tidegate_workloads::{Given, Program, Rayon, Runtime, Values};

use tidegate_command::failure::Failure;
use tidegate_command::reference::{Found, Reference};

use crate::arguments::Size;
use crate::bench::rayon_programs;

/// Runs the program `repeat` times on as many threads as `RAYON_NUM_THREADS` says, and checks each
/// answer.
pub fn serve(size: Size, repeat: usize) -> Result<(), Failure> {
    let values = Values::parse(Uts::PARAMETERS, size.into(), &Given::default());
    let program = values.and_then(|values| Uts::from_values(&values))?;
    let failed = |error: io::Error| Failure::Impossible(format!("rayon: {error}"));
    let runtime = Rayon::with_workers(rayon_programs::threads()?).map_err(failed)?;
    let mut input = program.prepare().map_err(failed)?;
    let mut reference = Reference::of(&program, &mut input);
    for _ in 0..repeat {
        let output = runtime.install(|fork| program.parallel::<Rayon>(&mut input, fork));
        let mut found = Found::new(&program, &input, output);
        if !reference.check(&program, &input, &mut found).agrees {
            return Err(Failure::Wrong("uts: wrong answer".to_owned()));
        }
    }
    Ok(())
}
