//! Where finished runs are kept.

use std::path::PathBuf;

use clap::Args;

/// Where finished runs are kept, and whether those of an earlier command count.
#[derive(Args, Clone, Debug)]
pub struct KeepFlags {
    /// Where finished runs are kept, one file for each experiment and size
    #[arg(
        long,
        value_name = "FOLDER",
        default_value = "tidegate-lab-runs",
        global = true
    )]
    pub dir: PathBuf,
    /// Keep the runs that an earlier, interrupted command has finished, and make only the missing ones
    #[arg(long, global = true)]
    pub resume: bool,
}
