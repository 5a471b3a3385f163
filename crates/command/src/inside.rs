//! Runs a body on a runtime through a single function per runtime, to reduce the amount of compiled
//! code.
//!
//! [`Runtime::install`] is generic over the body, so each program would instantiate the runtime's
//! entry code again. Here, the body is a trait object. The indirect call happens once per root
//! task, and isn't measured if the body itself reads the clock.

use tidegate_workloads::Runtime;

/// Runs `body` as the root task on `runtime`.
pub fn inside<'a, R: Runtime + 'a>(
    runtime: &R,
    body: &mut (dyn FnMut(&mut R::Fork<'_>) + Send + 'a),
) {
    runtime.install(|fork| body(fork));
}
