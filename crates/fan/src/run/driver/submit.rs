//! What `run` gives to the engine.

use std::time::Instant;

use super::{Driver, LONGEST_PAUSE};
use crate::name::Name;
use crate::{Error, Retry};

impl Driver<'_> {
    /// Submits the items that have no result, no living piece and no final failure.
    pub(super) fn submit(&mut self) -> Result<(), Error> {
        let items = self.ready();
        if items.is_empty() || Instant::now() < self.next_submission || self.is_interrupted() {
            return Ok(());
        }
        self.note_log(&items)?;
        let round = self.book.round(items)?;
        self.book.note(&round)?;
        let Err(error) = self.engine.submit(&round) else {
            self.schedule.submitted(round);
            return Ok(());
        };
        if error.retry() == Retry::Never {
            return Err(error);
        }
        if round.items.len() > self.engine.capacity() {
            // It takes fewer, which are submitted next.
            return Ok(());
        }
        self.schedule.doubt(round);
        self.postpone("has not taken a round", error)
    }

    /// Returns as many of the items to submit as the engine takes at once.
    fn ready(&self) -> Vec<Name> {
        let mut items = self.schedule.ready(self.survey.missing());
        items.truncate(self.engine.capacity());
        items
    }

    /// Waits before the next submission. Fails if there should be none.
    pub(super) fn postpone(&mut self, what: &'static str, error: Error) -> Result<(), Error> {
        if self.schedule.refused() {
            return Err(error);
        }
        self.tell(what, &error);
        let pause = self.poll * (1 << self.schedule.refusals().min(6));
        self.next_submission = Instant::now() + pause.min(LONGEST_PAUSE);
        Ok(())
    }
}
