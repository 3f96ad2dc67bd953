//! Notification of systemd, or another supervisor with its protocol: datagrams to the socket that
//! `NOTIFY_SOCKET` names. Without a name nothing is sent.

use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Sends `state`, such as `READY=1`.
pub fn notify(state: &str) {
    let socket = std::env::var_os("NOTIFY_SOCKET").filter(|socket| !socket.is_empty());
    let Some(socket) = socket else { return };
    if let Err(error) = send(&socket, state) {
        tracing::warn!("NOTIFY_SOCKET {}: {error}", socket.display());
    }
}

fn send(socket: &OsStr, state: &str) -> io::Result<()> {
    let address = match socket.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(socket)?,
    };
    UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address).map(drop)
}
