//! The pool's seat in the table of jobs, or the reason why it has none.

use crate::options::Options;
use std::time::Duration;
use tidegate_policy::SharePolicy;
use tidegate_share::confinement::restore_abandoned;
use tidegate_share::{Location, Name, Neighbours, Refusal, Report, Seat, Shares, Waker};
use tidegate_sync::stderr::print_line;

pub(super) struct Presence {
    seat: Option<Seat>,
    location: Result<Location, Refusal>,
    /// The job's name in the table.
    job: Name,
    pool: String,
    /// Whether to print where the table is, or why the pool has no seat.
    explain: bool,
    /// The last message that was printed, so that it is not repeated.
    said: Option<String>,
    neighbours: Neighbours,
    /// The load of other processes, in thousandths of a processor.
    load: u64,
}

impl Presence {
    pub(super) fn new(options: &Options, job: &str, location: Result<Location, Refusal>) -> Self {
        Self {
            seat: None,
            location,
            job: Name::new(job),
            pool: options.name.clone(),
            explain: options.explain,
            said: None,
            neighbours: Neighbours::new(),
            load: 0,
        }
    }

    /// Whether the pool has no seat. It then does not know how the machine is divided.
    pub(super) fn is_alone(&self) -> bool {
        self.seat.is_none()
    }

    /// Takes a seat if the pool has none, or if its seat is out of date. Measures the load of other
    /// processes if the policy leaves room for them when `others` other jobs are active.
    pub(super) fn look(&mut self, share: SharePolicy, others: usize) {
        self.seat.take_if(|seat| !seat.is_current());
        if self.seat.is_none() {
            self.take(share);
        }
        let neighbours = &mut self.neighbours;
        if !share.leaves_room(others) {
            (*neighbours, self.load) = (Neighbours::new(), 0);
        } else if let Some(seat) = &mut self.seat {
            match seat.measure(neighbours) {
                Ok(load) => self.load = load,
                Err(refusal) => self.lose(&refusal.to_string()),
            }
        }
    }

    fn take(&mut self, share: SharePolicy) {
        let taken = self.location.as_ref().map_err(Refusal::to_string);
        let taken = taken.and_then(|location| {
            let seat = Seat::take(location, &self.job).map_err(|refusal| refusal.to_string())?;
            let path = seat.path().display().to_string();
            let (path, why) = (path.escape_debug(), location.why());
            // Give the threads of other programs their processors back, if the command that had
            // confined them was killed.
            restore_abandoned(location);
            let said = format!("shares the machine ({share}) through {path} ({why})");
            Ok((seat, said))
        });
        match taken {
            Ok((seat, said)) => {
                self.say(said);
                self.seat = Some(seat);
            }
            Err(refusal) => self.lose(&refusal),
        }
    }

    /// Gives up the seat: until the next look, the pool runs as if it were alone.
    fn lose(&mut self, refusal: &str) {
        self.seat = None;
        self.say(format!("runs as if it were alone: {refusal}"));
    }

    fn say(&mut self, what: String) {
        if self.explain && self.said.as_ref() != Some(&what) {
            print_line(format_args!("pool {}: {what}", self.pool.escape_debug()));
            self.said = Some(what);
        }
    }

    pub(super) fn publish(&mut self, report: Report) {
        let report = Report {
            neighbours: self.load,
            ..report
        };
        self.with_seat(|seat| seat.publish(&report));
    }

    /// Returns how the machine is divided. Without a seat, other jobs have no share of it.
    pub(super) fn shares(&mut self) -> Shares {
        self.with_seat(Seat::shares).unwrap_or_default()
    }

    /// Waits until the table changes, but at most for `limit`. Returns false if there is no seat.
    pub(super) fn wait(&mut self, limit: Duration) -> bool {
        self.with_seat(|seat| seat.wait_change(limit)).is_some()
    }

    pub(super) fn waker(&self) -> Option<Waker> {
        self.seat.as_ref().map(Seat::waker)
    }

    fn with_seat<T>(&mut self, act: impl FnOnce(&mut Seat) -> Result<T, Refusal>) -> Option<T> {
        match act(self.seat.as_mut()?) {
            Ok(done) => Some(done),
            Err(refusal) => {
                self.lose(&refusal.to_string());
                None
            }
        }
    }
}
