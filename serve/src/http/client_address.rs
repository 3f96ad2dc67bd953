//! Address of the client: the address of the connection, or the one that a trusted proxy names.

use std::net::{IpAddr, SocketAddr};

use hyper::HeaderMap;
use hyper::header::HeaderName;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The origin of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    /// Its address; `None` for a socket in the file system, which only proxies use.
    pub address: Option<IpAddr>,
    /// Whether the connection is to the address that serves only measurements and health.
    pub is_for_metrics: bool,
}

/// Addresses with a number of leading bits in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u32,
}

impl Network {
    fn contains(self, other: IpAddr) -> bool {
        match (self.address, other.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                self.is_prefix(u32::from(own).into(), u32::from(other).into(), 32)
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => self.is_prefix(own.into(), other.into(), 128),
            _ => false,
        }
    }

    /// Whether the leading bits of two addresses of `width` bits are the same.
    fn is_prefix(self, own: u128, other: u128, width: u32) -> bool {
        let rest = width - self.bits;
        rest == width || own >> rest == other >> rest
    }
}

impl std::str::FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text}: give an address or a network, as 10.0.0.0/8");
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let width = if address.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            Some(bits) => bits.parse().ok().filter(|&bits| bits <= width).ok_or_else(wrong)?,
            None => width,
        };
        Ok(Network { address, bits })
    }
}

/// Returns the address of the client of a request. It is that of the connection. If the connection
/// comes from a proxy (an address in `trusted`, or a socket in the file system), it is the last
/// forwarded address that does not belong to such a proxy. Clients of IPv4 have an address of IPv4
/// even where a socket for IPv6 accepts them.
pub fn client_address(peer: Peer, headers: &HeaderMap, trusted: &[Network]) -> Option<IpAddr> {
    let is_trusted = |address: IpAddr| trusted.iter().any(|network| network.contains(address));
    let own = peer.address.map(|address| address.to_canonical());
    if !own.is_none_or(is_trusted) {
        return own;
    }
    let values = headers.get_all(FORWARDED_FOR).iter().filter_map(|value| value.to_str().ok());
    let addresses: Vec<&str> = values.flat_map(|value| value.split(',')).map(str::trim).collect();
    let mut client = own;
    for address in addresses.into_iter().rev() {
        // An invalid address was written by the client, so only the proxy after it is known.
        let Some(address) = parse_forwarded(address) else { break };
        client = Some(address);
        if !is_trusted(address) {
            break;
        }
    }
    client
}

/// Parses a forwarded address. Some proxies add the port, or put brackets around IPv6.
fn parse_forwarded(text: &str) -> Option<IpAddr> {
    let in_brackets = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let address = match (text.parse::<SocketAddr>(), in_brackets) {
        (Ok(with_port), _) => with_port.ip(),
        (Err(_), Some(inside)) => IpAddr::V6(inside.parse().ok()?),
        (Err(_), None) => text.parse().ok()?,
    };
    Some(address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(peer: Option<&str>, forwarded: &[&str], trusted: &[&str]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append(FORWARDED_FOR, value.parse().unwrap());
        }
        let trusted: Vec<Network> = trusted.iter().map(|text| text.parse().unwrap()).collect();
        let address = peer.map(|text| text.parse().unwrap());
        let peer = Peer { address, is_for_metrics: false };
        client_address(peer, &headers, &trusted).map(|address| address.to_string())
    }

    #[test]
    fn only_trusted_proxies_name_the_client() {
        let own = Some("10.1.2.3");
        let of = |text: &str| Some(text.to_owned());
        assert_eq!(client(own, &["1.2.3.4"], &[]), of("10.1.2.3"));
        assert_eq!(client(own, &["1.2.3.4"], &["10.0.0.0/8"]), of("1.2.3.4"));
        assert_eq!(client(own, &["6.6.6.6, 1.2.3.4"], &["10.1.2.3"]), of("1.2.3.4"));
        // Two proxies in a row; what the client wrote itself is before them.
        let trusted = ["10.0.0.0/8", "fd00::/8"];
        assert_eq!(client(own, &["6.6.6.6, 1.2.3.4", "10.9.9.9"], &trusted), of("1.2.3.4"));
        assert_eq!(client(own, &["unknown"], &trusted), of("10.1.2.3"));
        assert_eq!(client(Some("fd12::1"), &["2001:db8::7"], &trusted), of("2001:db8::7"));
        assert_eq!(client(Some("::ffff:10.1.2.3"), &["1.2.3.4"], &trusted), of("1.2.3.4"));
        assert_eq!(client(Some("11.1.2.3"), &["1.2.3.4"], &trusted), of("11.1.2.3"));
        // Sockets for IPv6 accept IPv4 too, and some proxies add ports.
        assert_eq!(client(Some("::ffff:11.1.2.3"), &[], &trusted), of("11.1.2.3"));
        assert_eq!(client(own, &["::ffff:1.2.3.4"], &trusted), of("1.2.3.4"));
        assert_eq!(client(own, &["6.6.6.6, 1.2.3.4:5678"], &trusted), of("1.2.3.4"));
        assert_eq!(client(own, &["[2001:db8::7]:80, 10.0.0.1:9"], &trusted), of("2001:db8::7"));
        assert_eq!(client(own, &["[2001:db8::7]"], &trusted), of("2001:db8::7"));
        assert_eq!(client(own, &["1.2.3.4, [1.2.3.4]"], &trusted), of("10.1.2.3"));
        // Connections to a socket in the file system come from a proxy.
        assert_eq!(client(None, &["1.2.3.4"], &[]), of("1.2.3.4"));
        assert_eq!(client(None, &[], &[]), None);
    }

    #[test]
    fn networks_are_checked() {
        for wrong in ["", "10.0.0", "10.0.0.0/33", "::1/129", "10.0.0.0/x", "localhost"] {
            assert!(wrong.parse::<Network>().is_err(), "{wrong}");
        }
        let all: Network = "0.0.0.0/0".parse().unwrap();
        assert!(all.contains("8.8.8.8".parse().unwrap()));
        assert!(!all.contains("::1".parse().unwrap()));
    }
}
