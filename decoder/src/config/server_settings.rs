//! Settings of `miriam translate -server`, with the option names of mosesserver.

use std::path::PathBuf;

use super::settings_reader::SettingsReader;
use crate::Result;

/// The server that the options request. Programs that are not servers ignore these settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerSettings {
    /// Whether to serve instead of translating a text.
    pub is_wanted: bool,
    /// Whether only one thread translates.
    pub is_serial: bool,
    /// Addresses with ports. If empty, the server listens on `port` of this machine.
    pub listen: Vec<String>,
    /// The port.
    pub port: Option<u16>,
    /// The largest number of connections.
    pub max_connections: Option<usize>,
    /// The time after which a silent connection is closed.
    pub idle_seconds: Option<u64>,
    /// The file to which requests are logged.
    pub log: Option<PathBuf>,
}

/// Options that have no effect without `-server`.
const NEED_SERVER: [&str; 7] = [
    "listen",
    "serial",
    "server-keepalive-timeout",
    "server-log",
    "server-maxconn",
    "server-port",
    "server-timeout",
];

impl ServerSettings {
    pub(super) fn read(read: &SettingsReader<'_>) -> Result<Self> {
        let is_wanted = read.boolean("server", false)?;
        if !is_wanted {
            for name in NEED_SERVER.iter().filter(|name| read.parameters.get(name).is_some()) {
                tracing::warn!("{name} does nothing without -server");
            }
        }
        let listen = read.split_values("listen").unwrap_or_default();
        let port = match read.value("server-port")? {
            None => None,
            // Addresses on the command line replace a port that the ini gives.
            Some(_) if !listen.is_empty() && !read.parameters.is_overridden("server-port") => None,
            Some(_) if !listen.is_empty() => {
                return read.fail("server-port", "the addresses of -listen have ports");
            }
            Some(text) => match text.parse() {
                Ok(port) => Some(port),
                Err(_) => {
                    let reason = format!("{text:?}: give a number from 0 to 65535");
                    return read.fail("server-port", reason);
                }
            },
        };
        let number = |name: &str| read.value(name)?.map(|_| read.count(name, 0)).transpose();
        let idle_seconds = match number("server-timeout")? {
            None => number("server-keepalive-timeout")?,
            given => given,
        };
        Ok(ServerSettings {
            is_wanted,
            is_serial: read.boolean("serial", false)?,
            listen,
            port,
            max_connections: number("server-maxconn")?,
            idle_seconds: idle_seconds.map(|seconds| seconds as u64),
            log: read.value("server-log")?.map(PathBuf::from),
        })
    }
}
