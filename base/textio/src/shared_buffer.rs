//! Output in memory, which a writer in another thread fills.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes that a writer and its caller share: the writer gets a clone.
///
/// ```
/// use miriam_textio::{Output, SharedBuffer};
///
/// let buffer = SharedBuffer::default();
/// let mut output = Output::from_writer(buffer.clone(), "memory")?;
/// output.write(b"text\n")?;
/// output.finish()?;
/// assert_eq!(buffer.take(), b"text\n");
/// # Ok::<(), miriam_textio::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct SharedBuffer(Arc<Mutex<Vec<u8>>>);

impl SharedBuffer {
    /// Takes the bytes that have been written so far.
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for SharedBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
