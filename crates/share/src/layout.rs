//! The layout of the table's file. It is a contract between programs that were built separately.
//!
//! The file begins with a head of one page, whose second half contains the claims. The rows follow.
//! All words are 8 bytes long, in the machine's byte order; a different byte order changes the
//! magic number. The magic number is a hash of everything that a reader relies on, so a program
//! with a different layout does not recognize the table. Readers trust no value in the file: see
//! [`Row::read`].

use crate::identity::Identity;
use crate::mask::{CpuMask, WORDS};
use crate::refusal::{Kind, Refusal};
use crate::report::Report;
use std::fmt;
use std::path::Path;
use tidegate_policy::tunables::WEIGHT;

/// The version of the format. Each version has its own file.
pub(crate) const VERSION: u64 = 1;
/// The number of rows, and so the maximum number of jobs with a seat.
pub const ROWS: usize = 256;

pub(crate) const WORD: usize = 8;
pub(crate) const HEAD: usize = 4096;
const MAGIC_AT: usize = 0;
const BOOT_AT: usize = 1;
/// The offset of the 4-byte word that counts changes, in bytes.
pub(crate) const CHANGE_AT: usize = 256;
/// The offset of the claims, in bytes.
pub(crate) const CLAIMS_AT: usize = 2048;
const ROW_WORDS: usize = 64;
pub(crate) const ROW: usize = ROW_WORDS * WORD;
/// The length of the file, in bytes.
pub(crate) const LENGTH: usize = HEAD + ROWS * ROW;

pub(crate) fn row_at(index: usize) -> u64 {
    (HEAD + index * ROW) as u64
}

pub(crate) fn claim_at(index: usize) -> u64 {
    (CLAIMS_AT + index * WORD) as u64
}

/// The index of each field in a row, in words.
mod at {
    pub(super) const GENERATION: usize = 0;
    pub(super) const PID: usize = 1;
    pub(super) const STARTED: usize = 2;
    pub(super) const NAMESPACE: usize = 3;
    pub(super) const ARRIVED: usize = 4;
    pub(super) const DESIRE: usize = 5;
    pub(super) const USAGE: usize = 6;
    pub(super) const WEIGHT: usize = 7;
    pub(super) const LIMIT: usize = 8;
    pub(super) const BEAT: usize = 9;
    pub(super) const ALLOTMENT: usize = 10;
    pub(super) const EFFICIENCY: usize = 11;
    pub(super) const CPU_TIME: usize = 12;
    pub(super) const NEIGHBOURS: usize = 13;
    pub(super) const NAME: usize = 16;
    pub(super) const MASK: usize = 32;
}
const NAME_BYTES: usize = 64;

/// Returns a hash (FNV-1a) of everything that a reader relies on.
fn magic() -> u64 {
    let words = [
        VERSION,
        ROWS as u64,
        HEAD as u64,
        CHANGE_AT as u64,
        CLAIMS_AT as u64,
        ROW as u64,
        at::GENERATION as u64,
        at::PID as u64,
        at::STARTED as u64,
        at::NAMESPACE as u64,
        at::ARRIVED as u64,
        at::DESIRE as u64,
        at::USAGE as u64,
        at::WEIGHT as u64,
        at::LIMIT as u64,
        at::BEAT as u64,
        at::ALLOTMENT as u64,
        at::EFFICIENCY as u64,
        at::CPU_TIME as u64,
        at::NEIGHBOURS as u64,
        at::NAME as u64,
        NAME_BYTES as u64,
        at::MASK as u64,
        WORDS as u64,
    ];
    let mut bytes = b"tidegate".to_vec();
    for word in &words {
        bytes.extend_from_slice(&word.to_be_bytes());
    }
    hash(&bytes)
}

/// Returns the 64-bit FNV-1a hash of `bytes`.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn word(bytes: &[u8], index: usize) -> u64 {
    let at = index * WORD;
    u64::from_ne_bytes(bytes[at..at + WORD].try_into().expect("eight bytes"))
}

/// Why a file with this head cannot be used as a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// The file is a table of a different version, or not a table.
    Foreign,
    /// The table was created before the machine's last boot, or on another machine.
    Stale,
}

impl Unfit {
    pub(crate) fn at(self, path: &Path) -> Refusal {
        match self {
            Self::Foreign => Refusal::no_table(path, "is not a table of this version of Tidegate"),
            Self::Stale => {
                let what = "was made before the machine was started, or by another machine";
                Refusal::of(Kind::Damaged, path, what)
            }
        }
    }
}

/// The head, including the claims.
pub(crate) struct Head(pub(crate) [u8; HEAD]);

impl Head {
    /// Returns the head of a new table, created during the boot with the id `boot`.
    pub(crate) fn fresh(boot: u64) -> Self {
        let mut head = Self([0; HEAD]);
        for (index, value) in [(MAGIC_AT, magic()), (BOOT_AT, boot)] {
            head.0[index * WORD..][..WORD].copy_from_slice(&value.to_ne_bytes());
        }
        head
    }

    /// Checks that this is the head of a table of this version. If `boot` is known, also checks
    /// that the table was created during that boot.
    pub(crate) fn check(&self, boot: u64) -> Result<(), Unfit> {
        match (word(&self.0, MAGIC_AT), word(&self.0, BOOT_AT)) {
            (kind, _) if kind != magic() => Err(Unfit::Foreign),
            // A job that does not know the id of the boot treats the table as current and removes
            // nothing. That does no harm: no job holds a row of a stale table.
            (_, made) if made != boot && boot != 0 => Err(Unfit::Stale),
            _ => Ok(()),
        }
    }

