use agents_core::model::ModelErrorKind;
use agents_http::{Problem, error_text, excerpt};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Converts an error that a server reports in place of a reply.
pub(crate) fn reported(json: &[u8]) -> Problem {
    #[derive(Deserialize, Default)]
    struct Reported<'a> {
        #[serde(borrow)]
        code: Option<&'a RawValue>,
        #[serde(borrow, rename = "type")]
        kind: Option<&'a RawValue>,
    }
    let message = serde_json::from_slice::<String>(json)
        .ok()
        .or_else(|| error_text(json))
        .unwrap_or_else(|| excerpt(json));
    let Reported { code, kind } = serde_json::from_slice(json).unwrap_or_default();
    let text = |raw: Option<&RawValue>| raw.map_or("", RawValue::get).trim_matches('"').to_owned();
    let (code, kind) = (text(code), text(kind));
    let has = |words: &[&str]| {
        words
            .iter()
            .any(|word| code.contains(word) || kind.contains(word))
    };
    let kind = match () {
        () if has(&["429", "503", "529", "rate_limit", "overloaded"]) => ModelErrorKind::Overloaded,
        () if has(&["context_length"]) => ModelErrorKind::TooLong,
        () if has(&["content_filter", "content_policy"]) => ModelErrorKind::Filtered,
        () if has(&["408", "504", "timeout"]) => ModelErrorKind::TimedOut,
        () if has(&["500", "502", "server_error"]) => ModelErrorKind::Interrupted,
        () => ModelErrorKind::Refused,
    };
    Problem::Reported { kind, message }
}
