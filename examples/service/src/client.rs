//! Starts the service and sends it requests.

use std::io::{self, BufRead, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};
use std::{env, fs};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::sleep_until;

use crate::Form;
use crate::quota::Quota;
use crate::report::Sample;
use crate::work;

/// One request of this many asks for a tile.
const TILE_EVERY: usize = 200;
const SEEDS: u64 = 8;

/// Connections that no request uses now.
type Idle = Arc<Mutex<Vec<TcpStream>>>;

/// The right answers, computed without parallelism.
static EXPECTED: LazyLock<[Vec<String>; 2]> = LazyLock::new(|| {
    let tile = |seed| work::hash(&work::render(seed, 0, work::SIDE));
    [
        (0..SEEDS).map(work::digest).collect(),
        (0..SEEDS).map(tile).collect(),
    ]
});

/// Returns the folder of this executable.
fn folder() -> io::Result<PathBuf> {
    let mut path = env::current_exe()?;
    path.pop();
    Ok(path)
}

/// Builds the service on both versions of rayon-core, beside this executable.
pub fn prepare() -> io::Result<()> {
    LazyLock::force(&EXPECTED);
    let profile = if cfg!(debug_assertions) {
        "dev"
    } else {
        "release"
    };
    for build in ["stock", "tidegate"] {
        let manifest = format!("{}/../{build}/Cargo.toml", env!("CARGO_MANIFEST_DIR"));
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--locked", "--profile", profile]);
        cargo.args([
            "--bin",
            &format!("service-{build}"),
            "--manifest-path",
            &manifest,
        ]);
        let status = cargo
            .arg("--target-dir")
            .arg(folder()?.join(".."))
            .status()?;
        if !status.success() {
            return Err(io::Error::other(format!("service-{build} cannot be built")));
        }
    }
    Ok(())
}

/// The service in its own process, which ends when this is dropped.
pub struct Service {
    process: Child,
    address: SocketAddr,
}

impl Service {
    pub fn start([_, build, form, share]: Form, quota: &Quota) -> io::Result<Self> {
        let mut command = quota.command(&folder()?.join(format!("service-{build}")));
        command.arg(form).env("TIDEGATE_SHARE", share);
        // Other programs on Tidegate that happen to run now do not count.
        command.env("TIDEGATE_TABLE", folder()?.join("service.table"));
        let mut process = command.stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        let output = process.stdout.take().expect("it is piped");
        BufReader::new(output).read_line(&mut line)?;
        let address = line.trim().parse().map_err(io::Error::other)?;
        Ok(Self { process, address })
    }

    /// Sends requests at random times, which the seed determines, and waits for their answers.
    pub async fn offer(&self, seed: u64, rate: f64, seconds: f64) -> io::Result<Sample> {
        let idle = Idle::default();
        let mut random = seed;
        let mut requests = Vec::new();
        let start = Instant::now() + Duration::from_millis(100);
        let mut after = 0.0;
        while after < seconds {
            let planned = start + Duration::from_secs_f64(after);
            sleep_until(planned.into()).await;
            let kind = usize::from(requests.len() % TILE_EVERY == TILE_EVERY / 2);
            let seed = work::next(&mut random) % SEEDS;
            let answer = request(self.address, idle.clone(), kind, seed);
            let latency = async move { Ok(answer.await?.then(|| planned.elapsed())) };
            requests.push((kind, tokio::spawn(latency)));
            // Exponential gaps: each instant is as likely as any other.
            let uniform = (work::next(&mut random) >> 11) as f64 / (1_u64 << 53) as f64;
            after -= (1.0 - uniform).ln() / rate;
        }
        let mut sample = Sample::default();
        for (kind, request) in requests {
            let latency: io::Result<_> = request.await?;
            match latency? {
                Some(latency) => sample.latencies[kind].push(latency.as_secs_f64() * 1e3),
                None => sample.refused += 1,
            }
        }
        sample.seconds = start.elapsed().as_secs_f64();
        self.count_threads(&mut sample)?;
        Ok(sample)
    }

    /// Stores the number of threads, and how often they have been switched.
    fn count_threads(&self, sample: &mut Sample) -> io::Result<()> {
        for task in fs::read_dir(format!("/proc/{}/task", self.process.id()))? {
            let status = fs::read_to_string(task?.path().join("status"))?;
            let lines = status.lines().filter(|line| line.contains("ctxt_switches"));
            let words = lines.filter_map(|line| line.split_whitespace().nth(1));
            sample.switches += words.flat_map(str::parse::<u64>).sum::<u64>();
            sample.threads += 1;
        }
        Ok(())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Sends a request over an idle connection, or over a new one. Returns whether the service answers,
/// as opposed to refusing.
async fn request(address: SocketAddr, idle: Idle, kind: usize, seed: u64) -> io::Result<bool> {
    let kept = idle.lock().expect("no panic").pop();
    let mut stream = match kept {
        Some(stream) => stream,
        None => TcpStream::connect(address).await?,
    };
    let kind_name = ["digest", "tile"][kind];
    let request = format!("GET /{kind_name}/{seed} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    loop {
        if stream.read_buf(&mut answer).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let text = String::from_utf8_lossy(&answer);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        if !head.contains(&format!("\r\ncontent-length: {}\r\n", body.len())) {
            continue;
        }
        idle.lock().expect("no panic").push(stream);
        if head.starts_with("HTTP/1.1 503") {
            return Ok(false);
        }
        assert_eq!(body, EXPECTED[kind][seed as usize], "{head}");
        return Ok(true);
    }
}
