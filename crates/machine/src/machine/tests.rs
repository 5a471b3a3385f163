use super::*;
use crate::made_up::MadeUp;

const V2: &str = "1 0 0:1 / / rw - ext4 a rw\n2 1 0:2 / /sys/fs/cgroup rw - cgroup2 c rw\n";

/// A machine with 16 CPUs. The process may run on CPUs 0-7 and is in the version 2 cgroup /a/b,
/// which has no limit.
fn sixteen() -> MadeUp {
    MadeUp::new()
        .with(
            "/proc/thread-self/status",
            "Name:\tx\nCpus_allowed_list:\t0-7\n",
        )
        .with("/proc/thread-self/cgroup", "0::/a/b\n")
        .with("/proc/thread-self/mountinfo", V2)
        .with("/sys/devices/system/cpu/online", "0-15\n")
        .with("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n")
}

fn read(files: &MadeUp) -> Machine {
    read_within(files, &[])
}

/// Like `read`, but with these environment variables.
fn read_within(files: &MadeUp, variables: &[(&str, &str)]) -> Machine {
    let variable = |name: &str| {
        let mut found = variables.iter().filter(|(set, _)| *set == name);
        found.next().map(|(_, value)| OsString::from(value))
    };
    Machine::from_files(files, &|| unreachable!("the mask is known"), &variable)
}

/// Like `read`, but where the standard library counts the CPUs if the mask is unknown.
fn read_counted(files: &MadeUp, counted: Option<usize>) -> Machine {
    Machine::from_files(files, &|| counted, &|_| None)
}

fn workers_under(cpu_max: &str) -> usize {
    read(&sixteen().with("/sys/fs/cgroup/a/b/cpu.max", cpu_max)).default_workers()
}

mod default_workers {
    use super::*;

    #[test]
    fn count_allowed_cpus() {
        let machine = read(&sixteen());
        assert_eq!(machine.default_workers(), 8);
        assert_eq!(machine.reason(), "8 of 16 cpus: affinity 0-7");
    }

    #[test]
    fn obey_the_smallest_quota() {
        let files = sixteen()
            .with("/sys/fs/cgroup/a/b/cpu.max", "600000 100000\n")
            .with("/sys/fs/cgroup/a/cpu.max", "400000 100000\n");
        let machine = read(&files);
        assert_eq!(machine.default_workers(), 4);
        assert_eq!(machine.quotas().len(), 2);
        assert_eq!(
            machine.reason(),
            "4 of 16 cpus: cgroup quota 4.0 cpus from /a, within affinity 0-7"
        );
        assert_eq!(Machine::read_from(files.root()), machine);
    }

    #[test]
    fn round_quotas_up() {
        let cases = [
            ("1000 1000000", 1),
            ("50000 100000", 1),
            ("100000 100000", 1),
            ("105000 100000", 2),
            ("150000 100000", 2),
            ("200000 100000", 2),
            ("700001 100000", 8),
            ("1600000 100000", 8),
            ("18446744073709551615 1", 8),
        ];
        for (cpu_max, workers) in cases {
            assert_eq!(workers_under(cpu_max), workers, "{cpu_max}");
        }
    }

    #[test]
    fn skip_offline_cpus() {
        let files = sixteen().with("/proc/thread-self/status", "Cpus_allowed_list:\t12-1023\n");
        let machine = read(&files);
        assert_eq!(machine.usable().to_string(), "12-15");
        assert_eq!(machine.reason(), "4 of 16 cpus: affinity 12-1023");
    }

    #[test]
    fn believe_an_offline_mask() {
        let files = sixteen().with("/proc/thread-self/status", "Cpus_allowed_list:\t20-21\n");
        assert_eq!(read(&files).default_workers(), 2);
    }

    #[test]
    fn use_all_made_up_cpus() {
        let topology: Topology = "cpus 0-3,8\nL3 0-3 size=8M".parse().unwrap();
        let machine = Machine::made_up(topology.clone());
        assert_eq!((machine.default_workers(), machine.cpus_online()), (5, 5));
        assert_eq!(machine.usable(), *topology.cpus());
        assert_eq!(machine.topology(), &topology);
        assert_eq!((machine.affinity(), machine.quota()), (None, None));
        assert_eq!(machine.reason(), "5 of 5 cpus: affinity unknown");
        let nowhere = Machine::made_up(Topology::default());
        assert_eq!((nowhere.default_workers(), nowhere.usable().len()), (1, 1));
    }

