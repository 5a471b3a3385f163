//! A worker's position on the machine.

use super::binding::Binding;
use crate::cells::Hint;

#[derive(Default)]
pub(crate) struct Position {
    cpu_slot: Hint<Option<usize>>,
    last_cpu_slot: Hint<Option<usize>>,
    /// The group whose task the worker runs, if the worker's own CPU slot belongs to a different
    /// group.
    pub(crate) home: Hint<Option<usize>>,
    /// Whether the worker's thread belongs to the user and has no CPU slot.
    pub(crate) unpinned: Hint<bool>,
    pub(super) binding: Binding,
}

impl Position {
    pub(crate) fn cpu_slot(&self) -> Option<usize> {
        self.cpu_slot.get()
    }

    /// The CPU slot that the worker has, or had most recently.
    pub(crate) fn last_cpu_slot(&self) -> Option<usize> {
        self.last_cpu_slot.get()
    }

    pub(crate) fn set_cpu_slot(&self, cpu_slot: Option<usize>) {
        self.cpu_slot.set(cpu_slot);
        if cpu_slot.is_some() {
            self.last_cpu_slot.set(cpu_slot);
        }
    }
}
