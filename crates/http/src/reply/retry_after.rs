use http::HeaderMap;
use serde::Deserialize;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Returns how long a server asks clients to wait, by its header `retry-after-ms`, or `Retry-After` in seconds or as a
/// date; `None` if it has sent neither in a form that can be read.
///
/// ```
/// use agents_http::{http::HeaderMap, retry_after};
/// use std::time::Duration;
///
/// let mut headers = HeaderMap::new();
/// assert_eq!(retry_after(&headers), None);
/// headers.insert("retry-after", "1.5".parse()?);
/// assert_eq!(retry_after(&headers), Some(Duration::from_millis(1500)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let header = |name| headers.get(name)?.to_str().ok().map(str::trim);
    let in_ms = header("retry-after-ms").and_then(|ms| ms.parse::<f64>().ok());
    if let Some(wait) = in_ms.and_then(|ms| Duration::try_from_secs_f64(ms / 1_000.0).ok()) {
        return Some(wait);
    }
    let text = header("retry-after")?;
    match text.parse() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
            Some(Duration::from_secs(seconds_of(text)?).saturating_sub(now))
        }
    }
}

/// Returns how long an error of a Google API asks clients to wait: the `retryDelay` of its `RetryInfo`; `None` if the
/// body has none.
pub(super) fn retry_info(body: &[u8]) -> Option<Duration> {
    #[derive(Deserialize)]
    struct Body {
        error: Status,
    }
    #[derive(Deserialize)]
    struct Status {
        details: Vec<Detail>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Detail {
        retry_delay: Option<String>,
    }
    let body = match serde_json::from_slice::<Vec<Body>>(body) {
        Ok(list) => list.into_iter().next()?,
        Err(_) => serde_json::from_slice(body).ok()?,
    };
    let mut delays = body.error.details.into_iter();
    let delay = delays.find_map(|detail| detail.retry_delay)?;
    let seconds = delay.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// Returns a date such as `Sun, 06 Nov 1994 08:49:37 GMT` in seconds since 1970; `None` if the text is no such date.
fn seconds_of(date: &str) -> Option<u64> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let mut words = date.split_once(", ")?.1.strip_suffix(" GMT")?.split(' ');
    let day: u64 = words.next()?.parse().ok()?;
    let month = words.next()?;
    let month = MONTHS.iter().position(|name| *name == month)? as u64 + 1;
    let year: u64 = words.next()?.parse().ok()?;
    let mut time = words.next()?.split(':').map(str::parse::<u64>);
    let mut next = || time.next()?.ok();
    let (hours, minutes, seconds) = (next()?, next()?, next()?);
    if !(1970..10_000).contains(&year) || day > 31 || hours > 23 || minutes > 59 || seconds > 60 {
        return None;
    }
    // Years that begin in March have their leap day at the end.
    let (year, month) = match month {
        1 | 2 => (year - 1, month + 9),
        _ => (year, month - 3),
    };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day;
    // 1 January 1970 in the same count.
    let days = days.checked_sub(719_469)?;
    Some(((days * 24 + hours) * 60 + minutes) * 60 + seconds)
}

#[cfg(test)]
mod tests {
    use super::{retry_info, seconds_of};
    use std::time::Duration;

    #[test]
    fn delays_in_an_error() {
        for (details, expect) in [
            (r#"{"violations":[]},{"retryDelay":"34.4s"}"#, Some(34_400)),
            (r#"{"retryDelay":"soon"}"#, None),
            (r#"{"retryDelay":"-1s"}"#, None),
            ("", None),
        ] {
            let body = format!(r#"{{"error":{{"code":429,"details":[{details}]}}}}"#);
            let expect = expect.map(Duration::from_millis);
            assert_eq!(retry_info(body.as_bytes()), expect, "{body}");
            assert_eq!(retry_info(format!("[{body}]").as_bytes()), expect);
        }
        assert_eq!(retry_info(b"{}"), None);
    }

    #[test]
    fn dates_of_http() {
        for (date, expect) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777)),
            ("Thu, 29 Feb 2024 23:59:59 GMT", Some(1_709_251_199)),
            ("Fri, 01 Mar 2024 00:00:00 GMT", Some(1_709_251_200)),
            ("Wed, 31 Dec 1969 23:59:59 GMT", None),
            ("Sun, 06 Nov 1994 08:49 GMT", None),
            ("soon", None),
        ] {
            assert_eq!(seconds_of(date), expect, "{date}");
        }
    }
}
