//! Errors that a server reports under a status of success: in place of a reply, or after its beginning.

use super::{
    Problem, error_text, excerpt,
    failure::{Body, MOST_NESTED},
};
use agents_core::model::{ContextOverflow, ModelErrorKind as Kind};
use serde::Deserialize;
use serde_json::value::RawValue;

impl Problem {
    /// Converts an error that a server reports in place of a reply, or after its beginning. `json` is the error, or an
    /// object around it. The kind follows from its codes and types, or from its words; an error that tells neither is
    /// [refused](Kind::Refused).
    ///
    /// ```
    /// use agents_core::model::ModelErrorKind;
    /// use agents_http::Problem;
    ///
    /// let problem = Problem::reported(br#"{"error": {"type": "overloaded_error", "message": "busy"}}"#);
    /// let expect = Problem::Reported { kind: ModelErrorKind::Overloaded, message: "busy".into() };
    /// assert_eq!(problem, expect);
    /// ```
    pub fn reported(json: &[u8]) -> Problem {
        Problem::error_or(json, Kind::Refused)
    }

    /// Reads an event or a document that is no part of a reply, since it lacks what every part has: if it has an
    /// `error`, a `message`, a `detail` or a `status` of failure, it is an error, and `None` otherwise. An error that
    /// tells nothing of its kind is [an interruption](Kind::Interrupted): the server had taken the request.
    ///
    /// ```
    /// use agents_http::Problem;
    ///
    /// assert!(Problem::in_place_of_reply(br#"{"detail": "Internal Server Error"}"#).is_some());
    /// assert!(Problem::in_place_of_reply(br#"{"type": "ping"}"#).is_none());
    /// ```
    pub fn in_place_of_reply(json: &[u8]) -> Option<Problem> {
        let frame: Body<'_> = serde_json::from_slice(json).ok()?;
        let says = |field: Option<&RawValue>| {
            field.is_some_and(|field| {
                !matches!(field.get(), "null" | "false" | "\"\"" | "[]" | "{}")
            })
        };
        if says(frame.error) {
            return Some(Problem::reported(json));
        }
        // A message that is no text is a message of the model.
        let message = [frame.message, frame.msg].into_iter().flatten();
        let has_message = message
            .filter(|text| text.get().starts_with('"'))
            .any(|text| says(Some(text)));
        let status = frame.status.and_then(|status| status.get().parse().ok());
        let has_failed = status.is_some_and(|status: u16| (400..600).contains(&status));
        let is_error = has_message || has_failed || says(frame.detail) || says(frame.errors);
        is_error.then(|| Problem::error_or(json, Kind::Interrupted))
    }

    /// Converts the data of an event that is named `error`, whatever its data are.
    pub(super) fn named_error(data: &[u8]) -> Problem {
        Problem::in_place_of_reply(data)
            .unwrap_or_else(|| Problem::error_or(data, Kind::Interrupted))
    }

    fn error_or(json: &[u8], otherwise: Kind) -> Problem {
        let message = serde_json::from_slice::<String>(json)
            .ok()
            .or_else(|| error_text(json))
            .unwrap_or_else(|| excerpt(json));
        let names = names(json);
        let kind = match kind_of(&names) {
            Some(kind @ (Kind::Filtered | Kind::Overloaded)) => kind,
            _ if ContextOverflow::is_told(&message) => Kind::TooLong,
            Some(kind) => kind,
            None if names.is_empty() => otherwise,
            None => Kind::Refused,
        };
        Problem::Reported { kind, message }
    }
}

/// Returns the kind of error that a body names, by a code or in words: too long, or filtered. For any other error, the
/// result is `None`, and the status tells the kind.
pub(super) fn named_kind(body: &[u8]) -> Option<Kind> {
    match kind_of(&names(body)) {
        Some(kind @ (Kind::TooLong | Kind::Filtered)) => Some(kind),
        _ => {
            let text = error_text(body).unwrap_or_else(|| excerpt(body));
            ContextOverflow::is_told(&text).then_some(Kind::TooLong)
        }
    }
}

/// Returns the kind that the names of an error stand for, in any provider's words; `None` if they stand for none.
fn kind_of(names: &[String]) -> Option<Kind> {
    let is = |words: &[&str]| names.iter().any(|name| words.contains(&&**name));
    let has = |words: &[&str]| {
        let mut names = names.iter();
        names.any(|name| words.iter().any(|word| name.contains(word)))
    };
    let too_long = [
        "context_length",
        "context_window",
        "contextwindow",
        "exceed_context",
        "prompt_tokens_exceeded",
        "prompt_too_long",
        "input_too_long",
    ];
    let overloaded = [
        "rate_limit",
        "overloaded",
        "resource_exhausted",
        "unavailable",
        "too_many_requests",
    ];
    Some(match () {
        () if has(&too_long) => Kind::TooLong,
        () if has(&["content_filter", "content_policy", "responsibleai"]) => Kind::Filtered,
        () if is(&["429", "503", "529"]) || has(&overloaded) => Kind::Overloaded,
        () if is(&["408", "504"]) || has(&["timeout", "deadline_exceeded"]) => Kind::TimedOut,
        () if is(&["500", "502", "520", "internal", "aborted", "unknown"])
            || has(&["server_error", "api_error", "internal_error"]) =>
        {
            Kind::Interrupted
        }
        () if is(&["404"]) || has(&["not_found"]) => Kind::NotFound,
        () => return None,
    })
}

