//! The loop of `run`: survey the folder, ask the engine, submit what is missing.

use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use crate::engine::{Ended, Engine, Fault, Job, Submission};
use crate::files::{host, now};
use crate::folder::{Failed, Survey, note};
use crate::interrupt::Interrupt;
use crate::name::Name;
use crate::parent::has_ended;
use crate::run::book::{Book, queue};
use crate::run::progress::Progress;
use crate::run::schedule::{Cause, Schedule};
use crate::run::{table, tell_if_finished};
use crate::{Error, Retry};
use queue::Quiet;
use submit::Unanswered;

const POLL: Duration = Duration::from_secs(1);
/// How often an engine's own work is done, and a signal is noticed.
const TICK: Duration = Duration::from_millis(2);
/// The longest pause after a submission that the engine did not take, and between questions.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// After how long without a start the user is told why pieces wait.
const PATIENCE: Duration = Duration::from_secs(30);

/// After how long a message is repeated.
const SILENCE: Duration = Duration::from_secs(600);

pub struct Driver<'a> {
    book: &'a Book<'a>,
    engine: Box<dyn Engine>,
    schedule: Schedule,
    survey: Survey,
    unanswered: Vec<Unanswered>,
    /// How many failed attempts are in the log of a submitted item.
    logged: BTreeMap<Name, usize>,
    interrupt: &'a Interrupt,
    progress: Progress,
    /// When the engine may be asked again.
    next_question: Instant,
    /// When the next submission may be tried.
    next_submission: Instant,
    /// The place of the job about which the engine is asked first.
    first: usize,
    /// What the user was last told about the engine, and when.
    told: (String, Instant),
    quiet: Quiet,
    /// After how long without a start the engine is asked why pieces wait.
    patience: Duration,
    /// The command line of a piece, without its item.
    piece: String,
    /// How often the folder is surveyed, and the engine is asked if it answers soon.
    poll: Duration,
}

impl<'a> Driver<'a> {
    pub fn new(
        book: &'a Book<'a>,
        survey: Survey,
        engine: Box<dyn Engine>,
        piece: String,
        retries: usize,
        interrupt: &'a Interrupt,
    ) -> Self {
        let noted = queue(book.folder.path());
        Self {
            book,
            engine,
            schedule: Schedule::new(retries),
            unanswered: Vec::new(),
            survey,
            logged: BTreeMap::new(),
            interrupt,
            progress: Progress::new(),
            next_question: Instant::now(),
            next_submission: Instant::now(),
            first: 0,
            told: (String::new(), Instant::now()),
            quiet: Quiet::new(noted.map_or_else(String::new, |(text, _)| text)),
            patience: PATIENCE,
            piece,
            poll: POLL,
        }
    }

    /// Runs the items that have no result. Returns once there is none, or once a signal was caught.
    pub fn run(&mut self) -> Result<(), Error> {
        let surveyed = self.survey();
        if surveyed.is_ok() {
            tell_if_finished(self.book.folder.path(), &self.survey);
        }
        // Even without a survey: `finish` cancels the jobs.
        surveyed.and(self.adopt())?;
        self.remove_dead();
        // A killed `run` may have noted that pieces wait.
        self.report_queue(String::new());
        while !self.is_interrupted() {
            // The engine first: what has ended by then is in the folder.
            let ended = self.ask()?;
            self.survey()?;
            for ended in ended {
                self.count(ended)?;
            }
            if self.schedule.is_over(self.survey.missing()) {
                return self.end();
            }
            self.submit()?;
            self.progress.show(&self.survey, self.schedule.living());
            self.pause();
        }
        Ok(())
    }

