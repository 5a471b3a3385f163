//! An HTTP service on tokio whose requests compute, in one of the forms of [`Form`].
//!
//! The page service.md of the guide explains it.

mod work;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::get;
use tidegate::{Handle, Pool, Priority};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, oneshot};
use tokio::time::timeout;

/// How many requests may wait for a worker. The service refuses others.
const QUEUED: usize = 256;
/// How many tiles may be in progress. The service refuses others.
const TILES: usize = 4;
/// How long a client waits for its answer.
const DEADLINE: Duration = Duration::from_secs(2);
/// How many rows of a tile a task renders.
const ROWS: usize = 8;

/// Where requests compute.
enum Form {
    Blocking,
    Rayon,
    Native(Pool, Semaphore),
}

type Answer = Result<String, StatusCode>;

async fn digest(State(form): State<Arc<Form>>, Path(seed): Path<u64>) -> Answer {
    match &*form {
        Form::Blocking => on_blocking_thread(move || work::digest(seed)).await,
        Form::Rayon => on_rayon(move || work::digest(seed)).await,
        Form::Native(pool, _) => {
            let task = pool
                .task()
                .priority(Priority::Urgent)
                .spawn_if_room(move || work::digest(seed));
            in_time(task.map_err(|_| BUSY)?).await
        }
    }
}

async fn tile(State(form): State<Arc<Form>>, Path(seed): Path<u64>) -> Answer {
    match &*form {
        Form::Blocking => on_blocking_thread(move || work::tile(seed)).await,
        Form::Rayon => on_rayon(move || work::tile(seed)).await,
        Form::Native(pool, tiles) => {
            let _permit = tiles.try_acquire().map_err(|_| BUSY)?;
            in_time(tile_in_parts(pool, seed)).await
        }
    }
}

async fn on_blocking_thread(f: impl FnOnce() -> String + Send + 'static) -> Answer {
    let task = tokio::task::spawn_blocking(f);
    task.await.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)
}

async fn on_rayon(f: impl FnOnce() -> String + Send + 'static) -> Answer {
    let (sender, receiver) = oneshot::channel();
    rayon::spawn(move || drop(sender.send(f())));
    let answer = receiver.await;
    answer.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)
}

const BUSY: StatusCode = StatusCode::SERVICE_UNAVAILABLE;

/// Dropping the handle after the deadline aborts the task.
async fn in_time(task: Handle<String>) -> Answer {
    let answer = timeout(DEADLINE, task.abort_on_drop()).await;
    answer.map_err(|_| BUSY)
}

/// Renders the tile in many tasks. Between two of them, a worker begins waiting digests.
fn tile_in_parts(pool: &Pool, seed: u64) -> Handle<String> {
    let part = move |first| {
        let render = move || work::render(seed, first, ROWS);
        tidegate::spawn(render).abort_on_drop()
    };
    pool.spawn_future(async move {
        let parts: Vec<_> = (0..work::SIDE).step_by(ROWS).map(part).collect();
        let mut picture = Vec::new();
        for part in parts {
            picture.extend(part.await);
        }
        work::hash(&picture)
    })
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let form = match std::env::args().nth(1).as_deref() {
        Some("blocking") => Form::Blocking,
        Some("rayon") => Form::Rayon,
        Some("native") => {
            let pool = Pool::builder().name("requests").max_queued(QUEUED);
            Form::Native(pool.build()?, Semaphore::new(TILES))
        }
        _ => return Err("expected one of blocking, rayon, native".into()),
    };
    let app = Router::new()
        .route("/digest/{seed}", get(digest))
        .route("/tile/{seed}", get(tile))
        .with_state(Arc::new(form));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    Ok(axum::serve(listener, app).await?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::sync::mpsc;
    use std::task::{Context, Poll, Waker};

    #[tokio::test]
    async fn refuses_beyond_its_limits() -> Result<(), Box<dyn std::error::Error>> {
        let pool = Pool::builder().workers(1).max_queued(1).build()?;
        let (begin, has_begun) = mpsc::channel();
        let (end, may_end) = mpsc::channel::<()>();
        drop(pool.spawn(move || (begin.send(()), may_end.recv())));
        has_begun.recv()?;
        drop(pool.spawn(|| "waits")); // fills the queue
        let form = Arc::new(Form::Native(pool, Semaphore::new(0)));
        let context = &mut Context::from_waker(Waker::noop());
        let digest = pin!(digest(State(form.clone()), Path(0))).poll(context);
        let tile = pin!(tile(State(form.clone()), Path(0))).poll(context);
        drop(end); // before the pool, which waits for its tasks
        assert_eq!([digest, tile], [const { Poll::Ready(Err(BUSY)) }; 2]);
        Ok(())
    }
}