    #[cfg(windows)]
    #[test]
    fn follow_the_system_on_windows() {
        let count = tidegate_sync::thread::processors();
        assert_eq!(Some(Machine::read().default_workers()), count);
        assert_eq!(Machine::read().affinity(), None);
    }

    #[test]
    fn agree_with_the_standard_library() {
        let standard = std::thread::available_parallelism().map_or(1, usize::from);
        // The tests may run under an engine, whose variables the standard library ignores.
        let root = Root(Path::new("/"));
        let machine = Machine::from_files(&root, &|| Some(standard), &|_| None);
        assert!(!machine.reason().contains('\n'));
        match machine.quota() {
            None => assert_eq!(machine.default_workers(), standard, "{machine}"),
            // The standard library rounds a quota down.
            Some(_) => assert!(machine.default_workers() >= standard, "{machine}"),
        }
        assert!(
            machine.default_workers() <= machine.usable().len(),
            "{machine}"
        );
        let levels = machine.topology().levels(&machine.usable());
        assert_eq!(levels.last().map_or(1, |level| level.groups.len()), 1);
    }
}

mod grants {
    use super::*;

    fn explained(variables: &[(&str, &str)]) -> String {
        let files = sixteen().with("/sys/fs/cgroup/a/b/cpu.max", "400000 100000\n");
        read_within(&files, variables).reason()
    }

    #[test]
    fn lower_the_number_of_workers() {
        let hyperqueue = explained(&[("HQ_CPUS", "0,1,5")]);
        let expected = "3 of 16 cpus: 3 cpus listed by HQ_CPUS, within cgroup quota 4.0 cpus from /a/b, affinity 0-7";
        assert_eq!(hyperqueue, expected);
        let slurm = explained(&[("SLURM_CPUS_PER_TASK", "2")]);
        let expected = "2 of 16 cpus: 2 cpus granted by SLURM_CPUS_PER_TASK, within cgroup quota 4.0 cpus from /a/b, affinity 0-7";
        assert_eq!(slurm, expected);
    }

    #[test]
    fn quota_that_a_number_exceeds_is_named() {
        let files = sixteen().with("/sys/fs/cgroup/a/b/cpu.max", "150000 100000\n");
        let machine = read_within(&files, &[]);
        let excess = "above cgroup quota 1.5 cpus from /a/b";
        assert_eq!(machine.excess(3).as_deref(), Some(excess));
        assert_eq!(machine.excess(2), None);
    }

    #[test]
    fn double_a_request_without_a_limit() {
        let workers = |request| {
            let machine = read_within(&sixteen(), &[("TIDEGATE_CPU_REQUEST", request)]);
            (machine.default_workers(), machine.notes().len())
        };
        let requests = ["100", "1000", "1001", "1500", "2600", "16000", "0", "all"];
        let found = requests.map(|request| workers(request).0);
        assert_eq!(found, [2, 2, 3, 3, 6, 8, 8, 8]);
        assert_eq!(["1.5", "1500m", "-1"].map(workers), [(8, 1); 3]);
        let machine = read_within(&sixteen(), &[("TIDEGATE_CPU_REQUEST", "1500")]);
        let reason = "3 of 16 cpus: 3 cpus for TIDEGATE_CPU_REQUEST, within affinity 0-7";
        assert_eq!(machine.reason(), reason);
        let limited = explained(&[("TIDEGATE_CPU_REQUEST", "500")]);
        let reason = "4 of 16 cpus: cgroup quota 4.0 cpus from /a/b, within affinity 0-7";
        assert_eq!(limited, reason);
    }

    /// HyperQueue's ids may be its own: none of these is online.
    #[test]
    fn only_count_the_ids() {
        let machine = read_within(&sixteen(), &[("HQ_CPUS", "100,101")]);
        assert_eq!((machine.default_workers(), machine.usable().len()), (2, 8));
    }

    /// HyperQueue lists the whole id for a part of a CPU.
    #[test]
    fn count_a_part_as_one() {
        let machine = read_within(&sixteen(), &[("HQ_CPUS", "4")]);
        let reason = "1 of 16 cpus: 1 cpu listed by HQ_CPUS, within affinity 0-7";
        assert_eq!(machine.reason(), reason);
    }

