//! Addresses of Ollama servers: the forms that `OLLAMA_HOST` and [`Ollama::url`](crate::Ollama::url) may take.

use agents_http::Address;

/// Port on which Ollama listens by default.
const PORT: u16 = 11434;

/// Reads the address from `OLLAMA_HOST`; the default is this machine.
pub(crate) fn from_env() -> Result<Address, String> {
    match std::env::var("OLLAMA_HOST") {
        Ok(host) => parse(&host),
        Err(_) => parse(""),
    }
}

/// Parses an address as Ollama's own programs do: `host`, `host:port`, `:port` or `[v6]:port`. Each form may have a
/// scheme and a path. The default port is 11434 without a scheme, and the scheme's own with one.
pub(crate) fn parse(text: &str) -> Result<Address, String> {
    Address::parse(text, Some(PORT)).map_err(|error| {
        let (address, why) = (error.address, error.why);
        format!(
            "`{address}` is not an address of an Ollama server ({why}): write `http://host:port`, or `host:port`"
        )
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

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
}
