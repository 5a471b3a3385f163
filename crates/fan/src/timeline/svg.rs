//! The picture of a timeline.

use std::fmt::Write as _;

use super::{Bar, Host, Mark, Timeline};
use crate::phrases::{count, span};

/// The width of the lanes in pixels.
const WIDTH: f64 = 1_000.0;
const MARGIN: f64 = 20.0;
const LANE: f64 = 18.0;
/// The height of a line of text.
const LINE: f64 = 24.0;
/// The width of a character, and the space that a bar needs beside its name.
const CHARACTER: f64 = 6.5;
const PADDING: f64 = 6.0;
/// The largest number of labels on the axis.
const TICKS: f64 = 8.0;

/// Colours for light and dark pages: background, text, grid, published, running, failed.
const STYLE: &str = "\
.b{fill:#fff}.t{fill:#222}.g{stroke:#ddd}.p{fill:#4e79a7}.n{fill:#fff}.f{fill:#c62828}\
.r{fill:#d6e4f2;stroke:#4e79a7;stroke-dasharray:3 2}
@media(prefers-color-scheme:dark){.b{fill:#16181c}.t{fill:#ddd}.g{stroke:#3a3d42}.f{fill:#ff7b72}\
.r{fill:#22364d;stroke:#9cc3ee}}";

/// The distances of labels on the axis, in seconds.
const STEPS: [f64; 24] = [
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0,
    120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0, 7200.0, 14400.0,
];

impl Timeline {
    /// Returns the timeline as SVG: a group of lanes for each machine, and a bar for each piece.
    /// Below a group are its failed attempts. Hovering over a piece shows its item and its times.
    /// The title has two lines.
    pub fn svg(&self, [title, below]: [&str; 2]) -> String {
        let mut lanes = String::new();
        let top = 2.0 * LINE;
        let mut y = top;
        for (name, host) in self.hosts() {
            self.draw(&mut lanes, name, host, &mut y);
        }
        let (width, height) = (WIDTH + 2.0 * MARGIN, y + 2.0 * LINE);
        let room = (WIDTH / CHARACTER) as usize;
        let shown = escaped(&cut(title, room));
        let [title, below] = [title, below].map(escaped);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\" \
             role=\"img\" aria-label=\"{title}: {below}\">\n<style>{STYLE}</style>\n\
             <rect class=\"b\" width=\"{width}\" height=\"{height}\"/>\n"
        );
        text(&mut out, MARGIN, LINE * 0.7, &shown);
        text(&mut out, MARGIN, LINE * 1.5, &below);
        self.axis(&mut out, top, y);
        out += &lanes;
        legend(&mut out, y + 2.0 * LINE - 8.0);
        out + "</svg>\n"
    }

    /// Returns the position of a time.
    fn x(&self, time: f64) -> f64 {
        let elapsed = self.elapsed();
        let share = if elapsed > 0.0 {
            (time - self.from) / elapsed
        } else {
            0.0
        };
        MARGIN + share * WIDTH
    }

    /// Draws a machine at the height `y`, which is moved below it.
    fn draw(&self, out: &mut String, name: &str, host: &Host, y: &mut f64) {
        let idle = host.idle(self.elapsed()) * 100.0;
        let heading = match host.published() {
            (0, _) => name.to_owned(),
            (published, seconds) => {
                let published = count(published, "piece");
                format!("{name}: {published}, {seconds:.1} s of work, {idle:.0} % idle")
            }
        };
        text(out, MARGIN, *y + LINE * 0.7, &escaped(&heading));
        *y += LINE;
        for (bar, lane) in host.bars.iter().zip(&host.lanes) {
            self.bar(out, bar, *y + *lane as f64 * LANE);
        }
        *y += host.at_once() as f64 * LANE;
        for mark in &host.marks {
            self.mark(out, mark, *y);
        }
        if !host.marks.is_empty() {
            *y += LANE;
        }
    }

    fn bar(&self, out: &mut String, bar: &Bar, y: f64) {
        let (x, y, height) = (self.x(bar.from), y + 1.0, LANE - 2.0);
        // A bar is drawn to scale, but never too narrow to be seen.
        let width = (self.x(bar.to) - x).max(0.5);
        let (class, label, runs) = if bar.is_running {
            ("r", "t", ", runs")
        } else {
            ("p", "n", "")
        };
        let (item, seconds, start) = (&bar.item, bar.to - bar.from, bar.from - self.from);
        let _ = write!(
            out,
            "<g><title>item {item}{runs}: {seconds:.1} s, from {start:.1} s on</title>\
             <rect class=\"{class}\" x=\"{x:.2}\" y=\"{y}\" width=\"{width:.2}\" height=\"{height}\"/>"
        );
        let item = item.to_string();
        if width >= item.len() as f64 * CHARACTER + PADDING {
            let (x, y) = (x + PADDING / 2.0, y + 12.0);
            let _ = write!(
                out,
                "<text class=\"{label}\" x=\"{x:.2}\" y=\"{y}\">{item}</text>"
            );
        }
        out.push_str("</g>\n");
    }

    fn mark(&self, out: &mut String, mark: &Mark, y: f64) {
        let (x, item, text) = (self.x(mark.at), &mark.item, escaped(&mark.text));
        let at = mark.at - self.from;
        let triangle = triangle(x, y);
        let _ = writeln!(
            out,
            "<path class=\"f\" d=\"{triangle}\"><title>item {item}, at {at:.1} s: {text}</title></path>"
        );
    }

    /// Draws the grid from `top` to `y`, and the times below it.
    fn axis(&self, out: &mut String, top: f64, y: f64) {
        let step = step(self.elapsed());
        let ticks = (0..).map(|number| f64::from(number) * step);
        for tick in ticks.take_while(|tick| *tick <= self.elapsed()) {
            let x = self.x(self.from + tick);
            let label = if step < 60.0 {
                format!("{} s", (tick * 1e3).round() / 1e3)
            } else {
                span(tick)
            };
            let _ = writeln!(
                out,
                "<path class=\"g\" d=\"M{x:.2} {top}V{y}\"/>\
                 <text class=\"t\" x=\"{x:.2}\" y=\"{}\" text-anchor=\"middle\">{label}</text>",
                y + LINE * 0.7
            );
        }
    }
}

/// Returns the distance of the labels of an axis.
fn step(elapsed: f64) -> f64 {
    const DAY: f64 = 86_400.0;
    let least = elapsed / TICKS;
    let step = STEPS.into_iter().find(|step| *step >= least);
    step.unwrap_or_else(|| (least / DAY).ceil() * DAY)
}

fn legend(out: &mut String, y: f64) {
    let top = y - 11.0;
    for (number, (class, word)) in [("p", "published"), ("r", "running")].iter().enumerate() {
        let x = MARGIN + number as f64 * 100.0;
        let _ = write!(
            out,
            "<rect class=\"{class}\" x=\"{x}\" y=\"{top}\" width=\"14\" height=\"14\"/>"
        );
        text(out, x + 20.0, y, word);
    }
    let x = MARGIN + 200.0;
    let triangle = triangle(x + 7.0, top - 1.0);
    let _ = write!(out, "<path class=\"f\" d=\"{triangle}\"/>");
    text(out, x + 20.0, y, "failed attempt");
}

/// Returns the path of a triangle in a lane at the height `y`.
fn triangle(x: f64, y: f64) -> String {
    format!("M{x:.2} {}l6 11h-12z", y + 3.0)
}

fn text(out: &mut String, x: f64, y: f64, text: &str) {
    let _ = writeln!(
        out,
        "<text class=\"t\" x=\"{x}\" y=\"{y:.1}\">{text}</text>"
    );
}

/// Returns the first characters of a text that is too long.
fn cut(text: &str, room: usize) -> String {
    match text.char_indices().nth(room) {
        Some((end, _)) => format!("{} ..", &text[..end]),
        None => text.to_owned(),
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        match character {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            character if character.is_control() => out.push(' '),
            character => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_few_round_labels() {
        let steps = [0.0, 0.004, 7.0, 60.0, 90.0, 3600.0, 200_000.0, 1e6].map(step);
        let round = [0.001, 0.001, 1.0, 10.0, 20.0, 600.0, 86_400.0, 172_800.0];
        assert_eq!(steps, round);
    }

    #[test]
    fn long_titles_are_cut() {
        assert_eq!(cut("élan", 4), "élan");
        assert_eq!(cut("élan", 2), "él ..");
    }

    #[test]
    fn text_is_escaped() {
        let text = escaped("<a href=\"b\">&\u{1b}é");
        assert_eq!(text, "&lt;a href=&quot;b&quot;&gt;&amp; é");
    }
}
