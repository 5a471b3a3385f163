//! How values of each type are parsed, printed and compared with a range.

use super::Unit;
use crate::error::ParseError;
use crate::text;
use alloc::format;
use alloc::string::{String, ToString};

/// A type of tunable values. Only this crate implements the trait; it is public because public
/// signatures name it.
pub trait Setting: Copy + PartialEq + sealed::Sealed {
    #[doc(hidden)]
    fn read(text: &str, unit: Unit) -> Result<Self, ParseError>;
    #[doc(hidden)]
    fn show(self, unit: Unit) -> String;
    #[doc(hidden)]
    fn lies_between(self, min: Self, max: Self) -> bool;
}

pub(crate) mod sealed {
    pub trait Sealed {}
}

/// Returns the error for a malformed value. [`Tunable::parse`](super::Tunable::parse) replaces
/// `expected` with the range, if any.
fn malformed(text: &str, expected: &str) -> ParseError {
    ParseError::value("", format!("{text:?}"), expected)
}

impl sealed::Sealed for u64 {}
impl Setting for u64 {
    fn read(text: &str, _: Unit) -> Result<Self, ParseError> {
        text::read_time(text).ok_or_else(|| malformed(text, "a time"))
    }

    fn show(self, _: Unit) -> String {
        text::show_time(self)
    }

    fn lies_between(self, min: Self, max: Self) -> bool {
        (min..=max).contains(&self)
    }
}

impl sealed::Sealed for usize {}
impl Setting for usize {
    fn read(text: &str, unit: Unit) -> Result<Self, ParseError> {
        if unit == Unit::Bytes {
            let size = text::read_size(text).and_then(|size| size.try_into().ok());
            size.ok_or_else(|| malformed(text, "a size"))
        } else {
            text::read_count(text).ok_or_else(|| malformed(text, "an integer"))
        }
    }

    fn show(self, unit: Unit) -> String {
        if unit == Unit::Bytes {
            text::show_size(self as u64)
        } else {
            self.to_string()
        }
    }

    fn lies_between(self, min: Self, max: Self) -> bool {
        (min..=max).contains(&self)
    }
}

/// The text form of a count that is computed from other values.
const DERIVED: &str = "derived";

/// `None` means that the value is computed from the machine or from other settings.
impl sealed::Sealed for Option<usize> {}
impl Setting for Option<usize> {
    fn read(text: &str, unit: Unit) -> Result<Self, ParseError> {
        if text == DERIVED {
            Ok(None)
        } else {
            usize::read(text, unit).map(Some)
        }
    }

    fn show(self, unit: Unit) -> String {
        self.map_or_else(|| DERIVED.to_string(), |value| value.show(unit))
    }

    fn lies_between(self, min: Self, max: Self) -> bool {
        self.is_none() || (min..=max).contains(&self)
    }
}

impl sealed::Sealed for f64 {}
impl Setting for f64 {
    fn read(text: &str, _: Unit) -> Result<Self, ParseError> {
        text::read_ratio(text).ok_or_else(|| malformed(text, "a number"))
    }

    fn show(self, _: Unit) -> String {
        self.to_string()
    }

    fn lies_between(self, min: Self, max: Self) -> bool {
        (min..=max).contains(&self)
    }
}

impl sealed::Sealed for bool {}
impl Setting for bool {
    fn read(text: &str, _: Unit) -> Result<Self, ParseError> {
        match text {
            "on" => Ok(true),
            "off" => Ok(false),
            _ => Err(malformed(text, "on or off")),
        }
    }

    fn show(self, _: Unit) -> String {
        if self { "on" } else { "off" }.to_string()
    }

    fn lies_between(self, _: Self, _: Self) -> bool {
        true
    }
}

/// Makes enums that have a text form usable as values of tunables. Such values are not ordered, so
/// every value is in range.
macro_rules! choices {
    ($($type:ty),*) => {$(
        impl $crate::tunable::sealed::Sealed for $type {}
        impl $crate::tunable::Setting for $type {
            fn read(
                text: &str,
                _: $crate::tunable::Unit,
            ) -> Result<Self, $crate::error::ParseError> {
                text.parse()
            }

            fn show(self, _: $crate::tunable::Unit) -> alloc::string::String {
                alloc::string::ToString::to_string(&self)
            }

            fn lies_between(self, _: Self, _: Self) -> bool {
                true
            }
        }
    )*};
}
pub(crate) use choices;

/// Implements the text form of an enum whose variants are plain names, for use as a tunable.
macro_rules! words {
    ($type:ident, $kind:literal, $($variant:ident = $name:literal),*) => {
        impl $type {
            pub(crate) const NAMES: &'static [&'static str] = &[$($name),*];
        }

        impl core::fmt::Display for $type {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(match self {
                    $(Self::$variant => $name),*
                })
            }
        }

        impl core::str::FromStr for $type {
            type Err = $crate::error::ParseError;

            fn from_str(text: &str) -> Result<Self, $crate::error::ParseError> {
                match text {
                    $($name => Ok(Self::$variant),)*
                    _ => Err($crate::text::unknown($kind, text, Self::NAMES)),
                }
            }
        }

        $crate::tunable::choices!($type);
    };
}
pub(crate) use words;
