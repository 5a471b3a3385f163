//! Tasks that are put into places run there first, and every task runs. Loading data that a place's
//! cache does not hold takes time.

use crate::support::alone;
use tidegate_policy::PlaceTree;
use tidegate_sim::{Costs, Dag, Draft, Place, Put, Settings, Step, Touch};

/// Rounds of tasks. Each task is put into a place and has its own data, which it touches before it
/// works. A round is drafted when the previous round has ended.
struct Rounds {
    rounds: u32,
    /// Where each task of a round is put.
    puts: Vec<Option<Put>>,
    bytes: u64,
}

const WORK: u64 = 1_000_000;

#[derive(Clone, Copy, PartialEq)]
enum Task {
    Draft(u32, usize),
    Touch(usize),
    Work,
    Over,
}

impl Dag for Rounds {
    type Task = Task;

    fn root(&self) -> Task {
        Task::Draft(0, 0)
    }

    fn next(&self, task: &mut Task) -> Step<Task> {
        let (next, step) = match *task {
            Task::Draft(round, _) if round == self.rounds => (Task::Over, Step::End),
            Task::Draft(round, number) => match self.puts.get(number) {
                None => (Task::Draft(round + 1, 0), Step::Join),
                Some(&put) => {
                    let draft = Draft {
                        task: Task::Touch(number),
                        name: 0,
                        releases: 0,
                        place: Place::Inside,
                        put,
                    };
                    (Task::Draft(round, number + 1), Step::Draft(draft))
                }
            },
            Task::Touch(number) => {
                let touch = Touch {
                    name: number as u64,
                    bytes: self.bytes,
                    writes: false,
                };
                (Task::Work, Step::Touch(touch))
            }
            Task::Work => (Task::Over, Step::Work(WORK)),
            Task::Over => (Task::Over, Step::End),
        };
        *task = next;
        step
    }
}

const fn put(part: u32, turn: u32) -> Option<Put> {
    Some(Put {
        part,
        parts: 2,
        turn,
    })
}

/// Returns a machine with two places of four workers, with caches of this size.
fn machine(cache: u64) -> Settings {
    let halves = vec![(0..4).collect(), (4..8).collect()];
    Settings {
        places: PlaceTree::from_groups(8, &[halves]).unwrap(),
        cache,
        ..Settings::new(8)
    }
}

fn rounds(rounds: u32, puts: impl IntoIterator<Item = Option<Put>>) -> Rounds {
    Rounds {
        rounds,
        puts: puts.into_iter().collect(),
        bytes: 1 << 20,
    }
}

#[test]
fn placed_tasks_find_their_data() {
    // Each place gets four tasks per round, as many as it has workers.
    let evenly = || (0..8).map(|number| put(number % 2, 0));
    let job = alone(&machine(8 << 20), rounds(20, evenly()));
    assert_eq!(job.counters.touched_bytes, 160 << 20);
    assert_eq!(job.counters.missed_bytes, 8 << 20);
    assert_eq!(job.counters.steals, 0);
    // Tasks that are not put into a place run anywhere.
    let job = alone(&machine(8 << 20), rounds(20, vec![None; 8]));
    assert!(job.counters.missed_bytes > 8 << 20, "{:?}", job.counters);
}

#[test]
fn cache_misses_cost_time_and_work() {
    let settings = machine(1 << 19);
    let job = alone(&settings, rounds(3, [put(0, 0)]));
    let each = settings.costs.miss * 1_024;
    assert_eq!(job.counters.missed_bytes, 3 << 20);
    assert_eq!((job.work, job.span), (3 * (WORK + each), 3 * (WORK + each)));
    let job = alone(&machine(0), rounds(3, [put(0, 0)]));
    assert_eq!((job.counters.missed_bytes, job.work), (0, 3 * WORK));
}

#[test]
fn workers_help_an_overloaded_place() {
    let job = alone(&machine(0), rounds(1, vec![put(1, 0); 80]));
    let even = job.work / 8;
    assert!(job.time() < even + even / 4, "{} of {even}", job.time());
}

#[test]
fn placed_task_wakes_sleeping_worker() {
    // One task at a time is put into the second place, long after that place's workers have parked.
    let settings = Settings {
        cache: 8 << 20,
        costs: Costs {
            miss: 1_000,
            ..Costs::default()
        },
        ..machine(0)
    };
    let job = alone(&settings, rounds(50, [put(1, 0)]));
    // If a worker of the other place had run one of the tasks, the cache of that place would have
    // missed the data as well.
    assert_eq!(job.counters.missed_bytes, 1 << 20);
}

#[test]
fn place_numbers_wrap_around() {
    let of = |part, parts, turn, places| Put { part, parts, turn }.of(places);
    assert_eq!([0, 1, 2, 3].map(|part| of(part, 4, 0, 2)), [0, 0, 1, 1]);
    assert_eq!([0, 1, 2, 3].map(|turn| of(1, 2, turn, 3)), [1, 2, 0, 1]);
    assert_eq!(of(u32::MAX - 1, u32::MAX, u32::MAX, 1), 0);
}

#[test]
fn placed_run_repeats_with_seed() {
    let random = || rounds(10, (0..64).map(|number| put(number / 3 % 2, number)));
    let once = alone(&machine(4 << 20), random());
    assert_eq!(alone(&machine(4 << 20), random()), once);
}
