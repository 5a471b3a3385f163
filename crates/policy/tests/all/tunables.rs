//! Tests the table of tunables that users see.

use std::collections::BTreeSet;
use tidegate_policy::tunables::{self, Unit, rows};

#[test]
fn rows_have_unique_names_and_reasons() {
    let rows = rows();
    let names: BTreeSet<&str> = rows.iter().map(|row| row.name).collect();
    assert_eq!(names.len(), rows.len());
    for row in &rows {
        assert!(
            row.why.ends_with('.') && row.why.len() > 10,
            "{}: {:?}",
            row.name,
            row.why
        );
        assert!(
            !row.allowed.is_empty() && !row.default.is_empty(),
            "{}",
            row.name
        );
        assert!(
            row.name
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b"-.12".contains(&b)),
            "{}",
            row.name
        );
    }
}

#[test]
fn each_variable_belongs_to_one_row() {
    let variables: Vec<&str> = rows().iter().filter_map(|row| row.variable).collect();
    #[rustfmt::skip]
    let expected = [
        "TIDEGATE_WORKERS", "TIDEGATE_IDLE", "TIDEGATE_DESIRE", "TIDEGATE_STEAL",
        "TIDEGATE_VICTIM", "TIDEGATE_WAIT", "TIDEGATE_QUEUE", "TIDEGATE_PLACES",
        "TIDEGATE_PRIORITY", "TIDEGATE_PRIORITY_AGING", "TIDEGATE_STALL_REPORT", "TIDEGATE_BIND",
        "TIDEGATE_MAX_THREADS", "TIDEGATE_MAX_BLOCKING_THREADS", "TIDEGATE_STACK_SIZE",
        "TIDEGATE_GLOBAL", "TIDEGATE_EXPLAIN", "TIDEGATE_SIMULATION_PATIENCE", "TIDEGATE_SHARE",
        "TIDEGATE_WEIGHT", "TIDEGATE_EST_CYCLE", "TIDEGATE_MEMORY",
    ];
    assert_eq!(variables, expected);
}

#[test]
fn rows_print_readable_units() {
    let row = tunables::STACK_SIZE.row();
    assert_eq!(
        (row.unit, row.allowed.as_str(), row.default.as_str()),
        (Unit::Bytes, "64KiB to 64GiB", "16MiB")
    );
    let row = tunables::LINEAR_STEP.row();
    assert_eq!(
        (row.unit, row.allowed.as_str(), row.default.as_str()),
        (Unit::Time, "0ns to 1s", "50us")
    );
    let row = tunables::WORKERS.row();
    assert_eq!(
        (row.allowed.as_str(), row.default.as_str()),
        ("1 to 4096", "derived")
    );
    assert_eq!(
        tunables::LINEAR_STEP.basis.to_string(),
        "published (Haselsteiner 2015, table 4.1)"
    );
}

#[test]
fn bad_value_error_names_the_variable() {
    let workers = |text: &str| tunables::WORKERS.parse(text).unwrap_err().to_string();
    assert_eq!(
        workers("0"),
        "invalid value \"0\" for TIDEGATE_WORKERS: expected an integer from 1 to 4096"
    );
    assert_eq!(
        workers("4097"),
        "invalid value \"4097\" for TIDEGATE_WORKERS: expected an integer from 1 to 4096"
    );
    for bad in ["", " 4", "-1", "two", "99999999999999999999999"] {
        assert!(workers(bad).starts_with(&format!(
            "invalid value {bad:?} for TIDEGATE_WORKERS: expected "
        )));
    }
    let stack = tunables::STACK_SIZE.parse("8MB").unwrap_err().to_string();
    assert_eq!(
        stack,
        "invalid value \"8MB\" for TIDEGATE_STACK_SIZE: expected a size such as 64MiB \
         (KiB, MiB, GiB, TiB) from 64KiB to 64GiB"
    );
    let idle = tunables::IDLE
        .parse("linear:step=9")
        .unwrap_err()
        .to_string();
    assert!(
        idle.starts_with("invalid value \"9\" for step in linear in TIDEGATE_IDLE: expected "),
        "{idle}"
    );
    let steal = tunables::STEAL.parse("fixed:0").unwrap_err().to_string();
    assert_eq!(
        steal,
        "invalid value \"0\" for fixed in TIDEGATE_STEAL: expected an integer from 1 to 65536"
    );
    let share = tunables::SHARE.parse("maybe").unwrap_err().to_string();
    assert_eq!(
        share,
        "unknown share policy \"maybe\" in TIDEGATE_SHARE: expected off, auto, on"
    );
    let weight = tunables::WEIGHT.parse("0").unwrap_err().to_string();
    assert_eq!(
        weight,
        "invalid value \"0\" for TIDEGATE_WEIGHT: expected an integer from 1 to 10000"
    );
    let desire = tunables::DESIRE
        .parse("wsap:eta=2")
        .unwrap_err()
        .to_string();
    assert!(
        desire.starts_with("invalid value \"2\" for eta in wsap in TIDEGATE_DESIRE: expected "),
        "{desire}"
    );
}

#[test]
fn good_values_are_read() {
    assert_eq!(tunables::WORKERS.parse("4096"), Ok(Some(4_096)));
    assert_eq!(tunables::WORKERS.parse("derived"), Ok(None));
    assert_eq!(tunables::STACK_SIZE.parse("2MiB"), Ok(2 << 20));
    assert_eq!(tunables::FLAG_PATIENCE.parse("20us"), Ok(20_000));
    assert_eq!(
        tunables::WAIT.parse("help-any"),
        Ok(tidegate_policy::WaitPolicy::HelpAny)
    );
}

#[test]
fn policy_parameters_are_prefixed_rows() {
    let keys = |policy: &str| -> Vec<&str> {
        let rows = rows();
        rows.iter()
            .filter_map(|row| row.name.strip_prefix(policy)?.strip_prefix('.'))
            .collect()
    };
    assert_eq!(
        keys("linear"),
        ["min", "step", "max", "randomness", "slow-reset"]
    );
    assert_eq!(
        keys("quanta"),
        ["length", "threshold", "s1", "s2", "c", "max", "insert"]
    );
    assert_eq!(keys("none"), [""; 0]);
}
