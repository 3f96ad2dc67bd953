//! Listening sockets.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::sync::{Semaphore, mpsc, watch};

use crate::app::App;
use crate::connections;
use crate::http::client_address::Peer;
use crate::http::connection_guard::ConnectionGuard;
use crate::http::socket_access::SocketAccess;
use crate::listen_addresses::ListenAddresses;
use crate::{Error, Result};

/// The most connections that wait to be accepted, if the system allows that many. A client for
/// which there is no room retries only after a second.
const BACKLOG: u32 = 4096;

/// The time after which TCP probes a silent client.
const KEEP_ALIVE: Duration = Duration::from_secs(60);
/// The time between probes that are not answered. Linux closes the connection after nine of them.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(10);

/// A listening socket.
pub enum Listener {
    /// An address.
    Tcp(TcpListener),
    /// A file, which is removed with the listener if the server created it.
    Unix(UnixListener, Option<SocketFile>),
}

/// A socket in the file system.
pub struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Listener {
    /// Listens on `address`, which has a port and is one of `all`. Must be called within a runtime.
    ///
    /// # Errors
    /// If the address is invalid or in use.
    pub(crate) fn tcp(address: &str, all: &ListenAddresses) -> Result<Self> {
        let fail = |error| Error::system(address, with_remedy(error));
        let addresses: Vec<SocketAddr> = address.to_socket_addrs().map_err(fail)?.collect();
        let mut failure = io::Error::other("the name has no address");
        for address in addresses {
            match bind(address, all.is_only_v6(address)) {
                Ok(listener) => return Ok(Listener::Tcp(listener)),
                Err(error) => failure = error,
            }
        }
        Err(fail(failure))
    }

    /// Checks that a socket could be created at `path`, without creating it.
    ///
    /// # Errors
    /// If its folder or the group is missing, or another file is there.
    pub fn check_unix(path: &Path, access: &SocketAccess) -> Result<()> {
        check_socket(path, access).map_err(|error| Error::system(path.display().to_string(), error))
    }

    /// Listens on a socket in the file system, with the mode and the group of `access`. A socket
    /// that another server left behind is replaced.
    ///
    /// # Errors
    /// If another file or a running server is there, the folder or the group is missing, or the
    /// server's user may not give the socket to the group.
    pub fn unix(path: &Path, access: &SocketAccess) -> Result<Self> {
        bind_unix(path, access).map_err(|error| Error::system(path.display().to_string(), error))
    }

    /// Returns the sockets that a supervisor opened and passed on ("socket activation" of
    /// systemd): `LISTEN_FDS` of them, if `LISTEN_PID` is this process. Their files belong to the
    /// supervisor.
    ///
    /// # Errors
    /// If one is not a listening socket.
    pub fn inherited() -> Result<Vec<Self>> {
        let mut sockets = listenfd::ListenFd::from_env();
        let indices = 0..sockets.len();
        fn name(index: usize) -> String {
            format!("socket {index} of LISTEN_FDS")
        }
        indices
            .map(|index: usize| -> io::Result<Self> {
                let listener = match sockets.take_tcp_listener(index) {
                    Ok(listener) => listener.map(Listener::Tcp),
                    Err(_) => sockets
                        .take_unix_listener(index)?
                        .map(|listener| Listener::Unix(listener, None)),
                };
                let listener = listener.ok_or_else(|| io::Error::other("it is already in use"))?;
                match &listener {
                    Listener::Tcp(listener) => listener.set_nonblocking(true)?,
                    Listener::Unix(listener, _) => listener.set_nonblocking(true)?,
                }
                Ok(listener)
            })
            .enumerate()
            .map(|(index, listener)| listener.map_err(|error| Error::system(name(index), error)))
            .collect()
    }

    /// Returns the address of the listener, unless it is a socket in the file system.
    pub fn tcp_address(&self) -> Option<SocketAddr> {
        match self {
            Listener::Tcp(listener) => listener.local_addr().ok(),
            Listener::Unix(..) => None,
        }
    }

    /// Returns the address of the listener as clients write it.
    pub fn name(&self) -> String {
        match self {
            Listener::Tcp(listener) => match listener.local_addr() {
                Ok(address) => format!("http://{address}"),
                Err(error) => format!("unknown address: {error}"),
            },
            Listener::Unix(listener, _) => {
                let address = listener.local_addr().ok();
                match address.as_ref().and_then(|address| address.as_pathname()) {
                    Some(path) => format!("unix:{}", path.display()),
                    None => "unix:".into(),
                }
            }
        }
    }

    /// Whether other machines can reach the listener.
    pub fn is_public(&self) -> bool {
        self.tcp_address().is_some_and(|address| !address.ip().is_loopback())
    }

    /// Accepts connections until `stop` changes, and serves each in its own task. While there are
    /// too many connections or no file descriptors, no connection is accepted. With
    /// `is_for_metrics` only measurements and health are served.
    pub async fn serve(
        self,
        app: Arc<App>,
        places: Arc<Semaphore>,
        alive: mpsc::Sender<()>,
        mut stop: watch::Receiver<bool>,
        is_for_metrics: bool,
    ) -> io::Result<()> {
        let (listener, _file) = match self {
            Listener::Tcp(listener) => {
                (AsyncListener::Tcp(tokio::net::TcpListener::from_std(listener)?), None)
            }
            Listener::Unix(listener, file) => {
                (AsyncListener::Unix(tokio::net::UnixListener::from_std(listener)?), file)
            }
        };
        loop {
            let accepted = tokio::select! {
                _ = stop.changed() => return Ok(()),
                accepted = accept(&listener, &places) => accepted,
            };
            let (stream, permit) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // A client that has disconnected is not a problem. Without file descriptors,
                    // the next connection must wait.
                    tracing::debug!("a connection was not accepted: {error}");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let guard = ConnectionGuard::new(&app.metrics, permit, alive.clone());
            let (app, stop) = (Arc::clone(&app), stop.clone());
            match stream {
                Stream::Tcp(stream, address) => {
                    // Small responses are sent at once.
                    let _ = stream.set_nodelay(true);
                    let peer = Peer { address: Some(address), is_for_metrics };
                    tokio::spawn(connections::serve(app, stream, (guard, peer), stop));
                }
                Stream::Unix(stream) => {
                    let peer = Peer { address: None, is_for_metrics };
                    tokio::spawn(connections::serve(app, stream, (guard, peer), stop));
                }
            }
        }
    }
}

