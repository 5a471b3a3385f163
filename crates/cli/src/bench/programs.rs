//! The programs of intervals, each timed serially and on several pools in turns.

use std::hint::black_box;
use std::time::Instant;

use tidegate::{Pool, Queue, Share};
use tidegate_workloads::registry::{ENTRIES, Entry};
use tidegate_workloads::{Given, Program, Runtime, Size, Tidegate, Visitor, visit};

use crate::failure::Failure;
use crate::output::Progress;
use crate::reference::{Found, Reference};
use crate::statistics::Summary;

/// What a program takes, in seconds.
pub struct Times {
    pub serial: Summary,
    /// On each pool.
    pub pools: Vec<Summary>,
}

/// The programs.
pub fn all() -> impl Iterator<Item = &'static Entry> {
    ENTRIES.iter().filter(|entry| entry.intervals)
}

/// A pool that other jobs leave alone.
pub fn pool(workers: usize, queue: Queue) -> Result<Tidegate, Failure> {
    let builder = Pool::builder().workers(workers).queue(queue);
    let pool = builder.share(Share::Off).build();
    pool.map(Tidegate::new)
        .map_err(|error| Failure::Impossible(error.to_string()))
}

/// Times one of them and checks each of its answers.
pub fn time(
    name: &str,
    size: Size,
    pools: &[Tidegate],
    repeat: u32,
    progress: &Progress,
) -> Result<Times, Failure> {
    let visitor = InTurns {
        pools,
        repeat,
        progress,
    };
    visit(name, size, &Given::default(), visitor)?
}

struct InTurns<'a> {
    pools: &'a [Tidegate],
    repeat: u32,
    progress: &'a Progress,
}

impl Visitor for InTurns<'_> {
    type Out = Result<Times, Failure>;

    fn visit<P: Program>(self, program: P) -> Self::Out {
        self.progress.say(P::NAME);
        let mut input = program
            .prepare()
            .map_err(|error| Failure::Impossible(error.to_string()))?;
        let (_, output) = serially(&program, &mut input);
        let found = Found::new(&program, &input, output);
        let published = Reference::published(&program);
        let mut reference = published.unwrap_or_else(|| Reference::serial(found));
        let mut serial = Vec::new();
        let mut pools = vec![Vec::new(); self.pools.len()];
        for _ in 0..self.repeat {
            program.reset(&mut input);
            serial.push(serially(&program, &mut input).0);
            for (pool, seconds) in self.pools.iter().zip(&mut pools) {
                program.reset(&mut input);
                let (took, output) = pool.install(|fork| {
                    let start = Instant::now();
                    let output = program.parallel::<Tidegate>(black_box(&mut input), fork);
                    (start.elapsed().as_secs_f64(), output)
                });
                seconds.push(took);
                let mut found = Found::new(&program, &input, output);
                if !reference.check(&program, &input, &mut found).agrees {
                    let (name, source) = (P::NAME, reference.source());
                    let what = format!("{name}: the answer is not that of {source}");
                    return Err(Failure::Wrong(what));
                }
            }
            self.progress.step();
        }
        let summary = |seconds: Vec<f64>| Summary::of(seconds).expect("one repetition at least");
        Ok(Times {
            serial: summary(serial),
            pools: pools.into_iter().map(summary).collect(),
        })
    }
}

fn serially<P: Program>(program: &P, input: &mut P::Input) -> (f64, P::Output) {
    let start = Instant::now();
    let output = program.serial(black_box(input));
    (start.elapsed().as_secs_f64(), output)
}
