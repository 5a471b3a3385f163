//! The text for Prometheus obeys the rules of its format.

use std::collections::{HashMap, HashSet};
use tidegate::policy::SharePolicy;
use tidegate::{Pool, metrics};

/// The lines of a text as a reader of the format takes them apart.
#[derive(Default)]
struct Parsed {
    /// The type of each metric.
    types: HashMap<String, String>,
    /// Name and sorted labels of each sample.
    samples: HashMap<(String, Vec<(String, String)>), f64>,
}

fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    let first = chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    first && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Reads `name="value",…}` and returns the labels and the rest of the line.
fn labels(mut text: &str) -> (Vec<(String, String)>, &str) {
    let mut labels = Vec::new();
    while !text.starts_with('}') {
        let (name, rest) = text.split_once("=\"").expect("a label");
        assert!(is_name(name), "{name}");
        let (mut value, mut chars) = (String::new(), rest.chars());
        loop {
            match chars.next().expect("a closing quote") {
                '"' => break,
                '\\' => value.push(match chars.next() {
                    Some('n') => '\n',
                    Some(c @ ('\\' | '"')) => c,
                    other => panic!("invalid escape {other:?}"),
                }),
                c => value.push(c),
            }
        }
        labels.push((name.to_owned(), value));
        text = chars.as_str();
        text = text.strip_prefix(',').unwrap_or(text);
    }
    labels.sort();
    (labels, &text[1..])
}

fn parse(text: &str) -> Parsed {
    assert!(text.ends_with('\n'));
    let mut parsed = Parsed::default();
    let (mut helped, mut current) = (HashSet::new(), "");
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            current = rest.split_once(' ').expect("a help text").0;
            assert!(is_name(current), "{current}");
            assert!(helped.insert(current), "{current} comes twice");
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').expect("a type");
            assert_eq!(name, current);
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
            let before = parsed.types.insert(name.to_owned(), kind.to_owned());
            assert_eq!(before, None, "{name} has two types");
        } else {
            let (name, rest) = line.split_once('{').expect("labels");
            let kind = parsed.types.get(current).expect("a type");
            let suffix = name.strip_prefix(current).expect("a sample of its metric");
            let suffixes = match kind.as_str() {
                "histogram" => &["_bucket", "_sum", "_count"][..],
                _ => &[""],
            };
            assert!(suffixes.contains(&suffix), "{line}");
            let (labels, value) = labels(rest);
            let value: f64 = value.strip_prefix(' ').expect("a space").parse().unwrap();
            assert!(value.is_finite() && value >= 0.0, "{line}");
            let before = parsed.samples.insert((name.to_owned(), labels), value);
            assert_eq!(before, None, "{line} comes twice");
        }
    }
    parsed
}

impl Parsed {
    fn value(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let labels = labels
            .iter()
            .map(|&(name, value)| (name.into(), value.into()));
        self.samples
            .get(&(name.to_owned(), labels.collect()))
            .copied()
    }
}

#[test]
fn follow_rules_of_format() {
    let pool = Pool::builder().workers(2).build().unwrap();
    pool.install(|| assert_eq!(tidegate::join(|| 1, || 2), (1, 2)));
    let odd = "a \"quoted\" \\ name\nof two lines";
    let text = metrics::prometheus(&[("plain", pool.stats()), (odd, pool.stats())]);
    let parsed = parse(&text);
    for name in ["plain", odd] {
        let workers = parsed.value("tidegate_workers", &[("pool", name)]);
        assert_eq!(workers, Some(2.0));
        let of_worker =
            |metric, worker| parsed.value(metric, &[("pool", name), ("worker", worker)]);
        let dispatched = |worker| of_worker("tidegate_dispatched_tasks_total", worker);
        assert!(dispatched("0").unwrap() + dispatched("1").unwrap() >= 1.0);
        assert_eq!(dispatched("2"), None);
    }
}

/// The only worker is busy, and the pool does not share the machine.
#[test]
fn show_queued_tasks_and_desire() {
    let builder = Pool::builder().workers(1).share(SharePolicy::Off);
    let pool = builder.build().unwrap();
    let (started, has_started) = std::sync::mpsc::channel();
    let (go_on, may_go_on) = std::sync::mpsc::channel::<()>();
    drop(pool.spawn(move || {
        started.send(()).unwrap();
        may_go_on.recv()
    }));
    has_started.recv().unwrap();
    drop((pool.spawn(|| ()), pool.spawn(|| ())));
    let parsed = parse(&metrics::prometheus(&[("p", pool.stats())]));
    drop(go_on);
    let labels = [("pool", "p")];
    assert_eq!(parsed.value("tidegate_queued_tasks", &labels), Some(2.0));
    assert_eq!(parsed.value("tidegate_desire", &labels), None);
}

#[test]
fn contain_whole_histograms() {
    let pool = Pool::builder().workers(1).build().unwrap();
    let (ran, has_run) = std::sync::mpsc::channel();
    for _ in 0..64 {
        let ran = ran.clone();
        drop(pool.spawn(move || ran.send(()).unwrap()));
        has_run.recv().unwrap();
    }
    let text = metrics::prometheus(&[("p", pool.stats())]);
    let parsed = parse(&text);
    let name = "tidegate_queue_wait_seconds";
    let value =
        |suffix: &str, labels: &[(&str, &str)]| parsed.value(&format!("{name}{suffix}"), labels);
    // One of every 64 spawns is measured.
    assert_eq!(value("_count", &[("pool", "p")]), Some(1.0));
    assert!(value("_sum", &[("pool", "p")]).is_some());
    assert_eq!(
        value("_bucket", &[("le", "+Inf"), ("pool", "p")]),
        Some(1.0)
    );
    let bounds = tidegate::Histogram::BOUNDS.map(|bound| {
        let labels = [("le", &*bound.to_string()), ("pool", "p")];
        value("_bucket", &labels).expect("a bucket")
    });
    assert!(bounds.is_sorted() && bounds[0] <= 1.0, "{bounds:?}");
}

#[test]
fn of_no_pool_have_no_samples() {
    let parsed = parse(&metrics::prometheus(&[]));
    assert!(parsed.samples.is_empty() && !parsed.types.is_empty());
}
