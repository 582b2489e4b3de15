//! Converts failures into a [`ModelError`] that says what to do.

use crate::{answer::AnswerError, wire::error_text};
use agents_core::model::{ContextOverflow, ModelError, ModelErrorKind as Kind};
use agents_http::{
    Hidden, TransportError, excerpt,
    http::{Response, StatusCode, header::LOCATION},
    retry_after,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::time::Duration;

/// The client's settings that error messages name, and the secrets that they hide.
pub(crate) struct ErrorContext<'a> {
    pub(crate) model: &'a str,
    pub(crate) server: &'a str,
    /// Path of the request, such as `api/chat`.
    pub(crate) path: &'static str,
    pub(crate) hidden: Hidden<'a>,
    /// Window that the request asks for.
    pub(crate) window: Option<u32>,
    /// Id by which a proxy in front of Ollama knows the request, once it has sent one.
    pub(crate) request_id: Option<String>,
}

/// The head of a response whose status is not 200.
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    /// Address to which the server redirected the request, if it did.
    redirect: Option<String>,
    /// Time that the server asks clients to wait.
    retry_after: Option<Duration>,
}

impl Refusal {
    pub(crate) fn of<B>(response: &Response<B>) -> Self {
        let redirect = response.headers().get(LOCATION);
        let redirect = redirect.and_then(|target| target.to_str().ok());
        Refusal {
            status: response.status(),
            redirect: redirect.map(str::to_owned),
            retry_after: retry_after(response.headers()),
        }
    }

    /// Returns the error message in a response's body, if there is one.
    pub(crate) fn said(body: &[u8]) -> Option<String> {
        #[derive(Deserialize)]
        struct Said<'a> {
            #[serde(borrow)]
            error: &'a RawValue,
        }
        let said: Said<'_> = serde_json::from_slice(body).ok()?;
        Some(error_text(said.error))
    }
}

