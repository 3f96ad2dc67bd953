//! Limit on the length of a line: input without line ends (`/dev/zero`, a binary file) gives an
//! error with the line's number instead of using all memory.
//!
//! The limit applies to the whole process, like `ulimit`, because it protects the machine.
//! [`Input`](crate::Input) checks it for all readers of text.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use memchr::{memchr, memchr_iter, memrchr};

/// The default limit: 64 MiB.
const DEFAULT_MAX_LINE_BYTES: u64 = 64 << 20;

/// The limit that the user chose; [`NOT_SET`] if none.
static MAX_LINE_BYTES: AtomicU64 = AtomicU64::new(NOT_SET);

const NOT_SET: u64 = u64::MAX;

/// Sets the limit, in bytes after decompression, for inputs that are opened later.
pub fn set_max_line_bytes(bytes: u64) {
    MAX_LINE_BYTES.store(bytes, Ordering::Relaxed);
}

/// The length of the current line, checked block by block.
pub(crate) struct LineLimit {
    max: u64,
    /// The bytes of the current line in earlier blocks.
    length: u64,
    /// The number of complete lines before it.
    lines: u64,
}

impl LineLimit {
    /// Returns a check of the process's limit, for the start of an input.
    pub fn new() -> Self {
        match MAX_LINE_BYTES.load(Ordering::Relaxed) {
            NOT_SET => Self::with_max(DEFAULT_MAX_LINE_BYTES),
            bytes => Self::with_max(bytes),
        }
    }

    /// Returns a check of the limit that the user chose. The default limit does not apply.
    pub fn chosen() -> Self {
        Self::with_max(MAX_LINE_BYTES.load(Ordering::Relaxed))
    }

    /// Returns a check without a limit.
    pub fn none() -> Self {
        Self::with_max(u64::MAX)
    }

    fn with_max(max: u64) -> Self {
        LineLimit { max, length: 0, lines: 0 }
    }

    /// Checks the next bytes of the input.
    ///
    /// # Errors
    /// If a line exceeds the limit within `bytes`.
    pub fn check(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.max == u64::MAX {
            return Ok(());
        }
        if self.length + bytes.len() as u64 > self.max {
            self.check_each_line(bytes)?;
        }
        match memrchr(b'\n', bytes) {
            Some(end) => {
                self.lines += memchr_iter(b'\n', bytes).count() as u64;
                self.length = (bytes.len() - end - 1) as u64;
            }
            None => self.length += bytes.len() as u64,
        }
        Ok(())
    }

    /// Works like [`LineLimit::check`], for a block that would exceed the limit if it were all in
    /// the current line.
    #[cold]
    fn check_each_line(&self, mut bytes: &[u8]) -> io::Result<()> {
        let (mut length, mut number) = (self.length, self.lines + 1);
        loop {
            let end = memchr(b'\n', bytes);
            length += end.unwrap_or(bytes.len()) as u64;
            if length > self.max {
                let max = self.max;
                let reason = format!(
                    "line {number} has more than {max} bytes; is it text? --max-line-size SIZE \
                     raises the limit"
                );
                return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
            }
            let Some(end) = end else { return Ok(()) };
            bytes = &bytes[end + 1..];
            (length, number) = (0, number + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The error does not depend on the blocks of the input, and names the first line that is
        /// too long.
        #[test]
        fn the_first_line_that_is_too_long_is_named(
            text in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'a'), Just(0)], 0..200),
            block in 1usize..50, max in 0u64..12,
        ) {
            let mut limit = LineLimit::with_max(max);
            let outcome = text.chunks(block).try_for_each(|block| limit.check(block));
            let first = text.split(|&byte| byte == b'\n').position(|line| line.len() as u64 > max);
            match first {
                None => prop_assert!(outcome.is_ok()),
                Some(line) => {
                    let message = outcome.unwrap_err().to_string();
                    let start = format!("line {} has more than {max} bytes", line + 1);
                    prop_assert!(message.starts_with(&start), "{}", message);
                }
            }
        }
    }

    #[test]
    fn without_a_limit_nothing_is_too_long() {
        let mut limit = LineLimit::none();
        assert!(limit.check(&[0; 1000]).is_ok());
    }
}
