//! Pieces over time: which of them ran at once, on which machine.

mod svg;

use std::collections::BTreeMap;

use crate::name::Name;

/// A piece that is published or runs. Times are in seconds since 1970.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    pub item: Name,
    pub from: f64,
    /// When the piece ended, or the present if it runs.
    pub to: f64,
    pub is_running: bool,
}

/// An attempt that has failed. When it began is not always known.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    pub item: Name,
    pub at: f64,
    pub text: String,
}

/// The pieces of a machine.
#[derive(Debug, Default)]
pub struct Host {
    /// In the order in which they began.
    bars: Vec<Bar>,
    /// The lane of each bar.
    lanes: Vec<usize>,
    marks: Vec<Mark>,
}

#[derive(Debug, Default)]
pub struct Timeline {
    /// When the first piece began, and the last one ended.
    from: f64,
    to: f64,
    hosts: BTreeMap<String, Host>,
}

impl Timeline {
    /// Sorts pieces and failures, which come with the names of their machines.
    pub fn new(bars: Vec<(String, Bar)>, marks: Vec<(String, Mark)>) -> Self {
        let starts = bars.iter().map(|(_, bar)| bar.from);
        let ends = bars.iter().map(|(_, bar)| bar.to);
        let times = || marks.iter().map(|(_, mark)| mark.at);
        let from = starts.chain(times()).reduce(f64::min).unwrap_or(0.0);
        let to = ends.chain(times()).reduce(f64::max).unwrap_or(0.0);
        let mut hosts = BTreeMap::<String, Host>::new();
        for (host, bar) in bars {
            hosts.entry(host).or_default().bars.push(bar);
        }
        for (host, mark) in marks {
            hosts.entry(host).or_default().marks.push(mark);
        }
        for host in hosts.values_mut() {
            let order = |bar: &Bar| (bar.from, bar.item.clone());
            host.bars.sort_by(|a, b| compare(&order(a), &order(b)));
            let order = |mark: &Mark| (mark.at, mark.item.clone());
            host.marks.sort_by(|a, b| compare(&order(a), &order(b)));
            let spans = host.bars.iter().map(|bar| (bar.from, bar.to));
            host.lanes = lanes(spans);
        }
        Self { from, to, hosts }
    }

    /// Returns the seconds between the first start and the last end.
    pub fn elapsed(&self) -> f64 {
        self.to - self.from
    }

    /// Returns the machines in the order of their names.
    pub fn hosts(&self) -> impl Iterator<Item = (&str, &Host)> {
        self.hosts.iter().map(|(name, host)| (&**name, host))
    }
}

fn compare(a: &(f64, Name), b: &(f64, Name)) -> std::cmp::Ordering {
    a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1))
}

impl Host {
    /// Returns how many pieces ran at once, at most.
    pub fn at_once(&self) -> usize {
        self.lanes.iter().max().map_or(0, |lane| lane + 1)
    }

    /// Returns how many pieces are published, and the seconds that they took.
    pub fn published(&self) -> (usize, f64) {
        let published = self.bars.iter().filter(|bar| !bar.is_running);
        published.fold((0, 0.0), |(count, seconds), bar| {
            (count + 1, seconds + bar.to - bar.from)
        })
    }

    /// Returns the share of `elapsed` in which the lanes had no piece.
    pub fn idle(&self, elapsed: f64) -> f64 {
        let busy: f64 = self.bars.iter().map(|bar| bar.to - bar.from).sum();
        let room = elapsed * self.at_once() as f64;
        if room > 0.0 {
            (1.0 - busy / room).max(0.0)
        } else {
            0.0
        }
    }
}

/// Assigns lanes to pieces, which are in the order in which they began: each gets the first lane
/// whose last piece has ended. There are as many lanes as pieces that ran at once.
fn lanes(spans: impl Iterator<Item = (f64, f64)>) -> Vec<usize> {
    let mut ends = Vec::new();
    let lanes = spans.map(|(from, to)| {
        let free = ends.iter().position(|end| *end <= from);
        let lane = free.unwrap_or(ends.len());
        match ends.get_mut(lane) {
            Some(end) => *end = to,
            None => ends.push(to),
        }
        lane
    });
    lanes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(item: usize, from: f64, to: f64) -> Bar {
        Bar {
            item: Name::planned(item),
            from,
            to,
            is_running: false,
        }
    }

    #[test]
    fn pieces_at_once_have_lanes_of_their_own() {
        let spans = [
            (0.0, 4.0),
            (0.0, 1.0),
            (1.0, 3.0),
            (2.0, 5.0),
            (3.5, 6.0),
            (4.0, 5.0),
        ];
        assert_eq!(lanes(spans.into_iter()), [0, 1, 1, 2, 1, 0]);
        assert!(lanes([].into_iter()).is_empty());
    }

    #[test]
    fn idle_counts_from_first_start_to_last_end() {
        let on = |host: &str, bar| (host.to_owned(), bar);
        let bars = vec![
            on("b", bar(3, 12.0, 16.0)),
            on("a", bar(2, 14.0, 20.0)),
            on("a", bar(0, 10.0, 20.0)),
            on("a", bar(1, 10.0, 12.0)),
        ];
        let timeline = Timeline::new(bars, Vec::new());
        let elapsed = timeline.elapsed();
        assert_eq!(elapsed, 10.0);
        let hosts: Vec<_> = timeline
            .hosts()
            .map(|(name, host)| (name, host.published(), host.at_once()))
            .collect();
        assert_eq!(hosts, [("a", (3, 18.0), 2), ("b", (1, 4.0), 1)]);
        let idle = |name: &str| timeline.hosts[name].idle(elapsed);
        assert!((idle("a") - 0.1).abs() < 1e-9);
        assert!((idle("b") - 0.6).abs() < 1e-9);
    }

    #[test]
    fn nothing_has_no_length() {
        let mark = Mark {
            item: Name::planned(0),
            at: 7.0,
            text: String::new(),
        };
        let timeline = Timeline::new(Vec::new(), vec![("a".to_owned(), mark)]);
        assert_eq!(timeline.elapsed(), 0.0);
        let host = &timeline.hosts["a"];
        assert_eq!((host.at_once(), host.idle(0.0)), (0, 0.0));
        assert_eq!(Timeline::new(Vec::new(), Vec::new()).elapsed(), 0.0);
    }
}