    #[test]
    fn allow_no_more_than_the_kernel() {
        let large = explained(&[("HQ_CPUS", "0-15"), ("SLURM_CPUS_PER_TASK", "64")]);
        let expected = "4 of 16 cpus: cgroup quota 4.0 cpus from /a/b, within 16 cpus listed by HQ_CPUS, 64 cpus granted by SLURM_CPUS_PER_TASK, affinity 0-7";
        assert_eq!(large, expected);
    }

    #[test]
    fn explain_before_an_equal_affinity() {
        let machine = read_within(&sixteen(), &[("HQ_CPUS", "0,1,2,3,4,5,6,7")]);
        let reason = "8 of 16 cpus: 8 cpus listed by HQ_CPUS, within affinity 0-7";
        assert_eq!(machine.reason(), reason);
    }

    #[test]
    fn malformed_values_are_noted_and_ignored() {
        let ids = "a list of CPU ids such as 0,1,5";
        let count = "a number of CPUs such as 4";
        let cases = [
            ("HQ_CPUS", "", "", ids),
            ("HQ_CPUS", "0;1", "0;1", ids),
            ("HQ_CPUS", "0.5", "0.5", ids),
            ("HQ_CPUS", "\u{1b}[2J", "\\u{1b}[2J", ids),
            ("SLURM_CPUS_PER_TASK", "", "", count),
            ("SLURM_CPUS_PER_TASK", "0", "0", count),
            ("SLURM_CPUS_PER_TASK", "-1", "-1", count),
            ("SLURM_CPUS_PER_TASK", "4(x2)", "4(x2)", count),
        ];
        for (variable, value, shown, expected) in cases {
            let machine = read_within(&sixteen(), &[(variable, value)]);
            let note = format!("invalid value \"{shown}\" for {variable}: expected {expected}");
            assert_eq!(machine.notes(), [note.as_str()]);
            let reason = format!("8 of 16 cpus: affinity 0-7; {note}");
            assert_eq!(machine.reason(), reason);
        }
    }

    #[test]
    fn count_without_any_files() {
        let variable = |name: &str| (name == "HQ_CPUS").then(|| OsString::from("0,1"));
        let machine = Machine::from_files(&MadeUp::new(), &|| Some(6), &variable);
        let reason = "2 of 6 cpus: 2 cpus listed by HQ_CPUS; no /proc and no /sys here";
        assert_eq!(machine.reason(), reason);
        let variable = |name: &str| (name == "HQ_CPUS").then(|| OsString::from("two"));
        let machine = Machine::from_files(&MadeUp::new(), &|| Some(6), &variable);
        assert!(
            machine
                .reason()
                .contains("invalid value \"two\" for HQ_CPUS")
        );
    }

    /// The limits that a pool reads each second never exceed what the engine gave.
    #[test]
    fn outlive_changes_of_the_limits() {
        let files = sixteen().with("/sys/fs/cgroup/a/b/cpu.max", "200000 100000\n");
        let machine = read_within(&files, &[("HQ_CPUS", "0,1,5")]);
        let workers = |files: &MadeUp| machine.limits(files.root(), None).map(|it| it.workers);
        assert_eq!(workers(&files), Some(2));
        let files = files.with("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
        assert_eq!(workers(&files), Some(3));
        let wider = "Cpus_allowed_list:\t0-15\n";
        let files = files.with("/proc/thread-self/status", wider);
        assert_eq!(workers(&files), Some(3));
    }
}

mod limits {
    use super::*;

    #[test]
    fn follow_changes_unlike_snapshots() {
        let files = sixteen();
        let machine = Machine::read_from(files.root());
        let limits = |files: &MadeUp| {
            let limits = machine.limits(files.root(), None)?;
            Some((limits.workers, limits.usable.to_string()))
        };
        let all = |workers| Some((workers, "0-7".to_owned()));
        assert_eq!(limits(&files), all(8));
        let files = files.with("/sys/fs/cgroup/a/b/cpu.max", "250000 100000\n");
        assert_eq!(limits(&files), all(3));
        let files = files.with("/sys/fs/cgroup/a/cpu.max", "50000 100000\n");
        assert_eq!(limits(&files), all(1));
        let files = files
            .with("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n")
            .with("/sys/fs/cgroup/a/cpu.max", "garbage\n");
        assert_eq!(limits(&files), None, "less can be read than before");
        let files = files.with("/sys/fs/cgroup/a/cpu.max", "max 100000\n");
        assert_eq!(limits(&files), all(8));
        let mask = "Name:\tx\nCpus_allowed_list:\t2-3,20\n";
        let files = files.with("/proc/thread-self/status", mask);
        assert_eq!(limits(&files), Some((2, "2-3".to_owned())));
        assert_eq!(machine.default_workers(), 8);
    }

