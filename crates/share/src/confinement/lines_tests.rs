use super::*;

fn cpus(cpus: impl IntoIterator<Item = usize>) -> CpuMask {
    CpuMask::from_cpus(cpus)
}

const fn id(pid: u32, tid: u32, started: u64) -> ThreadId {
    ThreadId { pid, tid, started }
}

const TEXT: &[u8] = b"masks 1 00000000000000ff 7\nchosen 0\nchosen 0-1,3\nchosen none\n\
    thread 9 9 50 0\nthread 4 5 60 2\nthread 9 9 50 0-3\nquota /sys/fs/a b\nthread 4 6 7";

#[test]
fn last_sets_and_masks_count() {
    let lines = Lines::parse(TEXT).unwrap();
    assert_eq!((lines.boot, lines.namespace), (255, 7));
    assert_eq!(lines.chosen, [cpus([0, 1, 3]), cpus([])]);
    let threads = [(id(4, 5, 60), cpus([2])), (id(9, 9, 50), cpus(0..4))];
    assert_eq!(lines.threads, threads, "the last is torn");
    assert_eq!(lines.first, Some(id(9, 9, 50)));
    assert_eq!(lines.quotas, [PathBuf::from("/sys/fs/a b")]);
}

/// A thread that is not listed has the original mask of the first creator that could have given it
/// its present one: a thread of its process or its parent, or the program's first thread.
#[test]
fn unlisted_threads_inherit_a_mask() {
    let mut lines = Lines::parse(TEXT).unwrap();
    lines.threads.extend([
        (id(5, 5, 1), cpus([1, 4])),
        (id(5, 6, 1), cpus([0, 1, 7])),
        (id(6, 6, 1), cpus([1, 5])),
    ]);
    lines.threads.sort_by_key(|(thread, _)| *thread);
    let inherited = |now: &[usize], process, parent| {
        let now = cpus(now.iter().copied());
        lines.inherited(now, process, parent)
    };
    assert_eq!(inherited(&[1], 5, 6), cpus([1, 4]));
    assert_eq!(inherited(&[1], 6, 5), cpus([1, 5]));
    assert_eq!(inherited(&[1], 7, 6), cpus([1, 5]));
    assert_eq!(inherited(&[0, 1], 6, 5), cpus([0, 1, 7]));
    assert_eq!(inherited(&[0, 1, 3], 5, 6), cpus(0..4), "the program's");
    assert_eq!(inherited(&[1], 7, 8), cpus([1]), "its own");
    // No processor of this one was in a chosen set.
    assert_eq!(inherited(&[2], 4, 9), cpus([2]));
}

#[test]
fn compacted_record_says_the_same() {
    let mut lines = Lines::parse(TEXT).unwrap();
    assert_eq!(Lines::parse(&lines.to_text()), Ok(lines.clone()));
    lines.retain_threads(|_| false);
    assert_eq!(lines.threads.len(), 1, "the program's first thread stays");
    assert_eq!(Lines::parse(&lines.to_text()), Ok(lines));
}

#[test]
fn sets_are_written_as_ranges() {
    for (set, text) in [
        (cpus([]), "none"),
        (cpus([5]), "5"),
        (cpus([0, 1, 2, 4, 1022, 1023]), "0-2,4,1022-1023"),
    ] {
        assert_eq!(list(&set), text);
        assert_eq!(self::set(text), Some(set));
    }
    for bad in ["", ",", "1,", "-", "1-", "2-1", "1024", "0-1024", "x", "0 "] {
        assert_eq!(set(bad), None, "{bad:?}");
    }
}

#[test]
fn bad_line_is_found() {
    let head = "masks 1 ff 7\n";
    assert!(Lines::parse(head.as_bytes()).is_ok());
    for bad in ["", "masks 1 ff 7", "masks 2 ff 7\n", "masks 1 ff\n", "\n"] {
        assert_eq!(Lines::parse(bad.as_bytes()), Err(1), "{bad:?}");
    }
    for bad in [
        "",
        "chosen",
        "chosen 0 1",
        "thread 1 2 3",
        "thread 1 2 3 0 0",
        "thread -1 2 3 0",
        "quota a",
        "quota",
        "other 1",
        "\u{0}",
    ] {
        let text = format!("{head}chosen 0\n{bad}\nchosen 1\n");
        assert_eq!(Lines::parse(text.as_bytes()), Err(3), "{bad:?}");
    }
    assert_eq!(
        Lines::parse(b"masks 1 ff 7\nquota /\xff\n").map(drop),
        Ok(())
    );
}

#[test]
fn only_paths_that_fit_are_written() {
    let line = quota(Path::new("/a b")).unwrap();
    assert_eq!(line, b"quota /a b\n");
    assert_eq!(quota(Path::new("a")), None);
    assert_eq!(quota(Path::new("/a\nb")), None);
}
