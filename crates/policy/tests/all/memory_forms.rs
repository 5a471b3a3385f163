//! Tests the text forms of the memory policies.

use tidegate_policy::memory::{Budget, Hybrid, MemoryPolicy, SleepFunction};

#[test]
fn orders_round_trip_as_text() {
    for text in [
        "none",
        "hybrid",
        "hybrid:alpha=4MiB,beta=0",
        "hybrid:sleep=sqrt",
        "hybrid:alpha=3,beta=1,sleep=square",
        "depth-first:k=1KiB",
        "dfdeques",
        "dfdeques:k=3",
        "budget:bytes=64MiB,serial=40MiB",
    ] {
        let memory: MemoryPolicy = text.parse().unwrap();
        assert_eq!(memory.to_string(), text);
    }
    let hybrid = "hybrid:alpha=1KiB,beta=2,sleep=linear".parse();
    assert_eq!(
        hybrid,
        Ok(MemoryPolicy::Hybrid(Hybrid {
            alpha: 1024,
            beta: 2,
            sleep: SleepFunction::Linear,
        }))
    );
    let budget = MemoryPolicy::Budget(Budget {
        bytes: 7,
        serial: 5,
    });
    assert_eq!("budget:serial=5,bytes=7".parse(), Ok(budget));
    assert_eq!(MemoryPolicy::default(), MemoryPolicy::None);
}

#[test]
fn what_cannot_be_used_says_why() {
    for (text, told) in [
        (
            "some",
            "expected none, hybrid, depth-first, dfdeques, budget",
        ),
        ("none:k=1", "no parameters"),
        ("dfdeques:k=0", "dfdeques"),
        ("hybrid:alpha=0,beta=0", "at least one above 0"),
        ("hybrid:sleep=log", "linear, sqrt, square"),
        (
            "budget:bytes=1MiB,serial=2MiB",
            "bytes=1MiB is below serial=2MiB",
        ),
        ("budget:bytes=lots", "budget"),
        ("budget", "bytes is missing or 0 in budget"),
        ("budget:0", "bytes is missing or 0 in budget"),
        ("budget:64MiB", "serial is missing or 0 in budget"),
        (
            "budget:bytes=4MB",
            "\"4MB\" for bytes in budget: expected a size such as 64MiB (KiB, MiB, GiB, TiB) from 0",
        ),
        ("budget:64MiB,8MiB", "key=value"),
    ] {
        let error = text.parse::<MemoryPolicy>().unwrap_err().to_string();
        assert!(error.contains(told), "{text}: {error}");
    }
}
