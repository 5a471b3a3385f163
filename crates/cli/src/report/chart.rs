//! A chart as a picture that takes the colours of the page around it.
//!
//! The plotting library knows colours and no names of them. So each line has a colour that stands for one, and in the picture it is replaced by the name: the page
//! says what the names are, in light and in dark.

use plotters::coord::Shift;
use plotters::prelude::*;

use crate::reproduce::page::{Chart, Line, Point};

/// A picture fits a phone; wide pages show several side by side.
const WIDTH: u32 = 360;
const HEIGHT: u32 = 260;

/// How many lines have colours of their own.
pub const COLOURS: usize = 12;

/// What stands for the colour of writing and axes, and of the grid.
const INK: RGBColor = RGBColor(1, 0, 0);
const GRID: RGBColor = RGBColor(2, 0, 0);

/// What stands for the colour of a line.
fn colour(line: usize) -> RGBColor {
    RGBColor(0, 1, (line % COLOURS) as u8)
}

/// The name by which the page knows a colour.
pub fn name(line: usize) -> String {
    format!("var(--line-{})", line % COLOURS)
}

/// The picture as SVG.
pub fn draw(chart: &Chart) -> Result<String, String> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, HEIGHT)).into_drawing_area();
        draw_on(&area, chart).map_err(|error| format!("{}: {error}", chart.title))?;
    }
    Ok(named(&svg))
}

/// The same with names in place of colours, as wide as there is room.
fn named(svg: &str) -> String {
    let hex = |RGBColor(r, g, b): RGBColor| format!("\"#{r:02X}{g:02X}{b:02X}\"");
    let mut svg = svg
        .replace(&hex(INK), "\"var(--ink)\"")
        .replace(&hex(GRID), "\"var(--grid)\"");
    for line in 0..COLOURS {
        svg = svg.replace(&hex(colour(line)), &format!("\"{}\"", name(line)));
    }
    svg.replacen(&format!("width=\"{WIDTH}\" height=\"{HEIGHT}\" "), "", 1)
}

fn points(chart: &Chart) -> impl Iterator<Item = &Point> {
    chart.lines.iter().flat_map(|line| &line.points)
}

/// From the least to the greatest of some numbers.
fn extent(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    numbers.fold((f64::MAX, f64::MIN), |(low, high), number| {
        (low.min(number), high.max(number))
    })
}

type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

fn draw_on<DB>(area: &DrawingArea<DB, Shift>, chart: &Chart) -> Drawn
where
    DB: DrawingBackend<ErrorType = std::io::Error>,
{
    let (left, right) = match chart.labels.len() {
        0 => extent(points(chart).map(|point| point.x)),
        labels => (-0.3, labels as f64 - 0.7),
    };
    let (_, high) = extent(points(chart).map(|point| point.high));
    let (low, _) = extent(points(chart).map(|point| point.low));
    // An axis that begins at 0 shows ratios as they are; one whose lines lie close together would show nothing.
    let bottom = if low < high / 2.0 { 0.0 } else { low * 0.95 };
    let mut context = ChartBuilder::on(area)
        .margin(6)
        .x_label_area_size(38)
        .y_label_area_size(48)
        .build_cartesian_2d(left..right, bottom..high * 1.05)?;
    let label = |x: &f64| match chart.labels.len() {
        0 => format!("{x}"),
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
        .x_desc(chart.x.as_str())
        .y_desc(chart.y.as_str())
        .draw()?;
    for (number, Line { points, .. }) in chart.lines.iter().enumerate() {
        let style = colour(number).stroke_width(2);
        let line = points.iter().map(|point| (point.x, point.y));
        context.draw_series(LineSeries::new(line, style))?;
        // Side by side, where several lie at the same place.
        let aside = (number as f64 - chart.lines.len() as f64 / 2.0) * (right - left) / 400.0;
        let bars = points.iter().map(|point| {
            let Point { x, y, low, high } = *point;
            ErrorBar::new_vertical(x + aside, low, y, high, colour(number).filled(), 3)
        });
        context.draw_series(bars)?;
    }
    area.present()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_names_for_all_its_colours() {
        let point = |x| Point {
            x,
            y: 1.0 + x,
            low: 0.5 + x,
            high: 2.0 + x,
        };
        let line = |number: usize| Line {
            name: number.to_string(),
            points: [0.0, 1.0].map(point).into(),
        };
        let chart = Chart {
            title: "all".into(),
            x: "place".into(),
            y: "time".into(),
            labels: vec!["here".into(), "there".into()],
            lines: (0..COLOURS).map(line).collect(),
        };
        let svg = draw(&chart).unwrap();
        assert!(!svg.contains("\"#"), "{svg}");
        for line in 0..COLOURS {
            assert!(svg.contains(&name(line)));
        }
        assert!(svg.contains("here") && svg.contains("there"));
    }
}
