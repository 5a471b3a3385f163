//! What `run` gives to the engine.

use std::mem;
use std::time::Instant;

use super::{Driver, LONGEST_PAUSE};
use crate::engine::{Fault, Job, Submission};
use crate::name::Name;
use crate::{Error, Retry};

/// A submission that the engine has neither refused nor named. It may have a job, or start one
/// later.
pub struct Unanswered {
    pub submission: Submission,
    /// An earlier `run` has submitted it.
    pub is_old: bool,
}

impl Driver<'_> {
    /// Submits the items that have no result, no living piece and no final failure.
    pub(super) fn submit(&mut self) -> Result<(), Error> {
        if self.ready().is_empty() || Instant::now() < self.next_submission {
            return Ok(());
        }
        self.find_unanswered()?;
        let items = self.ready();
        if items.is_empty() || self.is_interrupted() {
            return Ok(());
        }
        self.note_log(&items)?;
        let submission = self.book.list(items)?;
        self.book.note_submission(&submission)?;
        let taken = self.engine.submit(&submission);
        let given = Unanswered {
            submission,
            is_old: false,
        };
        match taken {
            Ok(id) => self.open(given, id),
            Err(fault) => self.failed(given, fault),
        }
    }

    /// Returns as many of the items to submit as the engine takes at once.
    fn ready(&self) -> Vec<Name> {
        let mut items = self.schedule.ready(self.survey.missing());
        items.truncate(self.engine.capacity());
        items
    }

    fn open(&mut self, given: Unanswered, id: String) -> Result<(), Error> {
        let Unanswered { submission, is_old } = given;
        let noted = self.book.note_job(&submission.name, &id);
        // If that has failed, the job is cancelled at the end.
        let job = Job { id, submission };
        match is_old {
            true => self.schedule.adopt(job),
            false => self.schedule.submitted(job),
        }
        noted
    }

    /// Opens the jobs that the engine has started without an answer.
    fn find_unanswered(&mut self) -> Result<(), Error> {
        let mut noted = Ok(());
        let mut given = mem::take(&mut self.unanswered).into_iter();
        while !self.is_interrupted()
            && let Some(one) = given.next()
        {
            match self.engine.find(&one.submission.name) {
                Ok(Some(id)) => noted = noted.and(self.open(one, id)),
                Ok(None) | Err(Fault::Refused(_)) => self.unanswered.push(one),
                Err(Fault::Silent(_)) => {
                    // The next question may take as long as this one.
                    self.unanswered.push(one);
                    break;
                }
            }
        }
        self.unanswered.extend(given);
        noted
    }

    /// Counts a submission that has failed, unless the engine has taken it all the same. Fails if no
    /// other should be tried.
    fn failed(&mut self, given: Unanswered, fault: Fault) -> Result<(), Error> {
        let (is_refused, error) = match fault {
            Fault::Refused(error) => (true, error),
            Fault::Silent(error) => (false, error),
        };
        match self.engine.find(&given.submission.name) {
            Ok(Some(id)) => return self.open(given, id),
            _ if is_refused => self.book.note_refusal(&given.submission.name)?,
            _ => self.unanswered.push(given),
        }
        if error.retry() == Retry::Never || self.schedule.refused() {
            return Err(error);
        }
        let what = match is_refused {
            true => "refuses pieces",
            false => "does not answer",
        };
        self.tell(what, &error);
        let pause = self.poll * (1 << self.schedule.refusals().min(6));
        self.next_submission = Instant::now() + pause.min(LONGEST_PAUSE);
        Ok(())
    }
}
