//! One connection: requests in, responses out, within time limits.
//!
//! hyper has one clock for the head of a request and for the time between requests. Here they are
//! two: a connection may be idle for long, but a head that has begun must end soon. A client must
//! also read its responses in time.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::watch;

use crate::app::App;
use crate::http::client_address::Peer;
use crate::http::connection_guard::ConnectionGuard;

/// The longest time for which a client may leave a response unread.
const MAX_WRITE: Duration = Duration::from_secs(60);

/// Serves a connection until it is closed or too slow. When `stop` changes, the request in progress
/// is the last one.
pub async fn serve<S>(
    app: Arc<App>,
    stream: S,
    (guard, peer): (Arc<ConnectionGuard>, Peer),
    mut stop: watch::Receiver<bool>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let limits = app.configuration.limits.clone();
    let clock = Arc::new(Clock::new());
    let stream = TimedStream { inner: stream, clock: Arc::clone(&clock) };
    let answering = Arc::clone(&clock);
    let stopping = stop.clone();
    let service = service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        let (app, clock) = (Arc::clone(&app), Arc::clone(&answering));
        request.extensions_mut().insert(Arc::clone(&guard));
        request.extensions_mut().insert(stopping.clone());
        request.extensions_mut().insert(peer);
        async move {
            let answering = Answering::begin(clock);
            let mut response = crate::api::answer(&app, request).await;
            // While a response is made in pieces, the body of the request may still be read.
            response.body_mut().drop_when_made(answering);
            Ok::<_, Infallible>(response)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_secs(limits.idle_seconds.max(1)))
        .max_buf_size(64 << 10)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    tokio::pin!(connection);
    let head = Duration::from_secs(limits.header_seconds.max(1));
    let mut check = tokio::time::interval((head / 2).min(Duration::from_secs(5)));
    let mut is_stopping = false;
    loop {
        tokio::select! {
            outcome = connection.as_mut() => {
                if let Err(error) = outcome {
                    tracing::debug!("a connection: {error}");
                }
                return;
            }
            _ = check.tick() => {
                if clock.is_late(head) {
                    tracing::debug!("a connection was too slow");
                    return;
                }
            }
            _ = stop.changed(), if !is_stopping => {
                is_stopping = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    }
}

/// The times since which the server waits for the client.
struct Clock {
    started: Instant,
    is_answering: AtomicBool,
    /// The time at which the head of a request began to arrive, in milliseconds after `started`; 0
    /// for none.
    head: AtomicU64,
    /// The time since which the client does not read the response, in milliseconds after `started`;
    /// 0 for none.
    write: AtomicU64,
}

impl Clock {
    fn new() -> Self {
        Clock {
            started: Instant::now(),
            is_answering: AtomicBool::new(false),
            head: AtomicU64::new(0),
            write: AtomicU64::new(0),
        }
    }

    fn now(&self) -> u64 {
        self.started.elapsed().as_millis() as u64 + 1
    }

    fn record_read(&self) {
        if !self.is_answering.load(Ordering::Relaxed) {
            let now = self.now();
            let _ = self.head.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    fn record_write(&self, is_blocked: bool) {
        if is_blocked {
            let now = self.now();
            let _ = self.write.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
        } else {
            self.write.store(0, Ordering::Relaxed);
        }
    }

    fn is_late(&self, head: Duration) -> bool {
        self.is_over(&self.head, head) || self.is_over(&self.write, MAX_WRITE)
    }

    fn is_over(&self, since: &AtomicU64, limit: Duration) -> bool {
        let since = since.load(Ordering::Relaxed);
        since > 0 && self.now() - since > limit.as_millis() as u64
    }
}

/// A guard that exists while a request is answered. Bytes that arrive meanwhile are not counted as
/// the head of the next request.
struct Answering(Arc<Clock>);

impl Answering {
    fn begin(clock: Arc<Clock>) -> Self {
        clock.is_answering.store(true, Ordering::Relaxed);
        clock.head.store(0, Ordering::Relaxed);
        Answering(clock)
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.is_answering.store(false, Ordering::Relaxed);
    }
}

/// A stream that records the client's activity in a clock.
struct TimedStream<S> {
    inner: S,
    clock: Arc<Clock>,
}

impl<S: AsyncRead + Unpin> AsyncRead for TimedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let outcome = Pin::new(&mut self.inner).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.clock.record_read();
        }
        outcome
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TimedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.clock.record_write(outcome.is_pending());
        outcome
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.inner).poll_write_vectored(context, pieces);
        self.clock.record_write(outcome.is_pending());
        outcome
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}
