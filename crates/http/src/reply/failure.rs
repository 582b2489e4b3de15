//! Converts failures into a [`ModelError`] that says what to do.

use super::{
    Problem, Words,
    reported::named_kind,
    retry_after::{retry_after, retry_info},
};
use crate::{Hidden, Server, TimeLimit, TransportError};
use agents_core::model::{ContextOverflow, ModelError, ModelErrorKind as Kind};
use http::{HeaderMap, StatusCode, header::LOCATION};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Names of the server, the model and the settings that the error messages about one request contain.
pub(super) struct Failures<'a> {
    pub(super) words: &'a Words<'a>,
    pub(super) server: &'a Server,
    pub(super) path: &'a str,
    pub(super) hidden: Hidden<'a>,
    /// Id by which the provider knows the request, once it has sent one.
    pub(super) request_id: Option<String>,
}

/// Head of a response by which the server refuses the request: its status and its headers.
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
}

impl Failures<'_> {
    fn error(&self, kind: Kind, message: &str) -> ModelError {
        self.of_request(ModelError::new(kind, self.hidden.in_text(message)))
    }

    fn of_request(&self, error: ModelError) -> ModelError {
        match &self.request_id {
            Some(id) => error.with_request_id(id),
            None => error,
        }
    }

    /// Creates an error with this message. `words` are those of the provider, which may name the lengths of a
    /// conversation that is too long.
    fn error_of(&self, kind: Kind, message: &str, words: &str) -> ModelError {
        match kind {
            Kind::TooLong => {
                let message = self.hidden.in_text(message);
                let overflow = ContextOverflow::in_words(words);
                self.of_request(ModelError::too_long(message, overflow))
            }
            kind => self.error(kind, message),
        }
    }

    /// Describes a failure of the connection, after `said` characters of the reply's text had arrived.
    pub(super) fn transport(&self, failure: &TransportError, said: usize) -> ModelError {
        let Failures { words, .. } = self;
        let server = self.server.name();
        let url = words.url;
        match failure {
            TransportError::Connect(why) => self.error(
                Kind::Unreachable,
                &format!(
                    "no server answers at {server} ({why}): start it, or say where it is with {url}"
                ),
            ),
            TransportError::TimedOut { limit, after } => {
                let what = match limit {
                    TimeLimit::Idle => format!("no byte from {server} for {after:?}"),
                    TimeLimit::First => format!("{server} did not begin to reply within {after:?}"),
                    TimeLimit::Total => format!("{server} was not done within {after:?}"),
                };
                let setting = match limit {
                    TimeLimit::Idle => "timeout",
                    TimeLimit::First => "first_token_timeout",
                    TimeLimit::Total => "total_timeout",
                };
                self.error(
                    Kind::TimedOut,
                    &format!("{what}: ask again, or wait longer with `.{setting}(..)`"),
                )
            }
            TransportError::TooLong(bytes) => self.error(
                Kind::Malformed,
                &format!(
                    "{server} sent more than {} MiB: no reply is as long as that",
                    bytes >> 20
                ),
            ),
            TransportError::Setup(why) => self.error(Kind::Setup, why),
            TransportError::NoRuntime => self.error(
                Kind::Setup,
                "a model can only be asked inside a tokio runtime",
            ),
            TransportError::Interrupted(why) => self.broke_off(said, why),
        }
    }

    /// Returns the error for a response whose body is no complete reply of a model: malformed, an error of the server,
    /// or cut off. `said` is the number of characters of the reply's text that had arrived.
    pub(super) fn problem(&self, problem: &Problem, said: usize) -> ModelError {
        let server = self.server.name();
        match problem {
            Problem::Malformed { why, excerpt } => self.error(
                Kind::Malformed,
                &format!(
                    "{server} did not answer /{} as it should ({why}): `{excerpt}`",
                    self.path
                ),
            ),
            Problem::Reported { kind, message } => {
                let text = format!("{server} reported: {message}");
                self.error_of(*kind, &text, message)
            }
            Problem::Unfinished => self.broke_off(
                said,
                "the connection was closed before the reply was complete",
            ),
        }
    }

    /// Returns the error for a reply whose stream ended without a reason to stop, after `said` characters.
    pub(super) fn without_reason(&self, said: usize) -> ModelError {
        self.broke_off(
            said,
            "the stream ended, but nothing said why the model had stopped",
        )
    }

    fn broke_off(&self, said: usize, why: &str) -> ModelError {
        let server = self.server.name();
        let message = match said {
            0 => format!("{server} broke off before it replied ({why})"),
            said => format!("the reply of {server} broke off after {said} characters ({why})"),
        };
        self.error(Kind::Interrupted, &format!("{message}: ask again"))
    }

    /// Returns the error for a response whose status is not that of success.
    pub(super) fn refused(&self, refusal: &Refusal, body: &[u8]) -> ModelError {
        let Failures { path, words, .. } = self;
        let server = self.server.name();
        let Words { model, url, key } = words;
        let text = error_text(body).unwrap_or_else(|| excerpt(body));
        let code = refusal.status.as_u16();
        let named = named_kind(body);
        let wait = retry_after(&refusal.headers).or_else(|| retry_info(body));
        let (kind, message) = match code {
            300..400 => {
                let target = refusal.headers.get(LOCATION);
                let target = target.and_then(|target| target.to_str().ok());
                (
                    Kind::Refused,
                    format!(
                        "{server} redirects ({code}) to {}: redirects are not followed, give that address to {url} \
                         if you trust it",
                        target.unwrap_or("nowhere")
                    ),
                )
            }
            401 | 403 | 407 => (
                Kind::Refused,
                format!("{server} refused the request ({code}: `{text}`): {key}"),
            ),
            404 if text.contains("model") => (
                Kind::NotFound,
                format!("{server} has no model `{model}` ({code}: `{text}`): name one that it has"),
            ),
            404 | 405 => (
                Kind::Refused,
                format!(
                    "{server} does not have /{path} ({code}: `{text}`): {url} takes the address without /{path}"
                ),
            ),
            402 | 429 if is_about_money(&text) && wait.is_none() => (
                Kind::Refused,
                format!(
                    "{server} does not go on without payment ({code}: `{text}`): see to the account"
                ),
            ),
            429 | 503 | 529 => (
                Kind::Overloaded,
                format!(
                    "{server} has too much to do, or limits the rate ({code}: `{text}`): ask again later, or let \
                     the model do so with `.retry(3)`"
                ),
            ),
            408 => (
                Kind::TimedOut,
                format!("{server} gave up waiting ({code}: `{text}`): ask again"),
            ),
            413 => (
                Kind::TooLong,
                format!(
                    "the request is too large for {server} ({code}: `{text}`): shorten the conversation"
                ),
            ),
            400..=500 if named == Some(Kind::TooLong) => (
                Kind::TooLong,
                format!(
                    "the conversation is too long for `{model}` ({code}: `{text}`): shorten it, or use a model that \
                     reads more"
                ),
            ),
            400..=499 if named == Some(Kind::Filtered) => (
                Kind::Filtered,
                format!(
                    "a filter of {server} refused the request ({code}: `{text}`): change what it says"
                ),
            ),
            400..=499 => (
                Kind::Refused,
                format!("{server} refused the request ({code}): {text}"),
            ),
            502 | 504 => (
                Kind::Unreachable,
                format!("the gateway at {server} does not reach the model ({code}): {text}"),
            ),
            501 | 505 => (Kind::Refused, format!("{server} failed ({code}): {text}")),
            // Providers fail in this way for a moment, as when a machine of theirs goes down.
            _ => (
                Kind::Overloaded,
                format!(
                    "{server} failed ({code}): {text}: ask again, or let the model do so with `.retry(3)`"
                ),
            ),
        };
        let error = self.error_of(kind, &message, &text).with_status(code);
        match wait {
            Some(wait) => error.with_retry_after(wait),
            None => error,
        }
    }
}

