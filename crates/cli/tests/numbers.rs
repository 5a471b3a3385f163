//! Numbers that options take.

mod support;

use support::{complaint, tidegate};

#[test]
fn what_is_no_number_of_its_range_is_told_the_range() {
    for (option, range) in [
        ("sim fib 20 --processors", "from 1 to 65536"),
        ("sim fib 20 --sim-seed", "from 0 to 18446744073709551615"),
        ("sim fib 20 --seeds", "from 1 to 10000"),
        ("sim fib 20 --instances", "from 1 to 1000"),
        ("sim fib 20 --cache", "0 to 1TiB"),
        ("run fib 20 --workers", "from 1 to 4096"),
        ("run fib 20 --weight", "from 1 to 10000"),
        ("run fib 20 --repeat", "from 1 to 100000"),
        ("compare fib 20 --repeat", "from 1 to 100000"),
    ] {
        for value in ["-1", "NaN", "99999999999999999999"] {
            let text = complaint(&mut tidegate(&format!("{option} {value}")), 2);
            assert!(text.contains(range), "{option} {value}: {text}");
        }
    }
}