fn check_socket(path: &Path, access: &SocketAccess) -> io::Result<()> {
    check_length(path)?;
    refuse_other_file(path)?;
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    folder.map(std::fs::metadata).transpose()?;
    access.group.as_deref().map(find_group).transpose()?;
    Ok(())
}

fn bind_unix(path: &Path, access: &SocketAccess) -> io::Result<Listener> {
    check_length(path)?;
    refuse_other_file(path)?;
    if let Err(error) = UnixStream::connect(path) {
        let is_left = error.kind() == io::ErrorKind::ConnectionRefused;
        if is_left {
            std::fs::remove_file(path)?;
        }
    }
    let listener = UnixListener::bind(path).map_err(with_remedy)?;
    let file = SocketFile(path.to_owned());
    if let Some(group) = &access.group {
        let id = find_group(group)?;
        std::os::unix::fs::chown(path, None, Some(id)).map_err(|error| {
            let reason = format!("the group {group}: {error}; is the server's user in it?");
            io::Error::new(error.kind(), reason)
        })?;
    }
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(access.mode))?;
    listener.set_nonblocking(true)?;
    Ok(Listener::Unix(listener, Some(file)))
}

/// Rejects a path that is too long for the address of a socket.
fn check_length(path: &Path) -> io::Result<()> {
    // A path with a zero byte is rejected too, for another reason.
    std::os::unix::net::SocketAddr::from_pathname(path).map(drop).map_err(|error| {
        let length = path.as_os_str().len();
        let reason = format!("{error}; its path has {length} bytes, and a socket's at most 107");
        io::Error::new(error.kind(), reason)
    })
}

