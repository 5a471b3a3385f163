//! `cachestress` as a dag: the root drafts the tasks, and each task touches its whole array once
//! per pass.

use super::Simulated;
use crate::locality::cachestress::Cachestress;
use tidegate_sim::{Dag, Draft, Place, Step, Touch};

/// Time for one pass over 64 elements, in nanoseconds; one element takes 0.32 ns.
const OF_64: u64 = 21;

/// The dag of the program `cachestress`: independent tasks, each of which touches an array.
#[derive(Clone, Copy, Debug)]
pub struct CachestressDag {
    program: Cachestress,
}

/// What a task does next.
#[derive(Clone, Copy, Debug)]
pub enum Task {
    /// Drafts the task at this index; continues with the next index.
    Draft(usize),
    /// Touches the array at this index before each pass. The second field is the number of passes
    /// left.
    Touch(usize, u32),
    Read(usize, u32),
    Over,
}

impl Simulated for Cachestress {
    type Dag = CachestressDag;

    fn dag(&self) -> CachestressDag {
        CachestressDag { program: *self }
    }
}

impl Dag for CachestressDag {
    type Task = Task;

    fn root(&self) -> Task {
        Task::Draft(0)
    }

    fn next(&self, task: &mut Task) -> Step<Task> {
        let program = &self.program;
        let n = program.n as u64;
        let (next, step) = match *task {
            Task::Draft(number) if number == program.tasks => (Task::Over, Step::Join),
            Task::Draft(number) => {
                let (array, turn) = program.turn(number);
                let (part, drawn) = ((array, program.arrays), number as u64);
                let draft = Draft {
                    task: Task::Touch(array, program.passes),
                    name: drawn,
                    releases: 0,
                    place: Place::Inside,
                    put: program.locality.put(program.seed, part, turn, drawn),
                };
                (Task::Draft(number + 1), Step::Draft(draft))
            }
            Task::Touch(_, 0) | Task::Over => (Task::Over, Step::End),
            Task::Touch(array, passes) => {
                let touch = Touch {
                    name: array as u64,
                    bytes: n * size_of::<u32>() as u64,
                    writes: false,
                };
                (Task::Read(array, passes), Step::Touch(touch))
            }
            Task::Read(array, passes) => {
                (Task::Touch(array, passes - 1), Step::Work(n * OF_64 / 64))
            }
        };
        *task = next;
        step
    }
}
