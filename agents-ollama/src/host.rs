//! Where Ollama is: the forms that `OLLAMA_HOST` and [`Ollama::url`](crate::Ollama::url) may take.

use base64::{Engine, engine::general_purpose::STANDARD};
use percent_encoding::percent_decode_str;
use reqwest::{Url, header::HeaderValue};

/// The port Ollama listens on when nobody says otherwise.
const PORT: u16 = 11434;

/// The address in the environment, or this machine.
pub(crate) fn from_env() -> Result<Url, String> {
    match std::env::var("OLLAMA_HOST") {
        Ok(host) => parse(&host),
        Err(_) => parse(""),
    }
}

/// Reads an address as Ollama's own programs do: `host`, `host:port`, `:port`, `[v6]:port`, each
/// with or without a scheme and a path. Without a scheme the port is 11434 unless given; with one
/// it is the scheme's. An address to listen on (`0.0.0.0`, `[::]`) means this machine. A user name and
/// a password may stand before the host: `user:password@host`.
pub(crate) fn parse(text: &str) -> Result<Url, String> {
    let text = text.trim().trim_matches(['"', '\'']).trim();
    let seen = without_login(text);
    let wrong = |why: &dyn std::fmt::Display| {
        format!(
            "`{seen}` is no address for Ollama ({why}): write `http://host:port`, or `host:port`"
        )
    };
    let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
    if !matches!(scheme, "http" | "https") {
        return Err(wrong(&"its scheme is neither `http` nor `https`"));
    }
    let (place, path) = rest.split_once('/').unwrap_or((rest, ""));
    let place = match place {
        "" => "127.0.0.1".to_owned(),
        bare if is_bare_v6(bare) => format!("[{bare}]"),
        port if port.starts_with(':') && !port.contains('@') => format!("127.0.0.1{port}"),
        given => given.to_owned(),
    };
    let path = path.trim_end_matches('/');
    let mut url = Url::parse(&format!("{scheme}://{place}/{path}")).map_err(|e| wrong(&e))?;
    if text.contains('@') && !has_login(&url) {
        return Err(wrong(
            &"in a user name or a password, `/` is written `%2F`, `?` is `%3F` and `#` is `%23`",
        ));
    }

    let here = match url.host_str() {
        Some("0.0.0.0") => Some("127.0.0.1"),
        Some("[::]") => Some("[::1]"),
        _ => None,
    };
    if here.is_some() {
        url.set_host(here).map_err(|e| wrong(&e))?;
    }
    if !text.contains("://") && url.port().is_none() && !place.ends_with(":80") {
        url.set_port(Some(PORT))
            .map_err(|()| wrong(&"no port possible"))?;
    }
    Ok(url)
}

/// The text without all that may be a user name or a password, however it is written.
fn without_login(text: &str) -> String {
    let Some((before, place)) = text.rsplit_once('@') else {
        return text.to_owned();
    };
    match before.split_once("://") {
        Some((scheme @ ("http" | "https"), _)) => format!("{scheme}://{place}"),
        _ => place.to_owned(),
    }
}

fn has_login(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

/// The address alone, and its user name and password as the header that carries them.
pub(crate) fn lift_login(base: &Url) -> (Url, Option<HeaderValue>) {
    let mut url = base.clone();
    // What has no host has no login either.
    let _ = url.set_username("").and_then(|()| url.set_password(None));
    let login = has_login(base).then(|| {
        let mut login: Vec<u8> = percent_decode_str(base.username()).collect();
        login.push(b':');
        login.extend(percent_decode_str(base.password().unwrap_or_default()));
        let mut value = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(login))).ok()?;
        value.set_sensitive(true);
        Some(value)
    });
    (url, login.flatten())
}

/// Several colons without brackets: an IPv6 address on its own.
fn is_bare_v6(place: &str) -> bool {
    !place.starts_with('[') && place.parse::<std::net::Ipv6Addr>().is_ok()
}

/// The address of one of the server's functions, keeping a path that a proxy may have added.
pub(crate) fn endpoint(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_path(&format!("{}/{path}", base.path().trim_end_matches('/')));
    url
}

/// The address as people may see it: without a user name or password.
pub(crate) fn shown(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let path = url.path().trim_end_matches('/');
    match url.port() {
        Some(port) => format!("{}://{host}:{port}{path}", url.scheme()),
        None => format!("{}://{host}{path}", url.scheme()),
    }
}

/// Whether the server is on this machine, where no proxy has a place.
pub(crate) fn is_loopback(url: &Url) -> bool {
    url.host_str().is_some_and(|host| {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        host.eq_ignore_ascii_case("localhost")
            || bare
                .parse::<std::net::IpAddr>()
                .is_ok_and(|ip| ip.is_loopback())
    })
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
                parse(text).map(|url| shown(&url)),
                Ok(expect.to_owned()),
                "{text:?}"
            );
        }
    }

    #[test]
    fn an_address_that_is_none_says_what_to_write() {
        assert_eq!(
            parse("ftp://gpu-box").unwrap_err(),
            "`ftp://gpu-box` is no address for Ollama (its scheme is neither `http` nor `https`): write `http://host:port`, or `host:port`"
        );
        assert_eq!(
            parse("gpu-box:port").unwrap_err(),
            "`gpu-box:port` is no address for Ollama (invalid port number): write `http://host:port`, or `host:port`"
        );
    }

    #[test]
    fn a_password_in_the_address_is_not_shown() {
        let url = parse("http://me:hunter2@gpu-box:8080").unwrap();
        assert_eq!(shown(&url), "http://gpu-box:8080");
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
            assert!(why.contains("is no address for Ollama"), "{why}");
        }
    }

    #[test]
    fn a_login_is_lifted_out_of_the_address() {
        let lifted = |text: &str| {
            let (url, login) = lift_login(&parse(text).unwrap());
            let login = login.map(|value| {
                assert!(value.is_sensitive());
                value.to_str().unwrap().to_owned()
            });
            (url.to_string(), login)
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
            let expect = ("http://gpu-box:8080/".to_owned(), login.map(str::to_owned));
            assert_eq!(lifted(text), expect, "{text}");
        }
    }

    #[test]
    fn endpoints_keep_the_path_of_a_proxy() {
        let url = parse("https://example.com/ollama").unwrap();
        assert_eq!(
            endpoint(&url, "api/chat").as_str(),
            "https://example.com/ollama/api/chat"
        );
        let url = parse("").unwrap();
        assert_eq!(
            endpoint(&url, "api/chat").as_str(),
            "http://127.0.0.1:11434/api/chat"
        );
    }

    #[test]
    fn loopback_is_known() {
        for (text, expect) in [
            ("localhost", true),
            ("127.0.0.2:1", true),
            ("[::1]", true),
            ("gpu-box", false),
        ] {
            assert_eq!(is_loopback(&parse(text).unwrap()), expect, "{text}");
        }
    }
}