    pub(crate) fn change(&self) -> u32 {
        let bytes = &self.0[CHANGE_AT..CHANGE_AT + 4];
        u32::from_ne_bytes(bytes.try_into().expect("four bytes"))
    }

    pub(crate) fn claim(&self, index: usize) -> Claim {
        Claim(word(&self.0[CLAIMS_AT..], index))
    }
}

/// Whether a row is in use, and how many owners it has had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Claim(pub(crate) u64);

impl Claim {
    const IN_USE: u64 = 1;

    pub(crate) fn is_in_use(self) -> bool {
        self.0 & Self::IN_USE != 0
    }

    pub(crate) fn generation(self) -> u64 {
        self.0 >> 1
    }

    /// Returns the claim for the row's next owner, marked as in use.
    pub(crate) fn next(self) -> Self {
        Self((self.generation().wrapping_add(1) << 1) | Self::IN_USE)
    }

    /// Returns this claim, marked as no longer in use.
    pub(crate) fn given_back(self) -> Self {
        Self(self.0 & !Self::IN_USE)
    }

    pub(crate) fn to_bytes(self) -> [u8; WORD] {
        self.0.to_ne_bytes()
    }
}

/// A job's name: at most 64 bytes of text, without control characters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Name {
    bytes: [u8; NAME_BYTES],
}

impl Name {
    /// Creates a name from `text`, truncated if it is too long. Control characters become question
    /// marks.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut bytes = [0; NAME_BYTES];
        let mut end = 0;
        for c in text.chars().map(|c| if c.is_control() { '?' } else { c }) {
            if end + c.len_utf8() > NAME_BYTES {
                break;
            }
            end += c.encode_utf8(&mut bytes[end..]).len();
        }
        Self { bytes }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = String::from_utf8_lossy(&self.bytes);
        for c in text.chars().take_while(|c| *c != '\0') {
            write!(f, "{}", if c.is_control() { '?' } else { c })?;
        }
        Ok(())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_string(), f)
    }
}

/// The contents of a row. A job reads other jobs' rows only through [`Row::read`], which clamps all
/// fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) generation: u64,
    pub(crate) owner: Identity,
    /// When the job took its seat, in nanoseconds since 1970.
    pub(crate) arrived: u64,
    pub(crate) beat: u64,
    /// The processor time that the process has used, in nanoseconds.
    pub(crate) cpu_time: u64,
    pub(crate) name: Name,
    pub(crate) report: Report,
}

impl Row {
    pub(crate) fn to_bytes(&self) -> [u8; ROW] {
        let mut bytes = [0; ROW];
        let mut put = |index: usize, value: u64| {
            bytes[index * WORD..][..WORD].copy_from_slice(&value.to_ne_bytes());
        };
        put(at::GENERATION, self.generation);
        put(at::PID, self.owner.pid.into());
        put(at::STARTED, self.owner.started);
        put(at::NAMESPACE, self.owner.namespace);
        put(at::ARRIVED, self.arrived);
        put(at::DESIRE, self.report.desire as u64);
        put(at::USAGE, self.report.usage as u64);
        put(at::WEIGHT, self.report.weight as u64);
        put(at::LIMIT, self.report.limit as u64);
        put(at::BEAT, self.beat);
        put(at::ALLOTMENT, self.report.allotment as u64);
        put(at::EFFICIENCY, self.report.efficiency.into());
        put(at::CPU_TIME, self.cpu_time);
        put(at::NEIGHBOURS, self.report.neighbours);
        for (offset, set) in self.report.mask.0.iter().enumerate() {
            put(at::MASK + offset, *set);
        }
        bytes[at::NAME * WORD..][..NAME_BYTES].copy_from_slice(&self.name.bytes);
        bytes
    }

    /// Interprets arbitrary bytes as a row, and clamps each field to its range.
    pub(crate) fn read(bytes: &[u8; ROW]) -> Self {
        let get = |index| word(bytes, index);
        let processors = |index| get(index).min(CpuMask::MOST as u64) as usize;
        let mut name = [0; NAME_BYTES];
        name.copy_from_slice(&bytes[at::NAME * WORD..][..NAME_BYTES]);
        Self {
            generation: get(at::GENERATION),
            owner: Identity {
                pid: u32::try_from(get(at::PID)).unwrap_or(0),
                started: get(at::STARTED),
                namespace: get(at::NAMESPACE),
            },
            arrived: get(at::ARRIVED),
            beat: get(at::BEAT),
            cpu_time: get(at::CPU_TIME),
            name: Name { bytes: name },
            report: Report {
                desire: processors(at::DESIRE),
                usage: processors(at::USAGE),
                weight: WEIGHT.nearest(usize::try_from(get(at::WEIGHT)).unwrap_or(usize::MAX)),
                limit: processors(at::LIMIT).max(1),
                mask: CpuMask(std::array::from_fn(|offset| get(at::MASK + offset))),
                allotment: processors(at::ALLOTMENT),
                efficiency: get(at::EFFICIENCY).min(1000) as u32,
                neighbours: get(at::NEIGHBOURS).min(1000 * CpuMask::MOST as u64),
            },
        }
    }
}

#[cfg(test)]
mod tests;
