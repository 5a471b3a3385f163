//! The machine on which this process runs.

use std::path::PathBuf;
use tidegate_machine::{CpuList, Limits, Machine};
use tidegate_sync::OnceBox;

/// The machine, and the folder below which its files are.
static MACHINE: OnceBox<(PathBuf, Machine)> = OnceBox::new();

/// Reads the machine's files below `root` instead of `/`, in the whole process, for tests. Has no
/// effect once the machine was read.
pub fn pretend(root: PathBuf) {
    MACHINE.get_or_init(|| {
        let machine = Machine::read_from(&root);
        (root, machine)
    });
}

fn read() -> &'static (PathBuf, Machine) {
    MACHINE.get_or_init(|| (PathBuf::from("/"), Machine::read()))
}

/// Returns the machine as it was when a pool first needed it. Reading it takes about a millisecond.
pub(crate) fn machine() -> &'static Machine {
    &read().1
}

/// Returns the calling thread's current affinity.
pub(crate) fn affinity() -> Option<CpuList> {
    Machine::current_affinity(&read().0)
}

/// Reads the current affinity and quotas, or returns `None` if there is a new problem in reading
/// them. As long as the calling thread's affinity is `before`, the affinity with which the machine
/// was first read counts.
pub(crate) fn limits(before: Option<&CpuList>) -> Option<Limits> {
    let (root, machine) = read();
    machine.limits(root, before)
}
