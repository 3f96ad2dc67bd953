//! A window on a file that keeps the file mapped.

use miriam_storage::View;

/// A window on a file that keeps the file mapped.
#[derive(Clone)]
pub struct OwnedBytes {
    owner: View<u8>,
    start: usize,
    length: usize,
}

impl OwnedBytes {
    /// Creates a window on all of `owner`.
    pub fn new(owner: View<u8>) -> Self {
        OwnedBytes { start: 0, length: owner.len(), owner }
    }

    /// Returns the bytes `start..start + length` of this window, if they are inside.
    pub fn slice(&self, start: usize, length: usize) -> Option<Self> {
        let end = start.checked_add(length)?;
        (end <= self.length).then(|| OwnedBytes {
            owner: self.owner.clone(),
            start: self.start + start,
            length,
        })
    }

    /// Releases the memory of the pages of a mapped file in this window.
    pub(super) fn release_pages(&self) {
        self.owner.release_pages(self.start..self.start + self.length);
    }
}

impl std::ops::Deref for OwnedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.owner[self.start..self.start + self.length]
    }
}
