//! What waiting workers do, and what must not make them wait forever.

mod backoff;
mod batches;
mod blocking;
mod depth;
mod held_locks;
mod help_any;
mod lost_wakeups;
mod nested;
mod outside_callers;
mod panics;
mod robbing;
mod stalls;
mod sync;
