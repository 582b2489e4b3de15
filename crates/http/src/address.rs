//! Addresses of servers.

use crate::{TransportError, wording};
use base64::{Engine, engine::general_purpose::STANDARD};
use http::{HeaderValue, Uri, uri::Authority};
use percent_encoding::percent_decode_str;
use std::{
    error::Error,
    fmt::{self, Display},
};

/// Maximum length of a server's address in bytes. A longer text is refused.
const MAX_LENGTH: usize = 4096;

/// Address of a server. Its `Display` text omits the login and the query, which may be secrets.
///
/// ```
/// use agents_http::Address;
///
/// let address = Address::parse("https://me:hunter2@gpu.example.com/v1/", None)?;
/// assert_eq!(address.to_string(), "https://gpu.example.com/v1");
/// # Ok::<(), agents_http::AddressError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Address {
    https: bool,
    /// Host name or IP address; an IPv6 address is in brackets.
    host: String,
    port: Option<u16>,
    /// Path prefix of a proxy: empty, or with a leading slash and no trailing one.
    path: String,
    /// Query of the address: empty, or with its question mark.
    query: String,
    /// Value of `Authorization: Basic`, if the address had a user name or a password.
    login: Option<HeaderValue>,
}

/// Reason why a text is no address. The text is shown without a user name or a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressError {
    /// Text that is no address, without anything that may be a login; if the text is too long, its length instead.
    pub address: String,
    /// Reason why the text is no address, in words.
    pub why: String,
}

impl Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AddressError { address, why } = self;
        write!(f, "`{address}` is not the address of a server ({why})")
    }
}

impl Error for AddressError {}

/// Parses an address of the form `scheme://user:password@host:port/path?query`.
fn parse(text: &str, default_port: Option<u16>) -> Result<Address, AddressError> {
    let text = text.trim().trim_matches(['"', '\'']).trim();
    if text.len() > MAX_LENGTH {
        return Err(AddressError {
            address: format!("{} bytes", text.len()),
            why: wording::too_long(MAX_LENGTH),
        });
    }
    let wrong = |why: &dyn Display| AddressError {
        address: without_login(text),
        why: why.to_string(),
    };
    let (scheme, rest) = match (text.split_once("://"), default_port) {
        (Some(parts), _) => parts,
        (None, Some(_)) => ("http", text),
        (None, None) => return Err(wrong(&wording::NO_SCHEME)),
    };
    if !matches!(scheme, "http" | "https") {
        return Err(wrong(&wording::OTHER_SCHEME));
    }
    let authority_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(authority_end);
    if path.contains('@') {
        return Err(wrong(&wording::LOGIN_UNESCAPED));
    }
    let (login, host_port) = match authority.rsplit_once('@') {
        Some((login, host_port)) => (basic(login), host_port),
        None => (None, authority),
    };
    let authority = match host_port {
        "" if login.is_none() => "127.0.0.1".to_owned(),
        bare if is_bare_v6(bare) => format!("[{bare}]"),
        port if port.starts_with(':') && login.is_none() => format!("127.0.0.1{port}"),
        given => given.to_owned(),
    };
    let authority: Authority = authority.parse().map_err(|e| wrong(&e))?;
    let host = match authority.host() {
        "" => return Err(wrong(&wording::NO_HOST)),
        "0.0.0.0" => "127.0.0.1",
        "[::]" => "[::1]",
        host => host,
    };
    let port = match authority.as_str()[authority.host().len()..].strip_prefix(':') {
        Some(port) => Some(port.parse().map_err(|_| wrong(&wording::NO_PORT))?),
        None if text.contains("://") => None,
        None => default_port,
    };
    // The host before it makes an empty path valid.
    let path: Uri = format!("http://host{path}")
        .parse()
        .map_err(|e| wrong(&e))?;
    let https = scheme == "https";
    Ok(Address {
        https,
        host: host.to_owned(),
        port: port.filter(|port| *port != if https { 443 } else { 80 }),
        path: path.path().trim_end_matches('/').to_owned(),
        query: path
            .query()
            .map_or_else(String::new, |query| format!("?{query}")),
        login,
    })
}

