//! Runs a body on a runtime through one function per runtime, to compile less.
//!
//! [`Runtime::install`] is generic over the body, so each program would instantiate the runtime's
//! entry code again. The indirect call happens once per root task, and a clock inside the body
//! doesn't measure it.

use tidegate_workloads::Runtime;

/// Runs `body` as the root task.
pub fn inside<'a, R: Runtime + 'a>(
    runtime: &R,
    body: &mut (dyn FnMut(&mut R::Fork<'_>) + Send + 'a),
) {
    runtime.install(|fork| body(fork));
}