/// Returns the codes, types and statuses of an error and of the errors within it, in lower case.
fn names(json: &[u8]) -> Vec<String> {
    #[derive(Deserialize)]
    struct Named<'a> {
        #[serde(borrow)]
        error: Option<&'a RawValue>,
        #[serde(borrow)]
        code: Option<&'a RawValue>,
        #[serde(borrow, rename = "type")]
        kind: Option<&'a RawValue>,
        #[serde(borrow)]
        status: Option<&'a RawValue>,
    }
    let (mut names, mut json) = (Vec::new(), json);
    for _ in 0..=MOST_NESTED {
        let named = match serde_json::from_slice::<Vec<Named<'_>>>(json) {
            Ok(list) => list.into_iter().next(),
            Err(_) => serde_json::from_slice(json).ok(),
        };
        let Some(named) = named else { break };
        let fields = [named.code, named.kind, named.status].into_iter().flatten();
        let texts = fields.map(|name| name.get().trim_matches('"').to_lowercase());
        names.extend(texts.filter(|name| !name.is_empty()));
        let Some(inner) = named.error else { break };
        json = inner.get().as_bytes();
    }
    names
}

#[cfg(test)]
mod tests {
    use super::{Kind, Problem, named_kind};

    #[test]
    fn refusals_that_say_more_than_their_status() {
        let body = |code, text| {
            format!(
                r#"{{"error":{{"message":"{text}","type":"invalid_request_error","code":"{code}"}}}}"#
            )
        };
        for (code, text, expect) in [
            ("context_length_exceeded", "no", Some(Kind::TooLong)),
            ("content_policy_violation", "no", Some(Kind::Filtered)),
            ("content_filter", "no", Some(Kind::Filtered)),
            (
                "",
                "prompt is too long: 9 tokens > 8 maximum",
                Some(Kind::TooLong),
            ),
            ("", "the field content_filter is unknown", None),
            ("invalid_value", "no", None),
        ] {
            assert_eq!(
                named_kind(body(code, text).as_bytes()),
                expect,
                "{code} {text}"
            );
        }
        assert_eq!(named_kind(b"<html>"), None);
        let plain = b"the request exceeds the available context size";
        assert_eq!(named_kind(plain), Some(Kind::TooLong));
        let hostile = r#"{"error":"#.repeat(100_000);
        assert_eq!(named_kind(hostile.as_bytes()), None);
    }

    #[test]
    fn errors_in_any_clothes() {
        for (json, kind, message) in [
            (r#"{"detail":"gone"}"#, Kind::Interrupted, "gone"),
            (r#"{"message":"gone"}"#, Kind::Interrupted, "gone"),
            (r#"{"code":50001,"msg":"gone"}"#, Kind::Refused, "gone"),
            (
                r#"{"status":503,"message":"busy"}"#,
                Kind::Overloaded,
                "busy",
            ),
            (r#"{"status":500}"#, Kind::Interrupted, r#"{"status":500}"#),
            (
                r#"{"errors":[{"message":"gone","code":7}]}"#,
                Kind::Interrupted,
                "gone",
            ),
            (
                r#"{"object":"error","message":"no","type":"BadRequestError","code":400}"#,
                Kind::Refused,
                "no",
            ),
            (r#"{"error":{"message":"no"}}"#, Kind::Refused, "no"),
            (
                r#"{"error":{"code":500,"type":"server_error","message":"Context size has been exceeded."}}"#,
                Kind::TooLong,
                "Context size has been exceeded.",
            ),
        ] {
            let message = message.to_owned();
            let expect = Problem::Reported { kind, message };
            assert_eq!(
                Problem::in_place_of_reply(json.as_bytes()),
                Some(expect),
                "{json}"
            );
        }
        for json in [
            r#"{"type":"ping"}"#,
            r#"{"status":"queued"}"#,
            r#"{"status":200}"#,
            r#"{"message":{"role":"assistant"}}"#,
            r#"{"message":"","detail":null,"error":null}"#,
            "1",
            "<html>",
        ] {
            assert_eq!(Problem::in_place_of_reply(json.as_bytes()), None, "{json}");
        }
        let bare = Problem::named_error(b"upstream gone");
        let kind = Kind::Interrupted;
        let message = "upstream gone".to_owned();
        assert_eq!(bare, Problem::Reported { kind, message });
    }
}
