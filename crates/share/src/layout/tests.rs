use super::*;

fn row() -> Row {
    Row {
        generation: 7,
        owner: Identity {
            pid: 4711,
            started: 12,
            namespace: 13,
        },
        arrived: 14,
        beat: 19,
        cpu_time: 22,
        name: Name::new("render"),
        report: Report {
            desire: 15,
            usage: 16,
            weight: 17,
            limit: 18,
            mask: CpuMask::from_cpus([0, 64, 1023]),
            allotment: 20,
            efficiency: 21,
            neighbours: 23,
        },
    }
}

#[test]
fn row_reads_back_as_written() {
    assert_eq!(Row::read(&row().to_bytes()), row());
}

#[test]
fn row_fields_do_not_overlap() {
    let mut fields: Vec<std::ops::Range<usize>> = [
        at::GENERATION,
        at::PID,
        at::STARTED,
        at::NAMESPACE,
        at::ARRIVED,
        at::DESIRE,
        at::USAGE,
        at::WEIGHT,
        at::LIMIT,
        at::BEAT,
        at::ALLOTMENT,
        at::EFFICIENCY,
        at::CPU_TIME,
        at::NEIGHBOURS,
    ]
    .map(|word| word * WORD..(word + 1) * WORD)
    .into();
    fields.push(at::NAME * WORD..at::NAME * WORD + NAME_BYTES);
    fields.push(at::MASK * WORD..(at::MASK + WORDS) * WORD);
    fields.sort_by_key(|field| field.start);
    assert!(fields.windows(2).all(|two| two[0].end <= two[1].start));
    assert!(fields.last().unwrap().end <= ROW);
    let (change, claims) = (CHANGE_AT..CHANGE_AT + 4, CLAIMS_AT..CLAIMS_AT + ROWS * WORD);
    assert!(
        (BOOT_AT + 1) * WORD <= change.start && change.end <= claims.start && claims.end <= HEAD
    );
}

#[test]
fn extreme_rows_are_clamped() {
    for byte in [0x00, 0x7f, 0x80, 0xff] {
        let row = Row::read(&[byte; ROW]);
        let report = row.report;
        assert!(report.desire <= CpuMask::MOST && report.usage <= CpuMask::MOST);
        assert!((1..=CpuMask::MOST).contains(&report.limit));
        assert_eq!(WEIGHT.nearest(report.weight), report.weight);
        assert!(report.efficiency <= 1000 && report.neighbours <= 1000 * CpuMask::MOST as u64);
        assert!(row.name.to_string().chars().all(|c| !c.is_control()));
    }
}

/// A foreign head has a different format; a stale head is from before the machine's last boot.
#[test]
fn foreign_and_stale_heads_are_distinguished() {
    let mut head = Head::fresh(5);
    assert_eq!(head.check(5), Ok(()));
    assert_eq!(head.check(6), Err(Unfit::Stale));
    assert_eq!(head.check(0), Ok(()), "nobody knows");
    assert!((0..ROWS).all(|index| !head.claim(index).is_in_use()));
    head.0[0] ^= 1;
    assert_eq!(head.check(5), Err(Unfit::Foreign));
}

#[test]
fn claim_gets_a_new_generation() {
    let free = Claim(0);
    let first = free.next();
    assert!(first.is_in_use() && !first.given_back().is_in_use());
    assert_eq!(first.given_back().generation(), first.generation());
    assert_ne!(first.given_back().next().generation(), first.generation());
    let last = Claim(u64::MAX);
    assert!(last.next().is_in_use());
    assert_ne!(last.next().generation(), last.generation());
}

/// Names are truncated at a character boundary, and control characters are replaced.
#[test]
fn names_are_cut_and_sanitized() {
    assert_eq!(Name::new("a\nb\0c\x1b").to_string(), "a?b?c?");
    let long = "ä".repeat(40);
    assert_eq!(Name::new(&long).to_string(), "ä".repeat(32));
    assert_eq!(
        Name::new(&format!("x{long}")).to_string(),
        format!("x{}", "ä".repeat(31))
    );
    assert_eq!(Name::new("").to_string(), "");
}
