//! Minimal client of HTTP/1.1 and websockets.
//!
//! Requests are prepared bytes, and only the status and four header fields of a response are
//! parsed, so that the client takes little of the measured time.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::Outcome;

/// A connection that is opened at the first exchange, and anew after a failed exchange or after a
/// response that says that the server closes it.
pub(super) struct Connection {
    address: SocketAddr,
    /// The request that opens a websocket; `None` for plain HTTP.
    handshake: Option<Vec<u8>>,
    stream: Option<BufReader<TcpStream>>,
    body: Vec<u8>,
}

/// The maximum size in bytes of the body of a response, or of a message.
const MAX_BODY: usize = 256 << 20;

fn invalid_data(reason: &str) -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::InvalidData, reason.to_owned())
}

impl Connection {
    pub fn new(address: SocketAddr, handshake: Option<Vec<u8>>) -> Self {
        Connection { address, handshake, stream: None, body: Vec::new() }
    }

    /// Sends a request, reads the response, and returns its outcome and body; the body of a failed
    /// exchange is the error message.
    pub fn exchange(&mut self, request: &[u8], timeout: Duration) -> (Outcome, &[u8]) {
        self.body.clear();
        let outcome = self.try_exchange(request, timeout).unwrap_or_else(|error| {
            self.stream = None;
            self.body = error.to_string().into_bytes();
            Outcome::Failed
        });
        (outcome, &self.body)
    }

    fn try_exchange(&mut self, request: &[u8], timeout: Duration) -> std::io::Result<Outcome> {
        let stream = match &mut self.stream {
            Some(stream) => stream,
            None => {
                let stream = TcpStream::connect_timeout(&self.address, timeout)?;
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(timeout))?;
                stream.set_write_timeout(Some(timeout))?;
                let stream = self.stream.insert(BufReader::new(stream));
                if let Some(handshake) = &self.handshake {
                    stream.get_mut().write_all(handshake)?;
                    let (status, _) = read_head(stream)?;
                    if status != 101 {
                        self.stream = None;
                        return Ok(Outcome::Status(status));
                    }
                }
                stream
            }
        };
        if self.handshake.is_some() {
            stream.get_mut().write_all(&frame(request))?;
            let opcode = read_message(stream, &mut self.body)?;
            return match opcode {
                1 | 2 => Ok(Outcome::Status(200)),
                _ => Err(invalid_data("the server closed the websocket")),
            };
        }
        stream.get_mut().write_all(request)?;
        let (status, head) = read_head(stream)?;
        match head.length {
            Some(length) => {
                self.body.resize(length, 0);
                stream.read_exact(&mut self.body)?;
            }
            None => read_chunks(stream, &mut self.body)?,
        }
        if head.closes {
            self.stream = None;
        }
        let is_fault = head.is_xml && self.body.windows(7).any(|part| part == b"<fault>");
        Ok(if is_fault { Outcome::Fault } else { Outcome::Status(status) })
    }
}

/// The head of a response, except its status.
#[derive(Default)]
struct Head {
    /// The number of bytes of the body; `None` for the chunked encoding.
    length: Option<usize>,
    /// Whether the server closes the connection after the response.
    closes: bool,
    is_xml: bool,
}

fn read_head(stream: &mut impl BufRead) -> std::io::Result<(u16, Head)> {
    let mut line = String::new();
    stream.read_line(&mut line)?;
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| invalid_data("the response has no status"))?;
    let mut head = Head { length: Some(0), ..Head::default() };
    loop {
        line.clear();
        if stream.read_line(&mut line)? == 0 {
            return Err(invalid_data("the response ends within its header"));
        }
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        let value = value.trim();
        if name.eq_ignore_ascii_case("content-length") {
            let length = value.parse().ok().filter(|&length| length <= MAX_BODY);
            head.length =
                Some(length.ok_or_else(|| invalid_data("the Content-Length is invalid"))?);
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            head.length = None;
        } else if name.eq_ignore_ascii_case("connection") {
            head.closes = value.eq_ignore_ascii_case("close");
        } else if name.eq_ignore_ascii_case("content-type") {
            head.is_xml = value.starts_with("text/xml");
        }
    }
    Ok((status, head))
}

fn read_chunks(stream: &mut impl BufRead, body: &mut Vec<u8>) -> std::io::Result<()> {
    let mut line = String::new();
    loop {
        line.clear();
        stream.read_line(&mut line)?;
        let size = usize::from_str_radix(line.trim(), 16).ok();
        let size = size.filter(|&size| size <= MAX_BODY - body.len());
        let size = size.ok_or_else(|| invalid_data("a chunk has no valid size"))?;
        let start = body.len();
        body.resize(start + size, 0);
        stream.read_exact(&mut body[start..])?;
        stream.read_exact(&mut [0; 2])?;
        if size == 0 {
            return Ok(());
        }
    }
}

