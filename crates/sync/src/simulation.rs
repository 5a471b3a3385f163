//! Simulations: groups of threads of which exactly one runs at a time, in an order that the caller
//! of `Simulation::begin` chooses.
//!
//! The threads of a simulation pass a *turn* on. The thread that has the turn runs. It passes the
//! turn on where it calls one of the functions below, and waits until the turn comes back:
//!
//! * [`switch`]: the thread can continue, but others may run first,
//! * [`give_way`]: the thread can continue, but has nothing to do until another thread has run,
//! * [`block`]: the thread cannot continue before a condition holds or a limit has passed.
//!
//! The parts of this crate that wait ([`park`](crate::park), [`spin_loop`](crate::spin_loop),
//! [`thread`](crate::thread)) call them, and [`clock`](crate::clock) reads the simulation's time. A
//! thread that belongs to no simulation is not affected. Threads that a thread of a simulation
//! starts belong to the simulation.
//!
//! The protocol is in `docs/simulated-pool.md`. Without the feature `simulation`, and under loom,
//! no thread ever belongs to a simulation, and the functions compile to nothing.

#[cfg(all(feature = "simulation", not(loom)))]
#[allow(unsafe_code, reason = "calls through raw pointers")]
mod on;
#[cfg(all(feature = "simulation", not(loom)))]
#[allow(unsafe_code, reason = "calls through raw pointers")]
mod state;

#[cfg(not(all(feature = "simulation", not(loom))))]
mod off;
#[cfg(not(any(loom, feature = "simulation")))]
pub(crate) use off::now;
#[cfg(not(all(feature = "simulation", not(loom))))]
pub(crate) use off::{End, Seat, admit, block_for};
#[cfg(not(all(feature = "simulation", not(loom))))]
pub use off::{
    Observer, Simulation, access, block, block_on_lock, give_way, here, is_simulated, release_lock,
    serial_here, switch, take_lock,
};
#[cfg(all(feature = "simulation", not(loom)))]
pub(crate) use on::{End, Seat, admit, block_for, now};
#[cfg(all(feature = "simulation", not(loom)))]
pub use on::{
    Observer, Simulation, access, block, block_on_lock, give_way, here, is_simulated, note,
    release_lock, serial_here, settle, switch, take_lock,
};
#[cfg(all(feature = "simulation", not(loom)))]
pub use state::{Choice, Event, Holder, Reason, Report, Settings, Waiting};
