//! The program `uts` on the published rayon: the hidden command `bench rayon-uts`.

use std::io;

use tidegate_workloads::{Given, Program, Rayon, Runtime, Visitor, visit};

use tidegate_command::failure::Failure;
use tidegate_command::reference::{Found, Reference};

use crate::arguments::Size;
use crate::bench::rayon_programs;

/// Runs the program `repeat` times on as many threads as `RAYON_NUM_THREADS` says, and checks each
/// answer.
pub fn serve(size: Size, repeat: usize) -> Result<(), Failure> {
    visit("uts", size.into(), &Given::default(), OnRayon { repeat })?
}

struct OnRayon {
    repeat: usize,
}

impl Visitor for OnRayon {
    type Out = Result<(), Failure>;

    fn visit<P: Program>(self, program: P) -> Self::Out {
        let failed = |error: io::Error| Failure::Impossible(format!("rayon: {error}"));
        let runtime = Rayon::with_workers(rayon_programs::threads()?).map_err(failed)?;
        let mut input = program.prepare().map_err(failed)?;
        let mut reference = Reference::published(&program).unwrap_or_else(|| {
            let output = program.serial(&mut input);
            Reference::serial(Found::new(&program, &input, output))
        });
        for _ in 0..self.repeat {
            let output = runtime.install(|fork| program.parallel::<Rayon>(&mut input, fork));
            let mut found = Found::new(&program, &input, output);
            if !reference.check(&program, &input, &mut found).agrees {
                return Err(Failure::Wrong(format!("{}: wrong answer", P::NAME)));
            }
        }
        Ok(())
    }
}
