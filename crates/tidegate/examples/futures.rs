//! A tokio program that computes on Tidegate: tokio provides timers and sockets, and the pool does
//! the computation. `cargo run -p tidegate --example futures`

use std::time::Duration;

/// The number of primes below `end`, counted in parallel.
fn primes(end: u64) -> u64 {
    let is_prime = |n: u64| n > 1 && (2..).take_while(|d| d * d <= n).all(|d| n % d != 0);
    let count = tidegate::map_reduce(0..end, |n| u64::from(is_prime(n)), |a, b| a + b);
    count.unwrap_or(0)
}

/// A request that arrives after a while, as if from a socket. The timer belongs to the tokio
/// runtime that calls this function; the future may be awaited anywhere.
fn request(number: u64) -> impl Future<Output = u64> {
    let timer = tokio::time::sleep(Duration::from_millis(number));
    async move {
        timer.await;
        number * 10_000
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;

    // tokio's thread awaits the handle and serves other requests meanwhile.
    let served = (1..=3).map(|number| async move {
        let end = request(number).await;
        let count = tidegate::spawn(move || primes(end)).await;
        println!("{count} primes below {end}");
        count
    });
    let counts = runtime.block_on(async {
        let served: Vec<_> = served.map(tokio::spawn).collect();
        let mut counts = Vec::new();
        for count in served {
            counts.push(count.await?);
        }
        Ok::<_, tokio::task::JoinError>(counts)
    })?;
    assert_eq!(counts, [1229, 2262, 3245]);

    // Workers poll this future, and a tokio timer wakes it while the runtime runs.
    let late = runtime.block_on(async {
        let request = request(4);
        tidegate::spawn_future(async { primes(request.await) }).await
    });
    assert_eq!(late, 4203);
    Ok(())
}
