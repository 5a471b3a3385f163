//! The arguments of `fan`.

use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};
use tidegate_fan::Verb;

use super::Selection;

pub const AFTER_FAN: &str = "\
The merged page is that of `tidegate-lab reproduce EXPERIMENT --sim` with the same arguments, bit by bit. \
Plan, pieces and merge must be of one build of this program.

Example, without an engine:
  tidegate-lab fan plan reproduce intervals --sim --pieces 2 > plan.json
  mkdir results
  tidegate-lab fan piece --plan plan.json --item 0 --out results
  tidegate-lab fan piece --plan plan.json --item 1 --out results
  tidegate-lab fan merge --plan plan.json results

Exit codes: 0 success, 1 results are missing or wrong, 2 invalid usage, plan or item, 3 another machine may succeed, \
128 + n signal n has interrupted `run`.";

#[derive(Args, Debug)]
pub struct FanArguments {
    #[command(subcommand)]
    pub verb: Verb<Programs>,
}

#[derive(Args, Serialize, Deserialize, Debug)]
pub struct Programs {
    #[command(subcommand)]
    pub program: Program,
}

#[derive(Subcommand, Serialize, Deserialize, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Program {
    /// Reproduce published experiments on simulated machines
    Reproduce(Reproduction),
}

#[derive(Args, Serialize, Deserialize, Debug)]
pub struct Reproduction {
    #[command(flatten)]
    pub selection: Selection,
    /// Run only on simulated machines; required, because measurements of this machine cannot be
    /// split
    #[arg(long)]
    #[serde(skip)]
    pub sim: bool,
    #[arg(long, hide = true)]
    #[serde(skip)]
    pub real: bool,
}
