//! A deadlock by a lost notification: the printer looks at the queue in one step and waits for a
//! change of it in another.
//!
//! The printer waits forever if the queue is closed between the two steps. Ordinary runs miss this:
//! the gap takes about 50 ns. The queue is closed right after the last job has arrived, and the
//! printer, which is slower than the jobs arrive, prints that job before it would wait.

use super::read;
use std::collections::VecDeque;
use tidegate::sync::{Condvar, Mutex};

const JOBS: usize = 3;

#[derive(Default)]
struct State {
    jobs: VecDeque<usize>,
    is_closed: bool,
}

#[derive(Default)]
pub struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

impl Queue {
    fn push(&self, job: usize) {
        self.state.lock().unwrap().jobs.push_back(job);
        self.changed.notify_one();
    }

    fn close(&self) {
        self.state.lock().unwrap().is_closed = true;
        self.changed.notify_one();
    }

    fn is_finished(&self) -> bool {
        let state = self.state.lock().unwrap();
        state.is_closed && state.jobs.is_empty()
    }

    fn take(&self) -> Option<usize> {
        self.state.lock().unwrap().jobs.pop_front()
    }

    fn wait_for_change(&self) {
        drop(self.changed.wait(self.state.lock().unwrap()).unwrap());
    }

    /// Waits for a job. Returns `None` after the last one.
    pub fn next(&self) -> Option<usize> {
        while !self.is_finished() {
            let job = self.take();
            if job.is_some() {
                return job;
            }
            self.wait_for_change();
        }
        None
    }

    /// Like `next`, but looks at the queue and waits in one step.
    pub fn next_at_once(&self) -> Option<usize> {
        let is_waiting = |state: &mut State| state.jobs.is_empty() && !state.is_closed;
        let state = self.state.lock().unwrap();
        let mut state = self.changed.wait_while(state, is_waiting).unwrap();
        state.jobs.pop_front()
    }
}

/// Prints a few jobs while they arrive.
pub fn print(next: fn(&Queue) -> Option<usize>) {
    let queue = Queue::default();
    let accept = || {
        for job in 0..JOBS {
            read();
            queue.push(job);
        }
        queue.close();
    };
    let print = || {
        let mut printed = Vec::new();
        while let Some(job) = next(&queue) {
            read();
            read();
            printed.push(job);
        }
        printed
    };
    let ((), printed) = tidegate::join(accept, print);
    assert!(printed.into_iter().eq(0..JOBS), "jobs are missing");
}
