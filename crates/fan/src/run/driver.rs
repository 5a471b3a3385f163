//! The loop of `run`: survey the folder, ask the engine, submit what is missing.

use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use crate::engine::{Engine, Kind, Round};
use crate::files::{host, now};
use crate::folder::{Failed, Survey, note};
use crate::interrupt::Interrupt;
use crate::name::Name;
use crate::parent::has_ended;
use crate::run::book::{Book, queue};
use crate::run::progress::Progress;
use crate::run::schedule::Schedule;
use crate::run::{table, tell_if_finished};
use crate::{Error, Retry};
use queue::Quiet;

const POLL: Duration = Duration::from_secs(1);
/// How often an engine's own work is done, and a signal is noticed.
const TICK: Duration = Duration::from_millis(2);
/// The longest pause after a round that the engine did not take.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// The longest pause between questions. After a slow answer, it takes so long until ended rounds are
/// noticed.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// After how long without a start the user is told why pieces wait.
const PATIENCE: Duration = Duration::from_secs(30);

/// After how long a message is repeated.
const SILENCE: Duration = Duration::from_secs(600);

/// What is told about an engine that fails to answer `alive`.
const LOST: &str = "cannot say which pieces are alive";

pub struct Driver<'a> {
    book: &'a Book<'a>,
    engine: Box<dyn Engine>,
    schedule: Schedule,
    survey: Survey,
    /// How many failed attempts are in the log of a submitted item.
    logged: BTreeMap<Name, usize>,
    interrupt: &'a Interrupt,
    progress: Progress,
    /// When the engine may be asked again.
    next_question: Instant,
    /// When the next submission may be tried.
    next_submission: Instant,
    /// How many pieces run, as the engine has said last.
    running: usize,
    /// What the user was last told about the engine, with its error, and when.
    told: (&'static str, String, Instant),
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
            survey,
            logged: BTreeMap::new(),
            interrupt,
            progress: Progress::new(),
            next_question: Instant::now(),
            next_submission: Instant::now(),
            running: 0,
            told: ("", String::new(), Instant::now()),
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
        // Even without a survey: `finish` cancels the rounds.
        surveyed.and(self.adopt())?;
        self.remove_dead();
        // A killed `run` may have noted that pieces wait.
        self.report_queue(String::new());
        while !self.is_interrupted() {
            // The engine first: what has ended by then is in the folder.
            let ended = self.ask()?;
            self.survey()?;
            for round in ended {
                self.count(round)?;
            }
            if self.schedule.is_over(self.survey.missing()) {
                return self.end();
            }
            self.submit()?;
            self.progress.show(&self.survey, self.running);
            self.pause();
        }
        Ok(())
    }

    /// Adopts the rounds of earlier runs that have items without a result. Names the last one that
    /// another engine may still run.
    fn adopt(&mut self) -> Result<(), Error> {
        let published = &self.survey.published;
        let mut elsewhere = None;
        for (engine, round) in self.book.rounds()? {
            if round.items.iter().all(|item| published.contains_key(item)) {
                continue;
            }
            if engine == self.book.engine {
                self.schedule.adopt(round);
            } else if engine != Kind::Local.name() {
                elsewhere = Some((engine, round.name));
            }
        }
        if let Some((engine, name)) = elsewhere {
            self.progress.tell(&format!(
                "pieces of {name} may still run in {engine}: use --engine {engine}, or end them there"
            ));
        }
        Ok(())
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
            let rows: Vec<_> = failures.iter().map(|(item, it)| it.row(item)).collect();
            let (table, piece) = (table::of(&rows), &self.piece);
            let by_hand = format!("to see what a piece prints: {piece} --item {item}");
            self.progress.tell(&format!("{table}{by_hand}"));
        }
        self.survey
    }

    /// Cancels all rounds that are alive, as the engine says, or may be, if it says nothing. Stops if
    /// it does not: each call may take as long.
    fn cancel(&mut self) {
        let mut rounds: Vec<_> = self.schedule.possible().collect();
        // One that has ended must not be cancelled: some engines would forget what it has left.
        if !rounds.is_empty()
            && let Ok(alive) = self.engine.alive(&rounds)
        {
            rounds.retain(|round| alive.iter().any(|alive| alive.name == round.name));
        }
        if !rounds.is_empty() && self.book.engine != Kind::Local.name() {
            let engine = self.book.engine;
            self.progress
                .tell(&format!("ending the pieces in {engine}"));
        }
        for (at, round) in rounds.iter().enumerate() {
            if let Err(error) = self.engine.cancel(round) {
                let names: Vec<_> = rounds[at..].iter().map(|it| it.name.as_str()).collect();
                let (names, engine) = (names.join(", "), self.book.engine);
                let text = format!("pieces of {names} may go on in {engine}: {error}");
                return self.progress.tell(&text);
            }
        }
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

    /// Returns the rounds that have ended, with the items that have no other piece. Fails if the engine
    /// can never answer. Waits for ten times as long as an answer took, because each question is work
    /// for its server, but not while all rounds are doubtful.
    fn ask(&mut self) -> Result<Vec<Round>, Error> {
        let begin = Instant::now();
        if begin < self.next_question {
            return Ok(Vec::new());
        }
        let rounds: Vec<&Round> = self.schedule.living().collect();
        let alive = if rounds.is_empty() {
            Ok(Vec::new())
        } else {
            self.engine.alive(&rounds)
        };
        if !self.schedule.is_doubtful() {
            let pause = begin.elapsed() * 10;
            self.next_question = Instant::now() + pause.min(LONGEST_WAIT);
        }
        let is_patient = begin < self.next_submission;
        match alive {
            Ok(alive) => {
                self.running = alive.iter().map(|alive| alive.running).sum();
                self.explain(&alive);
                return Ok(self.schedule.answered(&alive, is_patient));
            }
            Err(error) if error.retry() == Retry::Never => return Err(error),
            Err(error) if self.schedule.is_doubtful() && !is_patient => {
                self.postpone(LOST, error)?
            }
            Err(error) => self.tell(LOST, &error),
        }
        Ok(Vec::new())
    }

    /// Tells the user what the engine does, unless that was told lately. Some errors have another text
    /// each time.
    fn tell(&mut self, what: &'static str, error: &Error) {
        let (engine, error) = (self.book.engine, error.to_string());
        let (before, text, at) = &self.told;
        let is_new = *before != what || *text != error && at.elapsed() > LONGEST_PAUSE;
        if is_new || at.elapsed() > SILENCE {
            let text = format!("{engine} {what}; `run` tries again: {error}");
            self.progress.tell(&text);
            self.told = (what, error, Instant::now());
        }
    }

    /// Counts a failed attempt of each item of an ended round that has no result.
    fn count(&mut self, round: Round) -> Result<(), Error> {
        let folder = self.book.folder;
        let mut is_whole = true;
        for item in &round.items {
            // A listing may not show the result, or that of the piece that has left the item.
            let is_known = self.survey.weights.contains_key(item);
            if !is_known
                || self.survey.published.contains_key(item)
                || folder.look_up(item, &mut self.survey)?
            {
                continue;
            }
            let before = self.logged.get(item).copied().unwrap_or(0);
            let last = match folder.failures(item)?.get(before..) {
                Some([.., last]) => last.clone(),
                _ => {
                    let failed = self.unlogged(&round, item);
                    // If the disk is full, only `status` misses it.
                    let _ = note(folder.path(), item, &failed);
                    failed
                }
            };
            self.schedule.failed(item, last);
            is_whole = false;
        }
        if !is_whole {
            self.schedule.suspect(round);
        }
        Ok(())
    }

    /// Returns what is known about an attempt that has ended without a result and a message.
    fn unlogged(&self, round: &Round, item: &Name) -> Failed {
        let begun = self.survey.begun.iter();
        let begun = begun.filter(|begun| begun.item == *item);
        let last = begun.max_by(|one, other| one.began.total_cmp(&other.began));
        let unknown = || "an unknown machine".to_owned();
        let mut text = "the piece has left no message, so it may have been killed".to_owned();
        if let Some(details) = self.engine.details(round) {
            text += &format!(" (to see more: {details})");
        }
        Failed {
            host: last.map_or_else(unknown, |begun| begun.host.clone()),
            pid: last.map_or(0, |begun| begun.pid),
            at: now(),
            retry: Retry::Perhaps,
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
