//! Reads what the recorder has written.

/// Takes a number from the front. If there is no valid number, returns `None` and takes nothing.
pub(super) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for (at, byte) in bytes.iter().enumerate() {
        let bits = u64::from(byte & 0x7f);
        let shift = 7 * at as u32;
        if shift > 63 || bits << shift >> shift != bits {
            return None;
        }
        value |= bits << shift;
        if byte & 0x80 == 0 {
            *bytes = &bytes[at + 1..];
            return Some(value);
        }
    }
    None
}

/// Takes `count` bytes from the front. If there are fewer, returns `None` and takes nothing.
pub(super) fn take_bytes<'a>(bytes: &mut &'a [u8], count: u64) -> Option<&'a [u8]> {
    let count = usize::try_from(count).ok()?;
    if count > bytes.len() {
        return None;
    }
    let (front, rest) = bytes.split_at(count);
    *bytes = rest;
    Some(front)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::recorder::put;
    use alloc::vec::Vec;

    #[test]
    fn only_written_numbers_are_read_back() {
        let mut rng = crate::Rng::new(1);
        let mut bytes = Vec::new();
        let values: Vec<u64> = (0..64).map(|shift| rng.draw() >> shift).collect();
        values.iter().for_each(|&value| put(&mut bytes, value));
        let mut rest = &bytes[..];
        for value in values {
            assert_eq!(take(&mut rest), Some(value));
        }
        assert_eq!(take(&mut rest), None);
        for bad in [&[0x80][..], &[0xff; 10], &[0xff; 11]] {
            assert_eq!(take(&mut &bad[..]), None, "{bad:?}");
        }
    }
}
