//! Confines real programs. This test binary plays all roles: see [`roles`].

mod following;
mod kills;
mod masks;
mod roles;
