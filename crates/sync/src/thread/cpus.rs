//! Binds threads to sets of processors. The runtime uses this to keep a woken thread from waiting
//! for the processor of the thread that woke it.

/// The system's id of a thread, which may have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tid(imp::Tid);

impl Tid {
    /// Returns the calling thread's id.
    #[must_use]
    pub fn this() -> Self {
        Self(imp::this())
    }

    /// Returns the id of the thread that the system calls `number`, in any process.
    #[must_use]
    pub fn numbered(number: u32) -> Self {
        Self(imp::numbered(number))
    }
}

/// A set of processors.
#[derive(Clone, Copy)]
pub struct CpuSet(imp::Set);

impl PartialEq for CpuSet {
    fn eq(&self, other: &Self) -> bool {
        imp::equal(&self.0, &other.0)
    }
}

impl Default for CpuSet {
    /// The empty set.
    fn default() -> Self {
        Self(imp::none())
    }
}

impl FromIterator<usize> for CpuSet {
    fn from_iter<I: IntoIterator<Item = usize>>(cpus: I) -> Self {
        cpus.into_iter().fold(Self::default(), Self::with)
    }
}

impl CpuSet {
    /// Returns the set of all processors that a set can contain, whether they exist or not.
    #[must_use]
    pub fn all() -> Self {
        (0..imp::MOST).collect()
    }

    /// Returns the processors that `thread` may run on, or `None` if the system does not report
    /// them.
    #[must_use]
    pub fn of(thread: Tid) -> Option<Self> {
        imp::get(thread.0).map(Self)
    }

    /// Returns the processors in the set, in ascending order.
    pub fn cpus(&self) -> impl Iterator<Item = usize> {
        (0..imp::MOST).filter(|cpu| imp::has(&self.0, *cpu))
    }

    /// Returns the set with `cpu` added.
    #[must_use]
    pub fn with(mut self, cpu: usize) -> Self {
        imp::add(&mut self.0, cpu);
        self
    }

    /// Returns the set with `cpu` removed. `None` if `cpu` was not in the set, or was its only
    /// element.
    #[must_use]
    pub fn without(mut self, cpu: usize) -> Option<Self> {
        let before = imp::count(&self.0);
        imp::remove(&mut self.0, cpu);
        (1..before).contains(&imp::count(&self.0)).then_some(self)
    }

    /// Restricts `thread` to these processors. Returns whether that succeeded.
    pub fn bind(&self, thread: Tid) -> bool {
        imp::set(thread.0, &self.0)
    }
}

/// Returns the processor that the calling thread is running on. `None` if the system does not
/// report it.
#[must_use]
pub fn current_cpu() -> Option<usize> {
    imp::current_cpu()
}

#[cfg(all(target_os = "linux", not(any(loom, miri))))]
mod imp {
    pub(super) type Tid = libc::pid_t;
    pub(super) type Set = libc::cpu_set_t;
    const SIZE: usize = size_of::<Set>();
    pub(super) const MOST: usize = SIZE * 8;

    pub(super) fn this() -> Tid {
        // SAFETY: gettid has no preconditions. It is called by number, because older C libraries
        // have no function for it.
        let tid = unsafe { libc::syscall(libc::SYS_gettid) };
        Tid::try_from(tid).expect("thread numbers are small")
    }

    pub(super) fn numbered(number: u32) -> Tid {
        // No thread has a negative number, and the calls below fail for it.
        Tid::try_from(number).unwrap_or(-1)
    }

    pub(super) fn none() -> Set {
        // SAFETY: cpu_set_t consists of integers, for which all zeroes is a valid value.
        unsafe { std::mem::zeroed() }
    }

    pub(super) fn get(tid: Tid) -> Option<Set> {
        let mut set = none();
        // SAFETY: `set` is a live, writable cpu_set_t of SIZE bytes.
        let failed = unsafe { libc::sched_getaffinity(tid, SIZE, &mut set) } != 0;
        (!failed).then_some(set)
    }

