//! Checks of the addresses that may be connected to. Addresses are checked when the connection is
//! made, so that a name cannot resolve to another address after the check.

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Resolver of host names that returns only addresses of the public internet.
pub(super) struct PublicOnly;

/// Resolver of host names that returns all addresses except those from which machines in a cloud get their credentials.
pub(super) struct NoMetadata;

/// Error of a name whose addresses all are refused.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` leads to a private address")]
pub(super) struct NotPublic(pub(super) String);

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        resolve(name, is_public)
    }
}

impl Resolve for NoMetadata {
    fn resolve(&self, name: Name) -> Resolving {
        resolve(name, |address| !is_metadata(address))
    }
}

fn resolve(name: Name, is_allowed: fn(IpAddr) -> bool) -> Resolving {
    Box::pin(async move {
        let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
        let allowed: Vec<SocketAddr> = found.filter(|found| is_allowed(found.ip())).collect();
        match allowed.is_empty() {
            true => Err(NotPublic(name.as_str().to_owned()).into()),
            false => Ok(Box::new(allowed.into_iter()) as Addrs),
        }
    })
}

/// Returns `true` if machines in a cloud get their credentials from this address: all link-local
/// addresses, and the other addresses that providers use.
fn is_metadata(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_metadata_v4(address),
        IpAddr::V6(address) => match address.segments() {
            [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254] | [0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254] => true,
            [first, ..] if first & 0xffc0 == 0xfe80 => true,
            _ => hidden_v4(address).is_some_and(is_metadata_v4),
        },
    }
}

fn is_metadata_v4(address: Ipv4Addr) -> bool {
    let others = [[100, 100, 100, 200], [192, 0, 0, 192], [168, 63, 129, 16]];
    address.is_link_local() || others.contains(&address.octets())
}

/// Returns `true` if the address, and any IPv4 address embedded in it, belongs to the public
/// internet.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let reserved = matches!(
        (a, b, c),
        (0 | 10 | 127 | 224.., ..)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 168, _)
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (198, 18 | 19, _)
            | (198, 51, 100)
            | (203, 0, 113)
    );
    !reserved && !is_metadata_v4(address)
}

/// Returns the IPv4 address that is embedded in an IPv6 address: a mapped one, or one of NAT64 or 6to4; `None` for any
/// other IPv6 address.
fn hidden_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => {
            let [[a, b], [c, d]] = [high.to_be_bytes(), low.to_be_bytes()];
            Some(Ipv4Addr::new(a, b, c, d))
        }
        _ => None,
    }
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(hidden) = hidden_v4(address) {
        return is_public_v4(hidden);
    }
    match address.segments() {
        [0x2001, 0, ..] | [0x2001, 0xdb8, ..] | [0x64, 0xff9b, 1, ..] => false,
        // Of the rest, global unicast addresses begin with the bits 001.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::{is_metadata, is_public};

    #[test]
    fn what_is_public() {
        for public in [
            "1.1.1.1",
            "8.8.8.8",
            "172.15.0.1",
            "172.32.0.1",
            "100.63.0.1",
            "192.167.1.1",
            "223.255.255.1",
            "2606:4700::1111",
            "::ffff:1.1.1.1",
            "64:ff9b::101:101",
            "2002:101:101::1",
        ] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
        for private in [
            "127.0.0.1",
            "127.255.0.9",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.0.1",
            "169.254.169.254",
            "100.64.0.1",
            "192.0.0.8",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "192.0.2.1",
            "198.51.100.7",
            "203.0.113.9",
            "240.0.0.1",
            "::",
            "::1",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "2001:db8::1",
            "2001::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::1",
            "::127.0.0.1",
            "168.63.129.16",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
    }

    #[test]
    fn where_credentials_are_had() {
        for metadata in [
            "169.254.169.254",
            "169.254.170.2",
            "::ffff:169.254.169.254",
            "64:ff9b::a9fe:a9fe",
            "fd00:ec2::254",
            "fd20:ce::254",
            "fe80::1",
            "100.100.100.200",
            "192.0.0.192",
            "168.63.129.16",
        ] {
            let address = metadata.parse().unwrap();
            assert!(is_metadata(address) && !is_public(address), "{metadata}");
        }
        for other in ["127.0.0.1", "10.0.0.1", "::1", "fd00::1", "1.1.1.1"] {
            assert!(!is_metadata(other.parse().unwrap()), "{other}");
        }
    }
}