    /// The snapshot lacks the online CPUs, which must not make up for a lacking quota.
    #[test]
    fn need_what_the_snapshot_had() {
        let online = "/sys/devices/system/cpu/online";
        let quota = "/sys/fs/cgroup/a/b/cpu.max";
        let status = "/proc/thread-self/status";
        let files = sixteen()
            .with(quota, "100000 100000\n")
            .with(online, "garbage\n");
        let machine = Machine::read_from(files.root());
        let workers = |files: &MadeUp| machine.limits(files.root(), None).map(|it| it.workers);
        assert_eq!((machine.notes().len(), workers(&files)), (1, Some(1)));
        let files = files.with(quota, "garbage\n");
        assert_eq!(workers(&files), None);
        let files = files.with(quota, "200000 100000\n");
        assert_eq!(workers(&files), Some(2));
        assert_eq!(workers(&files.with(status, "garbage\n")), None);
    }

    /// A thread that was bound to one CPU from its start reads the limits.
    #[test]
    fn ignore_a_mask_that_never_changed() {
        let mask = |cpus: &str| format!("Name:\tx\nCpus_allowed_list:\t{cpus}\n");
        let files = sixteen();
        let machine = Machine::read_from(files.root());
        let files = files.with("/proc/thread-self/status", mask("5"));
        let before = Machine::current_affinity(files.root());
        let workers = |files: &MadeUp| {
            let limits = machine.limits(files.root(), before.as_ref());
            limits.map(|limits| limits.workers)
        };
        assert_eq!(workers(&files), Some(8));
        let files = files.with("/sys/fs/cgroup/a/b/cpu.max", "250000 100000\n");
        assert_eq!(workers(&files), Some(3));
        let files = files.with("/proc/thread-self/status", mask("5-6"));
        assert_eq!(workers(&files), Some(2));
    }
}

mod unreadable_files {
    use super::*;

    #[test]
    fn fall_back_to_systems_count() {
        let files = sixteen()
            .denying("/proc/thread-self/status")
            .denying("/proc/self/status");
        let machine = read_counted(&files, Some(3));
        assert_eq!(machine.default_workers(), 3);
        assert!(machine.affinity().is_none());
        let reason = "3 of 16 cpus: affinity unknown, the system counts 3; cannot read /proc/self/status: permission denied";
        assert_eq!(machine.reason(), reason);
        let uncounted = read_counted(&files, None);
        assert_eq!(uncounted.default_workers(), 16);
    }

    #[test]
    fn keep_quota_without_mask() {
        let files = sixteen()
            .with("/sys/fs/cgroup/a/b/cpu.max", "200000 100000")
            .denying("/proc/thread-self/status");
        assert_eq!(read_counted(&files, Some(6)).default_workers(), 2);
    }

    #[test]
    fn keep_topology_without_proc() {
        let machine = read_counted(&sixteen().denying("/proc"), Some(5));
        assert_eq!(machine.default_workers(), 5);
        assert_eq!(machine.cpus_online(), 16);
        assert_eq!(
            machine.notes().len(),
            3,
            "status, cgroup, mountinfo: {:?}",
            machine.notes()
        );
        assert!(
            machine.reason().ends_with("; and 1 notes more"),
            "{}",
            machine.reason()
        );
    }

    #[test]
    fn keep_mask_without_sys() {
        let machine = read(&sixteen().denying("/sys"));
        assert_eq!(machine.default_workers(), 8);
        assert_eq!(machine.cpus_online(), 8);
        let expected = "cannot read /sys/devices/system/cpu/online: permission denied";
        assert_eq!(machine.notes()[0], expected);
    }

    #[test]
    fn report_malformed_online_list() {
        for online in ["", "zero", "5-2"] {
            let machine = read(&sixteen().with("/sys/devices/system/cpu/online", online));
            assert_eq!(machine.default_workers(), 8);
            assert!(
                machine.notes()[0].contains("/cpu/online holds \""),
                "{:?}",
                machine.notes()
            );
        }
    }

