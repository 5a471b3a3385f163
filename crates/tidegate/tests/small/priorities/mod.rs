//! Tasks with priorities, in a scope and in a pool.

mod classes;
mod lifts;
mod scopes;
