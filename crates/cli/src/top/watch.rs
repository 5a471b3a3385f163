//! The table while it comes, goes and is replaced.

use tidegate_share::{Location, Observer, Refusal};

use crate::roster::{self, Row};

/// One who looks at the table again and again.
pub struct Watch {
    location: Location,
    observer: Option<Observer>,
}

impl Watch {
    /// Looks at the table at `location`.
    pub fn new(location: Location) -> Self {
        Self {
            location,
            observer: None,
        }
    }

    /// The jobs in the table as it is now, or a sentence that says why there are none to be shown.
    pub fn look(&mut self) -> Result<Vec<Row>, String> {
        match self.try_look() {
            Ok(Some(rows)) => Ok(rows),
            Ok(None) => Err("no jobs yet: there is no table, the first job makes it".into()),
            Err(refusal) => {
                self.observer = None;
                Err(roster::refused(&refusal).to_string())
            }
        }
    }

    fn try_look(&mut self) -> Result<Option<Vec<Row>>, Refusal> {
        // Only who keeps looking through one opening sees that a job stands still.
        if !self.observer.as_ref().is_some_and(Observer::is_current) {
            self.observer = Observer::open(&self.location)?;
        }
        let Some(observer) = &mut self.observer else {
            return Ok(None);
        };
        let jobs = observer.jobs()?;
        Ok(Some(jobs.iter().map(Row::from).collect()))
    }
}