    pub(super) fn set(tid: Tid, set: &Set) -> bool {
        // SAFETY: `set` is a live cpu_set_t of SIZE bytes that the kernel reads.
        unsafe { libc::sched_setaffinity(tid, SIZE, set) == 0 }
    }

    pub(super) fn add(set: &mut Set, cpu: usize) {
        if cpu < MOST {
            // SAFETY: `cpu` is below the size of the set, as just checked.
            unsafe { libc::CPU_SET(cpu, set) }
        }
    }

    pub(super) fn remove(set: &mut Set, cpu: usize) {
        if cpu < MOST {
            // SAFETY: `cpu` is below the size of the set, as just checked.
            unsafe { libc::CPU_CLR(cpu, set) }
        }
    }

    pub(super) fn has(set: &Set, cpu: usize) -> bool {
        // SAFETY: `cpu` is below the size of the set, as just checked.
        cpu < MOST && unsafe { libc::CPU_ISSET(cpu, set) }
    }

    pub(super) fn count(set: &Set) -> usize {
        // SAFETY: CPU_COUNT only reads `set`.
        usize::try_from(unsafe { libc::CPU_COUNT(set) }).unwrap_or(0)
    }

    pub(super) fn equal(one: &Set, other: &Set) -> bool {
        // SAFETY: CPU_EQUAL only reads the sets.
        unsafe { libc::CPU_EQUAL(one, other) }
    }

    pub(super) fn current_cpu() -> Option<usize> {
        // SAFETY: sched_getcpu has no preconditions.
        usize::try_from(unsafe { libc::sched_getcpu() }).ok()
    }
}

#[cfg(not(all(target_os = "linux", not(any(loom, miri)))))]
mod imp {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) struct Tid;
    #[derive(Clone, Copy)]
    pub(super) struct Set;
    pub(super) const MOST: usize = 0;

    pub(super) fn this() -> Tid {
        Tid
    }

    pub(super) fn numbered(_: u32) -> Tid {
        Tid
    }

    pub(super) fn none() -> Set {
        Set
    }

    pub(super) fn get(_: Tid) -> Option<Set> {
        None
    }

    pub(super) fn set(_: Tid, _: &Set) -> bool {
        false
    }

    pub(super) fn add(_: &mut Set, _: usize) {}

    pub(super) fn remove(_: &mut Set, _: usize) {}

    pub(super) fn has(_: &Set, _: usize) -> bool {
        false
    }

    pub(super) fn count(_: &Set) -> usize {
        0
    }

    pub(super) fn equal(_: &Set, _: &Set) -> bool {
        true
    }

    pub(super) fn current_cpu() -> Option<usize> {
        None
    }
}

#[cfg(all(test, target_os = "linux", not(any(loom, miri))))]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_listed_in_order() {
        let set: CpuSet = [64, 0, 3, imp::MOST].into_iter().collect();
        assert_eq!(set.cpus().collect::<Vec<_>>(), [0, 3, 64]);
    }

    #[test]
    fn impossible_thread_has_no_set() {
        assert!(CpuSet::of(Tid::numbered(u32::MAX)).is_none());
        assert!(CpuSet::of(Tid::numbered(std::process::id())).is_some());
    }

    #[test]
    fn thread_leaves_cpu_and_may_return() {
        std::thread::spawn(|| {
            let here = Tid::this();
            let all = CpuSet::of(here).expect("Linux tells");
            let cpu = current_cpu().expect("Linux tells");
            let Some(others) = all.without(cpu) else {
                return;
            };
            assert!(others.bind(here));
            assert_ne!(current_cpu(), Some(cpu));
            let narrowed = CpuSet::of(here).expect("Linux tells");
            assert!(narrowed.without(cpu).is_none(), "not in it");
            assert!(narrowed.with(cpu).bind(here));
            let back = CpuSet::of(here).expect("Linux tells");
            assert!(back.without(cpu).is_some());
        })
        .join()
        .unwrap();
    }
}
