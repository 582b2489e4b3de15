use super::wording;
use reqwest::Url;
use std::fmt;

/// Pattern of hosts to which the HTTP tool may send requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    host: Host,
    /// Only port that is allowed; `None` stands for the default port of the scheme.
    port: Option<u16>,
    /// Is `true` if plain HTTP is allowed for the host.
    clear: bool,
    /// Is `true` if the host may lead to this machine or its own network.
    private: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Host {
    Any,
    /// A single host, in the spelling that URLs have.
    Is(String),
    /// All hosts below a domain: the text after the star, the dot included.
    Below(String),
}

impl Pattern {
    pub(super) fn any() -> Self {
        Pattern {
            host: Host::Any,
            port: None,
            clear: false,
            private: false,
        }
    }

    /// Reads a pattern of hosts: `host` or `*.host`, with or without a port, with or without `http://` before it. The
    /// error says why the text is no pattern.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        let (clear, named) = match text.strip_prefix("http://") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (below, rest) = match named.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, named),
        };
        if rest.is_empty() || rest.contains(['/', '*', '@', '?', '#', '\\']) {
            return Err(wording::HOW_HOSTS_ARE_WRITTEN);
        }
        // The URL parser normalises the host, so that both sides of a comparison have the same
        // spelling.
        let url = Url::parse(&format!("http://{rest}/")).map_err(|_| wording::HOST_UNREADABLE)?;
        let host = normal(url.host_str().unwrap_or_default());
        let port = match rest.rsplit_once(':') {
            Some((_, port)) if !rest.ends_with(']') => {
                Some(port.parse().map_err(|_| wording::PORT_UNREADABLE)?)
            }
            _ => None,
        };
        let host = match below {
            true => Host::Below(format!(".{host}")),
            false => Host::Is(host),
        };
        Ok(Pattern {
            host,
            port,
            clear,
            private: false,
        })
    }

    /// Returns the pattern for hosts that may be on this machine or its network, where plain HTTP is allowed too.
    pub(super) fn private(self) -> Self {
        Pattern {
            clear: true,
            private: true,
            ..self
        }
    }

    pub(super) fn is_clear(&self) -> bool {
        self.clear
    }

    pub(super) fn is_private(&self) -> bool {
        self.private
    }

    /// Returns `true` if the pattern matches the URL's host and port; the scheme is not compared.
    pub(super) fn names(&self, url: &Url) -> bool {
        let host = normal(url.host_str().unwrap_or_default());
        let port = match self.port {
            Some(port) => url.port_or_known_default() == Some(port),
            // A URL leaves out the default port of its scheme.
            None => url.port().is_none(),
        };
        port && match &self.host {
            Host::Any => true,
            Host::Is(this) => host == *this,
            Host::Below(end) => host.len() > end.len() && host.ends_with(end.as_str()),
        }
    }
}

/// Returns the host in lower case, without the dot that may end a name.
fn normal(host: &str) -> String {
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.clear {
            f.write_str("http://")?;
        }
        match &self.host {
            Host::Any => f.write_str("any"),
            Host::Is(host) => f.write_str(host),
            Host::Below(end) => write!(f, "*{end}"),
        }?;
        match self.port {
            Some(port) => write!(f, ":{port}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;
    use reqwest::Url;

    #[test]
    fn what_a_pattern_names() {
        for (pattern, url, allowed) in [
            ("example.com", "https://example.com/a", true),
            ("example.com", "http://EXAMPLE.com./a", true),
            ("Example.COM", "https://example.com", true),
            ("example.com", "https://www.example.com", false),
            ("example.com", "https://example.com.evil.org", false),
            ("example.com", "https://evil.org/example.com", false),
            ("example.com", "https://example.com@evil.org/", false),
            ("example.com", "https://example.com:8443", false),
            ("example.com:8443", "https://example.com:8443", true),
            ("example.com:8443", "https://example.com", false),
            ("example.com:443", "https://example.com", true),
            ("example.com:443", "http://example.com", false),
            ("*.example.com", "https://a.b.example.com", true),
            ("*.example.com", "https://example.com", false),
            ("*.example.com", "https://notexample.com", false),
            ("bücher.example", "https://xn--bcher-kva.example", true),
            ("127.0.0.1:80", "http://0x7f.1/", true),
            ("[::1]:9", "http://[0:0::1]:9/", true),
            ("[::1]", "http://[::1]/", true),
            ("http://example.com", "https://example.com/", true),
            ("http://*.example.com:81", "http://a.example.com:81/", true),
        ] {
            let parsed = Pattern::parse(pattern).unwrap();
            let url = Url::parse(url).unwrap();
            assert_eq!(parsed.names(&url), allowed, "{pattern} {url}");
            assert_eq!(parsed.is_clear(), pattern.starts_with("http://"));
        }
    }

    #[test]
    fn what_is_no_pattern() {
        for text in [
            "",
            "*",
            "*.",
            "https://example.com",
            "a.com/b",
            "a*.com",
            "u@a.com",
            "a.com:x",
        ] {
            assert!(Pattern::parse(text).is_err(), "{text}");
        }
    }
}
