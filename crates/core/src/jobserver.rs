//! Tokens of the jobserver in whose job this process runs.
//!
//! `make -j` and `cargo build` bound how many processes run at once by tokens: a job that wants to
//! run more than one thing takes a token for each further one. So the share controller takes a
//! token for each slot beyond the first, and gives it back when the slot is lost or the pool idles;
//! docs/share-controller.md describes when. Tasks never take tokens, and nothing waits for one.
//!
//! Without the feature `jobserver`, and on systems other than Linux, there is no jobserver.

#[cfg(all(feature = "jobserver", target_os = "linux", not(any(loom, miri))))]
#[path = "jobserver/client.rs"]
mod client;
#[cfg(not(all(feature = "jobserver", target_os = "linux", not(any(loom, miri)))))]
#[path = "jobserver/none.rs"]
mod client;

pub(crate) use client::Jobserver;

/// The tokens that one pool holds.
pub(crate) struct Tokens {
    /// `None`: no token is needed.
    server: Option<&'static Jobserver>,
    held: usize,
    /// Whether the last attempt got fewer tokens than it asked for.
    is_short: bool,
}

impl Tokens {
    pub(crate) fn of(server: Option<&'static Jobserver>) -> Self {
        Self {
            server,
            held: 0,
            is_short: false,
        }
    }

    /// Whether slots need tokens.
    pub(crate) fn are_needed(&self) -> bool {
        self.server.is_some()
    }

    /// Takes the tokens that `slots` slots need, as far as there are any. Returns how many of these
    /// slots the pool may have.
    pub(crate) fn take(&mut self, slots: usize) -> usize {
        let Some(server) = self.server else {
            return usize::MAX;
        };
        while self.held + 1 < slots && server.take() {
            self.held += 1;
        }
        self.is_short = self.held + 1 < slots;
        slots.min(self.held + 1)
    }

    /// Gives back the tokens that `slots` slots do not need.
    pub(crate) fn keep(&mut self, slots: usize) {
        let Some(server) = self.server else {
            return;
        };
        while self.held > 0 && self.held + 1 > slots {
            server.give_back();
            self.held -= 1;
        }
    }

    /// Returns how many of `desire` processors the pool could use. While tokens are missing, this
    /// is one more than it has, so that other jobs get the processors that it cannot use.
    pub(crate) fn usable(&self, desire: usize) -> usize {
        if self.is_short {
            desire.min(self.held + 2)
        } else {
            desire
        }
    }
}

impl Drop for Tokens {
    fn drop(&mut self) {
        self.keep(1);
    }
}
