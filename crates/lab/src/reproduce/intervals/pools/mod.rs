//! Runs on this machine: programs on pools that differ in their queues or in their places.

mod findings;

use std::sync::Arc;

use tidegate::machine::{CacheKind, Machine, Topology};
use tidegate::{
    Pool,
    policy::{Choose, PlaceBy, SharePolicy},
};
use tidegate_policy::QueueKind;
use tidegate_workloads::Tidegate;
use tidegate_workloads::locality::Locality;

use super::localities::given;
use crate::arguments::Size;
pub use crate::bench::subject::Ran;
use crate::bench::subject::Subject;
use crate::engine::{Cell, Sample, Session};
use crate::reproduce::page::{Page, Setting};
use crate::reproduce::simulated::Work;
use tidegate_command::failure::Failure;
use tidegate_command::options;

/// The number of workers in the pools that differ in their queues. Parts (a) of the published
/// tables are for two cores.
pub const WORKERS: usize = 2;

/// With fewer runs, times are not judged.
const FEWEST_RUNS: usize = 3;

/// The queues of the thesis.
pub const QUEUES: [QueueKind; 8] = [
    QueueKind::Lazy,
    QueueKind::ChaseLev,
    QueueKind::Dynamic,
    QueueKind::IdempotentDeque,
    QueueKind::IdempotentFifo,
    QueueKind::IdempotentLifo,
    QueueKind::Duplicating,
    QueueKind::Shared,
];

/// The programs of section 5.2 and chapter 11.
pub const SUITE: [&str; 7] = [
    "crypt",
    "lufact",
    "moldyn",
    "montecarlo",
    "raytracer",
    "series",
    "sor",
];

/// Further programs without hints.
const EXTRAS: [&str; 2] = ["fib", "quicksort"];

/// The programs of section 5.3, which give hints.
const HINTED: [&str; 3] = ["cachestress", "mergesort", "blockmatmul"];

/// The kind of pool that a program runs on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Contender {
    /// Two workers with this queue.
    Queue(QueueKind),
    /// Two workers with the queue [`QueueKind::Lazy`]. They park as soon as they find nothing.
    Parking,
    /// All workers in one place.
    OnePlace,
    /// A place for each worker.
    PlaceEach,
    /// A place for each last-level cache, or for each worker if there is only one such cache.
    /// Workers are bound to CPUs, and the program's tasks are assigned to places.
    Hinted(Locality),
}

impl Contender {
    /// Returns a short name, and a name that contains everything a run depends on.
    fn names(self) -> [String; 2] {
        match self {
            Self::Queue(queue) => [queue.to_string(), format!("queue={queue}")],
            Self::Parking => [
                "parks at once".to_owned(),
                "idle=elastic:search=0ns".to_owned(),
            ],
            Self::OnePlace => ["one place".to_owned(), "places=machine".to_owned()],
            Self::PlaceEach => [
                "a place for each worker".to_owned(),
                "places=each:1".to_owned(),
            ],
            Self::Hinted(locality) => [
                locality.name().to_owned(),
                format!("places={} bound=yes", places()),
            ],
        }
    }

    fn pool(self) -> Result<Tidegate, Failure> {
        let (workers, _) = options::number_of_workers(None)?;
        // A single worker would have neither a victim nor a second place.
        let all = Pool::builder().workers(workers.max(2));
        let two = Pool::builder().workers(WORKERS);
        let builder = match self {
            Self::Queue(queue) => two.queue(queue),
            Self::Parking => two.queue(QueueKind::Lazy).idle(
                "elastic:search=0ns"
                    .parse()
                    .expect("a policy of this program"),
            ),
            Self::OnePlace => all.places(PlaceBy::Machine),
            Self::PlaceEach => all.places(PlaceBy::Each(1)),
            Self::Hinted(_) => all.places(places()).bind(true),
        };
        let pool = builder.share(SharePolicy::Off).build();
        pool.map(Tidegate::new)
            .map_err(|error| Failure::Impossible(error.to_string()))
    }
}

/// Returns how programs with hints divide the processors into places.
fn places() -> PlaceBy {
    if has_several_caches(Machine::read().topology()) {
        PlaceBy::Cache
    } else {
        PlaceBy::Each(1)
    }
}

/// Whether the machine has more than one last-level cache.
fn has_several_caches(topology: &Topology) -> bool {
    let caches = || {
        let caches = topology.caches().iter();
        caches.filter(|cache| cache.kind != CacheKind::Instruction)
    };
    let last = caches().map(|cache| cache.level).max();
    caches().filter(|cache| Some(cache.level) == last).count() > 1
}

/// A program and the pool that it runs on.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Key {
    program: &'static str,
    contender: Contender,
}

/// Lists all programs on all pools, program by program.
fn keys() -> Vec<Key> {
    let queues = QUEUES.map(Contender::Queue);
    let places = [Contender::OnePlace, Contender::PlaceEach];
    let suite = queues.into_iter().chain([Contender::Parking]).chain(places);
    let suite: Vec<Contender> = suite.collect();
    let hinted = Locality::ALL.map(Contender::Hinted);
    let each = |programs: &[&'static str], contenders: &[Contender]| -> Vec<Key> {
        let of = |&program| {
            contenders
                .iter()
                .map(move |&contender| Key { program, contender })
        };
        programs.iter().flat_map(of).collect()
    };
    [
        each(&SUITE, &suite),
        each(&EXTRAS, &places),
        each(&HINTED, &hinted),
    ]
    .concat()
}

