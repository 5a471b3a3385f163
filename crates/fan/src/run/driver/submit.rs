//! What `run` gives to the engine.

use std::mem;
use std::time::Instant;

use super::{Driver, LONGEST_PAUSE};
use crate::engine::{Fault, Job, Submission};
use crate::name::Name;
use crate::{Error, Retry};

/// How often the engine is asked about a submission that it does not know, before that counts as a
/// refusal.
const QUESTIONS: usize = 10;

/// A submission that the engine has neither refused nor named. It may have a job, or start one
/// later.
pub struct Unanswered {
    pub submission: Submission,
    /// An earlier `run` has submitted it.
    pub is_old: bool,
    /// How often the engine has said that it has no such job.
    unknown: usize,
}

impl Unanswered {
    pub fn new(submission: Submission, is_old: bool) -> Self {
        Self {
            submission,
            is_old,
            unknown: 0,
        }
    }
}

impl Driver<'_> {
    /// Submits the items that have no result, no living piece and no final failure.
    pub(super) fn submit(&mut self) -> Result<(), Error> {
        if self.ready().is_empty() || Instant::now() < self.next_submission {
            return Ok(());
        }
        if let Err(fault) = self.find_unanswered() {
            return self.postpone(fault);
        }
        let items = self.ready();
        if items.is_empty() || self.is_interrupted() {
            return Ok(());
        }
        self.note_log(&items)?;
        let submission = self.book.list(items)?;
        self.book.note_submission(&submission)?;
        let taken = self.engine.submit(&submission);
        let given = Unanswered::new(submission, false);
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
        let Unanswered {
            submission, is_old, ..
        } = given;
        let noted = self.book.note_job(&submission.name, &id);
        // If that has failed, the job is cancelled at the end.
        let job = Job { id, submission };
        if is_old {
            self.schedule.adopt(job)
        } else {
            self.schedule.submitted(job)
        }
        noted
    }

    /// Opens the jobs that the engine has started without an answer. Stops at the first fault: the
    /// next question would meet it, too.
    fn find_unanswered(&mut self) -> Result<(), Fault> {
        let mut given = mem::take(&mut self.unanswered).into_iter();
        let mut all = Ok(());
        while all.is_ok()
            && !self.is_interrupted()
            && let Some(one) = given.next()
        {
            all = self.find(one);
        }
        self.unanswered.extend(given);
        all
    }

    fn find(&mut self, mut given: Unanswered) -> Result<(), Fault> {
        match self.engine.find(&given.submission.name) {
            Ok(Some(id)) => self.open(given, id)?,
            Ok(None) if given.unknown + 1 >= QUESTIONS => {
                self.book.note_refusal(&given.submission.name)?;
            }
            Ok(None) => {
                given.unknown += 1;
                self.unanswered.push(given);
            }
            Err(fault) => {
                self.unanswered.push(given);
                return Err(fault);
            }
        }
        Ok(())
    }

    /// Takes a submission that has failed. The engine may have taken it all the same.
    fn failed(&mut self, given: Unanswered, fault: Fault) -> Result<(), Error> {
        let is_refused = matches!(fault, Fault::Refused(_));
        if is_refused && given.submission.items.len() > self.engine.capacity() {
            // It takes fewer, which are submitted next.
            return self.book.note_refusal(&given.submission.name);
        }
        let found = match &fault {
            // The command is missing, or would refuse this again.
            Fault::Refused(error) if error.retry() == Retry::Never => Ok(None),
            _ if self.is_interrupted() => {
                self.unanswered.push(given);
                return Ok(());
            }
            _ => self.engine.find(&given.submission.name),
        };
        match found {
            Ok(Some(id)) => return self.open(given, id),
            Ok(None) if is_refused => self.book.note_refusal(&given.submission.name)?,
            _ => self.unanswered.push(given),
        }
        self.postpone(fault)
    }

    /// Waits before the next submission. Fails if there should be none.
    fn postpone(&mut self, fault: Fault) -> Result<(), Error> {
        let (what, error) = match fault {
            Fault::Silent(error) => ("does not answer", error),
            Fault::Refused(error) => ("rejected a submission", error),
        };
        if error.retry() == Retry::Never || self.schedule.refused() {
            return Err(error);
        }
        self.tell(what, &error);
        let pause = self.poll * (1 << self.schedule.refusals().min(6));
        self.next_submission = Instant::now() + pause.min(LONGEST_PAUSE);
        Ok(())
    }
}