    /// Adopts the jobs of earlier runs that have items without a result.
    fn adopt(&mut self) -> Result<(), Error> {
        let published = &self.survey.published;
        let mut jobs = self.book.jobs()?;
        jobs.retain(|(submission, _)| {
            let mut items = submission.items.iter();
            items.any(|item| !published.contains_key(item))
        });
        let mut noted = Ok(());
        for (submission, id) in jobs {
            noted = noted.and(self.note_log(&submission.items));
            match id {
                Some(id) => self.schedule.adopt(Job { id, submission }),
                None => self.unanswered.push(Unanswered::new(submission, true)),
            }
        }
        noted
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.caught().is_some()
    }

    /// Ends what still runs, removes what killed attempts have left, and shows what has failed.
    /// Returns what the folder says then.
    pub fn finish(mut self) -> Survey {
        self.progress.clear();
        self.cancel();
        self.report_queue(String::new());
        // What is wrong with the folder, if anything, was found by `run` or is found by `merge`.
        let _ = self.survey();
        self.remove_dead();
        let failures = self.schedule.failures(self.survey.missing());
        if let Some((item, _)) = failures.first() {
            let (table, piece) = (table::of(&failures), &self.piece);
            let by_hand = format!("to see what a piece prints: {piece} --item {item}");
            self.progress.tell(&format!("{table}{by_hand}"));
        }
        self.survey
    }

    /// Cancels all jobs, including those that the engine has not named. Stops if it does not answer:
    /// each question may take as long.
    fn cancel(&mut self) {
        let engine = self.book.engine;
        let jobs: Vec<Job> = self.schedule.jobs().cloned().collect();
        let unanswered = std::mem::take(&mut self.unanswered).into_iter();
        let named = jobs.into_iter().map(|job| (job.submission, Some(job.id)));
        for (submission, id) in named.chain(unanswered.map(|given| (given.submission, None))) {
            let (name, go_on) = match &id {
                Some(id) => (id.clone(), "go on"),
                None => (submission.name.clone(), "may go on"),
            };
            let error = match self.cancel_one(submission, id) {
                Ok(()) => continue,
                Err(Fault::Refused(error)) => error,
                Err(Fault::Silent(error)) => {
                    let text =
                        format!("{engine} does not answer, so pieces may go on there: {error}");
                    return self.progress.tell(&text);
                }
            };
            self.progress
                .tell(&format!("pieces of {name} {go_on}: {error}"));
        }
    }

    fn cancel_one(&mut self, submission: Submission, id: Option<String>) -> Result<(), Fault> {
        let id = match id {
            Some(id) => Some(id),
            None => self.engine.find(&submission.name)?,
        };
        id.map_or(Ok(()), |id| self.engine.cancel(&Job { id, submission }))
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
        self.book.folder.survey(&mut self.survey)
    }

    /// Returns the ended pieces whose items have no other. Fails if the engine can never answer.
    /// Asks for as long as a tenth of the time, because each question is work for its server, but
    /// once a minute at least.
    fn ask(&mut self) -> Result<Vec<Ended>, Error> {
        let begin = Instant::now();
        if begin < self.next_question {
            return Ok(Vec::new());
        }
        let mut jobs: Vec<Job> = self.schedule.jobs().cloned().collect();
        let first = self.first % jobs.len().max(1);
        jobs.rotate_left(first);
        let (mut last, mut refusal, mut is_silent) = (Vec::new(), None, false);
        for (number, job) in jobs.iter().enumerate() {
            if self.is_interrupted() {
                break;
            }
            match self.engine.ended(job) {
                Ok(ended) => last.extend(self.schedule.ended(&job.id, ended)),
                Err(Fault::Silent(error)) => {
                    self.tell("does not answer", &error);
                    // The next question may take as long as this one.
                    self.first = first + number + 1;
                    is_silent = true;
                    break;
                }
                Err(Fault::Refused(error)) if error.retry() == Retry::Never => return Err(error),
                Err(Fault::Refused(error)) => refusal = refusal.or(Some(error)),
            }
        }
        if let Some(error) = refusal {
            self.tell("cannot report which pieces have ended", &error);
        }
        if !is_silent {
            self.explain(&jobs);
        }
        let pause = begin.elapsed() * 10;
        self.next_question = Instant::now() + pause.min(LONGEST_PAUSE);
        Ok(last)
    }

