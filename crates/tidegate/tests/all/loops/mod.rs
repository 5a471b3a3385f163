//! Loops, reductions, sorts and streams.

mod early;
mod folds;
mod items;
mod ranges;
mod sort;
mod stream_ends;
mod streams;