/// Removes everything from an address that may be a user name or a password, so that an error can show it. The address
/// may be invalid.
fn without_login(text: &str) -> String {
    let Some((before, place)) = text.rsplit_once('@') else {
        return text.to_owned();
    };
    match before.split_once("://") {
        Some((scheme @ ("http" | "https"), _)) => format!("{scheme}://{place}"),
        _ => place.to_owned(),
    }
}

/// Encodes `user:password`, as an address has it, as the value of `Authorization: Basic`.
fn basic(login: &str) -> Option<HeaderValue> {
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    let mut login: Vec<u8> = percent_decode_str(user).collect();
    login.push(b':');
    login.extend(percent_decode_str(password));
    if login == b":" {
        return None;
    }
    let mut value = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(login))).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Returns `true` for an IPv6 address without brackets.
fn is_bare_v6(place: &str) -> bool {
    !place.starts_with('[') && place.parse::<std::net::Ipv6Addr>().is_ok()
}

impl Address {
    /// Parses `scheme://host:port/path`; a user name and a password may precede the host.
    ///
    /// With a `default_port`, the scheme may be left out: the server then speaks plain HTTP, at that port unless the
    /// text names one. A missing host is this machine, and so is a listening address (`0.0.0.0`, `[::]`).
    ///
    /// # Errors
    /// With the reason why the text is no address.
    pub fn parse(text: &str, default_port: Option<u16>) -> Result<Address, AddressError> {
        parse(text, default_port)
    }

    /// Returns the value of `Authorization: Basic`, if the address had a user name or a password.
    pub(crate) fn login(&self) -> Option<&HeaderValue> {
        self.login.as_ref()
    }

    pub(crate) fn is_https(&self) -> bool {
        self.https
    }

    /// Returns the URI of one of the server's endpoints, such as `api/chat`. The endpoint may have a query of its own,
    /// to which that of the address is added.
    pub(crate) fn endpoint(&self, path: &str) -> Result<Uri, TransportError> {
        let query = match path.contains('?') {
            true => self.query.replacen('?', "&", 1),
            false => self.query.clone(),
        };
        let endpoint = format!("{self}/{path}{query}");
        endpoint
            .parse()
            .map_err(|why| TransportError::Setup(wording::no_path(path, &why)))
    }

    /// Returns `true` if the server is on this machine, which is reached without a proxy.
    pub fn is_loopback(&self) -> bool {
        let bare = self.host.trim_start_matches('[').trim_end_matches(']');
        bare.eq_ignore_ascii_case("localhost")
            || bare
                .parse::<std::net::IpAddr>()
                .is_ok_and(|ip| ip.is_loopback())
    }
}

