//! All tests of the laboratory, in one program, which is linked once.

mod bench;
mod compare;
mod exec;
mod fan;
mod iter;
mod rayon_programs;
mod reproduce;
mod shown;
mod support;
