//! Large machines and long runs need memory only for the tasks in progress.

use crate::support::alone;
use tidegate_policy::PlaceTree;
use tidegate_sim::{Dag, Draft, Place, Settings, Step};
use tidegate_testkit::soak;

/// The limit on the process's peak memory, in bytes. A soak runs ten million tasks of each kind, so
/// this is about 26 bytes per task, and a soak has the process to itself. All other tests together
/// stay far below it.
const MOST_RESIDENT: u64 = 256 << 20;
const PROCESSORS: usize = 4_096;

/// Returns the peak of this process's memory, if the system reports it.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}

/// A tree with this many leaves, split in halves.
struct Tree(u64);

/// A part of the tree: its number of leaves, and whether it has begun.
type TreeTask = (u64, bool);

impl Dag for Tree {
    type Task = TreeTask;

    fn root(&self) -> TreeTask {
        (self.0, false)
    }

    fn next(&self, (leaves, begun): &mut TreeTask) -> Step<TreeTask> {
        match (*leaves, std::mem::replace(begun, true)) {
            (_, true) => Step::End,
            (1, false) => Step::Work(1_000),
            (n, false) => Step::Fork((n / 2, false), (n - n / 2, false)),
        }
    }
}

/// A square of tasks with rows of this length. Each task waits for the task above it and the task
/// to its left.
struct Front(u64);

#[derive(Clone, Copy)]
enum FrontTask {
    Whole,
    Join,
    Work(u64, u64),
    Right(u64, u64),
    Below(u64, u64),
    End,
}

impl Front {
    fn draft(&self, row: u64, column: u64, releases: u32, place: Place) -> Step<FrontTask> {
        Step::Draft(Draft {
            task: FrontTask::Work(row, column),
            name: row * self.0 + column,
            releases,
            place,
            put: None,
        })
    }
}

impl Dag for Front {
    type Task = FrontTask;

    fn root(&self) -> FrontTask {
        FrontTask::Whole
    }

    fn next(&self, task: &mut FrontTask) -> Step<FrontTask> {
        let last = self.0 - 1;
        let (next, step) = match *task {
            FrontTask::Whole => (FrontTask::Join, self.draft(0, 0, 0, Place::Inside)),
            FrontTask::Join => (FrontTask::End, Step::Join),
            FrontTask::Work(row, column) => (FrontTask::Right(row, column), Step::Work(1_000)),
            FrontTask::Right(row, column) if column < last => (
                FrontTask::Below(row, column),
                self.draft(row, column + 1, u32::from(row > 0), Place::Beside),
            ),
            FrontTask::Right(row, column) | FrontTask::Below(row, column) if row < last => (
                FrontTask::End,
                match column {
                    0 => self.draft(row + 1, 0, 0, Place::Beside),
                    _ => Step::Release((row + 1) * self.0 + column),
                },
            ),
            _ => (FrontTask::End, Step::End),
        };
        *task = next;
        step
    }
}

/// Runs `dag` on a machine with cores, caches and nodes. Returns how many tasks ran.
fn tasks<D: Dag>(dag: D) -> u64 {
    let groups = [2, 16, 64, 512].map(|size| {
        let all: Vec<usize> = (0..PROCESSORS).collect();
        all.chunks(size).map(<[usize]>::to_vec).collect()
    });
    let settings = Settings {
        places: PlaceTree::from_groups(PROCESSORS, &groups).unwrap(),
        ..Settings::new(PROCESSORS)
    };
    alone(&settings, dag).counters.tasks
}

#[test]
fn memory_covers_only_active_tasks() {
    let unit = format!("tasks on {PROCESSORS} processors, forked and as a wavefront");
    let leaves = soak(20_000, &unit) / 2;
    assert_eq!(tasks(Tree(leaves)), 2 * leaves - 1);
    let side = (2 * leaves).isqrt();
    assert_eq!(tasks(Front(side)), 1 + side * side);
    if let Some(resident) = resident() {
        assert!(resident < MOST_RESIDENT, "{resident} bytes");
    }
}
