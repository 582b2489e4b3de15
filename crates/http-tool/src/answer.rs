use super::{HttpError, wording};
use agents_core::Json;
use reqwest::{
    Response, Url,
    header::{CONTENT_TYPE, HeaderMap},
};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// Names of the response headers that the model is shown.
const HEADERS: [&str; 8] = [
    "cache-control",
    "content-language",
    "content-length",
    "etag",
    "last-modified",
    "link",
    "location",
    "retry-after",
];

/// Response of a server, in one form for all kinds of content.
///
/// Exactly one of `json`, `text` and `binary` is set, unless no byte of a body was read.
///
/// ```
/// use agents::http::HttpAnswer;
/// use serde_json::Value;
///
/// // In a tool of your own that asks by way of `HttpTool`.
/// fn price(answer: &HttpAnswer) -> Option<f64> {
///     match answer.status {
///         200 => answer.json.as_ref()?.to::<Value>().ok()?["price"].as_f64(),
///         _ => None, // a 404 is an answer too
///     }
/// }
/// # let _ = price;
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HttpAnswer {
    /// URL that answered, after all redirects that were followed.
    pub url: String,
    /// URLs that redirected the request, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_way_of: Vec<String>,
    /// HTTP status code of the response.
    pub status: u16,
    /// Media type of the body, as the server declares it; `None` if it declares none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// Headers of the response, as far as the server has sent them: `cache-control`, `content-language`,
    /// `content-length`, `etag`, `last-modified`, `link`, `location` and `retry-after`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Body, if the server declares JSON or no media type, and the body is JSON that was read to its end and is no
    /// longer than the [preview](super::HttpTool::preview); else `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub json: Option<Json>,
    /// Body, if it is text that is not in `json`, such as JSON longer than the preview; else `None`. A text that was
    /// cut ends with `…`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Description of the body, if it is neither JSON nor text; else `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binary: Option<String>,
    /// Number of bytes of the body that were read, at most the tool's [`max_bytes`](super::HttpTool::max_bytes).
    pub bytes: usize,
    /// Is `true` if the body is longer than the part that was read, or its text than the part that is shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

impl HttpAnswer {
    pub(super) async fn read(
        mut response: Response,
        url: &Url,
        by_way_of: Vec<String>,
        max_bytes: usize,
        preview: usize,
    ) -> Result<HttpAnswer, HttpError> {
        let mut body = Vec::new();
        let mut truncated = false;
        while let Some(piece) = response
            .chunk()
            .await
            .map_err(|error| HttpError::of_transport(&error))?
        {
            body.extend_from_slice(&piece);
            if body.len() > max_bytes {
                // The rest is not waited for: dropping the response closes the connection.
                body.truncate(max_bytes);
                truncated = true;
                break;
            }
        }
        let content_type = text_of(response.headers(), CONTENT_TYPE.as_str());
        let mut answer = HttpAnswer {
            // Without the secrets of the query.
            url: url.to_string(),
            by_way_of,
            status: response.status().as_u16(),
            headers: HEADERS
                .iter()
                .filter_map(|name| Some(((*name).to_owned(), text_of(response.headers(), name)?)))
                .collect(),
            content_type,
            json: None,
            text: None,
            binary: None,
            bytes: body.len(),
            truncated,
        };
        answer.show(&body, preview);
        Ok(answer)
    }

    fn show(&mut self, body: &[u8], preview: usize) {
        if body.is_empty() {
            return;
        }
        let kind = self.content_type.clone().unwrap_or_default();
        let Some(text) = decoded(body, &kind, self.truncated) else {
            let kind = if kind.is_empty() {
                wording::UNKNOWN_KIND
            } else {
                &kind
            };
            let more = if self.truncated { " at least" } else { "" };
            self.binary = Some(format!("{} bytes{more}, {kind}", body.len()));
            return;
        };
        let may_be_json = kind.is_empty() || is_json(&kind);
        if may_be_json
            && !self.truncated
            && text.len() <= preview
            && let Ok(json) = Json::parse(text.trim())
        {
            self.json = Some(json);
            return;
        }
        let end = text.floor_char_boundary(preview);
        self.truncated |= end < text.len();
        // Without the sign `…`, the masker could not recognise the beginning of a secret at the end
        // of the text.
        let sign = if self.truncated { "…" } else { "" };
        self.text = Some(format!("{}{sign}", &text[..end]));
    }

    /// Returns the first 300 characters of the body, for an error message, with `…` if there are more. A body that is
    /// neither JSON nor text is described.
    pub fn brief(&self) -> String {
        let said = match (&self.json, &self.text) {
            (Some(json), _) => json.as_str(),
            (None, Some(text)) => text,
            (None, None) => self.binary.as_deref().unwrap_or_default(),
        };
        match said.char_indices().nth(300) {
            Some((end, _)) => format!("{}…", &said[..end]),
            None => said.to_owned(),
        }
    }
}

fn text_of(headers: &HeaderMap, name: &str) -> Option<String> {
    let value = headers.get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}

fn is_json(kind: &str) -> bool {
    let kind = kind
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    kind == "application/json" || kind.ends_with("+json")
}

/// Returns the body as text; `None` if it is no text.
fn decoded(body: &[u8], kind: &str, is_cut: bool) -> Option<String> {
    let kind = kind.to_ascii_lowercase();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    let textual = essence.is_empty()
        || essence.starts_with("text/")
        || [
            "json",
            "xml",
            "javascript",
            "yaml",
            "csv",
            "x-www-form-urlencoded",
            "ndjson",
        ]
        .iter()
        .any(|part| essence.contains(part));
    if !textual || body.iter().take(1000).any(|byte| *byte == 0) {
        return None;
    }
    if kind.contains("charset=iso-8859-1") || kind.contains("charset=windows-1252") {
        return Some(body.iter().copied().map(char::from).collect());
    }
    match std::str::from_utf8(body) {
        Ok(text) => Some(text.to_owned()),
        // The body was cut in the middle of a character.
        Err(error) if is_cut && error.error_len().is_none() => {
            String::from_utf8(body[..error.valid_up_to()].to_vec()).ok()
        }
        Err(_) if essence.is_empty() => None,
        Err(_) => Some(String::from_utf8_lossy(body).into_owned()),
    }
}

/// Returns the time to wait that a `Retry-After` header says, in seconds or by a date; `None` if it cannot be read.
pub(super) fn wait(said: &str) -> Option<Duration> {
    match said.trim().parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => {
            let until = UNIX_EPOCH.checked_add(Duration::from_secs(date(said)?))?;
            Some(until.duration_since(SystemTime::now()).unwrap_or_default())
        }
    }
}

