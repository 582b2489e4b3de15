//! The scripted server, and a client of it.

pub(crate) use agents_http::testing::{Answer, Seen, Server, Step};

/// Server that a client of Ollama can ask.
pub(crate) trait Asked {
    /// Returns a client of this server for the model `m`.
    fn model(&self) -> agents_ollama::Ollama;
}

impl Asked for Server {
    fn model(&self) -> agents_ollama::Ollama {
        agents_ollama::ollama("m").url(&self.url)
    }
}
