//! The loop of `run`: survey the folder, ask the engine, submit what is missing.

use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use crate::engine::{Ended, Engine, Job, Submission};
use crate::folder::Survey;
use crate::interrupt::Interrupt;
use crate::name::Name;
use crate::parent::has_ended;
use crate::publish::host;
use crate::run::book::Book;
use crate::run::progress::Progress;
use crate::run::schedule::{Cause, Schedule};
use crate::run::table;
use crate::{Error, Retry};

const POLL: Duration = Duration::from_secs(1);
/// How often an engine's own work is done, and a signal is noticed.
const TICK: Duration = Duration::from_millis(2);
/// The longest pause after a submission that the engine did not take, and between questions.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// How a run has ended.
pub enum End {
    Published,
    /// By the signal of this number.
    Interrupted(u8),
    /// Some items have failed for good.
    Failed(Error),
}

pub struct Driver<'a> {
    book: &'a Book<'a>,
    /// The weights of the planned items.
    planned: Vec<u64>,
    engine: Box<dyn Engine>,
    schedule: Schedule,
    survey: Survey,
    /// Submissions for which the engine has named no job. It may have one, or start one later.
    unanswered: Vec<Submission>,
    /// How many failed attempts are in the log of a submitted item.
    logged: BTreeMap<Name, usize>,
    interrupt: &'a Interrupt,
    progress: Progress,
    /// When the engine may be asked again.
    next_question: Instant,
    /// When the next submission may be tried.
    next_submission: Instant,
    has_told_of_silence: bool,
    /// How often the folder is surveyed, and the engine is asked if it answers soon.
    poll: Duration,
}

impl<'a> Driver<'a> {
    pub fn new(
        book: &'a Book<'a>,
        planned: Vec<u64>,
        engine: Box<dyn Engine>,
        retries: usize,
        interrupt: &'a Interrupt,
    ) -> Self {
        Self {
            book,
            planned,
            engine,
            schedule: Schedule::new(retries),
            unanswered: Vec::new(),
            survey: Survey::default(),
            logged: BTreeMap::new(),
            interrupt,
            progress: Progress::new(),
            next_question: Instant::now(),
            next_submission: Instant::now(),
            has_told_of_silence: false,
            poll: POLL,
        }
    }

    /// Runs the items that have no result.
    pub fn run(&mut self) -> Result<End, Error> {
        for (submission, id) in self.book.jobs() {
            self.note_log(&submission.items);
            match id {
                Some(id) => self.schedule.adopt(Job { id, submission }),
                None => self.unanswered.push(submission),
            }
        }
        self.survey()?;
        self.remove_dead();
        loop {
            if let Some(signal) = self.interrupt.caught() {
                return Ok(End::Interrupted(signal));
            }
            // The engine first: what has ended by then is in the folder.
            let ended = self.ask()?;
            self.survey()?;
            for ended in ended {
                self.count(ended)?;
            }
            if self.schedule.is_over(self.survey.missing()) {
                return Ok(self.end());
            }
            self.submit()?;
            self.progress.show(&self.survey, self.schedule.living());
            self.pause();
        }
    }

    /// Ends what still runs, and removes what killed attempts have left. Returns what the folder
    /// says then.
    pub fn finish(mut self) -> Survey {
        self.progress.clear();
        if let Err(error) = self.cancel() {
            let engine = self.book.engine;
            self.progress.tell(&format!(
                "{engine} does not answer, so pieces may go on there: {error}"
            ));
        }
        // What is wrong with the folder, if anything, was found by `run` or is found by `merge`.
        let _ = self.survey();
        self.remove_dead();
        self.survey
    }

    /// Cancels all jobs, including those for which the engine has not answered. Stops if it does not
    /// answer now: each question may take as long.
    fn cancel(&mut self) -> Result<(), Error> {
        for job in self.schedule.jobs() {
            self.engine.cancel(job)?;
        }
        for submission in std::mem::take(&mut self.unanswered) {
            if let Some(id) = self.engine.find(&submission.name)? {
                self.engine.cancel(&Job { id, submission })?;
            }
        }
        Ok(())
    }

    /// Removes the files of attempts that were killed on this machine. Those of other machines stay,
    /// because an attempt there may still run, and what it finds must be compared.
    fn remove_dead(&self) {
        let here = host();
        for begun in &self.survey.begun {
            if begun.host == here && has_ended(begun.pid) {
                let _ = fs::remove_file(self.book.folder.path().join(&begun.file));
            }
        }
    }

    fn survey(&mut self) -> Result<(), Error> {
        let folder = self.book.folder;
        folder.survey(&self.planned, &mut self.survey)
    }

    /// Returns the ended pieces whose items have no other. Fails if the engine can never answer.
    /// Asks for as long as a tenth of the time, because each question is work for its server.
    fn ask(&mut self) -> Result<Vec<Ended>, Error> {
        let begin = Instant::now();
        if begin < self.next_question {
            return Ok(Vec::new());
        }
        let jobs: Vec<Job> = self.schedule.jobs().cloned().collect();
        let mut last = Vec::new();
        for job in jobs {
            if self.interrupt.caught().is_some() {
                break;
            }
            match self.engine.ended(&job) {
                Ok(ended) => last.extend(self.schedule.ended(&job.id, ended)),
                Err(error) if error.retry() == Retry::Never => return Err(error),
                Err(error) => self.tell_of_silence(&error),
            }
        }
        let pause = begin.elapsed() * 10;
        self.next_question = Instant::now() + pause.min(LONGEST_PAUSE);
        Ok(last)
    }

