//! Draws a chart as an SVG picture with the colours of the surrounding page.
//!
//! The plotting library supports only literal colours, not CSS variables. Each line is therefore
//! drawn in a placeholder colour. In the finished picture, the placeholder is replaced with a
//! variable that [`COLOURS`] defines for light and dark mode.

use plotters::coord::Shift;
use plotters::prelude::*;

use super::html::Plain;
use crate::reproduce::page::{Chart, Line, Point};

/// The size of a picture in pixels: one picture fits on a phone, and wide pages show several side
/// by side.
const WIDTH: u32 = 360;
const HEIGHT: u32 = 260;

/// The heights of a picture's title and of a row of its legend.
const HEAD: u32 = 24;
const LINE: u32 = 16;

/// The largest value that an axis can show.
const MOST: f64 = 1e15;
const MOST_LABELS: usize = 256;

/// The number of lines with colours of their own.
const LINES: usize = 12;

/// The CSS variables of all colours.
pub const COLOURS: &str = include_str!("colours.css");

/// The placeholder for the colour of text and axes.
const INK: RGBColor = RGBColor(1, 0, 0);
/// The placeholder for the colour of the grid.
const GRID: RGBColor = RGBColor(2, 0, 0);

/// Returns the placeholder for a line's colour.
fn colour(line: usize) -> RGBColor {
    RGBColor(0, 1, (line % LINES) as u8)
}

/// Returns the page's CSS variable for a line's colour.
pub fn name(line: usize) -> String {
    format!("var(--line-{})", line % LINES)
}

pub fn draw(chart: &Chart) -> Result<String, String> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, HEIGHT)).into_drawing_area();
        draw_on(&area, chart).map_err(|error| format!("{}: {error}", chart.title))?;
    }
    Ok(named(&svg))
}

/// Replaces the placeholder colours with the page's variables, and the fixed width with the
/// available width.
fn named(svg: &str) -> String {
    let hex = |RGBColor(r, g, b): RGBColor| format!("\"#{r:02X}{g:02X}{b:02X}\"");
    let mut svg = svg
        .replace(&hex(INK), "\"var(--ink)\"")
        .replace(&hex(GRID), "\"var(--grid)\"");
    for line in 0..LINES {
        svg = svg.replace(&hex(colour(line)), &format!("\"{}\"", name(line)));
    }
    svg.replacen(&format!("width=\"{WIDTH}\" height=\"{HEIGHT}\" "), "", 1)
}

/// Draws a chart as a picture of its own, with its title, its legend and its colours.
pub fn picture(chart: &Chart) -> Result<String, String> {
    let head = HEAD + LINE * chart.lines.len().div_ceil(2) as u32;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n<style>\n{COLOURS}</style>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"var(--paper)\"/>\n\
         <text x=\"8\" y=\"16\" font-size=\"13\" fill=\"var(--ink)\">{}</text>\n",
        head + HEIGHT,
        Plain(&chart.title)
    );
    for (number, line) in chart.lines.iter().enumerate() {
        let x = 8 + WIDTH / 2 * (number as u32 % 2);
        let y = HEAD + LINE / 2 + LINE * (number as u32 / 2);
        out.push_str(&format!(
            "<path d=\"M{x} {y}h14\" stroke=\"{}\" stroke-width=\"3\"/>\
             <text x=\"{}\" y=\"{}\" fill=\"var(--ink)\">{}</text>\n",
            name(number),
            x + 20,
            y + 4,
            Plain(&line.name)
        ));
    }
    let place = format!("<svg y=\"{head}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" ");
    Ok(out + &draw(chart)?.replacen("<svg ", &place, 1) + "</svg>\n")
}

fn points(chart: &Chart) -> impl Iterator<Item = &Point> {
    chart.lines.iter().flat_map(|line| &line.points)
}

