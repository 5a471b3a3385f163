//! Serializes statistics with the feature `serde`.

use tidegate::Pool;

#[test]
fn keep_the_names_of_their_fields() -> Result<(), Box<dyn std::error::Error>> {
    let pool = Pool::builder().workers(2).build()?;
    pool.install(|| assert_eq!(tidegate::join(|| 1, || 2), (1, 2)));
    let json = serde_json::to_value(pool.stats())?;
    assert_eq!(json["workers"], 2);
    assert!(json["counters"]["dispatched"].as_u64() >= Some(1));
    assert!(json["breakdown"]["busy"].is_f64());
    assert_eq!(json["memory"]["declared"], 0);
    assert!(json["steal_latency"]["counts"].is_array());
    assert!(json["queue_wait"]["sum"].is_f64());
    assert_eq!(json["per_worker"].as_array().map(Vec::len), Some(2));
    Ok(())
}