impl ErrorContext<'_> {
    fn error(&self, kind: Kind, message: impl AsRef<str>) -> ModelError {
        let message = self.hidden.in_text(message.as_ref());
        self.of_request(ModelError::new(kind, message))
    }

    fn of_request(&self, error: ModelError) -> ModelError {
        match &self.request_id {
            Some(id) => error.with_request_id(id),
            None => error,
        }
    }

    /// Returns the error for a failure of the connection to the server.
    pub(crate) fn transport(&self, failure: &TransportError) -> ModelError {
        let ErrorContext { server, .. } = self;
        match failure {
            TransportError::Connect(why) => self.error(
                Kind::Unreachable,
                format!(
                    "no server answers at {server} ({why}): start Ollama with `ollama serve`, or say where it is with \
                     the environment variable OLLAMA_HOST or `.url(..)`"
                ),
            ),
            TransportError::Interrupted(why) => self.error(
                Kind::Interrupted,
                format!("{server} broke off before it replied ({why})"),
            ),
            TransportError::TimedOut { after, .. } => self.error(
                Kind::TimedOut,
                format!(
                    "no byte from {server} for {after:?}: the model may still be loading; wait longer with \
                     `.timeout(..)`, or keep it loaded with `.keep_alive(..)`"
                ),
            ),
            TransportError::TooLong(bytes) => self.error(
                Kind::Malformed,
                format!(
                    "{server} sent more than {} MiB: no reply is as long as that",
                    bytes >> 20
                ),
            ),
            TransportError::Setup(why) => self.error(Kind::Setup, why),
            TransportError::NoRuntime => self.error(
                Kind::Setup,
                "a model can only be asked inside a tokio runtime",
            ),
            other => self.error(Kind::Interrupted, format!("{server}: {other}")),
        }
    }

    /// Returns the error for an answer that ended before the server sent `"done": true`. `said` is the number of
    /// characters that had arrived.
    pub(crate) fn truncated(&self, said: usize, failure: Option<&TransportError>) -> ModelError {
        let ErrorContext { server, .. } = self;
        match failure {
            Some(failure @ (TransportError::TimedOut { .. } | TransportError::TooLong(_))) => {
                self.transport(failure)
            }
            Some(TransportError::Interrupted(why)) => self.error(
                Kind::Interrupted,
                format!("the reply of {server} broke off after {said} characters ({why})"),
            ),
            _ => self.error(
                Kind::Interrupted,
                format!(
                    "the reply of {server} broke off after {said} characters: it never said `\"done\": true`"
                ),
            ),
        }
    }

    /// Returns the error for a body that is no answer, or that has an error of the server.
    pub(crate) fn invalid_answer(&self, error: AnswerError, body: &[u8]) -> ModelError {
        let ErrorContext { server, .. } = self;
        match error {
            AnswerError::NotJson(error) => self.error(
                Kind::Malformed,
                format!(
                    "{server} did not answer as Ollama does ({error}): `{}`",
                    excerpt(body)
                ),
            ),
            AnswerError::Reported(text) if ContextOverflow::is_told(&text) => {
                self.too_long(self.overflow(&text))
            }
            AnswerError::Reported(text) => {
                let kind = match is_about_what_was_written(&text) {
                    true => Kind::Interrupted,
                    false => Kind::Refused,
                };
                self.error(kind, format!("Ollama at {server} reported: {text}"))
            }
        }
    }

    /// Returns the error for an answer in which the field `message` is missing.
    pub(crate) fn no_message(&self, body: &[u8]) -> ModelError {
        let ErrorContext { server, .. } = self;
        self.error(
            Kind::Malformed,
            format!(
                "{server} did not answer as Ollama does (no `message`): `{}`",
                excerpt(body)
            ),
        )
    }

    /// Returns the sizes of a request that is too long: those in the server's words, and the window that was asked for.
    fn overflow(&self, text: &str) -> ContextOverflow {
        let told = ContextOverflow::in_words(text);
        ContextOverflow {
            window: told.window.or(self.window.map(Into::into)),
            ..told
        }
    }

    /// Describes a request that the model could not read as a whole.
    pub(crate) fn too_long(&self, overflow: ContextOverflow) -> ModelError {
        let ErrorContext { server, model, .. } = self;
        let ContextOverflow { sent, read, window } = overflow;
        let sizes = match (sent, window) {
            (Some(sent), Some(window)) => {
                format!(" ({sent} tokens or more, for a window of {window})")
            }
            (None, Some(window)) => format!(" (its window is {window} tokens)"),
            _ => String::new(),
        };
        let read = match read {
            Some(read) => format!(", which read only {read} tokens of it"),
            None => String::new(),
        };
        let message = format!(
            "the conversation is too long for `{model}`{sizes} at {server}{read}: give the model a larger window with \
             `.window(..)`, or have the agent shorten the conversation with `context = trim(..)`"
        );
        self.of_request(ModelError::too_long(
            self.hidden.in_text(&message),
            overflow,
        ))
    }

    /// Describes a response with another status than 200.
    pub(crate) fn refused(&self, refusal: &Refusal, body: &[u8]) -> ModelError {
        let ErrorContext {
            server,
            model,
            path,
            ..
        } = self;
        let said = Refusal::said(body);
        let of_model = said.as_deref().is_some_and(|text| text.contains("model"));
        let text = said.unwrap_or_else(|| excerpt(body));
        let code = refusal.status.as_u16();
        if ContextOverflow::is_told(&text) && *path == "api/chat" {
            return self.too_long(self.overflow(&text)).with_status(code);
        }
        let (kind, message) = match code {
            404 if of_model && *path == "api/chat" => (
                Kind::NotFound,
                format!(
                    "Ollama at {server} has no model `{model}`: get it with `ollama pull {model}`"
                ),
            ),
            404 | 405 => (
                Kind::Refused,
                format!(
                    "{server} does not have /{path} ({code}: `{text}`): is that Ollama? the address is given \
                         without a path such as /v1 or /api"
                ),
            ),
            300..400 => (
                Kind::Refused,
                format!(
                    "{server} redirects ({code}) to {}: redirects are not followed, give that address to `.url(..)` \
                     if you trust it",
                    refusal.redirect.as_deref().unwrap_or("nowhere")
                ),
            ),
            401 | 403 | 407 => (
                Kind::Refused,
                format!(
                    "{server} refused the request ({code}: `{text}`): set a key with `.bearer(..)` or `.header(..)`"
                ),
            ),
            400 if refuses_tools(&text) => (
                Kind::Refused,
                format!(
                    "model `{model}` cannot call tools: use `.tools(ToolMode::Prompted)`, or leave it on `ToolMode::Auto`"
                ),
            ),
            400 if text.contains("does not support thinking") => (
                Kind::Refused,
                format!("model `{model}` cannot think: leave out `.think(..)`"),
            ),
            429 | 503 => (
                Kind::Overloaded,
                format!(
                    "Ollama at {server} has too much to do ({code}: `{text}`): ask again later, or let the model do so \
                     with `.retry(3)`"
                ),
            ),
            400..=499 => (
                Kind::Refused,
                format!("Ollama at {server} refused the request ({code}): {text}"),
            ),
            502 | 504 => (
                Kind::Unreachable,
                format!("the gateway at {server} does not reach Ollama ({code}): {text}"),
            ),
            500 if is_about_what_was_written(&text) => (
                Kind::Interrupted,
                format!(
                    "Ollama at {server} failed ({code}): {text}: ask again, or let the model do so with `.retry(3)`"
                ),
            ),
            _ => (
                Kind::Refused,
                format!("Ollama at {server} failed ({code}): {text}"),
            ),
        };
        let error = self.error(kind, message).with_status(code);
        match refusal.retry_after {
            Some(wait) => error.with_retry_after(wait),
            None => error,
        }
    }
}

/// Returns `true` for messages of Ollama that it could not read what its model had written. The model writes another text
/// the next time.
fn is_about_what_was_written(text: &str) -> bool {
    let wordings = [
        "invalid character",
        "unexpected end of JSON",
        "unexpected EOF",
        "failed to parse",
        "error parsing",
        "cannot unmarshal",
        "XML syntax error",
    ];
    wordings.iter().any(|words| text.contains(words))
}

/// Returns `true` for Ollama's message that a model has no template for tools.
pub(crate) fn refuses_tools(text: &str) -> bool {
    text.contains("does not support tools")
}
