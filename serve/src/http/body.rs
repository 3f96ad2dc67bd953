//! Bodies of requests, which are read within limits of size and time, and of responses, which are
//! sent whole or in pieces.

use std::convert::Infallible;
use std::io::Read;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::header::{CONTENT_ENCODING, CONTENT_LENGTH, EXPECT, HeaderMap};
use miriam_textproc::Interrupted;
use tokio::sync::mpsc;

use crate::background;
use crate::refusal::Refusal;
use crate::request_record::RequestRecord;

/// The number of bytes that are unpacked at a time.
const UNPACKED_PIECE: u64 = 64 << 10;

/// The body of a response.
pub enum Body {
    /// One piece; `None` if it is empty or has been sent.
    Full(Option<Bytes>),
    /// A stream of pieces.
    Stream(PieceStream),
}

/// Pieces of a body that are sent as they are made.
pub struct PieceStream {
    pieces: mpsc::Receiver<Bytes>,
    /// The record of the request, and the status that it gets after the last piece.
    record: Option<(Arc<RequestRecord>, u16)>,
    /// A value that is dropped after the last piece, or with the stream.
    guard: Option<Box<dyn Send>>,
}

impl Body {
    /// Returns a body of one piece.
    pub fn full(bytes: Bytes) -> Self {
        Body::Full((!bytes.is_empty()).then_some(bytes))
    }

    /// Returns a body of the pieces that `pieces` receives.
    pub fn stream(pieces: mpsc::Receiver<Bytes>) -> Self {
        Body::Stream(PieceStream { pieces, record: None, guard: None })
    }

    /// Drops `guard` at once. A stream drops it after its last piece, or when it is dropped itself.
    pub(crate) fn drop_when_made(&mut self, guard: impl Send + 'static) {
        if let Body::Stream(stream) = self {
            stream.guard = Some(Box::new(guard));
        }
    }

    /// Completes the record of the request whose response has this body: at once, or after the last
    /// piece of a stream. If a stream is dropped before, its record stays incomplete.
    pub(crate) fn complete(&mut self, record: Arc<RequestRecord>, status: u16) {
        match self {
            Body::Full(bytes) => {
                record.add_bytes(bytes.as_ref().map_or(0, Bytes::len));
                record.complete(status);
            }
            Body::Stream(stream) => {
                record.set_open_ended();
                stream.record = Some((record, status));
            }
        }
    }
}

impl PieceStream {
    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let piece = self.pieces.poll_recv(context);
        match &piece {
            Poll::Pending => {}
            Poll::Ready(Some(bytes)) => {
                if let Some((record, _)) = &self.record {
                    record.add_bytes(bytes.len());
                }
            }
            Poll::Ready(None) => {
                self.guard = None;
                if let Some((record, status)) = self.record.take() {
                    record.complete(status);
                }
            }
        }
        piece
    }
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut *self {
            Body::Full(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Body::Stream(stream) => {
                stream.poll_piece(context).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Body::Full(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Body::Full(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64),
            Body::Stream(_) => SizeHint::default(),
        }
    }
}

/// The reason why a body was not read.
#[derive(Debug, PartialEq, Eq)]
pub enum BodyError {
    /// It is larger than allowed.
    TooLarge,
    /// It did not arrive in time.
    Timeout,
    /// Unpacking was not finished.
    Unpacking(Refusal),
    /// The connection broke, or the compressed data are damaged.
    Malformed,
    /// The compression is not supported.
    UnknownEncoding,
}

/// The limits for reading a rejected body. Some clients read no response before they have sent the
/// whole body, so it is read and dropped.
const MAX_DISCARDED: usize = 64 << 20;
const MAX_DISCARD_TIME: Duration = Duration::from_secs(5);

/// Whether the head says that the body has more than `limit` bytes.
fn is_announced_too_large(headers: &HeaderMap, limit: usize) -> bool {
    let length = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    length
        .and_then(|text| text.trim().parse().ok())
        .is_some_and(|length: u64| length > limit as u64)
}

/// Reads the rest of a rejected body while the response is sent.
fn discard(mut body: Incoming) {
    tokio::spawn(tokio::time::timeout(MAX_DISCARD_TIME, async move {
        let mut left = MAX_DISCARDED;
        while let Some(Ok(frame)) = body.frame().await {
            let length = frame.data_ref().map_or(0, Bytes::len);
            let Some(rest) = left.checked_sub(length) else { return };
            left = rest;
        }
    }));
}

/// Reads a body within `time`, and unpacks it within `unpacking_time` on a thread that serves no
/// sockets. The body has at most `limit` bytes, compressed and unpacked. If the head shows that it
/// is too large or that its compression is not supported, no `100 Continue` is sent.
///
/// # Errors
/// If the body is too large or damaged, is not read or unpacked in time, or its compression is not
/// supported, or if the connection breaks.
pub async fn read(
    mut body: Incoming,
    headers: &HeaderMap,
    limit: usize,
    time: Duration,
    unpacking_time: Duration,
) -> Result<Bytes, BodyError> {
    let encoding = match Encoding::of(headers) {
        Some(encoding) if !is_announced_too_large(headers, limit) => encoding,
        encoding => {
            // A client that waits for `100 Continue` has sent no body, and reading asks for it.
            if !headers.contains_key(EXPECT) {
                discard(body);
            }
            return Err(encoding.map_or(BodyError::UnknownEncoding, |_| BodyError::TooLarge));
        }
    };
    let whole = Limited::new(&mut body, limit).collect();
    let bytes = match tokio::time::timeout(time, whole).await {
        Err(_) => return Err(BodyError::Timeout),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
            discard(body);
            return Err(BodyError::TooLarge);
        }
        Ok(Err(_)) => return Err(BodyError::Malformed),
        Ok(Ok(collected)) => collected.to_bytes(),
    };
    match encoding {
        Encoding::Identity => Ok(bytes),
        Encoding::Gzip => {
            let deadline = Instant::now() + unpacking_time;
            let unpacking = background::run(deadline, move |should_stop| {
                decompress(&bytes, limit, should_stop)
            });
            unpacking.await.map_err(BodyError::Unpacking)?
        }
    }
}