    fn tell_of_silence(&mut self, error: &Error) {
        if !std::mem::replace(&mut self.has_told_of_silence, true) {
            let engine = self.book.engine;
            self.progress.tell(&format!(
                "{engine} does not answer, and is asked again: {error}"
            ));
        }
    }

    /// Counts an ended piece as a failed attempt, unless its item is published.
    fn count(&mut self, ended: Ended) -> Result<(), Error> {
        let folder = self.book.folder;
        if self.survey.published.contains_key(&ended.item)
            || folder.look_up(&ended.item, &mut self.survey)?
        {
            return Ok(());
        }
        let failures = folder.failures(&ended.item);
        let before = self.logged.insert(ended.item.clone(), failures.len());
        let new = failures.get(before.unwrap_or(0)..).unwrap_or_default();
        let cause = match new.last() {
            Some(failed) => Cause {
                host: Some(failed.host.clone()),
                code: Some(failed.retry as i32),
                text: failed.text.clone(),
            },
            None => self.unlogged(&ended),
        };
        self.schedule.failed(&ended.item, cause);
        Ok(())
    }

    /// Returns what is known about an attempt that was killed before it could write to the log.
    fn unlogged(&self, ended: &Ended) -> Cause {
        let begun = self.survey.begun.iter();
        let begun = begun.filter(|begun| begun.item == ended.item);
        let last = begun.max_by(|one, other| one.began.total_cmp(&other.began));
        let text = match (ended.code, ended.text.is_empty()) {
            (Some(0), _) => "the piece has ended, and there is no result".to_owned(),
            (_, true) => "the piece has ended, and nothing is known about it".to_owned(),
            // In the table, it has one line.
            (_, false) => ended.text.replace(['\r', '\n'], " "),
        };
        Cause {
            host: last.map(|begun| begun.host.clone()),
            code: ended.code,
            text,
        }
    }

    fn end(&self) -> End {
        let failures = self.schedule.failures(self.survey.missing());
        if failures.is_empty() {
            return End::Published;
        }
        self.progress.tell(table::of(&failures).trim_end());
        let text = format!(
            "{} of {} items have failed; the same command tries them again",
            failures.len(),
            self.survey.weights.len()
        );
        let is_final = failures.iter().any(|(_, failure)| failure.is_final());
        End::Failed(match is_final {
            true => Error::never(text),
            false => Error::perhaps(text),
        })
    }

    fn submit(&mut self) -> Result<(), Error> {
        if self.ready().is_empty() || Instant::now() < self.next_submission {
            return Ok(());
        }
        self.find_unanswered()?;
        let items = self.ready();
        if items.is_empty() {
            return Ok(());
        }
        self.note_log(&items);
        let submission = self.book.list(items)?;
        self.book.note_submission(&submission)?;
        match self.engine.submit(&submission) {
            Ok(id) => self.open(submission, id),
            Err(error) => self.refused(submission, error),
        }
    }

    /// Returns the items to submit.
    fn ready(&self) -> Vec<Name> {
        let mut items = self.schedule.ready(self.survey.missing());
        items.truncate(self.engine.capacity());
        items
    }

    fn open(&mut self, submission: Submission, id: String) -> Result<(), Error> {
        let noted = self.book.note_job(&submission.name, &id);
        // If that has failed, the job is cancelled at the end.
        self.schedule.submitted(Job { id, submission });
        noted
    }

    /// Opens the jobs that the engine has started without an answer. Returns whether there are any.
    fn find_unanswered(&mut self) -> Result<bool, Error> {
        let before = self.unanswered.len();
        let mut unanswered = std::mem::take(&mut self.unanswered).into_iter();
        for submission in unanswered.by_ref() {
            match self.engine.find(&submission.name) {
                Ok(Some(id)) => self.open(submission, id)?,
                Ok(None) => self.unanswered.push(submission),
                Err(_) => {
                    // The next question may take as long as this one.
                    self.unanswered.push(submission);
                    break;
                }
            }
        }
        self.unanswered.extend(unanswered);
        Ok(self.unanswered.len() < before)
    }

    /// Counts a submission that has failed, unless the engine has taken it all the same. Fails if no
    /// other should be tried.
    fn refused(&mut self, submission: Submission, error: Error) -> Result<(), Error> {
        if error.retry() == Retry::Never {
            return Err(error);
        }
        self.unanswered.push(submission);
        if self.find_unanswered()? {
            return Ok(());
        }
        if self.schedule.refused() {
            return Err(error);
        }
        self.tell_of_silence(&error);
        let pause = self.poll * (1 << self.schedule.refusals().min(6));
        self.next_submission = Instant::now() + pause.min(LONGEST_PAUSE);
        Ok(())
    }

    /// Notes how many failed attempts there have been, so that later ones can be told.
    fn note_log(&mut self, items: &[Name]) {
        for item in items {
            let logged = self.book.folder.failures(item).len();
            self.logged.insert(item.clone(), logged);
        }
    }

    /// Lets the engine work until the next survey.
    fn pause(&mut self) {
        let end = Instant::now() + self.poll;
        while Instant::now() < end && self.interrupt.caught().is_none() && !self.engine.attend() {
            thread::sleep(TICK);
        }
    }
}

#[cfg(test)]
mod tests;