/// Returns a text message as one frame. The masking key, which a client may choose, is zero, so
/// that the message stays as it is.
fn frame(message: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x81];
    match message.len() {
        length @ 0..126 => frame.push(0x80 | length as u8),
        length @ 126..65536 => {
            frame.push(0x80 | 126);
            frame.extend((length as u16).to_be_bytes());
        }
        length => {
            frame.push(0x80 | 127);
            frame.extend((length as u64).to_be_bytes());
        }
    }
    frame.extend([0; 4]);
    frame.extend_from_slice(message);
    frame
}

/// The opcode of the frame that closes a connection (RFC 6455, section 5.2).
const CLOSE: u8 = 8;
/// The opcode of a ping.
const PING: u8 = 9;
/// The opcode of the answer to a ping.
const PONG: u8 = 10;

/// Reads frames up to the end of the first message, or to a frame that closes the connection.
/// Writes the payload of the message into `message`, and returns the opcode of its first frame or
/// [`CLOSE`].
fn read_message(stream: &mut impl BufRead, message: &mut Vec<u8>) -> std::io::Result<u8> {
    message.clear();
    let mut kind = None;
    loop {
        let mut head = [0; 2];
        stream.read_exact(&mut head)?;
        let length = match head[1] & 0x7f {
            126 => {
                let mut length = [0; 2];
                stream.read_exact(&mut length)?;
                usize::from(u16::from_be_bytes(length))
            }
            127 => {
                let mut length = [0; 8];
                stream.read_exact(&mut length)?;
                usize::try_from(u64::from_be_bytes(length)).unwrap_or(usize::MAX)
            }
            length => usize::from(length),
        };
        let begin = message.len();
        if length > MAX_BODY - begin {
            return Err(invalid_data("a message is too long"));
        }
        message.resize(begin + length, 0);
        stream.read_exact(&mut message[begin..])?;
        let (is_last, opcode) = (head[0] & 0x80 != 0, head[0] & 0xf);
        match opcode {
            CLOSE => return Ok(CLOSE),
            // A control frame may come between the frames of a message. Pings are not answered.
            PING | PONG => message.truncate(begin),
            _ => {
                // Later frames of a message have the opcode 0.
                let kind = *kind.get_or_insert(opcode);
                if is_last {
                    return Ok(kind);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_of_both_kinds_are_read() {
        let text = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 4\r\nConnection: close\r\n\r\nbusy";
        let mut stream = &text[..];
        let (status, head) = read_head(&mut stream).unwrap();
        assert_eq!((status, head.length, head.closes, stream), (503, Some(4), true, &b"busy"[..]));
        let mut stream =
            &b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"[..];
        let (status, head) = read_head(&mut stream).unwrap();
        let mut body = Vec::new();
        read_chunks(&mut stream, &mut body).unwrap();
        assert_eq!((status, head.length, &body[..]), (200, None, &b"abc"[..]));
        let mut endless = &b"3\r\nabc\r\nffffffffffffffff\r\nabc"[..];
        assert!(read_chunks(&mut endless, &mut Vec::new()).is_err());
        assert!(read_head(&mut &b"no HTTP\r\n\r\n"[..]).is_err());
        assert!(read_head(&mut &b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"[..]).is_err());
    }

    #[test]
    fn frames_have_the_lengths_of_rfc_6455() {
        for (length, head) in
            [(3, &[0x81, 0x83][..]), (200, &[0x81, 0xfe, 0, 200]), (70_000, &[0x81, 0xff])]
        {
            let bytes = frame(&vec![b'a'; length]);
            assert!(bytes.starts_with(head));
            let mut body = Vec::new();
            // Frames of the server have no mask.
            let mut unmasked = bytes.clone();
            unmasked[1] &= 0x7f;
            let start = bytes.len() - length;
            unmasked.drain(start - 4..start);
            let ping = [&[0x89, 2, 1, 2][..], &unmasked].concat();
            assert_eq!(read_message(&mut &ping[..], &mut body).unwrap(), 1);
            assert_eq!(body, vec![b'a'; length]);
        }
        // A message of two frames, with a pong between them, and the end of the connection.
        let frames = [&[0x01, 2, b'a', b'b'][..], &[0x8a, 0], &[0x80, 1, b'c'], &[0x88, 0]];
        let (frames, mut body) = (frames.concat(), Vec::new());
        let mut stream = &frames[..];
        assert_eq!(read_message(&mut stream, &mut body).unwrap(), 1);
        assert_eq!(body, b"abc");
        assert_eq!(read_message(&mut stream, &mut body).unwrap(), CLOSE);
    }
}
