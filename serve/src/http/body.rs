//! Bodies: read up to a size and a time, written whole or piece by piece.

use std::convert::Infallible;
use std::io::Read;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::header::{CONTENT_ENCODING, HeaderMap};
use tokio::sync::mpsc;

/// The body of a response.
pub enum Body {
    /// One piece.
    Full(Option<Bytes>),
    /// Pieces as they come.
    Stream(mpsc::Receiver<Bytes>),
}

impl Body {
    /// A body of one piece.
    pub fn full(bytes: Bytes) -> Self {
        Body::Full((!bytes.is_empty()).then_some(bytes))
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
            Body::Stream(pieces) => {
                pieces.poll_recv(context).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
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

/// Why a body was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyError {
    /// It is larger than allowed.
    TooLarge,
    /// It did not come in time.
    Timeout,
    /// The connection broke, or the compression is not known or damaged.
    Malformed,
}

/// Reads a body of at most `limit` bytes, also after decompression, within `time`.
///
/// # Errors
/// If it is larger, slower or damaged.
pub async fn read(
    body: Incoming,
    headers: &HeaderMap,
    limit: usize,
    time: Duration,
) -> Result<Bytes, BodyError> {
    let whole = Limited::new(body, limit).collect();
    let bytes = match tokio::time::timeout(time, whole).await {
        Err(_) => return Err(BodyError::Timeout),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
            return Err(BodyError::TooLarge);
        }
        Ok(Err(_)) => return Err(BodyError::Malformed),
        Ok(Ok(collected)) => collected.to_bytes(),
    };
    let encoding = headers.get(CONTENT_ENCODING).map(|value| value.to_str().unwrap_or("?"));
    match encoding {
        None | Some("identity") => Ok(bytes),
        Some("gzip" | "x-gzip") => decompress(&bytes, limit),
        Some(_) => Err(BodyError::Malformed),
    }
}

/// The content of gzip, of at most `limit` bytes.
fn decompress(bytes: &[u8], limit: usize) -> Result<Bytes, BodyError> {
    let mut content = Vec::new();
    let decoder = flate2::read::MultiGzDecoder::new(bytes);
    decoder.take(limit as u64 + 1).read_to_end(&mut content).map_err(|_| BodyError::Malformed)?;
    if content.len() > limit { Err(BodyError::TooLarge) } else { Ok(content.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn gzip_is_bounded() {
        let compress = |content: &[u8]| {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Default::default());
            encoder.write_all(content).unwrap();
            encoder.finish().unwrap()
        };
        assert_eq!(decompress(&compress(b"text"), 4).unwrap(), "text");
        let bomb = compress(&vec![0; 10 << 20]);
        assert!(bomb.len() < 20_000);
        assert_eq!(decompress(&bomb, 1 << 20), Err(BodyError::TooLarge));
        assert_eq!(decompress(b"no gzip", 100), Err(BodyError::Malformed));
    }
}
