//! The options that decide which task runs next and how many tasks a steal takes. Some combinations
//! contradict each other and are rejected.

use super::{BuildError, Environment, Settings, Source};
use std::fmt::Display;
use tidegate_policy::{MemoryPolicy, QueueKind, StealAmount, WaitPolicy};

/// Returns the values of these options after they were checked against each other.
pub(super) fn orders(
    given: &Settings,
    environment: Environment,
) -> Result<(StealAmount, WaitPolicy, QueueKind, MemoryPolicy), BuildError> {
    let amount = given.steal(environment)?;
    let wait = given.wait(environment)?;
    let queue = given.queue(environment)?;
    // A closed pool guarantees that all its threads run, so its tasks must not wait for memory.
    let memory = match given.closed {
        Some(_) => (MemoryPolicy::None, Source::Default),
        None => given.memory(environment)?,
    };
    let (wait, queue) = beside_space(memory, wait, queue, environment)?;
    let amount = steal_amount(amount, queue, memory, environment)?;
    Ok((amount, wait, queue.0, memory.0))
}

/// Returns the wait policy and the queue kind to use with a memory policy, which imposes its own
/// order. If an environment variable contradicts the memory policy and errors are forgiven, the
/// memory policy wins.
fn beside_space(
    (memory, space_from): (MemoryPolicy, Source),
    (wait, wait_from): (WaitPolicy, Source),
    (queue, queue_from): (QueueKind, Source),
    environment: Environment,
) -> Result<(WaitPolicy, (QueueKind, Source)), BuildError> {
    if memory == MemoryPolicy::None {
        return Ok((wait, (queue, queue_from)));
    }
    let refuse = |option: Source, value: &dyn Display, allowed: &dyn Display| {
        let error = BuildError::new(format!(
            "{option}: {value} beside {space_from}, {memory}, which has an order of its own: expected {allowed}"
        ));
        let instead = format!("{space_from}, and {allowed} for {option}");
        environment.forgive(option, error, &instead)
    };
    if wait != WaitPolicy::Descendants {
        refuse(wait_from, &wait, &WaitPolicy::Descendants)?;
    }
    if queue == QueueKind::Split || !memory.keeps_order() {
        return Ok((WaitPolicy::Descendants, (queue, queue_from)));
    }
    refuse(queue_from, &queue, &QueueKind::Split)?;
    Ok((WaitPolicy::Descendants, (QueueKind::Split, queue_from)))
}

/// Returns how many tasks a steal takes. A thief takes several tasks at once only from a split
/// deque, and only if the memory policy does not keep the order of the serial run.
fn steal_amount(
    (amount, from): (StealAmount, Source),
    (queue, queue_from): (QueueKind, Source),
    (memory, space_from): (MemoryPolicy, Source),
    environment: Environment,
) -> Result<StealAmount, BuildError> {
    let gives_several = queue == QueueKind::Split && !memory.keeps_order();
    if amount == StealAmount::One || gives_several {
        return Ok(amount);
    }
    let (beside, beside_from) = match queue {
        QueueKind::Split => (format!("{space_from}, {memory}, under which"), space_from),
        _ => (format!("{queue_from}, {queue}, from which"), queue_from),
    };
    let error = BuildError::new(format!(
        "{from}: {amount} beside {beside} a thief takes one task at a time: expected {}",
        StealAmount::One
    ));
    let from = if from.is_variable() {
        from
    } else {
        beside_from
    };
    environment.forgive(from, error, &StealAmount::One)?;
    Ok(StealAmount::One)
}
