//! The options of the engines, and what they give to their commands.

use std::fs;
use std::path::{Path, PathBuf};

use super::{LIMIT, container};
use crate::engine::call::Commands;
use crate::engine::hq::Hq;
use crate::engine::k8s::K8s;
use crate::engine::options::{EngineOptions, Kind};
use crate::engine::slurm::Slurm;
use crate::engine::{Engine, Launch, Round};
use crate::name::Name;
use crate::{Error, Retry};

const SNAPSHOTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots");

/// A round whose paths do not depend on the machine.
fn example() -> (Launch, Round) {
    let launch = Launch {
        program: ["/opt/it's/tidegate", "fan"].map(Into::into).into(),
        plan: "/data/my run/plan.json".into(),
        out: "/data/my run".into(),
        budget: 60.0,
        cpus: Some(4),
    };
    let round = Round {
        name: "fan-Uts_8a6f.1".to_owned(),
        list: "/data/my run/list.1.json".into(),
        items: (0..64).map(Name::planned).collect(),
    };
    (launch, round)
}

fn unused() -> Commands {
    Commands {
        folder: PathBuf::new(),
        limit: LIMIT,
        advice: "",
    }
}

/// Compares with a file of `tests/snapshots`, and writes it if `UPDATE_SNAPSHOTS` is set.
fn assert_snapshot(name: &str, text: &str) {
    let path = Path::new(SNAPSHOTS).join(name);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(&path, text).unwrap();
    }
    let expected = fs::read_to_string(path).unwrap();
    // The order of fields depends on a feature of serde_json, which another crate may enable.
    match serde_json::from_str::<serde_json::Value>(&expected) {
        Ok(expected) => assert_eq!(
            text.parse::<serde_json::Value>().unwrap(),
            expected,
            "{name}"
        ),
        Err(_) => assert_eq!(text, expected, "{name}"),
    }
}

#[test]
fn manifests() {
    let (launch, round) = example();
    let hq = Hq::new(&launch, unused()).unwrap();
    assert_snapshot("hq.txt", &hq.manifest(&round));
    let slurm = Slurm::new(&launch, unused()).unwrap();
    assert_snapshot("slurm.sh", &slurm.manifest(&round));
    let container = container(Path::new("/data"));
    let k8s = K8s::new(&launch, &container, unused()).unwrap();
    assert_snapshot("k8s.json", &k8s.manifest(&round));
}

/// Parses the options of an engine.
fn options(arguments: &[&str]) -> Result<EngineOptions, clap::Error> {
    #[derive(clap::Parser)]
    struct Command {
        #[command(flatten)]
        options: EngineOptions,
    }
    let arguments = ["fan"].iter().chain(arguments);
    <Command as clap::Parser>::try_parse_from(arguments).map(|command| command.options)
}

fn refusal(arguments: &[&str]) -> Error {
    let (launch, _) = example();
    let engine = options(arguments).unwrap().choose(launch);
    engine.err().expect("the options are refused")
}

#[test]
fn options_name_an_engine() {
    let (launch, round) = example();
    let kind = options(&[]).unwrap().engine;
    assert_eq!(kind, Kind::Local, "this machine is the default");
    let claimed = ["--engine", "k8s", "--image", "i", "--claim", "c:/data"];
    for arguments in [&["--engine", "hq"][..], &["--engine", "slurm"], &claimed] {
        let engine = options(arguments).unwrap().choose(launch.clone()).unwrap();
        let manifest = engine.manifest(&round);
        assert!(manifest.contains("piece"), "{manifest}");
    }
}

#[test]
fn kubernetes_needs_an_image_and_a_claim() {
    let text = "the engine k8s needs an image: pass --image IMAGE --claim NAME:PATH";
    assert_eq!(refusal(&["--engine", "k8s"]).to_string(), text);
    let text =
        "the engine k8s needs the volume of the folder: pass --image IMAGE --claim NAME:PATH";
    let error = refusal(&["--engine", "k8s", "--image", "i"]);
    assert_eq!(error.to_string(), text);
    assert_eq!(error.retry(), Retry::Never);
    let elsewhere = ["--engine", "k8s", "--image", "i", "--claim", "c:/scratch"];
    let text = "/data/my run/plan.json is not in /scratch, which --claim mounts";
    assert_eq!(refusal(&elsewhere).to_string(), text);
    for claim in ["data", ":/data", "data:", "data:here", "data:/a:ro"] {
        assert!(options(&["--claim", claim]).is_err(), "{claim}");
    }
}
