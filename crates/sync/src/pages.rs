//! Memory that takes only address space until it is touched.
//!
//! An allocator guarantees this only for the first large blocks. For later blocks, it reuses freed
//! memory, which it must clear first, and that touches every page.

use memmap2::MmapMut;
use std::alloc::{Layout, handle_alloc_error};

/// A mapping of whole pages, initially zeroed.
#[derive(Debug)]
pub struct Pages(MmapMut);

impl Pages {
    /// Maps the pages that `layout` needs. Pages are aligned more strictly than any layout in use.
    ///
    /// Aborts the process if the system is out of memory, as `Box::new` does.
    ///
    /// # Panics
    /// If `layout` is empty.
    #[must_use]
    pub fn zeroed(layout: Layout) -> Self {
        assert!(layout.size() > 0, "there is nothing to map");
        let Ok(map) = MmapMut::map_anon(layout.size()) else {
            handle_alloc_error(layout);
        };
        // With huge pages, writing the first task would also allocate the memory next to it. If the
        // call fails, the system has no huge pages, so there is nothing to prevent.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::NoHugePage);
        Self(map)
    }

    /// Returns the address of the first byte.
    pub fn start(&mut self) -> *mut u8 {
        self.0.as_mut_ptr()
    }

    /// Returns the memory to the system but keeps the addresses. Afterwards, each byte is zero or
    /// has its old value: on systems other than Linux, or if the process has locked its memory,
    /// nothing is returned to the system.
    ///
    /// A thread that reads the pages at the same time sees the old value or zero.
    pub fn discard(&self) {
        #[cfg(target_os = "linux")]
        {
            let advice = memmap2::UncheckedAdvice::DontNeed;
            // SAFETY: the map is anonymous and private, so the system replaces its contents with
            // zeroes and touches nothing else. This type never creates references to the contents.
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
