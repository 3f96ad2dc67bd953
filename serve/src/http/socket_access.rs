//! Access rights of a socket in the file system.

/// The users who may connect to a socket in the file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocketAccess {
    /// The mode of its file.
    pub mode: u32,
    /// The name or the number of its group, if it is not the group of the process.
    pub group: Option<String>,
}
