//! Declared memory: budgets, reserves, reservations and the order of tasks.

mod absent;
mod basics;
#[cfg(all(target_os = "linux", not(any(miri, tidegate_tsan))))]
mod faults;
mod hybrid;
#[path = "../../../../policy/tests/all/programs/mod.rs"]
mod made;
mod programs;
mod seen;
mod unrelated;
mod waits;
