//! The file format of a trace; `docs/trace.md` defines it.

use super::bytes::{take, take_bytes};
use super::contents::{Rules, Source, Stream, TaskOrigin, Trace};
use super::recorder::put;
use crate::desire::tunables::EST_CYCLE;
use crate::error::ParseError;
use crate::idle::custom;
use crate::limits::WORKERS;
use crate::text::show_time;
use crate::{IdlePolicy, Nanos};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

/// The first line of a trace. The number is the version of the format.
const TITLE: &str = "tidegate trace 4";

const CUT: &str = "the trace is truncated or was changed (wrong checksum): copy it again, or record a new \
                   one with `tidegate run PROGRAM --trace FILE`";

/// Why bytes are not a valid trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged(pub(super) String);

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for Damaged {}

impl TaskOrigin {
    fn write(&self, bytes: &mut Vec<u8>) {
        for text in [&self.name, &self.at] {
            put(bytes, text.len() as u64);
            bytes.extend_from_slice(text.as_bytes());
        }
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        let mut text = || {
            let length = take(bytes)?;
            String::from_utf8(take_bytes(bytes, length)?.to_vec()).ok()
        };
        Some(Self {
            name: text()?,
            at: text()?,
        })
    }
}

impl Source {
    const fn code(self) -> u64 {
        match self {
            Self::ShareController => 0,
            Self::Plan => 1,
            Self::Worker(index) => 2 + index as u64,
        }
    }

    const fn of(code: u64) -> Self {
        match code {
            0 => Self::ShareController,
            1 => Self::Plan,
            worker => Self::Worker(worker as usize - 2),
        }
    }
}

impl Trace {
    /// Writes the trace as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let Rules {
            idle: _,
            steal,
            victim,
            memory,
            share,
            desire,
            est_cycle,
            workers,
            pool,
        } = &self.rules;
        let idle = self.rules.idle_text();
        let est_cycle = show_time(*est_cycle);
        let head = format!(
            "{TITLE}\nidle={idle}\nsteal={steal}\nvictim={victim}\nmemory={memory}\nshare={share}\ndesire={desire}\nest-cycle={est_cycle}\nworkers={workers}\npool={pool}\n\n"
        );
        let mut bytes = head.into_bytes();
        put(&mut bytes, self.origins.len() as u64);
        for origin in &self.origins {
            origin.write(&mut bytes);
        }
        put(&mut bytes, self.streams.len() as u64);
        for stream in &self.streams {
            put(&mut bytes, stream.source.code());
            put(&mut bytes, stream.left_out);
            for part in [&stream.inputs, &stream.decisions] {
                put(&mut bytes, part.len() as u64);
                bytes.extend_from_slice(part);
            }
        }
        let sum = checksum(&bytes);
        bytes.extend_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Parses a trace.
    ///
    /// # Errors
    /// If the bytes are not a trace, have another version of the format, or were cut off or
    /// changed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Damaged> {
        let title = bytes.strip_prefix(TITLE.as_bytes());
        if !title.is_some_and(|rest| rest.starts_with(b"\n")) {
            let known = bytes.starts_with(b"tidegate trace ");
            let what = if known {
                "unsupported trace version: expected a file written by this version"
            } else {
                "not a Tidegate trace: expected a file written by --trace"
            };
            return Err(Damaged(what.into()));
        }
        let cut = || Damaged(CUT.into());
        let (body, sum) = bytes.split_at(bytes.len().saturating_sub(8));
        if checksum(body).to_le_bytes() != sum {
            return Err(cut());
        }
        let end = body
            .windows(2)
            .position(|two| two == b"\n\n")
            .ok_or_else(cut)?;
        let head = core::str::from_utf8(&body[..end]).map_err(|_| cut())?;
        let rules = Rules::read(head)?;
        let rest = &mut &body[end + 2..];
        let origins = origins(rest).ok_or_else(cut)?;
        let streams = streams(rest).ok_or_else(cut)?;
        Ok(Self {
            rules,
            origins,
            streams,
        })
    }
}

fn origins(rest: &mut &[u8]) -> Option<Vec<TaskOrigin>> {
    let count = take(rest)?;
    (0..count).map(|_| TaskOrigin::read(rest)).collect()
}

fn streams(rest: &mut &[u8]) -> Option<Vec<Stream>> {
    let count = take(rest)?;
    let mut streams = Vec::new();
    for _ in 0..count {
        let (source, left_out) = (Source::of(take(rest)?), take(rest)?);
        let mut part = || {
            let length = take(rest)?;
            take_bytes(rest, length).map(<[u8]>::to_vec)
        };
        streams.push(Stream {
            source,
            inputs: part()?,
            decisions: part()?,
            left_out,
        });
    }
    rest.is_empty().then_some(streams)
}

impl Rules {
    /// Returns the idle policy as text.
    #[must_use]
    pub fn idle_text(&self) -> String {
        self.idle
            .map_or(custom::NAME.into(), |idle| idle.to_string())
    }

