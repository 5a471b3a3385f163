//! Starts the service in each form under a quota, offers each form the same load, and compares
//! them: `cargo run --release --manifest-path examples/service/tidegate/Cargo.toml`
//!
//! Requests arrive at times that do not depend on the answers, and a latency counts from the
//! planned arrival.

mod client;
mod quota;
mod report;
#[allow(dead_code, reason = "the service uses the rest")]
mod work;

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use clap::Parser;
use client::Service;
use quota::Quota;
use report::Row;
use tokio::runtime::Builder;

/// Measures an HTTP service whose requests compute, in four forms.
#[derive(Parser)]
struct Options {
    /// How many CPUs the service may use
    #[arg(long, value_delimiter = ',', default_value = "1,2")]
    cpus: Vec<u32>,
    /// How many requests to offer, in percent of what the form `rayon` can answer
    #[arg(long, value_delimiter = ',', default_value = "50,80,110")]
    load: Vec<u32>,
    /// Seconds of each run
    #[arg(long, default_value_t = 8.0)]
    seconds: f64,
    /// Runs of each form; the report shows medians
    #[arg(long, default_value_t = 3)]
    repeats: u64,
    /// Draws the latencies to this file
    #[arg(long)]
    svg: Option<PathBuf>,
}

/// The name of a form, the build, its argument, and the value of `TIDEGATE_SHARE`.
type Form = [&'static str; 4];

const FORMS: [Form; 4] = [
    ["spawn_blocking", "stock", "blocking", "off"],
    ["rayon", "stock", "rayon", "off"],
    ["drop-in", "tidegate", "rayon", "auto"],
    ["native", "tidegate", "native", "auto"],
];

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let runtime = Builder::new_current_thread().enable_all().build()?;
    client::prepare()?;
    let mut rows = Vec::new();
    for &cpus in &options.cpus {
        let quota = Quota::new(cpus);
        let run = |form: Form, seed: u64, rate: f64, seconds: f64| {
            let service = Service::start(form, &quota)?;
            runtime.block_on(service.offer(seed, rate, seconds))
        };
        // Far more than the service can answer.
        let limit = run(FORMS[1], 0, 3000.0, options.seconds.min(2.0))?.throughput();
        eprintln!("CPUs: {cpus}. The form `rayon` answers at most {limit:.0} requests a second.");
        for &load in &options.load {
            let rate = limit * f64::from(load) / 100.0;
            let mut samples = [const { Vec::new() }; FORMS.len()];
            for seed in 0..options.repeats {
                for (form, samples) in FORMS.into_iter().zip(&mut samples) {
                    samples.push(run(form, seed, rate, options.seconds)?);
                }
            }
            for ([form, ..], samples) in FORMS.into_iter().zip(&samples) {
                rows.push(Row::new(cpus, load, form, samples));
            }
        }
    }
    if let Some(path) = options.svg {
        fs::write(path, report::svg(&rows))?;
    }
    print!("{}", report::table(&rows));
    Ok(())
}
