//! Reads the job table repeatedly. The table may appear, disappear or be replaced between reads.

use tidegate_share::{Location, Observer, Refusal};

use crate::roster::{self, JobStatus};

pub struct Watch {
    location: Location,
    observer: Option<Observer>,
}

impl Watch {
    pub fn new(location: Location) -> Self {
        Self {
            location,
            observer: None,
        }
    }

    /// Returns the jobs that are now in the table, or a message that explains why there are none.
    pub fn look(&mut self) -> Result<Vec<JobStatus>, String> {
        match self.try_look() {
            Ok(Some(rows)) => Ok(rows),
            Ok(None) => Err("no jobs yet: there is no table, the first job creates it".into()),
            Err(refusal) => {
                self.observer = None;
                Err(roster::refused(&refusal).to_string())
            }
        }
    }

    fn try_look(&mut self) -> Result<Option<Vec<JobStatus>>, Refusal> {
        // Keep the observer open, because it recognizes stalled jobs by comparing several reads.
        if !self.observer.as_ref().is_some_and(Observer::is_current) {
            self.observer = Observer::open(&self.location)?;
        }
        let Some(observer) = &mut self.observer else {
            return Ok(None);
        };
        let jobs = observer.jobs()?;
        Ok(Some(jobs.iter().map(JobStatus::from).collect()))
    }
}
