//! The root of the program that contains rayon-core's unit tests. It imports rayon-core's public
//! names, and replaces private names with stand-ins that use the public interface.

pub(crate) use rayon_core::*;

mod broadcast {
    mod test;
}

mod join {
    use crate::unwind;
    use rayon_core::{join, join_context};
    mod test;
}

mod scope {
    mod test;
}

mod spawn {
    use rayon_core::{spawn, spawn_fifo};
    mod test;
}

mod test;

mod thread_pool {
    mod test;
}

/// A stand-in for rayon-core's module of the same name.
#[deny(dead_code, reason = "a name that no test needs any more is taken out")]
mod unwind {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    pub fn halt_unwinding<R>(f: impl FnOnce() -> R) -> std::thread::Result<R> {
        catch_unwind(AssertUnwindSafe(f))
    }
}

/// A stand-in for rayon-core's module of the same name. The tests ignore both arguments of `op`.
#[deny(dead_code, reason = "a name that no test needs any more is taken out")]
mod registry {
    pub fn in_worker<R: Send>(op: impl FnOnce(&(), bool) -> R + Send) -> R {
        rayon_core::scope(|_| op(&(), false))
    }
}
