//! What remains of simulations in builds without them.

use std::panic::Location;
use std::time::Duration;

/// A simulation. There are none in this build.
#[derive(Debug)]
pub enum Simulation {}

/// Shows the steps of a simulation. There are none in this build.
#[derive(Debug)]
pub enum Observer {}

impl Observer {
    /// Gives the turn to a thread that can run. Never called in this build.
    pub fn kick(&self) {
        match *self {}
    }
}

/// Returns the observer of the calling thread's simulation: none in this build.
#[inline(always)]
#[must_use]
pub const fn here() -> Option<Observer> {
    None
}

/// The place of a thread in a simulation. There are none in this build.
#[derive(Debug)]
pub(crate) enum Seat {}

impl Seat {
    pub(crate) fn enter(self) {
        match self {}
    }

    pub(crate) fn end(&self) -> End {
        match *self {}
    }
}

/// The end of a thread's part in a simulation. There are none in this build.
#[derive(Debug)]
pub(crate) enum End {}

impl End {
    pub(crate) fn wait(&self) {
        match *self {}
    }
}

/// Whether the calling thread belongs to a simulation: never in this build.
#[inline(always)]
#[must_use]
pub const fn is_simulated() -> bool {
    false
}

/// Returns the number of the calling thread's simulation: none in this build.
#[inline(always)]
#[must_use]
pub const fn serial_here() -> Option<u64> {
    None
}

/// Lets other threads of the simulation run. Does nothing in this build.
#[inline(always)]
pub const fn switch(_what: &'static str) {}

/// Lets another thread of the simulation run. Does nothing in this build.
#[inline(always)]
pub const fn give_way(_what: &'static str) -> bool {
    false
}

/// Lets other threads of the simulation run. Does nothing in this build.
#[inline(always)]
pub const fn access(_what: &'static str) {}

/// Waits in a simulation. Returns `None` in this build.
#[inline(always)]
pub fn block(
    _what: &'static str,
    _limit: Option<Duration>,
    _is_ready: &(dyn Fn() -> bool + Sync),
) -> Option<bool> {
    None
}

/// Waits for a lock in a simulation. Returns `None` in this build.
#[inline(always)]
pub fn block_on_lock(
    _what: &'static str,
    _lock: usize,
    _is_ready: &(dyn Fn() -> bool + Sync),
) -> Option<bool> {
    None
}

/// Records that the calling thread has taken a lock. Does nothing in this build.
#[inline(always)]
pub const fn take_lock(_lock: usize, _at: &'static Location<'static>) {}

/// Records that the calling thread has released a lock. Does nothing in this build.
#[inline(always)]
pub const fn release_lock(_lock: usize) {}

#[inline(always)]
pub(crate) fn block_for(
    _what: &'static str,
    _limit: Option<Duration>,
    _is_ready: &(dyn Fn() -> bool + Sync),
) -> Option<bool> {
    None
}

#[cfg(not(loom))]
#[inline(always)]
pub(crate) const fn now() -> Option<u64> {
    None
}

#[inline(always)]
pub(crate) const fn admit(_name: &str) -> Option<Seat> {
    None
}
