//! How many threads of this process can run at a time, on systems without a list of processors.

/// Returns how many processors this process may use, or `None` if the system does not tell.
///
/// On Windows, the affinity of the process and the hard cap on the CPU rate of its job count, and
/// processors beyond the process's group from the version on that lets threads leave it.
#[must_use]
pub fn processors() -> Option<usize> {
    imp::processors()
}

#[cfg(any(not(windows), miri))]
mod imp {
    pub(super) fn processors() -> Option<usize> {
        std::thread::available_parallelism().ok().map(usize::from)
    }
}

#[cfg(all(windows, not(miri)))]
mod imp {
    use super::{Rate, usable};
    use std::ptr::null_mut;

    type Handle = *mut std::ffi::c_void;

    #[repr(C)]
    struct Version {
        size: u32,
        numbers: [u32; 4],
        service_pack: [u16; 128],
    }

    #[link(name = "kernel32")]
    unsafe extern "system" {
        safe fn GetCurrentProcess() -> Handle;
        safe fn GetActiveProcessorCount(group: u16) -> u32;
        fn GetProcessAffinityMask(process: Handle, own: *mut usize, system: *mut usize) -> i32;
        fn QueryInformationJobObject(
            job: Handle,
            class: i32,
            info: *mut Rate,
            length: u32,
            returned: *mut u32,
        ) -> i32;
    }

    #[link(name = "ntdll")]
    unsafe extern "system" {
        fn RtlGetVersion(version: *mut Version) -> i32;
    }

    const ALL_GROUPS: u16 = 0xffff;
    const CPU_RATE: i32 = 15;

    pub(super) fn processors() -> Option<usize> {
        let (mut own, mut system) = (0, 0);
        // SAFETY: the pseudo handle of this process is always valid, and both masks are writable.
        let known = unsafe { GetProcessAffinityMask(GetCurrentProcess(), &mut own, &mut system) };
        let mut version = Version {
            size: size_of::<Version>() as u32,
            numbers: [0; 4],
            service_pack: [0; 128],
        };
        // SAFETY: `version` is writable and says how large it is.
        unsafe { RtlGetVersion(&mut version) };
        let mut rate = Rate::default();
        let length = size_of::<Rate>() as u32;
        // SAFETY: null stands for the job of this process; `rate` is writable and `length` long.
        // The call fails outside of a job, and leaves `rate` as it was.
        unsafe { QueryInformationJobObject(null_mut(), CPU_RATE, &mut rate, length, null_mut()) };
        // 0 if the call fails.
        let all = (GetActiveProcessorCount(ALL_GROUPS) as usize).max(own.count_ones() as usize);
        let [_, _, build, _] = version.numbers;
        (known != 0).then(|| usable(own, system, all, build).min(rate.processors(all)))
    }
}

/// The first build of Windows whose threads may run in all groups of processors.
#[cfg(any(windows, test))]
const ACROSS_GROUPS: u32 = 20348;

/// The processors of a process with the affinity `own` among the mask `system` of its group, on a
/// machine with `all` processors. Windows reports empty masks if the process is in several groups.
#[cfg(any(windows, test))]
fn usable(own: usize, system: usize, all: usize, build: u32) -> usize {
    if own == 0 || (own == system && build >= ACROSS_GROUPS) {
        return all.max(1);
    }
    own.count_ones() as usize
}

/// `JOBOBJECT_CPU_RATE_CONTROL_INFORMATION`.
#[cfg(any(windows, test))]
#[repr(C)]
#[derive(Default)]
struct Rate {
    flags: u32,
    /// In ten-thousandths of all processors.
    value: u32,
}

#[cfg(any(windows, test))]
impl Rate {
    const ENABLED: u32 = 1;
    const HARD_CAP: u32 = 4;
    const MIN_MAX: u32 = 16;

    /// How many processors use up the rate, rounded up; a weight is no limit.
    fn processors(&self, all: usize) -> usize {
        let most = match self.flags {
            flags if flags & Self::ENABLED == 0 => 10_000,
            flags if flags & Self::HARD_CAP != 0 => self.value,
            flags if flags & Self::MIN_MAX != 0 => self.value >> 16,
            _ => 10_000,
        };
        (all * most as usize).div_ceil(10_000).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::{Rate, processors, usable};

    #[test]
    fn this_system_has_some_processors() {
        assert!(processors().is_some_and(|count| count >= 1));
    }

    #[cfg(windows)]
    #[test]
    fn affinity_of_the_process_counts() {
        type Handle = *mut std::ffi::c_void;
        #[link(name = "kernel32")]
        unsafe extern "system" {
            safe fn GetCurrentProcess() -> Handle;
            safe fn SetProcessAffinityMask(process: Handle, mask: usize) -> i32;
        }
        let before = processors().unwrap();
        assert_ne!(SetProcessAffinityMask(GetCurrentProcess(), 1), 0);
        assert_eq!(processors(), Some(1));
        SetProcessAffinityMask(GetCurrentProcess(), (1 << before) - 1);
    }

    #[test]
    fn affinity_counts_within_one_group() {
        assert_eq!(usable(0b101, 0b1111, 4, 19045), 2);
        assert_eq!(usable(0b101, 0b1111, 128, 26100), 2);
        assert_eq!(usable(0b1111, 0b1111, 4, 19045), 4);
    }

    #[test]
    fn threads_of_newer_systems_leave_their_group() {
        let group = usize::MAX;
        assert_eq!(usable(group, group, 128, 19045), usize::BITS as usize);
        assert_eq!(usable(group, group, 128, 26100), 128);
        assert_eq!(usable(0, 0, 128, 19045), 128);
    }

    #[test]
    fn hard_cap_of_the_job_counts_rounded_up() {
        let processors = |flags, value| Rate { flags, value }.processors(8);
        assert_eq!(processors(0, 0), 8);
        assert_eq!(processors(1 | 4, 2_500), 2);
        assert_eq!(processors(1 | 4, 2_600), 3);
        assert_eq!(processors(1 | 4, 1), 1);
        assert_eq!(processors(1 | 16, 5_000 << 16 | 100), 4);
        assert_eq!(processors(1 | 2, 9), 8, "a weight");
        assert_eq!(processors(4, 2_500), 8, "not enabled");
    }
}
