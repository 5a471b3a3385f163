//! Loops, reductions, sorts and streams.

mod items;
mod ranges;
mod sort;
mod stream_ends;
mod streams;
