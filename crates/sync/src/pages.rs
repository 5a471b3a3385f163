//! Memory that costs only address space until it is touched.
//!
//! An allocator guarantees this only for the first large blocks. Once blocks have been freed, it
//! reuses memory that it has kept and clears it, which touches every page after all.

use memmap2::MmapMut;
use std::alloc::{Layout, handle_alloc_error};

/// Whole pages, zeroed.
#[derive(Debug)]
pub struct Pages(MmapMut);

impl Pages {
    /// Maps the pages that `layout` needs. Their alignment exceeds that of any layout in use.
    ///
    /// If the system is out of memory, the process is aborted, as for a `Box`.
    ///
    /// # Panics
    /// If `layout` is empty.
    #[must_use]
    pub fn zeroed(layout: Layout) -> Self {
        assert!(layout.size() > 0, "there is nothing to map");
        let Ok(map) = MmapMut::map_anon(layout.size()) else {
            handle_alloc_error(layout);
        };
        // With huge pages, the memory next to the first task would be allocated too. Failure does
        // no harm: the system then has no huge pages.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::NoHugePage);
        Self(map)
    }

    /// The address of the first byte.
    pub fn start(&mut self) -> *mut u8 {
        self.0.as_mut_ptr()
    }

    /// Returns the memory to the system but keeps the addresses. Each byte is then zero or keeps
    /// its value: on systems other than Linux, and where the process has locked its memory, nothing
    /// is returned.
    ///
    /// A thread that loads from the pages at the same time sees either value.
    pub fn discard(&self) {
        #[cfg(target_os = "linux")]
        {
            let advice = memmap2::UncheckedAdvice::DontNeed;
            // SAFETY: the map is anonymous and private, so the system replaces its contents with
            // zeroes and touches nothing else; this type never refers to them.
            let _ = unsafe { self.0.unchecked_advise(advice) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_zero_and_their_own() {
        let layout = Layout::array::<u64>(1 << 20).unwrap();
        let (mut one, mut other) = (Pages::zeroed(layout), Pages::zeroed(layout));
        assert!(one.0.iter().all(|byte| *byte == 0));
        one.0.fill(1);
        assert!(other.0.iter().all(|byte| *byte == 0));
        for pages in [&mut one, &mut other] {
            assert_eq!(pages.start().addr() % 4096, 0);
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn discarded_pages_are_zero_and_usable() {
        let mut pages = Pages::zeroed(Layout::array::<u64>(1 << 10).unwrap());
        for _ in 0..2 {
            pages.0.fill(1);
            pages.discard();
            assert!(pages.0.iter().all(|byte| *byte == 0));
        }
    }
}
