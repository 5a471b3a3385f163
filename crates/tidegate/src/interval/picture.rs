//! Pictures of a recorded run: the declared order, and which thread ran each interval, where and
//! when.

use super::record::{Graph, Recording, Span};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Width of the run's picture in pixels, without the names of the threads.
const WIDTH: f64 = 1_000.0;
const ROW: f64 = 28.0;
const MARGIN: f64 = 110.0;
/// Colours of places, assigned cyclically; the last one is for threads that are in no place.
const FILLS: [&str; 7] = [
    "#4e79a7", "#59a14f", "#edc948", "#b07aa1", "#76b7b2", "#9c755f", "#bab0ac",
];
const FAILED: &str = "#e15759";

impl Graph {
    /// Returns the order as a Graphviz graph. Each interval is a box, with a frame around the
    /// intervals that it created. Edges from ends are solid, and edges from starts are dashed.
    /// Intervals that never ran are grey, and failed ones red.
    ///
    /// ```
    /// use tidegate::interval::Recorder;
    ///
    /// let recorder = Recorder::new();
    /// recorder.run(|s| {
    ///     s.interval(|_| ()).named("read");
    /// })?;
    /// let graph = recorder.finish();
    /// assert!(graph.dot().contains("read"));
    /// # Ok::<(), tidegate::interval::Failure>(())
    /// ```
    #[must_use]
    pub fn dot(&self) -> String {
        let mut out = String::from("digraph intervals {\n  rankdir=LR;\n  node [shape=box];\n");
        let mut inside = vec![Vec::new(); self.intervals.len()];
        for (number, interval) in self.intervals.iter().enumerate() {
            if let Some(parent) = interval.parent {
                inside[parent].push(number);
            }
        }
        let roots = self.intervals.iter().enumerate();
        let roots = roots.filter(|(_, interval)| interval.parent.is_none());
        // The items still to be written: an interval, or `None` for the end of a frame.
        let mut next: Vec<Option<usize>> = roots.map(|(number, _)| Some(number)).rev().collect();
        while let Some(item) = next.pop() {
            let Some(number) = item else {
                out.push_str("}\n");
                continue;
            };
            let Recording { name, ran, .. } = &self.intervals[number];
            let colour = match ran {
                None => " color=grey fontcolor=grey",
                Some(Span { failed: true, .. }) => " color=red",
                Some(_) => "",
            };
            let name = quoted(name);
            let _ = writeln!(out, "  i{number} [label={name}{colour}];");
            if !inside[number].is_empty() {
                let _ = writeln!(out, "subgraph cluster_{number} {{ label={name};");
                next.push(None);
                next.extend(inside[number].iter().rev().map(|child| Some(*child)));
            }
        }
        for edge in &self.edges {
            let style = match (edge.from.1, edge.to.1) {
                (true, false) => "",
                (true, true) => " [arrowhead=tee]",
                (false, false) => " [style=dashed]",
                (false, true) => " [style=dashed arrowhead=tee]",
            };
            let _ = writeln!(out, "  i{} -> i{}{style};", edge.from.0, edge.to.0);
        }
        out.push_str("}\n");
        out
    }

    /// Returns the run as an SVG picture.
    ///
    /// There is a row for each thread that ran an interval, with time from left to right, and a bar
    /// for each body. The colour of a bar shows the place where the body ran; red marks a failure.
    /// The total time and a legend are below. Hovering over a bar shows the interval's name and
    /// times.
    ///
    /// ```
    /// use tidegate::interval::Recorder;
    ///
    /// let recorder = Recorder::new();
    /// recorder.run(|s| {
    ///     s.interval(|_| ()).named("read");
    /// })?;
    /// let graph = recorder.finish();
    /// assert!(graph.svg().starts_with("<svg"));
    /// # Ok::<(), tidegate::interval::Failure>(())
    /// ```
    #[must_use]
    pub fn svg(&self) -> String {
        let ran = || {
            let intervals = self.intervals.iter();
            intervals.filter_map(|interval| Some((interval, interval.ran?)))
        };
        let from = ran().map(|(_, ran)| ran.from).min().unwrap_or(0);
        let to = ran().map(|(_, ran)| ran.to).max().unwrap_or(0);
        let mut workers: Vec<usize> = ran().map(|(_, ran)| ran.worker).collect();
        workers.sort_unstable();
        workers.dedup();
        let length = (to - from).max(1) as f64;
        let x = |time: u64| MARGIN + (time.saturating_sub(from)) as f64 / length * WIDTH;
        let (width, height) = (MARGIN + WIDTH + 10.0, (workers.len() as f64 + 1.0) * ROW);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             font-family=\"sans-serif\" font-size=\"12\">\n"
        );
        for (row, worker) in workers.iter().enumerate() {
            let y = (row as f64 + 0.65) * ROW;
            let _ = writeln!(out, "<text x=\"5\" y=\"{y:.1}\">thread {worker}</text>");
        }
        for (interval, ran) in ran() {
            let row = workers.partition_point(|worker| *worker < ran.worker);
            let (left, y) = (x(ran.from), (row as f64 + 0.1) * ROW);
            // The bar is drawn to scale, so that it does not hide its neighbour, but never too
            // narrow to be seen.
            let wide = (x(ran.to) - left).max(0.3);
            let fill = if ran.failed { FAILED } else { fill(ran.place) };
            let name = escaped(&interval.name);
            let (at, took) = (
                (ran.from - from) as f64 / 1e3,
                (ran.to - ran.from) as f64 / 1e3,
            );
            let _ = writeln!(
                out,
                "<rect x=\"{left:.2}\" y=\"{y:.1}\" width=\"{wide:.2}\" height=\"{:.1}\" fill=\"{fill}\">\
                 <title>{name}: {took:.1} us, {at:.1} us after the first</title></rect>",
                ROW * 0.8
            );
        }
        let y = (workers.len() as f64 + 0.65) * ROW;
        let _ = write!(
            out,
            "<text x=\"{MARGIN}\" y=\"{y:.1}\">{:.3} ms",
            length / 1e6
        );
        let failed = ran().any(|(_, ran)| ran.failed);
        let places: BTreeSet<_> = ran().map(|(_, ran)| ran.place).collect();
        let fills = places.into_iter().map(|place| match place {
            Some(number) => (fill(place), format!("place {number}")),
            None => (fill(place), "no place".to_owned()),
        });
        for (fill, what) in fills.chain(failed.then(|| (FAILED, "failed".to_owned()))) {
            let _ = write!(
                out,
                "<tspan dx=\"20\" fill=\"{fill}\">&#9632;</tspan> {what}"
            );
        }
        out.push_str("</text>\n</svg>\n");
        out
    }
}

fn fill(place: Option<usize>) -> &'static str {
    let others = FILLS.len() - 1;
    FILLS[place.map_or(others, |number| number % others)]
}

fn quoted(name: &str) -> String {
    let mut out = String::from("\"");
    for sign in name.chars() {
        match sign {
            '"' | '\\' => out.extend(['\\', sign]),
            '\n' => out.push_str("\\n"),
            sign if sign.is_control() => out.push(' '),
            sign => out.push(sign),
        }
    }
    out.push('"');
    out
}

fn escaped(name: &str) -> String {
    let mut out = String::new();
    for sign in name.chars() {
        match sign {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            sign if sign.is_control() => out.push(' '),
            sign => out.push(sign),
        }
    }
    out
}