/// Whether a body is sent uncompressed.
pub fn is_uncompressed(headers: &HeaderMap) -> bool {
    Encoding::of(headers) == Some(Encoding::Identity)
}

/// The compression of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Identity,
    Gzip,
}

impl Encoding {
    /// Returns the compression that the headers name; `None` if it is not supported, or if there
    /// are several.
    fn of(headers: &HeaderMap) -> Option<Self> {
        let mut values = headers.get_all(CONTENT_ENCODING).iter();
        let Some(value) = values.next() else { return Some(Encoding::Identity) };
        let name = value.to_str().ok().filter(|_| values.next().is_none())?;
        match &*name.trim().to_ascii_lowercase() {
            "" | "identity" => Some(Encoding::Identity),
            "gzip" | "x-gzip" => Some(Encoding::Gzip),
            _ => None,
        }
    }
}

/// Unpacks gzip, and calls `should_stop` before each piece. More than `limit` bytes are an error.
fn decompress(
    bytes: &[u8],
    limit: usize,
    should_stop: &dyn Fn() -> bool,
) -> Result<Result<Bytes, BodyError>, Interrupted> {
    let mut content = Vec::new();
    let mut decoder = flate2::read::MultiGzDecoder::new(bytes).take(limit as u64 + 1);
    loop {
        if should_stop() {
            return Err(Interrupted);
        }
        match decoder.by_ref().take(UNPACKED_PIECE).read_to_end(&mut content) {
            Ok(0) => break,
            Ok(_) if content.len() > limit => return Ok(Err(BodyError::TooLarge)),
            Ok(_) => {}
            Err(_) => return Ok(Err(BodyError::Malformed)),
        }
    }
    Ok(Ok(content.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn lengths_and_encodings_of_heads_are_checked() {
        let head = |name: &'static str, values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(name, value.parse().unwrap());
            }
            headers
        };
        assert!(is_announced_too_large(&head("content-length", &["11"]), 10));
        assert!(!is_announced_too_large(&head("content-length", &["10"]), 10));
        assert!(!is_announced_too_large(&HeaderMap::new(), 10));
        let encoding = |values: &[&str]| Encoding::of(&head("content-encoding", values));
        assert_eq!(encoding(&[]), Some(Encoding::Identity));
        assert_eq!(encoding(&["GZIP"]), Some(Encoding::Gzip));
        for unknown in [&["br"][..], &["gzip, gzip"], &["gzip", "gzip"]] {
            assert_eq!(encoding(unknown), None, "{unknown:?}");
        }
    }

    #[test]
    fn gzip_is_bounded() {
        let compress = |content: &[u8]| {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Default::default());
            encoder.write_all(content).unwrap();
            encoder.finish().unwrap()
        };
        let unpack = |bytes: &[u8], limit| decompress(bytes, limit, &|| false).unwrap();
        assert_eq!(unpack(&compress(b"text"), 4).unwrap(), "text");
        let bomb = compress(&vec![0; 10 << 20]);
        assert!(bomb.len() < 20_000);
        assert_eq!(unpack(&bomb, 1 << 20), Err(BodyError::TooLarge));
        assert_eq!(unpack(b"no gzip", 100), Err(BodyError::Malformed));
        // Decompression stops when it is told to. It asks once for each piece, so at most twice as
        // often for twice the size.
        assert_eq!(decompress(&bomb, 10 << 20, &|| true), Err(Interrupted));
        let count_checks = |size: usize| {
            let count = std::cell::Cell::new(0);
            let should_stop = || {
                count.set(count.get() + 1);
                false
            };
            decompress(&compress(&vec![0; size]), size, &should_stop).unwrap().unwrap();
            count.get()
        };
        let (once, twice) = (count_checks(1 << 20), count_checks(2 << 20));
        assert!(once > 10 && twice <= 2 * once, "{once}, {twice}");
    }
}