/// Number of levels of errors within errors that are searched for a code or a message.
pub(super) const MOST_NESTED: u8 = 4;

fn is_about_money(text: &str) -> bool {
    ["quota", "credit", "billing", "balance"]
        .iter()
        .any(|word| text.contains(word))
}

/// Returns the message of an error that a server sent as JSON, in any of the usual forms. If the message is not a
/// string, its JSON is returned, shortened. Returns `None` if the body is not JSON, or has no error in one of these
/// forms.
///
/// ```
/// use agents_http::error_text;
///
/// for body in [
///     r#"{"error": {"message": "no such model", "type": "invalid_request_error"}}"#,
///     r#"{"error": "no such model"}"#,
///     r#"[{"error": {"message": "no such model"}}]"#,
///     r#"{"message": "no such model"}"#,
///     r#"{"detail": "no such model"}"#,
///     r#"{"errors": [{"message": "no such model"}]}"#,
/// ] {
///     assert_eq!(error_text(body.as_bytes()).as_deref(), Some("no such model"));
/// }
/// assert_eq!(error_text(b"<html>"), None);
/// ```
pub fn error_text(body: &[u8]) -> Option<String> {
    nested_text(body, MOST_NESTED)
}

/// Fields of a body in which servers say that something went wrong.
#[derive(Deserialize)]
pub(super) struct Body<'a> {
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) errors: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) message: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) msg: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) detail: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) status: Option<&'a RawValue>,
}

