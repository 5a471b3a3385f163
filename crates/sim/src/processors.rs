//! Which workers have a processor.
//!
//! A worker that runs or searches needs one; one that is parked, naps or is asleep needs none. Where more workers want one
//! than there are, they stand in line, and whoever has had a processor the longest gives it up after a slice of time, as
//! under an operating system. That happens only where the workers awake are more than the processors: while workers that are to
//! leave have not left, and where there are more jobs than processors.
//!
//! It knows no time and moves nothing: the machine takes a worker's next moment back and sets it again.

use std::collections::VecDeque;
use std::ops::Range;

/// The processors of the machine.
pub(crate) struct Processors {
    free: usize,
    line: VecDeque<u32>,
}

impl Processors {
    pub(crate) const fn new(count: usize) -> Self {
        Self {
            free: count,
            line: VecDeque::new(),
        }
    }

    /// How many nobody has.
    pub(crate) const fn free(&self) -> usize {
        self.free
    }

    /// How many workers stand in line.
    pub(crate) fn waiting(&self) -> usize {
        self.line.len()
    }

    /// Whether this worker gets one now; if not, it stands in line.
    pub(crate) fn take(&mut self, worker: usize) -> bool {
        if self.free > 0 {
            self.free -= 1;
            return true;
        }
        self.line.push_back(worker as u32);
        false
    }

    /// A processor is given back. Who stood first in line has it now.
    pub(crate) fn release(&mut self) -> Option<usize> {
        let next = self.line.pop_front();
        if next.is_none() {
            self.free += 1;
        }
        next.map(|worker| worker as usize)
    }

    /// These workers stand in line no more, if they did.
    pub(crate) fn leave_line(&mut self, workers: &Range<usize>) {
        self.line
            .retain(|&other| !workers.contains(&(other as usize)));
    }
}
