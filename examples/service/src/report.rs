//! What was measured, as a table and as a picture.

use std::fmt::Write;

/// One run of one form.
#[derive(Default)]
pub struct Sample {
    /// Of digests and of tiles, in milliseconds.
    pub latencies: [Vec<f64>; 2],
    pub refused: u64,
    /// From the first planned arrival to the last answer.
    pub seconds: f64,
    pub threads: u64,
    pub switches: u64,
}

const COLUMNS: usize = 9;
const HEADING: &str = "| CPUs | load | form | p50 | p99 | p99.9 | tiles p50 | tiles p99 | answers/s \
    | 503/s | threads | switches/s |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n";

impl Sample {
    /// Returns the answers a second, without those that refuse.
    pub fn throughput(&self) -> f64 {
        let answers: usize = self.latencies.iter().map(Vec::len).sum();
        answers as f64 / self.seconds
    }

    fn columns(&self) -> [f64; COLUMNS] {
        let mut all = self.latencies.concat();
        let mut tiles = self.latencies[1].clone();
        [
            percentile(&mut all, 0.5),
            percentile(&mut all, 0.99),
            percentile(&mut all, 0.999),
            percentile(&mut tiles, 0.5),
            percentile(&mut tiles, 0.99),
            self.throughput(),
            self.refused as f64 / self.seconds,
            self.threads as f64,
            self.switches as f64 / self.seconds,
        ]
    }
}

fn percentile(values: &mut [f64], part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let place = (values.len() as f64 * part) as usize;
    values.get(place).copied().unwrap_or(f64::NAN)
}

/// The medians of one form under one load.
pub struct Row {
    cpus: u32,
    load: u32,
    form: &'static str,
    columns: [f64; COLUMNS],
}

impl Row {
    pub fn new(cpus: u32, load: u32, form: &'static str, samples: &[Sample]) -> Self {
        let runs: Vec<_> = samples.iter().map(Sample::columns).collect();
        let columns = std::array::from_fn(|column| {
            let mut values: Vec<_> = runs.iter().map(|run| run[column]).collect();
            percentile(&mut values, 0.5)
        });
        Self {
            cpus,
            load,
            form,
            columns,
        }
    }
}

pub fn table(rows: &[Row]) -> String {
    let mut text = HEADING.to_string();
    for row in rows {
        let _ = write!(text, "| {} | {} % | {} |", row.cpus, row.load, row.form);
        for value in row.columns {
            let digits = usize::from(value > 0.0 && value < 9.95);
            let _ = write!(text, " {value:.digits$} |");
        }
        text.push('\n');
    }
    text
}

/// Draws a panel for each number of CPUs and load, with a line for each form.
pub fn svg(rows: &[Row]) -> String {
    const COLORS: [&str; 4] = ["#888", "#d95f02", "#7570b3", "#1b9e77"];
    const PERCENTILES: [(&str, u32); 3] = [("p50", 60), ("p99", 140), ("p99.9", 220)];
    let y = |ms: f64| 140.0 - 33.0 * ms.clamp(1.0, 1e4).log10();
    let panels: Vec<_> = rows.chunks(COLORS.len()).collect();
    let height = 180 * panels.len().div_ceil(3) + 30;
    let mut text = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' width='720' height='{height}' \
         font-family='sans-serif' font-size='11'>\n<rect width='100%' height='100%' fill='#fff'/>\n"
    );
    for (i, (row, color)) in rows.iter().zip(COLORS).enumerate() {
        let x = 40 + 130 * i;
        text += &format!("<text x='{x}' y='16' fill='{color}'>{}</text>\n", row.form);
    }
    for (i, panel) in panels.into_iter().enumerate() {
        let (left, top) = (240 * (i % 3), 180 * (i / 3) + 30);
        let Row { cpus, load, .. } = panel[0];
        text += &format!("<g transform='translate({left} {top})'>\n");
        text += &format!("<text x='40' y='4'>CPUs: {cpus}, load: {load} %, ms</text>\n");
        for ms in [1.0, 10.0, 100.0, 1e3, 1e4] {
            let y = y(ms);
            text += &format!("<path d='M40 {y}H230' stroke='#ddd'/><text y='{y}'>{ms}</text>\n");
        }
        for (name, x) in PERCENTILES {
            text += &format!("<text x='{x}' y='156' text-anchor='middle'>{name}</text>\n");
        }
        for (row, color) in panel.iter().zip(COLORS) {
            let points = PERCENTILES.iter().zip(row.columns);
            let points: Vec<_> = points
                .map(|((_, x), ms)| format!("{x},{:.0}", y(ms)))
                .collect();
            let points = points.join(" ");
            text += &format!(
                "<polyline points='{points}' fill='none' stroke='{color}' stroke-width='2'/>\n"
            );
        }
        text += "</g>\n";
    }
    text + "</svg>\n"
}
