//! Memory that takes only address space until it is touched.
//!
//! An allocator guarantees this only for the first large blocks. For later blocks, it reuses freed
//! memory, which it must clear first, and that touches every page.

use std::alloc::Layout;

#[cfg(not(target_family = "wasm"))]
type Map = memmap2::MmapMut;

/// WebAssembly maps nothing. Its memory is zero when it grows, and no page of it is ever untouched.
#[cfg(target_family = "wasm")]
type Map = Vec<Page>;

#[cfg(target_family = "wasm")]
#[derive(Clone, Debug)]
#[repr(align(4096))]
struct Page(#[expect(dead_code, reason = "only its address is used")] [u8; 4096]);

/// A mapping of whole pages, initially zeroed.
#[derive(Debug)]
pub struct Pages(Map);

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
        #[cfg(target_family = "wasm")]
        let map = vec![Page([0; 4096]); layout.size().div_ceil(4096)];
        #[cfg(not(target_family = "wasm"))]
        let Ok(map) = Map::map_anon(layout.size()) else {
            std::alloc::handle_alloc_error(layout);
        };
        // With huge pages, writing the first task would also allocate the memory next to it. If the
        // call fails, the system has no huge pages, so there is nothing to prevent.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::NoHugePage);
        Self(map)
    }

    /// Returns the address of the first byte.
    pub fn start(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
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
