//! Tasks that wait for tasks they did not start. No task begins early, all tasks run, and a task
//! that can never begin ends the run with an error.

use crate::support::{alone, desired, greedy, job, whole, with_memory};
use std::cell::RefCell;
use tidegate_policy::{Nanos, Rng};
use tidegate_sim::{Dag, Draft, Place, Settings, Step, Width, WorkSpan, run};

/// A random graph of tasks in groups. Each task is a draft, and its edges may lead to any later
/// task.
struct Graph {
    work: Vec<Nanos>,
    after: Vec<Vec<usize>>,
    before: Vec<u32>,
    /// For each task, how many of its predecessors have not ended in the current run.
    missing: RefCell<Vec<u32>>,
}

/// Tasks per group.
const GROUP: usize = 10;

#[derive(Clone, Copy)]
enum GraphTask {
    /// Drafts one group after the other, inside itself.
    Whole(usize),
    /// Drafts its tasks: every third beside itself, the others inside itself.
    Group(usize),
    Begin(usize),
    /// Releases the task's successors.
    Release(usize, usize),
    Joined,
    End,
}

impl Graph {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let count = GROUP * (1 + rng.below(8) as usize);
        let work = (0..count).map(|_| 1 + rng.below(3_000)).collect();
        let mut before = vec![0; count];
        let after: Vec<Vec<_>> = (0..count)
            .map(|from| {
                let edges = 0..rng.below(4);
                let later = edges.map(|_| from + 1 + rng.below(40) as usize);
                later.filter(|to| *to < count).collect()
            })
            .collect();
        after.iter().flatten().for_each(|to| before[*to] += 1);
        Self {
            work,
            after,
            missing: RefCell::new(Vec::new()),
            before,
        }
    }

    /// Computes the span task by task.
    fn span(&self) -> Nanos {
        let mut begin = vec![0; self.work.len()];
        let mut span = 0;
        for (task, work) in self.work.iter().enumerate() {
            let end = begin[task] + work;
            span = span.max(end);
            for to in &self.after[task] {
                begin[*to] = begin[*to].max(end);
            }
        }
        span
    }
}

impl Dag for Graph {
    type Task = GraphTask;

    fn root(&self) -> GraphTask {
        self.missing.replace(self.before.clone());
        GraphTask::Whole(0)
    }

    fn next(&self, task: &mut GraphTask) -> Step<GraphTask> {
        let (next, step) = match *task {
            GraphTask::Whole(group) if group * GROUP < self.work.len() => {
                let group_task = Draft {
                    task: GraphTask::Group(group * GROUP),
                    name: u64::MAX - group as u64,
                    releases: 0,
                    place: Place::Inside,
                    put: None,
                };
                (GraphTask::Whole(group + 1), Step::Draft(group_task))
            }
            GraphTask::Group(number) => {
                let draft = Draft {
                    task: GraphTask::Begin(number),
                    name: number as u64,
                    releases: self.before[number],
                    place: [Place::Inside, Place::Beside][usize::from(number % 3 == 0)],
                    put: None,
                };
                let is_last = (number + 1) % GROUP == 0;
                let more = [GraphTask::Group(number + 1), GraphTask::Joined];
                (more[usize::from(is_last)], Step::Draft(draft))
            }
            GraphTask::Begin(number) => {
                assert_eq!(self.missing.borrow()[number], 0, "{number} begins early");
                (GraphTask::Release(number, 0), Step::Work(self.work[number]))
            }
            GraphTask::Release(number, edge) if edge < self.after[number].len() => {
                let to = self.after[number][edge];
                self.missing.borrow_mut()[to] -= 1;
                (
                    GraphTask::Release(number, edge + 1),
                    Step::Release(to as u64),
                )
            }
            GraphTask::Whole(_) | GraphTask::Joined => (GraphTask::End, Step::Join),
            GraphTask::Release(..) | GraphTask::End => (GraphTask::End, Step::End),
        };
        *task = next;
        step
    }
}

/// A run has the same work and span as a walk, and as a computation from the graph's edges.
#[test]
fn tasks_wait_for_their_releases() {
    for seed in 0..60 {
        let graph = Graph::new(seed);
        let extent = WorkSpan::of(&graph);
        let count = graph.work.len();
        assert_eq!(extent.tasks as usize, 1 + count + count / GROUP);
        assert_eq!(extent.work, graph.work.iter().sum::<Nanos>());
        assert_eq!(extent.span, graph.span());
        assert!(extent.drafts);
        for processors in [1, 2, 7, 64] {
            for (memory, steal) in [("none", "one"), ("none", "half"), ("hybrid", "one")] {
                let settings = Settings {
                    memory: memory.parse().unwrap(),
                    steal: steal.parse().unwrap(),
                    seed,
                    ..Settings::new(processors)
                };
                let job = alone(&settings, Graph::new(seed));
                let found = (job.counters.tasks, job.work, job.span);
                assert_eq!(found, (extent.tasks, extent.work, extent.span), "{seed}");
            }
        }
    }
}

/// The bound also holds for graphs that are not trees.
#[test]
fn costless_graph_keeps_greedy_bound() {
    for seed in 0..60 {
        for processors in [2, 5, 64] {
            let job = alone(&greedy(processors), Graph::new(seed));
            assert!(job.time() <= job.work / processors as u64 + job.span);
        }
    }
}

#[test]
fn jobs_with_desires_run_graphs_too() {
    let settings = Settings {
        cycle: 100_000,
        ..Settings::new(8)
    };
    let jobs = [1, 2, 3].map(|seed| job(Graph::new(seed), seed * 1_000, desired("wsap")));
    let outcome = run(&settings, &jobs).unwrap();
    for (job, ran) in jobs.iter().zip(&outcome.jobs) {
        assert_eq!(ran.counters.tasks, WorkSpan::of(&job.dag).tasks);
    }
}

/// The run ends under every idle policy.
#[test]
fn unreleased_tasks_end_with_error() {
    for idle in ["elastic", "yield", "linear", "none"] {
        for width in [Width::Fixed(4), desired("wsap")] {
            let mut graph = Graph::new(3);
            graph.before[7] += 1;
            let settings = Settings {
                idle: idle.parse().unwrap(),
                cycle: 100_000,
                ..Settings::new(4)
            };
            let job = job(graph, 0, width);
            let error = run(&settings, &[job]).unwrap_err().to_string();
            assert!(error.starts_with("job 0 never releases all of its drafts; "));
        }
    }
}

#[test]
fn memory_orders_reject_pending_tasks() {
    for memory in ["depth-first", "dfdeques", "budget:bytes=10,serial=10"] {
        let settings = with_memory(4, memory);
        let error = run(&settings, &[whole(Graph::new(3), &settings)]).unwrap_err();
        let text = error.to_string();
        assert!(text.ends_with("expected none or hybrid"), "{text}");
    }
}
