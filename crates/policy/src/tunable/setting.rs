//! How values of each type are parsed, printed and compared with a range.

use super::Unit;
use crate::error::ParseError;
use crate::text;
use alloc::format;
use alloc::string::{String, ToString};
pub(crate) use sealed::Shown;

/// A type of tunable values. Only this crate implements the trait; it is public because public
/// signatures name it.
pub trait Setting: Copy + PartialEq + sealed::Shown {
    /// Parses a value. The error is `None` if it is enough to print the allowed values.
    #[doc(hidden)]
    fn read(text: &str, unit: Unit) -> Result<Self, Option<ParseError>>;

    #[doc(hidden)]
    fn lies_between(self, _min: Self, _max: Self) -> bool {
        true
    }

    /// Checks what a range cannot express: the parameters of a policy.
    #[doc(hidden)]
    fn check_parts(self) -> Result<(), Option<ParseError>> {
        Ok(())
    }
}

mod sealed {
    pub trait Shown {
        fn show(&self, unit: super::Unit) -> alloc::string::String;
    }
}

impl Shown for u64 {
    fn show(&self, _: Unit) -> String {
        text::show_time(*self)
    }
}

impl Setting for u64 {
    fn read(text: &str, _: Unit) -> Result<Self, Option<ParseError>> {
        text::read_time(text).ok_or(None)
    }

    fn lies_between(self, min: Self, max: Self) -> bool {
        (min..=max).contains(&self)
    }
}

impl Shown for usize {
    fn show(&self, unit: Unit) -> String {
        if unit == Unit::Bytes {
            text::show_size(*self as u64)
        } else {
            format!("{self}")
        }
    }
}

impl Setting for usize {
    fn read(text: &str, unit: Unit) -> Result<Self, Option<ParseError>> {
        let value = match unit {
            Unit::Bytes => text::read_size(text).and_then(|size| size.try_into().ok()),
            _ => text::read_count(text),
        };
        value.ok_or(None)
    }

    fn lies_between(self, min: Self, max: Self) -> bool {
        (min..=max).contains(&self)
    }
}

/// The text form of a count that is computed from other values.
const DERIVED: &str = "derived";

/// `None` means that the value is computed from the machine or from other settings.
impl Shown for Option<usize> {
    fn show(&self, unit: Unit) -> String {
        self.map_or_else(|| DERIVED.to_string(), |value| value.show(unit))
    }
}

impl Setting for Option<usize> {
    fn read(text: &str, unit: Unit) -> Result<Self, Option<ParseError>> {
        if text == DERIVED {
            Ok(None)
        } else {
            usize::read(text, unit).map(Some)
        }
    }

    fn lies_between(self, min: Self, max: Self) -> bool {
        self.is_none() || (min..=max).contains(&self)
    }
}

impl Shown for f64 {
    fn show(&self, _: Unit) -> String {
        format!("{self}")
    }
}

impl Setting for f64 {
    fn read(text: &str, _: Unit) -> Result<Self, Option<ParseError>> {
        text::read_ratio(text).ok_or(None)
    }

    fn lies_between(self, min: Self, max: Self) -> bool {
        (min..=max).contains(&self)
    }
}

impl Shown for bool {
    fn show(&self, _: Unit) -> String {
        if *self { "on" } else { "off" }.to_string()
    }
}

impl Setting for bool {
    fn read(text: &str, _: Unit) -> Result<Self, Option<ParseError>> {
        match text {
            "on" => Ok(true),
            "off" => Ok(false),
            _ => Err(Some(ParseError::value(
                "",
                &format!("{text:?}"),
                "on or off",
            ))),
        }
    }
}

/// Makes enums that have a text form usable as values of tunables. Such values are not ordered, so
/// every value is in range. The function `check` checks their parameters, if they have any.
macro_rules! choices {
    ($type:ty $(, $check:ident)?) => {
        impl $crate::tunable::Shown for $type {
            fn show(&self, _: $crate::tunable::Unit) -> alloc::string::String {
                alloc::format!("{self}")
            }
        }

        impl $crate::tunable::Setting for $type {
            fn read(
                text: &str,
                _: $crate::tunable::Unit,
            ) -> Result<Self, Option<$crate::error::ParseError>> {
                text.parse().map_err(Some)
            }

            $(fn check_parts(self) -> Result<(), Option<$crate::error::ParseError>> {
                self.$check().map(|_| ()).map_err(Some)
            })?
        }
    };
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
                f.pad(match self {
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