    #[test]
    fn use_count_without_both() {
        let machine = read_counted(&MadeUp::new(), Some(6));
        assert_eq!(machine.default_workers(), 6);
        assert_eq!(machine.topology(), &Topology::flat((0..6).collect()));
        let reason =
            "6 of 6 cpus: affinity unknown, the system counts 6; no /proc and no /sys here";
        assert_eq!(machine.reason(), reason);
    }

    #[test]
    fn give_one_cpu_when_empty() {
        assert_eq!(
            Machine::read_from(MadeUp::new().root()).default_workers(),
            1
        );
        let empty = MadeUp::new().with_dir("/proc").with_dir("/sys");
        let machine = Machine::read_from(empty.root());
        assert_eq!((machine.default_workers(), machine.cpus_online()), (1, 1));
    }
}

mod report {
    use super::*;

    #[test]
    fn has_everything_that_was_read() {
        let cpu = "/sys/devices/system/cpu/cpu0";
        let files = sixteen()
            .with("/sys/devices/system/cpu/online", "0-1")
            .with("/sys/fs/cgroup/a/b/cpu.max", "150000 100000")
            .with("/sys/devices/system/node/online", "0-1")
            .with("/sys/devices/system/node/node0/cpulist", "0-1")
            .with("/sys/devices/system/node/node1/cpulist", "")
            .with(&format!("{cpu}/topology/core_cpus_list"), "0-1")
            .with(&format!("{cpu}/cache/index0/level"), "3")
            .with(&format!("{cpu}/cache/index0/type"), "Unified")
            .with(&format!("{cpu}/cache/index0/size"), "32768K")
            .with(&format!("{cpu}/cache/index0/shared_cpu_list"), "0-1");
        let report = "\
workers   2 of 2 cpus: 2 cpus listed by HQ_CPUS, within 9 cpus granted by SLURM_CPUS_PER_TASK, cgroup quota 1.5 cpus from /a/b, affinity 0-7
online    0-1
affinity  0-7
quota     quota 1.5 cpus from /a/b (/sys/fs/cgroup/a/b/cpu.max)
engine    2 cpus listed by HQ_CPUS
engine    9 cpus granted by SLURM_CPUS_PER_TASK
packages  unknown
nodes     2: 0-1 | no cpus
cores     1: 0-1
cache     L3 32 MiB, 1: 0-1
";
        let variables = [("HQ_CPUS", "7,3"), ("SLURM_CPUS_PER_TASK", "9")];
        assert_eq!(read_within(&files, &variables).to_string(), report);
    }

    #[test]
    fn shows_three_decimals_of_quotas() {
        let machine = read(&sixteen().with("/sys/fs/cgroup/a/b/cpu.max", "100000 300000"));
        let expected = "1 of 16 cpus: cgroup quota 0.333 cpus from /a/b, within affinity 0-7";
        assert_eq!(machine.reason(), expected);
    }

    #[test]
    fn cuts_long_lists() {
        let depth = 12;
        let group = "/g".repeat(depth);
        let mut files = sixteen().with("/proc/thread-self/cgroup", format!("0::{group}\n"));
        for step in 1..=depth {
            let file = format!("/sys/fs/cgroup{}/cpu.max", "/g".repeat(step));
            files = files.with(&file, "200000 100000");
        }
        for cpu in 0..16 {
            let file = format!("/sys/devices/system/cpu/cpu{cpu}/topology/core_cpus_list");
            files = files.with(&file, cpu.to_string());
        }
        let machine = read(&files);
        assert_eq!(
            (machine.quotas().len(), machine.topology().cores().len()),
            (depth, 16)
        );
        let report = machine.to_string();
        assert!(report.contains("quota     and 4 more\n"), "{report}");
        assert!(
            report.contains("cores     16: 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | and 8 more\n"),
            "{report}"
        );
    }

    #[cfg(unix)]
    #[test]
    fn escapes_control_characters() {
        let files = sixteen()
            .with("/proc/thread-self/cgroup", "0::/\u{1b}[2Jx\t\n")
            .with("/sys/fs/cgroup/\u{1b}[2Jx\t/cpu.max", "100000 100000");
        let machine = read(&files);
        assert_eq!(
            machine.quota().unwrap().from,
            Path::new("/\u{1b}[2Jx\t"),
            "as it is"
        );
        assert!(
            machine.reason().contains(r"from /\u{1b}[2Jx\t, within"),
            "{}",
            machine.reason()
        );
        let printed = machine.to_string();
        assert!(
            printed.lines().all(|line| !line.contains(char::is_control)),
            "{printed:?}"
        );
    }
}
