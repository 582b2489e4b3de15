use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Returns the arguments of a call as text, whichever form a server gives them: a text, which is unescaped, or an object,
/// which stays as it was written, since parsed numbers would be rounded. Without arguments, the text is empty.
///
/// ```
/// use agents_http::arguments_text;
/// use serde_json::value::RawValue;
///
/// let text = |json: &'static str| arguments_text(serde_json::from_str::<&RawValue>(json).ok());
/// assert_eq!(text(r#"{"cents": 1.10}"#), r#"{"cents": 1.10}"#);
/// assert_eq!(text(r#""{\"cents\": 1.10}""#), r#"{"cents": 1.10}"#);
/// assert_eq!(text("null"), "");
/// ```
pub fn arguments_text(json: Option<&RawValue>) -> Cow<'_, str> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

    match json.map(RawValue::get) {
        None | Some("null") => Cow::Borrowed(""),
        Some(json) if json.starts_with('"') => {
            serde_json::from_str::<Text<'_>>(json).map_or(Cow::Borrowed(json), |text| text.0)
        }
        Some(json) => Cow::Borrowed(json),
    }
}
