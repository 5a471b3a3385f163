//! All tests of the pool for orx-parallel, in one program, which is linked once.

mod adaptors;
mod pools;
