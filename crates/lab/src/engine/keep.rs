//! The options for storing finished runs.

use std::path::PathBuf;

use clap::Args;

/// Where finished runs are stored, and whether those of an earlier command are reused.
#[derive(Args, Clone, Debug)]
pub struct KeepFlags {
    /// Folder for finished runs, with one file per experiment and size
    #[arg(
        long,
        value_name = "FOLDER",
        default_value = "tidegate-lab-runs",
        global = true
    )]
    pub dir: PathBuf,
    /// Reuse the finished runs of an earlier, interrupted command, and do only the missing ones
    #[arg(long, global = true)]
    pub resume: bool,
}
