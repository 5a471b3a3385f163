//! What `status` reports.

use std::collections::BTreeMap;

use serde::Serialize;

use super::commands::Commands;
use crate::estimate;
use crate::folder::{Begun, Failed, Survey};
use crate::name::Name;
use crate::request::Request;
use crate::timeline::{Bar, Mark, Timeline};

/// What is known about a run.
pub struct View {
    pub program: String,
    /// What the plan asks the program for.
    pub request: Request,
    /// The results that cannot be used, and why.
    pub wrong: Vec<Wrong>,
    /// What the folder says. The attempts that have begun live, as far as is known.
    pub survey: Survey,
    /// The process of the `run` that works in the folder.
    pub run: Option<String>,
    /// The attempts on this machine whose processes have ended.
    pub dead: Vec<Begun>,
    /// The failed attempts of every item that has some, oldest first.
    pub failures: BTreeMap<Name, Vec<Failed>>,
    /// Why pieces waited in the engine when `run` last asked, and when it did.
    pub queue: Option<(String, f64)>,
    /// The name of this machine.
    pub here: String,
    /// The present, in seconds since 1970.
    pub now: f64,
}

/// What `status` reports. Times are in seconds.
#[derive(Debug, Serialize)]
pub struct Status {
    pub program: String,
    #[serde(flatten)]
    pub request: Request,
    pub items: usize,
    pub published: usize,
    /// The weight that is published, and that of the whole work.
    pub weight_published: u64,
    pub weight: u64,
    pub hosts: Vec<Host>,
    pub running: Vec<Attempt>,
    /// Attempts on this machine that have ended without a result or an error.
    pub killed: Vec<Attempt>,
    pub failed: Vec<FailedItem>,
    /// Results that are torn, of another plan, or contradicted by a second one.
    pub wrong: Vec<Wrong>,
    /// The items without a result, including those whose pieces run.
    pub missing: Vec<Name>,
    /// Why pieces wait in the engine, if nothing runs.
    pub queue: Option<Queued>,
    /// The items whose pieces have left work to others.
    pub split: Vec<SplitItem>,
    pub elapsed: f64,
    pub left: Option<f64>,
    /// The command that merges, if everything is published.
    pub merge: Option<String>,
    /// The process of the `run` that works in the folder.
    pub run: Option<String>,
    /// The command that does what is missing, if nothing runs.
    pub resume: Option<String>,
}

/// A result that cannot be used.
#[derive(Clone, Debug, Serialize)]
pub struct Wrong {
    pub item: Name,
    pub text: String,
}

/// What `run` has said about pieces that wait.
#[derive(Debug, Serialize)]
pub struct Queued {
    pub text: String,
    pub age: f64,
}

#[derive(Debug, Serialize)]
pub struct Host {
    pub host: String,
    pub published: usize,
    /// How long the published pieces took.
    pub seconds: f64,
    /// How many pieces ran at once, at most.
    pub at_once: usize,
    /// The share of the elapsed time in which the places of these had no piece.
    pub idle: f64,
}

#[derive(Debug, Serialize)]
pub struct Attempt {
    pub item: Name,
    pub host: String,
    pub pid: u32,
    /// When it began, in seconds since 1970.
    pub began: f64,
    pub age: f64,
    /// Whether this is the attempt's machine. What runs elsewhere may have been killed.
    pub is_here: bool,
    /// Another attempt has been faster.
    pub is_published: bool,
}

#[derive(Debug, Serialize)]
pub struct FailedItem {
    pub item: Name,
    pub attempts: usize,
    /// The machine, exit code and message of the last attempt.
    pub host: String,
    pub code: u8,
    pub text: String,
    pub is_published: bool,
}

#[derive(Debug, Serialize)]
pub struct SplitItem {
    pub item: Name,
    /// How many items its piece has left.
    pub items: usize,
}

