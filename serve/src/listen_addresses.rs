//! Addresses that a server listens on, compared with each other before a socket is opened.

use std::net::{SocketAddr, ToSocketAddrs};

use crate::{Error, Result};

/// The resolved addresses of a server.
pub(crate) struct ListenAddresses(Vec<SocketAddr>);

impl ListenAddresses {
    /// Resolves addresses, each after the option that gives it. `inherited` are the addresses of
    /// sockets that are open already.
    ///
    /// # Errors
    /// If one is invalid, or no socket can be opened at it beside the earlier ones.
    pub fn resolve<'n>(
        names: impl IntoIterator<Item = (&'static str, &'n str)>,
        inherited: impl IntoIterator<Item = SocketAddr>,
    ) -> Result<Self> {
        let mut taken: Vec<(&str, SocketAddr)> = Vec::new();
        for (option, name) in names {
            check_form(option, name)?;
            let place = format!("{option} {name}");
            let found = name.to_socket_addrs().map_err(|error| Error::system(place, error))?;
            let mut conflict = None;
            let mut free = None;
            for address in found {
                match taken.iter().find(|(_, other)| overlap(address, *other)) {
                    Some((other, _)) => conflict = conflict.or(Some(*other)),
                    None => free = free.or(Some(address)),
                }
            }
            match (free, conflict) {
                (Some(address), _) => taken.push((name, address)),
                (None, Some(other)) => {
                    let reason = format!(
                        "{name} is listened to already, as {other}; leave one out, or give it \
                         another port"
                    );
                    return Err(Error::Usage { reason });
                }
                // A name without an address is reported when it is opened.
                (None, None) => {}
            }
        }
        let named = taken.into_iter().map(|(_, address)| address);
        Ok(ListenAddresses(named.chain(inherited).collect()))
    }

    /// Whether the socket at `address` is for IPv6 alone because `0.0.0.0` serves IPv4 at the same
    /// port. Otherwise `[::]` serves both.
    pub fn is_only_v6(&self, address: SocketAddr) -> bool {
        let serves_v4 = |other: &SocketAddr| {
            other.is_ipv4() && other.ip().is_unspecified() && other.port() == address.port()
        };
        let is_all_v6 = address.is_ipv6() && address.ip().is_unspecified();
        is_all_v6 && address.port() != 0 && self.0.iter().any(serves_v4)
    }
}

/// Checks that an address has a host and a port.
fn check_form(option: &str, name: &str) -> Result<()> {
    fn is_host(host: &str) -> bool {
        !host.is_empty() && !host.contains(['*', '/', '@']) && !host.contains(char::is_whitespace)
    }
    let parts = name.rsplit_once(':');
    if parts.is_some_and(|(host, port)| is_host(host) && port.parse::<u16>().is_ok()) {
        return Ok(());
    }
    let reason = format!(
        "{option} {name}: give ADDRESS:PORT, such as 127.0.0.1:8080, or 0.0.0.0:8080 for all \
         addresses of this machine"
    );
    Err(Error::Usage { reason })
}

/// Whether two sockets cannot listen at these addresses. Port 0 means any free port.
/// `[::]` overlaps with a single IPv4 address: if it left IPv4 out, other IPv4 clients could not
/// connect.
fn overlap(one: SocketAddr, other: SocketAddr) -> bool {
    if one.port() != other.port() || one.port() == 0 {
        return false;
    }
    let [one_is_all, other_is_all] = [one, other].map(|address| address.ip().is_unspecified());
    match (one.is_ipv6(), other.is_ipv6()) {
        (true, false) => one_is_all && !other_is_all,
        (false, true) => other_is_all && !one_is_all,
        _ => one_is_all || other_is_all || one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(names: &[&str]) -> Result<ListenAddresses> {
        ListenAddresses::resolve(names.iter().map(|name| ("--listen", *name)), [])
    }

    #[test]
    fn an_address_is_listened_to_once() {
        for good in [
            &["0.0.0.0:80", "[::]:80"][..],
            &["127.0.0.1:80", "127.0.0.2:80", "[::1]:80", "127.0.0.1:81"],
            &["127.0.0.1:0", "127.0.0.1:0"],
        ] {
            assert!(resolve(good).is_ok(), "{good:?}");
        }
        for wrong in [
            &["127.0.0.1:80", "127.0.0.1:80"],
            &["0.0.0.0:80", "127.0.0.1:80"],
            &["[::1]:80", "[::]:80"],
            &["[::]:80", "127.0.0.1:80"],
            &["127.0.0.1:80", "[::]:80"],
        ] {
            let error = resolve(wrong).err().unwrap().to_string();
            assert!(error.contains(wrong[0]) && error.contains(wrong[1]), "{error}");
        }
    }

    #[test]
    fn an_address_in_another_form_is_named_with_its_option() {
        for wrong in [
            "9399",
            ":9399",
            "*:9399",
            " 127.0.0.1:9399",
            "http://127.0.0.1:9399",
            "localhost",
            "127.0.0.1:http",
            "127.0.0.1:70000",
            "",
        ] {
            let error = resolve(&[wrong]).err().unwrap().to_string();
            assert!(error.starts_with(&format!("--listen {wrong}: give ADDRESS:PORT")), "{error}");
        }
    }

    #[test]
    fn both_families_may_have_one_port() {
        let only_v6 = |names: &[&str], address: &str| {
            resolve(names).unwrap().is_only_v6(address.parse().unwrap())
        };
        assert!(only_v6(&["0.0.0.0:80", "[::]:80"], "[::]:80"));
        assert!(!only_v6(&["[::]:80", "0.0.0.0:81"], "[::]:80"));
        assert!(!only_v6(&["[::]:0", "0.0.0.0:0"], "[::]:0"));
        assert!(!only_v6(&["[::1]:80", "0.0.0.0:80"], "[::1]:80"));
        let inherited = ["0.0.0.0:80".parse::<SocketAddr>().unwrap()];
        let addresses = ListenAddresses::resolve([("--listen", "[::]:80")], inherited).unwrap();
        assert!(addresses.is_only_v6("[::]:80".parse().unwrap()));
    }
}
