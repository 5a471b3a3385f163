//! What a pool's builder collects. [`super::Options`] checks and completes it.

use super::{Closed, PanicHandler, ThreadHandler};
use crate::simulated::Simulated;
use std::time::Duration;
use tidegate_machine::Topology;
use tidegate_policy::idle::BackoffFactory;
use tidegate_policy::{
    DesirePolicy, IdlePolicy, MemoryPolicy, PlaceBy, Priority, QueueKind, SharePolicy, StealAmount,
    VictimPolicy, WaitPolicy,
};

#[derive(Default)]
pub(crate) struct Settings {
    pub(crate) workers: Option<usize>,
    pub(crate) idle: Option<IdlePolicy>,
    pub(crate) backoff: Option<BackoffFactory>,
    pub(crate) amount: Option<StealAmount>,
    pub(crate) victim: Option<VictimPolicy>,
    pub(crate) wait: Option<WaitPolicy>,
    pub(crate) queue: Option<QueueKind>,
    pub(crate) memory: Option<MemoryPolicy>,
    pub(crate) places: Option<PlaceBy>,
    pub(crate) priority: Option<Priority>,
    pub(crate) priority_aging: Option<usize>,
    pub(crate) bind: Option<bool>,
    pub(crate) topology: Option<Topology>,
    pub(crate) spare_threads: Option<usize>,
    pub(crate) max_threads: Option<usize>,
    pub(crate) max_blocking_threads: Option<usize>,
    pub(crate) share: Option<SharePolicy>,
    pub(crate) weight: Option<usize>,
    pub(crate) desire: Option<DesirePolicy>,
    pub(crate) est_cycle: Option<Duration>,
    pub(crate) name: Option<String>,
    pub(crate) stack_size: Option<usize>,
    pub(crate) max_queued: Option<usize>,
    pub(crate) explain: Option<bool>,
    pub(crate) trace: bool,
    pub(crate) on_start: Option<ThreadHandler>,
    pub(crate) on_exit: Option<ThreadHandler>,
    pub(crate) on_panic: Option<PanicHandler>,
    pub(crate) closed: Option<Closed>,
    pub(crate) simulated: Option<Simulated>,
}
