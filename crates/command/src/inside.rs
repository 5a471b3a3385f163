//! A body on a runtime, compiled once for the runtime and not for every program.
//!
//! [`Runtime::install`] is generic over what it runs and what comes of it, and brings a runtime's way in with it. A call through
//! a pointer costs a root task nothing that can be measured, and a clock inside of the body does not see it.

use tidegate_workloads::Runtime;

/// Runs `body` as the root task.
pub fn inside<'a, R: Runtime + 'a>(
    runtime: &R,
    body: &mut (dyn FnMut(&mut R::Fork<'_>) + Send + 'a),
) {
    runtime.install(|fork| body(fork));
}