/// Rejects a chart that cannot be drawn, for instance because its file was edited by hand.
pub fn check(chart: &Chart) -> Result<(), String> {
    let numbers = points(chart).flat_map(|point| [point.x, point.y, point.low, point.high]);
    if let Some(number) = numbers.into_iter().find(|number| number.abs() > MOST) {
        let title = &chart.title;
        return Err(format!(
            "chart {title:?} has {number:e}: expected -{MOST:e} to {MOST:e}"
        ));
    }
    let labels = chart.labels.len();
    if labels > MOST_LABELS {
        let title = &chart.title;
        return Err(format!(
            "chart {title:?} has {labels} labels: expected up to {MOST_LABELS}"
        ));
    }
    Ok(())
}

/// Returns the range of these numbers, widened if they are all equal.
fn extent(numbers: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let widen = |(low, high): (f64, f64), number: f64| (low.min(number), high.max(number));
    let (low, high) = numbers
        .map(|number| (number, number))
        .reduce(|all, (number, _)| widen(all, number))?;
    Some(if low < high {
        (low, high)
    } else {
        (low - 0.5, high + 0.5)
    })
}

/// A line this many times as high as the median line flattens the others.
const OUTLIER: f64 = 20.0;

/// The vertical axis: linear or logarithmic.
#[derive(Clone, Copy)]
struct Axis {
    log: bool,
}

impl Axis {
    /// Chooses a logarithmic axis if the chart requests it or an outlier would flatten the other
    /// lines, provided that every value has a logarithm.
    fn of(chart: &Chart) -> Self {
        let mut values: Vec<f64> = points(chart).map(|point| point.y).collect();
        values.sort_unstable_by(f64::total_cmp);
        let flattens = |highest: &f64| *highest > OUTLIER * values[values.len() / 2];
        let log = chart.log || values.last().is_some_and(flattens);
        Self {
            log: log && points(chart).all(|point| point.low > 0.0),
        }
    }

    fn at(self, value: f64) -> f64 {
        if self.log { value.log10() } else { value }
    }

    fn label(self, place: f64) -> String {
        if !self.log {
            return short(place);
        }
        let value = 10_f64.powf(place);
        match value {
            _ if !(1e-3..1e5).contains(&value) => format!("{value:.1e}"),
            _ if value >= 10.0 => format!("{value:.0}"),
            _ if value >= 0.1 => format!("{value:.2}"),
            _ => format!("{value:.4}"),
        }
    }

    /// Returns the lowest and the highest value to show.
    fn height(self, chart: &Chart) -> Option<(f64, f64)> {
        let ends = points(chart).flat_map(|point| [point.low, point.high]);
        let (low, high) = extent(ends.map(|end| self.at(end)))?;
        if self.log {
            let room = (high - low) * 0.05;
            return Some((low - room, high + room));
        }
        // If the axis begins at 0, it shows ratios undistorted, but hides the differences between
        // lines that lie close together.
        let bottom = match low {
            _ if low < 0.0 => low * 1.05,
            _ if low < high / 2.0 => 0.0,
            _ => low * 0.95,
        };
        Some((bottom, high + high.abs() * 0.05))
    }
}

/// Displays a number without the digits that sums of steps leave, such as those of 0.1 + 0.2.
fn short(number: f64) -> String {
    let rounded: f64 = format!("{number:.6e}").parse().expect("a number");
    rounded.to_string()
}

type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