/// Shows the address without a user name, a password or a query.
impl Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.https { "https" } else { "http" };
        write!(f, "{scheme}://{}", self.host)?;
        if let Some(port) = self.port {
            write!(f, ":{port}")?;
        }
        f.write_str(&self.path)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn parse(text: &str) -> Result<Address, AddressError> {
        Address::parse(text, Some(11434))
    }
    #[test]
    fn errors_for_an_invalid_address() {
        for (text, why) in [
            ("ftp://gpu-box", "its scheme is neither `http` nor `https`"),
            ("gpu-box:port", "invalid port number"),
        ] {
            let expect = format!("`{text}` is not the address of a server ({why})");
            assert_eq!(parse(text).unwrap_err().to_string(), expect);
        }
        let without_scheme = Address::parse("api.example.com/v1", None);
        assert_eq!(
            without_scheme.unwrap_err().to_string(),
            "`api.example.com/v1` is not the address of a server (it begins with neither `http://` nor `https://`)"
        );
    }

    #[test]
    fn every_valid_address_has_endpoints() {
        let long = "x".repeat(70_000);
        assert_eq!(
            parse(&format!("gpu-box/{long}")).unwrap_err().to_string(),
            "`70008 bytes` is not the address of a server (an address has at most 4096 bytes)"
        );
        let pieces = [
            "http://", "https://", "a", "[::1]", "::1", ":", ":80", "/", "//", "?", "#", "@", "%",
            "%2F", "*", " ", "ü", "\n", "..", "[", "]", "x=1&y",
        ];
        let mut read = 0;
        for a in pieces {
            for b in pieces {
                for c in pieces {
                    for d in ["", "h", "/p", "?q"] {
                        let Ok(address) = parse(&format!("{a}{b}{c}{d}")) else {
                            continue;
                        };
                        let endpoint = address.endpoint("api/chat").unwrap();
                        assert!(endpoint.path().ends_with("/api/chat"), "{endpoint}");
                        read += 1;
                    }
                }
            }
        }
        assert!(read > 1_000, "{read}");
    }

    #[test]
    fn a_password_in_the_address_is_not_shown() {
        let address = parse("http://me:hunter2@gpu-box:8080/?key=hunter2").unwrap();
        assert_eq!(address.to_string(), "http://gpu-box:8080");
        assert!(!format!("{address:?}").contains("bWU6"));
        for text in [
            "http://me:hunter2@gpu-box:port",
            "me:hunter2@gpu-box:port",
            "ftp://me:hunter2@gpu-box",
            "me:hunter2://x@gpu-box",
            "hunter2://x@gpu-box",
            "http://me:hunter2/x@gpu-box",
            "http://me:1/hunter2@gpu-box",
            "http://me:1?hunter2@gpu-box",
            "http://me:1#hunter2@gpu-box",
            "http://me:hunter2@",
            "http://me:a@hunter2@gpu-box:port",
        ] {
            let why = parse(text).unwrap_err().to_string();
            assert!(!why.contains("hunter2"), "{text}: {why}");
            assert!(why.contains("is not the address of a server"), "{why}");
        }
    }

    #[test]
    fn a_login_is_lifted_out_of_the_address() {
        let lifted = |text: &str| {
            let address = parse(text).unwrap();
            let login = address.login.as_ref().map(|value| {
                assert!(value.is_sensitive());
                value.to_str().unwrap().to_owned()
            });
            (address.to_string(), login)
        };
        for (text, login) in [
            ("http://gpu-box:8080", None),
            (
                "http://me:hunter2@gpu-box:8080",
                Some("Basic bWU6aHVudGVyMg=="),
            ),
            ("me:hunter2@gpu-box:8080", Some("Basic bWU6aHVudGVyMg==")),
            ("me@gpu-box:8080", Some("Basic bWU6")),
            (":hunter2@gpu-box:8080", Some("Basic Omh1bnRlcjI=")),
            (
                "http://m%40e:a%2Fb@gpu-box:8080",
                Some("Basic bUBlOmEvYg=="),
            ),
        ] {
            let expect = ("http://gpu-box:8080".to_owned(), login.map(str::to_owned));
            assert_eq!(lifted(text), expect, "{text}");
        }
    }

    #[test]
    fn endpoints_keep_the_path_of_a_proxy() {
        for (text, expect) in [
            (
                "https://example.com/ollama",
                "https://example.com/ollama/api/chat",
            ),
            (
                "https://example.com/a/b/?key=1",
                "https://example.com/a/b/api/chat?key=1",
            ),
            (
                "https://example.com?key=1",
                "https://example.com/api/chat?key=1",
            ),
            ("", "http://127.0.0.1:11434/api/chat"),
            ("::1", "http://[::1]:11434/api/chat"),
        ] {
            assert_eq!(
                parse(text).unwrap().endpoint("api/chat").unwrap(),
                expect,
                "{text}"
            );
        }
    }

    #[test]
    fn an_endpoint_may_have_a_query_of_its_own() {
        let address = parse("https://example.com/v1?key=1").unwrap();
        let endpoint = address.endpoint("models/m:stream?alt=sse").unwrap();
        assert_eq!(
            endpoint,
            "https://example.com/v1/models/m:stream?alt=sse&key=1"
        );
        assert!(address.endpoint("models/a b").is_err());
    }

    #[test]
    fn loopback_addresses() {
        for (text, expect) in [
            ("localhost", true),
            ("127.0.0.2:1", true),
            ("[::1]", true),
            ("gpu-box", false),
        ] {
            assert_eq!(parse(text).unwrap().is_loopback(), expect, "{text}");
        }
    }
}
