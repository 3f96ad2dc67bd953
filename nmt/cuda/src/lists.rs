//! Lists of numbers on the device: row numbers, tokens, records of queries.
//!
//! The layers of a step need the same lists, so a list that was uploaded lately is not uploaded
//! again: a step of a transformer uploads each of its lists once, not once per layer.

use std::rc::Rc;

use miriam_gpu::{Buffer, PinnedBuffer, Result, Stream};

use crate::memory::Pool;

/// The number of lists that are kept on the device, and of uploads that may be in progress.
const REMEMBERED: usize = 12;

/// The lists that were uploaded lately.
#[derive(Default)]
pub(crate) struct Lists {
    /// The list that was used last is at the end.
    lists: Vec<UploadedList>,
    staging: Vec<PinnedBuffer<u32>>,
    next_staging: usize,
}

struct UploadedList {
    numbers: Vec<u32>,
    buffer: Rc<Buffer<u32>>,
}

impl Lists {
    /// Returns a buffer that begins with the numbers of a list; it may be longer.
    pub fn upload(
        &mut self,
        stream: &Stream,
        pool: &Pool,
        numbers: &[u32],
    ) -> Result<Rc<Buffer<u32>>> {
        let known = self.lists.iter().rposition(|list| list.numbers == numbers);
        if let Some(index) = known {
            let list = self.lists.remove(index);
            let buffer = Rc::clone(&list.buffer);
            self.lists.push(list);
            return Ok(buffer);
        }
        let oldest = (self.lists.len() >= REMEMBERED).then(|| self.lists.remove(0));
        let (mut remembered, buffer) = match oldest {
            Some(list) => (list.numbers, Some(list.buffer)),
            None => (Vec::new(), None),
        };
        // The buffer may be overwritten: work that reads the old list was queued before.
        let buffer = buffer.and_then(|buffer| Rc::try_unwrap(buffer).ok());
        let mut buffer = match buffer.filter(|buffer| buffer.len() >= numbers.len()) {
            Some(buffer) => buffer,
            None => pool.allocate(stream, numbers.len().next_power_of_two().max(256))?,
        };
        let staging = self.staging(stream, numbers.len())?;
        staging.get_mut()?[..numbers.len()].copy_from_slice(numbers);
        stream.upload(staging, numbers.len(), &mut buffer, 0)?;
        remembered.clear();
        remembered.extend_from_slice(numbers);
        let buffer = Rc::new(buffer);
        self.lists.push(UploadedList { numbers: remembered, buffer: Rc::clone(&buffer) });
        Ok(buffer)
    }

    /// Returns pinned memory for `len` numbers: new memory up to [`REMEMBERED`] times, then the
    /// memory that was used longest ago.
    fn staging(&mut self, stream: &Stream, len: usize) -> Result<&mut PinnedBuffer<u32>> {
        if self.staging.len() < REMEMBERED {
            self.staging.push(stream.alloc_pinned(len.next_power_of_two().max(1024))?);
            self.next_staging = self.staging.len() - 1;
        } else {
            self.next_staging = (self.next_staging + 1) % REMEMBERED;
            if self.staging[self.next_staging].len() < len {
                self.staging[self.next_staging] = stream.alloc_pinned(len.next_power_of_two())?;
            }
        }
        Ok(&mut self.staging[self.next_staging])
    }
}