fn draw_on<DB>(area: &DrawingArea<DB, Shift>, chart: &Chart) -> Drawn
where
    DB: DrawingBackend<ErrorType = std::io::Error>,
{
    let (left, right) = match chart.labels.len() {
        0 => extent(points(chart).map(|point| point.x)).unwrap_or((0.0, 1.0)),
        labels => (-0.3, labels as f64 - 0.7),
    };
    let axis = Axis::of(chart);
    let (bottom, top) = axis.height(chart).unwrap_or((0.0, 1.0));
    let mut context = ChartBuilder::on(area)
        .margin(6)
        .x_label_area_size(38)
        .y_label_area_size(48)
        .build_cartesian_2d(left..right, bottom..top)?;
    let label = |x: &f64| match chart.labels.len() {
        0 => short(*x),
        _ if x.fract().abs() > 1e-6 => String::new(),
        _ => chart.labels.get(*x as usize).cloned().unwrap_or_default(),
    };
    context
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .axis_style(INK)
        .label_style(("sans-serif", 11).into_font().color(&INK))
        .axis_desc_style(("sans-serif", 11).into_font().color(&INK))
        .x_labels(chart.labels.len().max(8))
        .y_labels(6)
        .x_label_formatter(&label)
        .y_label_formatter(&|place: &f64| axis.label(*place))
        .x_desc(chart.x.as_str())
        .y_desc(chart.y.as_str())
        .draw()?;
    for (number, Line { points, .. }) in chart.lines.iter().enumerate() {
        let style = colour(number).stroke_width(2);
        let line = points.iter().map(|point| (point.x, axis.at(point.y)));
        context.draw_series(LineSeries::new(line, style))?;
        // Shift the error bars sideways, so that those at the same position do not overlap.
        let aside = (number as f64 - chart.lines.len() as f64 / 2.0) * (right - left) / 400.0;
        let bars = points.iter().map(|point| {
            let x = point.x;
            let [y, low, high] = [point.y, point.low, point.high].map(|end| axis.at(end));
            ErrorBar::new_vertical(x + aside, low, y, high, colour(number).filled(), 3)
        });
        context.draw_series(bars)?;
    }
    area.present()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(values: &[f64]) -> Chart {
        let point = |&y: &f64| Point {
            x: y,
            y,
            low: y,
            high: y,
        };
        Chart {
            title: "one".into(),
            x: "value".into(),
            y: "value".into(),
            labels: vec![],
            log: false,
            lines: vec![Line {
                name: "it".into(),
                points: values.iter().map(point).collect(),
            }],
        }
    }

    /// Charts without any numbers must be drawn, too.
    #[test]
    fn charts_accept_all_allowed_numbers() {
        let cases: [&[f64]; 8] = [
            &[],
            &[0.0],
            &[3.0],
            &[-3.0, -2.0],
            &[-1.0, 1.0],
            &[-MOST, MOST],
            &[MOST],
            &[1e-300, 2e-300],
        ];
        for values in cases {
            let chart = chart(values);
            assert_eq!(check(&chart), Ok(()), "{values:?}");
            assert!(draw(&chart).unwrap().contains("svg"), "{values:?}");
        }
        let said = check(&chart(&[1.0, -1e308])).unwrap_err();
        assert!(said.contains("-1e308") && said.contains("1e15"), "{said}");
        let labels = vec![String::new(); MOST_LABELS + 1];
        let crowded = Chart {
            labels,
            ..chart(&[1.0])
        };
        assert!(check(&crowded).unwrap_err().contains("257 labels"));
    }

    #[test]
    fn an_outlier_makes_the_axis_logarithmic() {
        let is_log = |values: &[f64]| Axis::of(&chart(values)).log;
        assert!(!is_log(&[1.0, 2.0, 3.0]));
        assert!(is_log(&[1.0, 2.0, 300.0]));
        assert!(!is_log(&[0.0, 2.0, 300.0]));
        assert_eq!(Axis { log: true }.label(2.0), "100");
        assert_eq!(Axis { log: false }.label(0.1 + 0.2), "0.3");
    }

    #[test]
    fn chart_names_all_its_colours() {
        let line = |number: usize| Line {
            name: number.to_string(),
            ..chart(&[0.0, 1.0]).lines.remove(0)
        };
        let chart = Chart {
            labels: vec!["here".into(), "there".into()],
            lines: (0..LINES).map(line).collect(),
            ..chart(&[])
        };
        let svg = draw(&chart).unwrap();
        assert!(!svg.contains("\"#"), "{svg}");
        for line in 0..LINES {
            assert!(svg.contains(&name(line)));
        }
        assert!(svg.contains("here") && svg.contains("there"));
    }
}
