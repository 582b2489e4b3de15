//! Where Ollama is: the forms that `OLLAMA_HOST` and [`Ollama::url`](crate::Ollama::url) may take.

use reqwest::Url;

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
/// it is the scheme's. An address to listen on (`0.0.0.0`, `[::]`) means this machine.
pub(crate) fn parse(text: &str) -> Result<Url, String> {
    let text = text.trim().trim_matches(['"', '\'']).trim();
    let wrong = |why: &dyn std::fmt::Display| {
        format!(
            "`{text}` is no address for Ollama ({why}): write `http://host:port`, or `host:port`"
        )
    };
    let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
    if !matches!(scheme, "http" | "https") {
        return Err(wrong(&format_args!("scheme `{scheme}`")));
    }
    let (place, path) = rest.split_once('/').unwrap_or((rest, ""));
    let place = match place {
        "" => "127.0.0.1".to_owned(),
        bare if is_bare_v6(bare) => format!("[{bare}]"),
        port if port.starts_with(':') => format!("127.0.0.1{port}"),
        given => given.to_owned(),
    };
    let path = path.trim_end_matches('/');
    let mut url = Url::parse(&format!("{scheme}://{place}/{path}")).map_err(|e| wrong(&e))?;

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
            "`ftp://gpu-box` is no address for Ollama (scheme `ftp`): write `http://host:port`, or `host:port`"
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
