//! A server whose requests block and then compute: `cargo run -p tidegate --example server`
//!
//! The page `docs/guide/server.md` explains it.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use tidegate::Pool;

const CLIENTS: u64 = 8;

fn main() -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let clients: Vec<_> = (0..CLIENTS)
        .map(|n| thread::spawn(move || ask(address, n)))
        .collect();

    let pool = Pool::builder()
        .name("requests")
        .build()
        .map_err(io::Error::other)?;
    // The thread that accepts connections is not a worker, so it may block.
    for stream in listener.incoming().take(CLIENTS as usize) {
        let stream = stream?;
        drop(pool.spawn(move || {
            if let Err(error) = answer(&stream) {
                eprintln!("request failed: {error}");
            }
        }));
    }
    pool.shutdown(); // returns when all requests have been answered

    for (n, client) in (0..CLIENTS).zip(clients) {
        let sum = client.join().expect("a client panicked")?;
        println!("{n}: {sum}");
        assert_eq!(sum, square_sum(0, n * 1_000).to_string());
    }
    Ok(())
}

fn answer(mut stream: &TcpStream) -> io::Result<()> {
    let mut line = String::new();
    tidegate::blocking(|| BufReader::new(stream).read_line(&mut line))?;
    let limit = line.trim().parse().map_err(io::Error::other)?;
    let sum = square_sum(0, limit); // uses all workers that have nothing else to do
    tidegate::blocking(|| writeln!(stream, "{sum}"))
}

fn square_sum(from: u64, to: u64) -> u64 {
    if to - from < 100 {
        return (from..to).map(|n| n * n).sum();
    }
    let middle = from.midpoint(to);
    let (left, right) = tidegate::join(|| square_sum(from, middle), || square_sum(middle, to));
    left + right
}

fn ask(address: SocketAddr, n: u64) -> io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    writeln!(stream, "{}", n * 1_000)?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    Ok(line.trim().to_string())
}
