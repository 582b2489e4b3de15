//! Parses server addresses: the forms that `OLLAMA_HOST` and [`Ollama::url`](crate::Ollama::url) may take.

use base64::{Engine, engine::general_purpose::STANDARD};
use http::{HeaderValue, Uri, uri::Authority};
use percent_encoding::percent_decode_str;
use std::fmt::{self, Display};

/// Default port of Ollama.
const PORT: u16 = 11434;

/// Maximum length of an address in bytes.
const MAX_LENGTH: usize = 4096;

/// The address of a server. `Display` omits its login and its query, which may be secrets.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    https: bool,
    /// Host name or IP address; an IPv6 address is in brackets.
    host: String,
    port: Option<u16>,
    /// Path prefix of a proxy: empty, or with a leading slash and no trailing one.
    path: String,
    /// Query: empty, or with its question mark.
    query: String,
    /// Value of `Authorization: Basic`, if the address had a user name or a password.
    pub(crate) login: Option<HeaderValue>,
}

/// Reads the address from `OLLAMA_HOST`; the default is this machine.
pub(crate) fn from_env() -> Result<Address, String> {
    match std::env::var("OLLAMA_HOST") {
        Ok(host) => parse(&host),
        Err(_) => parse(""),
    }
}

/// Parses an address as Ollama's own programs do: `host`, `host:port`, `:port` or `[v6]:port`. Each form may have a
/// scheme and a path. The default port is 11434 without a scheme, and the scheme's own with one. A listening address
/// (`0.0.0.0`, `[::]`) means this machine. A user name and a password may precede the host: `user:password@host`.
pub(crate) fn parse(text: &str) -> Result<Address, String> {
    let text = text.trim().trim_matches(['"', '\'']).trim();
    if text.len() > MAX_LENGTH {
        return Err(format!(
            "{} bytes are no address for Ollama: write `http://host:port`, or `host:port`",
            text.len()
        ));
    }
    let seen = without_login(text);
    let wrong = |why: &dyn Display| {
        format!(
            "`{seen}` is not an address of an Ollama server ({why}): write `http://host:port`, or `host:port`"
        )
    };
    let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
    if !matches!(scheme, "http" | "https") {
        return Err(wrong(&"its scheme is neither `http` nor `https`"));
    }
    let authority_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(authority_end);
    if path.contains('@') {
        return Err(wrong(
            &"in a user name or a password, `/` is written `%2F`, `?` is `%3F` and `#` is `%23`",
        ));
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
        "" => return Err(wrong(&"there is no host in it")),
        "0.0.0.0" => "127.0.0.1",
        "[::]" => "[::1]",
        host => host,
    };
    let port = match authority.as_str()[authority.host().len()..].strip_prefix(':') {
        Some(port) => Some(port.parse().map_err(|_| wrong(&"invalid port number"))?),
        None if text.contains("://") => None,
        None => Some(PORT),
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

/// Removes everything from an address that may be a user name or a password, even if the address is invalid.
fn without_login(text: &str) -> String {
    let Some((before, place)) = text.rsplit_once('@') else {
        return text.to_owned();
    };
    match before.split_once("://") {
        Some((scheme @ ("http" | "https"), _)) => format!("{scheme}://{place}"),
        _ => place.to_owned(),
    }
}

/// Encodes a user name and a password as the value of `Authorization: Basic`.
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
    pub(crate) fn is_https(&self) -> bool {
        self.https
    }

    /// Returns the URI of one of the server's endpoints, such as `api/chat`.
    pub(crate) fn endpoint(&self, function: &str) -> Uri {
        let endpoint = format!("{self}/{function}{}", self.query);
        endpoint.parse().expect("its parts have been read before")
    }

    /// Returns `true` if the server is on this machine, which is reached without a proxy.
    pub(crate) fn is_loopback(&self) -> bool {
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
    use super::*;

    #[test]
    fn every_form_of_ollama_host() {
        for (text, expect) in [
            ("", "http://127.0.0.1:11434"),
            ("  ", "http://127.0.0.1:11434"),
            ("localhost", "http://localhost:11434"),
            ("gpu-box", "http://gpu-box:11434"),
            ("gpu-box:8080", "http://gpu-box:8080"),
            ("gpu-box:80", "http://gpu-box"),
            (":8080", "http://127.0.0.1:8080"),
            ("\"10.0.0.7:11434\"", "http://10.0.0.7:11434"),
            ("0.0.0.0", "http://127.0.0.1:11434"),
            ("0.0.0.0:9000", "http://127.0.0.1:9000"),
            ("http://0.0.0.0:9000", "http://127.0.0.1:9000"),
            ("::1", "http://[::1]:11434"),
            ("[::1]", "http://[::1]:11434"),
            ("[::]:9000", "http://[::1]:9000"),
            ("http://gpu-box:8080", "http://gpu-box:8080"),
            ("http://gpu-box:8080/", "http://gpu-box:8080"),
            ("http://gpu-box", "http://gpu-box"),
            ("https://ollama.example.com", "https://ollama.example.com"),
            ("https://example.com/ollama/", "https://example.com/ollama"),
            ("gpu-box:8080/ollama", "http://gpu-box:8080/ollama"),
        ] {
            assert_eq!(
                parse(text).map(|address| address.to_string()),
                Ok(expect.to_owned()),
                "{text:?}"
            );
        }
    }

    #[test]
    fn errors_for_an_invalid_address() {
        assert_eq!(
            parse("ftp://gpu-box").unwrap_err(),
            "`ftp://gpu-box` is not an address of an Ollama server (its scheme is neither `http` nor `https`): write `http://host:port`, or `host:port`"
        );
        assert_eq!(
            parse("gpu-box:port").unwrap_err(),
            "`gpu-box:port` is not an address of an Ollama server (invalid port number): write `http://host:port`, or `host:port`"
        );
    }

    #[test]
    fn every_valid_address_has_endpoints() {
        let long = "x".repeat(70_000);
        assert_eq!(
            parse(&format!("gpu-box/{long}")).unwrap_err(),
            "70008 bytes are no address for Ollama: write `http://host:port`, or `host:port`"
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
                        let endpoint = address.endpoint("api/chat");
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
            let why = parse(text).unwrap_err();
            assert!(!why.contains("hunter2"), "{text}: {why}");
            assert!(
                why.contains("is not an address of an Ollama server"),
                "{why}"
            );
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
            assert_eq!(parse(text).unwrap().endpoint("api/chat"), expect, "{text}");
        }
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
