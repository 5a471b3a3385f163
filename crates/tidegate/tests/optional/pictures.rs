//! A recorded run shows which intervals existed, how they were ordered, and when each worker ran
//! which interval. The pictures of the run show this, too.

use crate::support::{built, pool, watched};
use tidegate::interval::{self, Failure, Graph, Recorder, Scope};
use tidegate::{
    Pool,
    policy::{PlaceBy, SharePolicy},
};

fn recorded<'env>(
    body: impl for<'scope> FnOnce(&Scope<'scope, 'env>) + Send,
) -> (Result<(), Failure>, Graph) {
    let recorder = Recorder::new();
    let result = recorder.run(body);
    (result, recorder.finish())
}

fn sample() -> Graph {
    let (result, graph) = recorded(|s| {
        let read = s.interval(|_| ()).named("read \"it\"");
        let sum = s.interval(|s| {
            s.inline(|s| drop(s.interval(|_| ()).named("inner")))
                .unwrap();
            s.interval(|_| ()).named("part");
        });
        let sum = sum.named("sum <all>");
        let failing = s.try_interval(|_| Err::<(), _>("no")).named("failing");
        let skipped = s.interval(|_| ()).named("skipped");
        read.end().before(sum.start()).unwrap();
        read.start().before(sum.end()).unwrap();
        failing.end().before(skipped.start()).unwrap();
        failing.end().before(skipped.start()).unwrap();
        sum.start().before(read.start()).unwrap_err();
    });
    assert!(result.is_err());
    graph
}

/// The recording contains each interval's parent and omits rejected edges.
#[test]
fn recording_has_all_intervals_and_edges() {
    watched(|| {
        let graph = sample();
        let number = |name: &str| {
            graph
                .intervals()
                .iter()
                .position(|it| it.name == name)
                .unwrap()
        };
        let parent = |name: &str| graph.intervals()[number(name)].parent;
        assert_eq!(parent("root"), None);
        assert_eq!(parent("sum <all>"), Some(0));
        assert_eq!(parent("part"), Some(number("sum <all>")));
        // The recording also contains inline intervals, as children of their callers.
        let inner = parent("inner").unwrap();
        assert_eq!(graph.intervals()[inner].parent, Some(number("sum <all>")));
        assert_eq!((graph.intervals().len(), graph.edges().len()), (8, 4));
        let read = number("read \"it\"");
        assert_eq!(
            (graph.edges()[0].from, graph.edges()[0].to),
            ((read, true), (number("sum <all>"), false))
        );
        assert_eq!(
            (graph.edges()[1].from, graph.edges()[1].to),
            ((read, false), (number("sum <all>"), true))
        );
    });
}

#[test]
fn recording_shows_times_and_skips() {
    watched(|| {
        let graph = sample();
        let ran = |name: &str| {
            graph
                .intervals()
                .iter()
                .find(|it| it.name == name)
                .unwrap()
                .ran
        };
        assert!(ran("skipped").is_none());
        assert!(ran("failing").unwrap().failed && !ran("part").unwrap().failed);
        let (read, sum) = (ran("read \"it\"").unwrap(), ran("sum <all>").unwrap());
        assert!(read.from <= read.to && read.to <= sum.from && sum.from <= sum.to);
        assert!(sum.from <= ran("inner").unwrap().from && ran("inner").unwrap().to <= sum.to);
        let builder = Pool::builder().workers(2).share(SharePolicy::Off);
        let own = built(builder.places(PlaceBy::Each(1)));
        let places = own.places();
        let (result, graph) = own.install(|| {
            recorded(|s| drop(s.interval(|_| ()).at(places[1].strict()).named("there")))
        });
        result.unwrap();
        let there = graph
            .intervals()
            .iter()
            .find(|it| it.name == "there")
            .unwrap();
        assert_eq!(there.ran.unwrap().place, Some(1));
    });
}

#[test]
fn unrecorded_runs_leave_nothing_behind() {
    watched(|| {
        let own = pool(1);
        let graph = own.install(|| {
            let recorder = Recorder::new();
            recorder.run(|_| ()).unwrap();
            let ordered = |s: &Scope<'_, '_>| {
                let first = s.interval(|_| ()).named("first");
                let second = s.interval(|_| ());
                first.end().before(second.start()).unwrap();
            };
            interval::run(ordered).unwrap();
            recorder.finish()
        });
        assert_eq!((graph.intervals().len(), graph.edges().len()), (1, 0));
    });
}

#[test]
fn recorded_runs_share_one_clock() {
    watched(|| {
        let recorder = Recorder::new();
        for _ in 0..2 {
            let run = recorder.run(|s| {
                let first = s.interval(|_| ());
                first.then(s, |_, ()| ()).unwrap();
            });
            run.unwrap();
        }
        recorder.run(|_| panic!("not this one")).unwrap_err();
        let graph = recorder.finish();
        let parents: Vec<_> = graph.intervals().iter().map(|it| it.parent).collect();
        let inside = |root| [None, Some(root), Some(root)];
        assert_eq!(parents, [&inside(0)[..], &inside(3), &[None]].concat());
        let edges: Vec<_> = graph
            .edges()
            .iter()
            .map(|it| (it.from.0, it.to.0))
            .collect();
        assert_eq!(edges, [(1, 2), (4, 5)]);
        let ran = |number: usize| graph.intervals()[number].ran.unwrap();
        assert!(ran(2).to <= ran(3).from && ran(3).to <= ran(6).from && ran(6).failed);
    });
}

#[test]
fn pictures_name_everything_and_nest_rightly() {
    watched(|| {
        let graph = sample();
        let dot = graph.dot();
        let (mut frames, mut inside) = (Vec::new(), Vec::new());
        for line in dot.lines().skip(1) {
            match (
                line.split_once("subgraph cluster_"),
                line.split_once("[label="),
            ) {
                (Some((_, frame)), _) => frames.push(frame.split_once("label=").unwrap().1),
                (None, Some((_, name))) => inside.push((name, frames.clone())),
                (None, None) if line == "}" => drop(frames.pop()),
                (None, None) => {}
            }
        }
        let frames_of = |name: &str| {
            let mut found = inside.iter().filter(|(label, _)| label.starts_with(name));
            found
                .next()
                .unwrap()
                .1
                .iter()
                .map(|frame| frame.trim_end_matches(";"))
                .collect::<Vec<_>>()
        };
        let root = "\"root\"";
        assert_eq!(frames_of("\"part\""), [root, "\"sum <all>\""]);
        assert_eq!(frames_of("\"inner\""), [root, "\"sum <all>\"", root]);
        assert_eq!(frames_of("\"skipped\""), [root]);
        assert!(dot.contains(r#"[label="read \"it\""]"#), "{dot}");
        assert!(dot.contains("label=\"skipped\" color=grey"), "{dot}");
        assert!(dot.contains("label=\"failing\" color=red"), "{dot}");
        assert_eq!(dot.matches(" -> ").count(), 4);
        let svg = graph.svg();
        // There is a bar for each interval except the skipped one.
        assert_eq!(svg.matches("<rect").count(), 7);
        let text = svg.lines().rev().nth(1).unwrap();
        assert!(
            text.contains("&#9632;</tspan> no place") || text.contains("&#9632;</tspan> place 0"),
            "{text}"
        );
        assert!(text.contains("</tspan> failed"), "{text}");
        assert!(svg.contains("<title>sum &lt;all&gt;: ") && svg.trim_end().ends_with("</svg>"));
        let empty = Graph::default();
        assert!(empty.dot().starts_with("digraph") && empty.svg().starts_with("<svg"));
    });
}
