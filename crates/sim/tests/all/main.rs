//! All tests of the simulator, in one program, which is linked once.

mod allot;
mod allotments;
mod backoffs;
mod bounds;
mod distance_index;
mod drafts;
mod memory;
mod mix;
mod place_deques;
mod places;
mod scale;
mod schedules;
mod shares;
mod support;
mod victims;
