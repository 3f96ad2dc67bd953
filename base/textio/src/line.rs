//! One line of text.

/// One line of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Its bytes, without the line end.
    pub bytes: &'a [u8],
    /// Its number in the file, counted from 1.
    pub number: u64,
    /// Whether a line end followed; only a file's last line may lack one.
    pub terminated: bool,
}
