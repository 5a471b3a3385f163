//! The memory that a queue keeps after it was full. This test has its own process, because it
//! measures the memory of the whole process.

use std::fs;
use std::ptr::NonNull;
use tidegate_deque::{ChaseLev, Queue};

/// Returns the resident memory of this process, in bytes.
fn resident() -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kib.and_then(|kib| kib.parse::<usize>().ok())
        .map(|kib| kib * 1024)
        .expect("it names the resident set in kB")
}

/// The longest array takes 8 MiB, and the shorter arrays together as much again. The owner returns
/// one array each time it finds the deque empty.
#[test]
#[cfg_attr(miri, ignore = "Miri's memory is not the system's")]
#[cfg_attr(tidegate_tsan, ignore = "its shadow memory grows with every address")]
fn chase_lev_returns_peak_memory() {
    if !tidegate_testkit::is_alone("memory::chase_lev_returns_peak_memory") {
        return;
    }
    const PEAK: usize = 1 << 20;
    const ARRAYS: usize = 2 * PEAK * size_of::<usize>();
    let (queue, task) = (ChaseLev::default(), NonNull::<u8>::dangling());
    let before = resident();
    for _ in 0..2 {
        (0..PEAK).for_each(|_| queue.put(task).expect("there is room"));
        let peak = resident();
        assert!(peak > before + ARRAYS * 7 / 8, "{before}, {peak} bytes");
        while queue.take().is_some() {}
        let longest_left = resident();
        assert!(
            longest_left < peak - ARRAYS * 3 / 8,
            "{peak}, {longest_left} bytes"
        );
        (0..PEAK.ilog2()).for_each(|_| assert!(queue.take().is_none()));
        let after = resident();
        assert!(after < before + ARRAYS / 8, "{before}, {after} bytes");
    }
}