    fn read(head: &str) -> Result<Self, Damaged> {
        Ok(Self {
            idle: idle(head)?,
            steal: row(head, "steal")?,
            victim: row(head, "victim")?,
            memory: row(head, "memory")?,
            share: row(head, "share")?,
            desire: row(head, "desire")?,
            est_cycle: est_cycle(head)?,
            workers: workers(head)?,
            pool: row(head, "pool")?,
        })
    }
}

fn idle(head: &str) -> Result<Option<IdlePolicy>, Damaged> {
    let told: String = row(head, "idle")?;
    match &told[..] {
        custom::NAME => Ok(None),
        _ => row(head, "idle").map(Some),
    }
}

/// Rejects more workers than a pool can have, because a replay would allocate memory for all of
/// them.
fn workers(head: &str) -> Result<usize, Damaged> {
    let told: usize = row(head, "workers")?;
    match WORKERS.check(Some(told)) {
        Ok(_) => Ok(told),
        Err(error) => Err(in_trace(error, "workers")),
    }
}

/// Rejects a cycle that no pool can have, because it would make the replay's sums overflow.
fn est_cycle(head: &str) -> Result<Nanos, Damaged> {
    let told: String = row(head, EST_CYCLE.name)?;
    let parsed = EST_CYCLE.parse(&told);
    parsed.map_err(|error| in_trace(error, EST_CYCLE.name))
}

fn in_trace(error: ParseError, key: &str) -> Damaged {
    Damaged(
        error
            .alone()
            .within(&format!("the trace's {key}"))
            .to_string(),
    )
}

/// Returns the value of the row `key=value`.
fn row<T: FromStr>(head: &str, key: &str) -> Result<T, Damaged>
where
    T::Err: fmt::Display,
{
    let of_key = |line: &'_ str| {
        line.strip_prefix(key)?
            .strip_prefix('=')
            .map(str::to_string)
    };
    let value = head.lines().find_map(of_key);
    let value = value.ok_or_else(|| Damaged(format!("the trace has no {key}")))?;
    value
        .parse()
        .map_err(|error| Damaged(format!("the trace's {key}: {error}")))
}

/// An FNV-1a checksum. It detects accidental damage, not tampering.
fn checksum(bytes: &[u8]) -> u64 {
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DesirePolicy, MemoryPolicy, SharePolicy, StealAmount, VictimPolicy};

    fn trace() -> Trace {
        Trace {
            rules: Rules {
                idle: Some(IdlePolicy::default()),
                steal: StealAmount::default(),
                victim: VictimPolicy::default(),
                memory: MemoryPolicy::None,
                share: SharePolicy::Auto,
                desire: DesirePolicy::default(),
                est_cycle: EST_CYCLE.default,
                workers: 1,
                pool: String::new(),
            },
            origins: Vec::new(),
            streams: Vec::new(),
        }
    }

    fn refused(bytes: &[u8]) -> String {
        Trace::from_bytes(bytes).unwrap_err().to_string()
    }

    #[test]
    fn impossible_worker_count_is_rejected() {
        let mut trace = trace();
        assert!(Trace::from_bytes(&trace.to_bytes()).is_ok());
        for workers in [0, 1 << 40] {
            trace.rules.workers = workers;
            let said = format!(
                "invalid value {workers} for the trace's workers: expected an integer from 1 to 4096"
            );
            assert_eq!(refused(&trace.to_bytes()), said);
        }
    }

    #[test]
    fn origins_are_read_back() {
        let mut trace = trace();
        let origin = |name: &str, at: &str| TaskOrigin {
            name: name.into(),
            at: at.into(),
        };
        trace.origins = [origin("", "a.rs:1:2"), origin("réduire\n\n", "b.rs:300:4")].into();
        assert_eq!(Trace::from_bytes(&trace.to_bytes()), Ok(trace.clone()));
        let labels: Vec<_> = trace.origins.iter().map(TaskOrigin::label).collect();
        assert_eq!(labels, ["a.rs:1:2", "réduire\n\n"]);
    }

    #[test]
    fn custom_backoffs_have_a_name() {
        let mut trace = trace();
        trace.rules.idle = None;
        assert_eq!(trace.rules.idle_text(), "custom");
        assert_eq!(Trace::from_bytes(&trace.to_bytes()), Ok(trace));
    }

    #[test]
    fn out_of_range_cycle_is_rejected() {
        let mut trace = trace();
        trace.rules.est_cycle = Nanos::MAX;
        let said = "invalid value \"18446744073709551615ns\" for the trace's est-cycle: expected a \
                    time such as 5ms (ns, us, ms, s) from 100us to 100ms";
        assert_eq!(refused(&trace.to_bytes()), said);
    }

    #[test]
    fn other_trace_formats_are_rejected() {
        let said = "unsupported trace version: expected a file written by this version";
        assert_eq!(refused(b"tidegate trace 3\nidle=elastic\n"), said);
        assert_eq!(refused(b"tidegate trace 40\nidle=elastic\n"), said);
    }
}
