//! With the feature `tracing`, pools report what their workers do, and spans follow tasks.

mod reported;
mod spans;
#[path = "../support/mod.rs"]
mod support;
