//! The tests that fork, trace and kill. They have their own process: for a moment, a new child also
//! holds the locks of its parent's seats, so a seat that another test drops would still seem taken.
#![cfg(all(target_os = "linux", not(any(miri, tidegate_tsan))))]

mod children;
mod confinement;
mod damage;
mod death;
#[path = "../support/mod.rs"]
mod support;