/// Returns a program and its parameters at a size. The programs of the suite have as many tasks as
/// the sums of takes and steals in tables 11.2 and 11.3 imply: 100,000 for Series, 60,000 for
/// MonteCarlo, 3,400 for MolDyn, and one for each row of SOR. At size small, they have a tenth as
/// many.
fn work(key: Key, size: Size) -> Work {
    let pieces: &str = match (key.program, size) {
        (_, Size::Tiny) => "",
        ("series", Size::Small) => "pieces=10000",
        ("series", Size::Paper) => "pieces=100000",
        ("montecarlo", Size::Small) => "pieces=6000",
        ("montecarlo", Size::Paper) => "pieces=60000",
        ("sor", Size::Small) => "pieces=150",
        ("sor", Size::Paper) => "pieces=2000",
        ("moldyn", _) => "pieces=22",
        _ => "",
    };
    let given = match key.contender {
        Contender::Hinted(locality) => given(locality),
        _ => pieces,
    };
    Work::new(key.program, key.program, size.into(), given)
}

fn subject(work: &Work) -> Subject {
    Subject::new(work.program, work.size, work.given())
}

/// The cells, and how often to run them.
pub struct Trial {
    pub runs: u64,
    size: Size,
    cells: Vec<Cell<'static, Ran>>,
}

impl Trial {
    pub fn new(size: Size, runs: u64) -> Result<Self, Failure> {
        let mut pools: Vec<(Contender, Arc<Tidegate>)> = Vec::new();
        let mut subjects: Vec<(Work, Arc<Subject>)> = Vec::new();
        let mut cells = Vec::new();
        for key in keys() {
            let work = work(key, size);
            let [short, full] = key.contender.names();
            let name = format!(
                "this machine/{}/{}/{short}/{full}",
                key.program,
                work.in_full()
            );
            let pool = kept(&mut pools, key.contender, |contender| {
                Ok(Arc::new(contender.pool()?))
            })?;
            let subject = kept(&mut subjects, work, |work| Ok(Arc::new(subject(&work))))?;
            cells.push(Cell::new(name, move |_| subject.run(&pool)));
        }
        Ok(Self { runs, size, cells })
    }

    pub fn expect(&self, session: &Session) {
        session.expect(&self.cells, self.runs);
    }

    pub fn measure(self, session: &Session) -> Result<Measured, Failure> {
        let ran = session.in_turns(&self.cells, self.runs)?;
        Ok(Measured {
            size: self.size,
            rows: keys().into_iter().zip(ran).collect(),
        })
    }
}

/// Returns the value cached under this key, creating it if it is missing.
fn kept<K: Clone + PartialEq, V: Clone>(
    all: &mut Vec<(K, V)>,
    key: K,
    make: impl FnOnce(K) -> Result<V, Failure>,
) -> Result<V, Failure> {
    if let Some((_, value)) = all.iter().find(|(other, _)| *other == key) {
        return Ok(value.clone());
    }
    let value = make(key.clone())?;
    all.push((key, value.clone()));
    Ok(value)
}

pub struct Measured {
    size: Size,
    rows: Vec<(Key, Vec<Ran>)>,
}

impl Measured {
    pub fn sample(
        &self,
        program: &'static str,
        contender: Contender,
        figure: impl Fn(&Ran) -> f64,
    ) -> Sample {
        let key = Key { program, contender };
        let row = self.rows.iter().find(|(other, _)| *other == key);
        Sample::new(row.into_iter().flat_map(|(_, runs)| runs).map(figure))
    }

    /// Whether there are too few runs to estimate how much times on this machine vary.
    pub fn has_few_runs(&self) -> bool {
        let most = self.rows.iter().map(|(_, runs)| runs.len()).max();
        most < Some(FEWEST_RUNS)
    }

    pub fn seconds(&self, program: &'static str, contender: Contender) -> Sample {
        self.sample(program, contender, |ran| ran.seconds)
    }

    pub fn add_to(&self, page: &mut Page) {
        let several = has_several_caches(Machine::read().topology());
        let caches = if several {
            "several last-level caches"
        } else {
            "one last-level cache, which cannot show locality"
        };
        page.made.push(Setting::new("this machine", caches));
        page.findings.extend(findings::findings(self, several));
        page.sections.extend(findings::sections(self));
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Makes up runs of every program on every pool.
    pub fn measured(size: Size, run: impl Fn(&str, Contender) -> Ran) -> Measured {
        let row = |key: Key| (key, vec![run(key.program, key.contender); 3]);
        Measured {
            size,
            rows: keys().into_iter().map(row).collect(),
        }
    }

    #[test]
    fn cells_have_different_names() {
        let trial = Trial::new(Size::Small, 1).unwrap();
        let names: std::collections::BTreeSet<_> =
            trial.cells.iter().map(|cell| &cell.name).collect();
        assert_eq!(names.len(), keys().len());
    }

    #[test]
    fn last_level_caches_are_counted() {
        for (text, several) in [
            ("cpus 0-3\nL2 0-1 2-3 size=1M\nL3 0-3 size=8M", false),
            ("cpus 0-3\nL2 0-1 2-3 size=1M", true),
            ("cpus 0-3", false),
        ] {
            assert_eq!(
                has_several_caches(&text.parse().unwrap()),
                several,
                "{text}"
            );
        }
    }

    #[test]
    fn subject_checks_its_answer_and_counters() {
        let key = Key {
            program: "series",
            contender: Contender::Queue(QueueKind::ChaseLev),
        };
        let subject = subject(&work(key, Size::Tiny));
        let ran = subject.run(&key.contender.pool().unwrap()).unwrap();
        assert!(ran.seconds > 0.0 && ran.takes >= ran.failed_takes);
        assert!(ran.takes - ran.failed_takes + ran.steals > 0.0, "{ran:?}");
    }
}