fn nested_text(body: &[u8], nested: u8) -> Option<String> {
    let body: Body<'_> = match serde_json::from_slice::<Vec<Body<'_>>>(body) {
        Ok(list) => list.into_iter().next()?,
        Err(_) => serde_json::from_slice(body).ok()?,
    };
    let said = [body.error, body.errors, body.message, body.msg, body.detail];
    let said = said.into_iter().flatten().next()?.get();
    serde_json::from_str::<String>(said)
        .ok()
        .or_else(|| nested_text(said.as_bytes(), nested.checked_sub(1)?))
        .or_else(|| Some(excerpt(said.as_bytes())))
}

/// Returns the start of a body, short enough for a message. A shortened text ends with `…`, by which the masker
/// recognises the beginning of a secret.
///
/// ```
/// use agents_http::excerpt;
///
/// assert_eq!(excerpt(b"bad\n  gateway"), "bad gateway");
/// assert_eq!(excerpt(b""), "(nothing)");
/// assert!(excerpt(&b"word ".repeat(100)).ends_with('…'));
/// ```
pub fn excerpt(body: &[u8]) -> String {
    const MAX_CHARS: usize = 160;
    let text = String::from_utf8_lossy(body);
    let mut words = String::new();
    for word in text.split_whitespace() {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
        if let Some((end, _)) = words.char_indices().nth(MAX_CHARS) {
            words.truncate(end);
            words.push('…');
            return words;
        }
    }
    match words.is_empty() {
        true => "(nothing)".to_owned(),
        false => words,
    }
}

#[cfg(test)]
mod tests {
    use super::{error_text, excerpt};

    #[test]
    fn errors_within_errors_are_looked_into_a_few_times() {
        let nested = |depth: usize| {
            let (begin, end) = (r#"{"error":"#.repeat(depth), "}".repeat(depth));
            format!(r#"{begin}{{"message":"no"}}{end}"#)
        };
        assert_eq!(error_text(nested(2).as_bytes()).as_deref(), Some("no"));
        // A worker's stack holds some thousands of frames.
        let hostile = nested(100_000);
        let said = error_text(hostile.as_bytes()).unwrap();
        assert!(
            said.starts_with(r#"{"error":"#) && said.len() < 500,
            "{said}"
        );
    }

    #[test]
    fn a_shortened_excerpt_ends_with_an_ellipsis() {
        assert_eq!(excerpt(b" \n "), "(nothing)");
        assert_eq!(excerpt(b"bad\n  gateway"), "bad gateway");
        let wide = format!("{}hunter2", " \n".repeat(1_000));
        assert_eq!(excerpt(wide.as_bytes()), "hunter2");
        let long = excerpt("é".repeat(1_000).as_bytes());
        assert_eq!(long, format!("{}…", "é".repeat(160)));
    }
}
