//! The programs of intervals, each timed serially and on several pools in turns.

use tidegate::{Pool, Queue, Share};
use tidegate_workloads::registry::{ENTRIES, Entry};
use tidegate_workloads::{Given, Program, Runtime, Size, Tidegate, Visitor, visit};

use tidegate_command::failure::Failure;
use tidegate_command::output::Progress;
use tidegate_command::reference::{Found, Reference};
use tidegate_command::statistics::Summary;
use tidegate_command::timed::timed;

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

/// Times one of them in so many rounds, and checks the last answer of each sample.
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
        let output = program.serial(&mut input);
        let found = Found::new(&program, &input, output);
        let published = Reference::published(&program);
        let mut reference = published.unwrap_or_else(|| Reference::serial(found));
        let mut serial = Vec::new();
        let mut pools = vec![Vec::new(); self.pools.len()];
        for round in 0..self.repeat as usize {
            serial.push(timed(&program, &mut input, |input| program.serial(input)).0 / 1e9);
            // Each is now and then the first, which is the one whose caches are cold.
            for turn in 0..self.pools.len() {
                let number = (round + turn) % self.pools.len();
                let input = &mut input;
                let (nanos, output) = self.pools[number].install(|fork| {
                    timed(&program, input, |input| {
                        program.parallel::<Tidegate>(input, fork)
                    })
                });
                pools[number].push(nanos / 1e9);
                let mut found = Found::new(&program, input, output);
                if !reference.check(&program, input, &mut found).agrees {
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