/// Returns a date such as `Wed, 21 Oct 2015 07:28:00 GMT` in seconds since 1970; `None` for any
/// other text.
fn date(said: &str) -> Option<u64> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let (_, rest) = said.split_once(", ")?;
    let parts: Vec<_> = rest.split([' ', ':']).collect();
    let [day, month, year, hours, minutes, seconds, "GMT"] = parts[..] else {
        return None;
    };
    let number = |text: &str, most: u64| text.parse::<u64>().ok().filter(|number| *number <= most);
    let month = MONTHS
        .find(month)
        .filter(|at| at % 3 == 0 && month.len() == 3)? as u64
        / 3
        + 1;
    let (day, year) = (number(day, 31)?, number(year, 9999)?);
    // Days since 1970, counting years from March so that leap days come last.
    let shifted = if month > 2 {
        year
    } else {
        year.checked_sub(1)?
    };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day.checked_sub(1)?;
    let days = (shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + of_year)
        .checked_sub(719_468)?;
    // The 60th second is a leap second.
    let of_day = number(hours, 23)? * 3600 + number(minutes, 59)? * 60 + number(seconds, 60)?;
    Some(days * 86_400 + of_day)
}

#[cfg(test)]
mod tests {
    use super::{date, wait};
    use proptest::prelude::*;
    use std::time::Duration;

    #[test]
    fn how_long_to_wait() {
        assert_eq!(wait("7"), Some(Duration::from_secs(7)));
        assert_eq!(date("Wed, 21 Oct 2015 07:28:00 GMT"), Some(1_445_412_480));
        assert_eq!(date("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(date("Thu, 29 Feb 2024 23:59:59 GMT"), Some(1_709_251_199));
        assert_eq!(wait("Wed, 21 Oct 2015 07:28:00 GMT"), Some(Duration::ZERO));
        assert_eq!(date("Fri, 31 Dec 9999 23:59:60 GMT"), Some(253_402_300_800));
        for nonsense in [
            "",
            "soon",
            "Wed, 21 Oct",
            "Wed, 00 Oct 2015 07:28:00 GMT",
            "Wed, 32 Oct 2015 07:28:00 GMT",
            "Wed, 21  2015 07:28:00 GMT",
            "Wed, 21 JanFeb 2015 07:28:00 GMT",
            "Wed, 21 Oct 10000 07:28:00 GMT",
            "Wed, 21 Oct 18446744073709551615 07:28:00 GMT",
            "Wed, 21 Oct 2015 24:28:00 GMT",
            "Wed, 21 Oct 2015 07:18446744073709551615:00 GMT",
            "Wed, 01 Jan 0000 00:00:00 GMT",
        ] {
            assert_eq!(wait(nonsense), None, "{nonsense}");
        }
    }

    proptest! {
        #[test]
        fn no_header_is_too_much(
            text in prop_oneof![
                ".{0,60}",
                "[0-9]{0,40}",
                "[A-Z][a-z]{2}, [0-9]{1,21} (Jan|Feb|Mar|Oct|Dec) [0-9]{1,21} [0-9]{1,21}:[0-9]{1,21}:[0-9]{1,21} GMT",
                "Wed, [0-9]{2} Feb [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT",
            ],
        ) {
            let _ = wait(&text);
        }
    }
}