/// Adds what to do to the error of a socket that cannot be opened.
fn with_remedy(error: io::Error) -> io::Error {
    let remedy = match error.kind() {
        io::ErrorKind::AddrInUse => "another program listens there; stop it, or listen elsewhere",
        io::ErrorKind::AddrNotAvailable => {
            "this machine does not have the address; 0.0.0.0 means all that it has"
        }
        io::ErrorKind::PermissionDenied => {
            "ports below 1024, and folders of other users, need a privileged user"
        }
        _ => return error,
    };
    io::Error::new(error.kind(), format!("{error}; {remedy}"))
}

/// Rejects a file that is not a socket.
fn refuse_other_file(path: &Path) -> io::Result<()> {
    if std::fs::symlink_metadata(path).is_ok_and(|found| !found.file_type().is_socket()) {
        let reason = "the file exists and is not a socket; remove it, or give another path";
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, reason));
    }
    Ok(())
}

/// Returns the number of a group of this machine.
fn find_group(name: &str) -> io::Result<u32> {
    if let Ok(id) = name.parse() {
        return Ok(id);
    }
    let groups = std::fs::read_to_string("/etc/group")?;
    // `name:password:number:members`.
    let found = groups.lines().find_map(|line: &str| {
        let mut fields = line.split(':');
        (fields.next() == Some(name)).then(|| fields.nth(1)?.parse().ok()).flatten()
    });
    found.ok_or_else(|| io::Error::other(format!("there is no group {name} in /etc/group")))
}

/// Listens on a resolved address. `[::]` includes IPv4, except with `is_only_v6`.
fn bind(address: SocketAddr, is_only_v6: bool) -> io::Result<TcpListener> {
    use tokio::net::TcpSocket;
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    if is_only_v6 {
        SockRef::from(&socket).set_only_v6(true)?;
    }
    // A restarted server need not wait for the connections of its predecessor.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)?.into_std()
}

/// Enables TCP's keep-alive probes. Without them, a websocket would stay open for ever after its
/// client has vanished.
fn keep_alive(stream: &tokio::net::TcpStream) {
    let times = TcpKeepalive::new().with_time(KEEP_ALIVE).with_interval(KEEP_ALIVE_INTERVAL);
    // If this fails, the connection works without probes.
    let _ = SockRef::from(stream).set_tcp_keepalive(&times);
}

enum AsyncListener {
    Tcp(tokio::net::TcpListener),
    Unix(tokio::net::UnixListener),
}

enum Stream {
    Tcp(tokio::net::TcpStream, IpAddr),
    Unix(tokio::net::UnixStream),
}

async fn accept(
    listener: &AsyncListener,
    places: &Arc<Semaphore>,
) -> io::Result<(Stream, tokio::sync::OwnedSemaphorePermit)> {
    let permit = Arc::clone(places).acquire_owned().await.map_err(io::Error::other)?;
    let stream = match listener {
        AsyncListener::Tcp(listener) => {
            let (stream, address) = listener.accept().await?;
            keep_alive(&stream);
            Stream::Tcp(stream, address.ip())
        }
        AsyncListener::Unix(listener) => Stream::Unix(listener.accept().await?.0),
    };
    Ok((stream, permit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_sockets_say_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let access = SocketAccess { mode: 0o660, group: None };
        let long = folder.path().join("s".repeat(120));
        for error in [
            Listener::check_unix(&long, &access).err(),
            Listener::unix(&long, &access).map(drop).err(),
        ] {
            let message = error.unwrap().to_string();
            assert!(message.ends_with("bytes, and a socket's at most 107"), "{message}");
        }
        let path = folder.path().join("socket");
        let _first = UnixListener::bind(&path).unwrap();
        let message = Listener::unix(&path, &access).map(drop).unwrap_err().to_string();
        assert!(message.ends_with("another program listens there; stop it, or listen elsewhere"));
    }
}