impl View {
    /// Returns the pieces that are published or needed, and what has failed.
    pub fn timeline(&self) -> Timeline {
        let published = self.survey.published.iter().map(|(item, trailer)| {
            let bar = Bar {
                item: item.clone(),
                from: trailer.began,
                to: trailer.began + trailer.seconds,
                is_running: false,
            };
            (trailer.host.clone(), bar)
        });
        let running = (self.survey.begun.iter())
            .filter(|begun| !self.is_published(&begun.item))
            .map(|begun| {
                let bar = Bar {
                    item: begun.item.clone(),
                    from: begun.began,
                    to: self.now.max(begun.began),
                    is_running: true,
                };
                (begun.host.clone(), bar)
            });
        let failed = self.failures.iter().flat_map(|(item, failures)| {
            failures.iter().map(|failed| {
                let text = failed.text.clone();
                (failed.host.clone(), mark(item, failed.at, text))
            })
        });
        let killed = self.unpublished(&self.dead).map(|begun| {
            let text = format!("began, and was killed later, process {}", begun.pid);
            (begun.host.clone(), mark(&begun.item, begun.began, text))
        });
        Timeline::new(
            published.chain(running).collect(),
            failed.chain(killed).collect(),
        )
    }

    fn is_published(&self, item: &Name) -> bool {
        self.survey.published.contains_key(item)
    }

    /// Leaves out attempts that have published their result, and only not yet ended.
    fn unpublished<'a>(&'a self, begun: &'a [Begun]) -> impl Iterator<Item = &'a Begun> {
        begun.iter().filter(|begun| {
            let trailer = self.survey.published.get(&begun.item);
            trailer.is_none_or(|trailer| (&trailer.host, trailer.pid) != (&begun.host, begun.pid))
        })
    }

    fn attempts(&self, begun: &[Begun]) -> Vec<Attempt> {
        let attempts = self.unpublished(begun).map(|begun| Attempt {
            item: begun.item.clone(),
            host: begun.host.clone(),
            pid: begun.pid,
            began: begun.began,
            age: (self.now - begun.began).max(0.0),
            is_here: begun.host == self.here,
            is_published: self.is_published(&begun.item),
        });
        let mut attempts: Vec<_> = attempts.collect();
        attempts.sort_by(|a, b| {
            let order =
                |attempt: &Attempt| (attempt.item.clone(), attempt.host.clone(), attempt.pid);
            order(a).cmp(&order(b))
        });
        attempts
    }

    fn failed(&self) -> Vec<FailedItem> {
        let failures = self.failures.iter();
        let failed = failures.filter_map(|(item, failures)| {
            let last = failures.last()?;
            Some(FailedItem {
                item: item.clone(),
                attempts: failures.len(),
                host: last.host.clone(),
                code: last.retry as u8,
                text: last.text.clone(),
                is_published: self.is_published(item),
            })
        });
        failed.collect()
    }
}

fn mark(item: &Name, at: f64, text: String) -> Mark {
    let item = item.clone();
    Mark { item, at, text }
}

impl Status {
    /// Reports on a run.
    pub fn new(view: &View, timeline: &Timeline, commands: Commands) -> Self {
        let survey = &view.survey;
        let (weight_published, weight) = survey.weight();
        let elapsed = timeline.elapsed();
        let hosts = timeline.hosts().map(|(name, host)| {
            let (published, seconds) = host.published();
            Host {
                host: name.to_owned(),
                published,
                seconds,
                at_once: host.at_once(),
                idle: host.idle(elapsed),
            }
        });
        let split = (survey.published.iter())
            .filter(|(_, trailer)| !trailer.rest.is_empty())
            .map(|(item, trailer)| SplitItem {
                item: item.clone(),
                items: trailer.rest.len(),
            });
        let running = view.attempts(&survey.begun);
        let missing: Vec<_> = survey.missing().cloned().collect();
        let queue = (view.queue.as_ref())
            .filter(|_| !missing.is_empty() && running.is_empty())
            .map(|(text, at)| Queued {
                text: text.clone(),
                age: (view.now - at).max(0.0),
            });
        let is_whole = missing.is_empty() && view.wrong.is_empty();
        Self {
            program: view.program.clone(),
            request: view.request.clone(),
            items: survey.weights.len(),
            published: survey.published.len(),
            weight_published,
            weight,
            hosts: hosts.collect(),
            left: estimate::of(survey, view.now),
            killed: view.attempts(&view.dead),
            failed: view.failed(),
            merge: is_whole.then_some(commands.merge),
            resume: (!is_whole && running.is_empty() && view.run.is_none())
                .then_some(commands.resume),
            run: view.run.clone(),
            running,
            wrong: view.wrong.clone(),
            missing,
            queue,
            split: split.collect(),
            elapsed,
        }
    }
}