    /// Tells the user what the engine does, unless that was told lately.
    fn tell(&mut self, what: &str, error: &Error) {
        let engine = self.book.engine;
        let text = format!("{engine} {what}; `run` tries again: {error}");
        let (before, at) = &self.told;
        if *before != text || at.elapsed() > SILENCE {
            self.progress.tell(&text);
            self.told = (text, Instant::now());
        }
    }

    /// Counts an ended piece as a failed attempt, unless its item is published.
    fn count(&mut self, ended: Ended) -> Result<(), Error> {
        let folder = self.book.folder;
        // A listing may not show the result of the piece that has left the item.
        let is_known = self.survey.weights.contains_key(&ended.item);
        if !is_known
            || self.survey.published.contains_key(&ended.item)
            || folder.look_up(&ended.item, &mut self.survey)?
        {
            return Ok(());
        }
        let failures = folder.failures(&ended.item)?;
        let before = self.logged.get(&ended.item).copied();
        let new = failures.get(before.unwrap_or(0)..).unwrap_or_default();
        let cause = match new.last() {
            Some(failed) => Cause {
                host: Some(failed.host.clone()),
                code: Some(failed.retry as i32),
                text: failed.text.clone(),
            },
            None => {
                let failed = self.unlogged(&ended);
                // If the disk is full, only `status` misses it.
                let _ = note(folder.path(), &ended.item, &failed);
                Cause {
                    host: (failed.pid != 0).then_some(failed.host),
                    code: ended.code,
                    text: failed.text,
                }
            }
        };
        self.note_log(std::slice::from_ref(&ended.item))?;
        self.schedule.failed(&ended.item, cause);
        Ok(())
    }

    /// Returns what is known about an attempt that was killed before it could write to the log.
    fn unlogged(&self, ended: &Ended) -> Failed {
        let begun = self.survey.begun.iter();
        let begun = begun.filter(|begun| begun.item == ended.item);
        let last = begun.max_by(|one, other| one.began.total_cmp(&other.began));
        let text = match (ended.code, ended.text.is_empty()) {
            (Some(0), _) => "the piece has ended, and there is no result".to_owned(),
            (_, true) => "the piece has ended, and nothing is known about it".to_owned(),
            // In the table, it has one line.
            (_, false) => ended.text.replace(['\r', '\n'], " "),
        };
        let unknown = || "an unknown machine".to_owned();
        Failed {
            host: last.map_or_else(unknown, |begun| begun.host.clone()),
            pid: last.map_or(0, |begun| begun.pid),
            at: now(),
            retry: Retry::after(ended.code),
            text,
        }
    }

    /// Returns an error if some items have failed for good.
    fn end(&self) -> Result<(), Error> {
        let failures = self.schedule.failures(self.survey.missing());
        if failures.is_empty() {
            return Ok(());
        }
        let (failed, all) = (failures.len(), self.survey.weights.len());
        let text = format!("{failed} of {all} items failed");
        let is_final = failures.iter().any(|(_, failure)| failure.is_final());
        Err(if is_final {
            Error::never(format!("{text}; remove the cause before you run it again"))
        } else {
            Error::perhaps(format!("{text}; run the same command again to retry"))
        })
    }

    /// Notes how many failed attempts there have been, so that later ones can be told apart.
    fn note_log(&mut self, items: &[Name]) -> Result<(), Error> {
        for item in items {
            let logged = self.book.folder.failures(item)?.len();
            self.logged.insert(item.clone(), logged);
        }
        Ok(())
    }

    /// Lets the engine work until the next survey.
    fn pause(&mut self) {
        let end = Instant::now() + self.poll;
        while Instant::now() < end && !self.is_interrupted() && !self.engine.attend() {
            thread::sleep(TICK);
        }
    }
}

mod queue;
mod submit;
#[cfg(test)]
mod tests;
