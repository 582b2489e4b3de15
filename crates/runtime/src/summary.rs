//! Arguments in short, without personal data, for lists of requests.

use agents_core::Json;
use serde_json::Value;
use std::ops::RangeInclusive;

/// Maximum length of one argument's value in a summary, in characters; the sign `…` of a cut is added.
const LONGEST_VALUE: usize = 60;
/// Maximum length of a summary of arguments, in characters; the sign `…` of a cut is added.
const LONGEST: usize = 400;

/// Returns a summary of arguments on one line, in which addresses of mail, long numbers and keys are masked. Dates and times as in
/// ISO 8601 are shown: `2026-11-26`, `2026-11-26T10:15:00Z`.
///
/// Masking goes by the look of the text: it finds neither names nor anything that looks like ordinary words. Secrets
/// have been replaced by their names before.
pub(crate) fn summary(args: &Json) -> String {
    let text = match args.to_value() {
        Ok(Value::Object(fields)) => {
            let fields = fields
                .iter()
                .map(|(name, value)| format!("{}: {}", one_line(name), shown(value)));
            fields.collect::<Vec<_>>().join(", ")
        }
        Ok(other) => shown(&other),
        Err(_) => shown(&Value::String(args.as_str().to_owned())),
    };
    cut(&text, LONGEST)
}

fn shown(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    cut(&masked(&one_line(&text)), LONGEST_VALUE)
}

/// Returns the text with a space in place of each line break and other white space.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Masks each part of a text that looks personal: an address of mail, a long number, a key.
pub(crate) fn masked(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_part = |c: char| c.is_alphanumeric() || "@.+-_=/".contains(c);
        let end = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        // The end of a sentence is no part of an address.
        let end = rest[..end].trim_end_matches(['.', '-', '/', '=']).len();
        if end == 0 {
            masked.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        if let Some(date) = date(rest) {
            // Behind the stroke of an interval is another date.
            let date = date + usize::from(rest[date..].starts_with('/'));
            masked.push_str(&rest[..date]);
            rest = &rest[date..];
            continue;
        }
        // Numbers are written in groups: "4111 1111 1111 1111". A date is no group of a number.
        let grouped = rest
            .char_indices()
            .find(|&(at, c)| {
                let is_number = c.is_ascii_digit() || " -.()+/".contains(c);
                !is_number || c == ' ' && date(&rest[at + 1..]).is_some()
            })
            .map_or(rest.len(), |(at, _)| at);
        let digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).count();
        let letters = |text: &str| text.chars().filter(|c| c.is_alphabetic()).count();
        let group = rest[..grouped].trim_end();
        if digits(group) >= 7 && group.len() >= end {
            masked.push_str("[number]");
            rest = &rest[group.len()..];
            continue;
        }
        masked.push_str(match &rest[..end] {
            mail if mail.contains('@') && mail.len() > 2 => "[email]",
            number if digits(number) >= 7 && letters(number) <= 4 => "[number]",
            key if key.len() >= 20 && digits(key) > 0 && !key.contains("/") => "[key]",
            plain => plain,
        });
        rest = &rest[end..];
    }
    masked
}

/// Returns the length of the date at the beginning of a text, with the time and the offset behind it, if there are any.
///
/// The date has the form of ISO 8601 (`2026-11-26`), and a year from 1900 to 2199. It ends where a number would end as
/// well, so that `1985-11-26-1234` has none.
fn date(text: &str) -> Option<usize> {
    let (year, rest) = number(text, 4, 1900..=2199)?;
    let (month, rest) = number(rest.strip_prefix('-')?, 2, 1..=12)?;
    let days = match month {
        2 if year % 4 == 0 => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let (_, rest) = number(rest.strip_prefix('-')?, 2, 1..=days)?;
    let rest = time(rest).filter(|rest| is_end(rest)).unwrap_or(rest);
    is_end(rest).then(|| text.len() - rest.len())
}

/// Returns the text behind the time of a date: that of `T10:15:30.5+01:00` or ` 10:15` ends where the time ends.
fn time(text: &str) -> Option<&str> {
    let (_, rest) = number(text.strip_prefix(['T', 't', ' '])?, 2, 0..=24)?;
    let (_, mut rest) = number(rest.strip_prefix(':')?, 2, 0..=59)?;
    if let Some(seconds) = rest.strip_prefix(':') {
        (_, rest) = number(seconds, 2, 0..=60)?;
        if let Some(fraction) = rest.strip_prefix('.') {
            let behind = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
            // The end of a sentence begins no fraction.
            if matches!(fraction.len() - behind.len(), 1..=9) {
                rest = behind;
            }
        }
    }
    if let Some(behind) = rest.strip_prefix(['Z', 'z']) {
        return Some(behind);
    }
    let Some(offset) = rest.strip_prefix(['+', '-']) else {
        return Some(rest);
    };
    let (_, rest) = number(offset, 2, 0..=23)?;
    Some(number(rest.strip_prefix(':').unwrap_or(rest), 2, 0..=59)?.1)
}

/// Returns the number of so many digits at the beginning of a text, if it is in the range, and the text behind it.
fn number(text: &str, digits: usize, range: RangeInclusive<u16>) -> Option<(u16, &str)> {
    let (number, behind) = text.split_at_checked(digits)?;
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    let number = number.parse().ok().filter(|_| is_number)?;
    range.contains(&number).then_some((number, behind))
}

/// Returns `true` if a date may end before this text: nothing follows that would make it a part of something longer.
fn is_end(text: &str) -> bool {
    let mut letters = text.chars();
    match letters.next() {
        Some('.') => !letters.next().is_some_and(char::is_alphanumeric),
        // That is an interval.
        Some('/') => date(letters.as_str()).is_some(),
        Some(letter) => !letter.is_alphanumeric() && !"@+-_=".contains(letter),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn personal_data_is_masked_and_the_rest_stays() {
        for (text, expected) in [
            ("pay ada@example.com now", "pay [email] now"),
            ("Ask ada@example.com.", "Ask [email]."),
            ("4111 1111 1111 1111", "[number]"),
            ("card 4111-1111-1111-1111, please", "card [number], please"),
            ("call +49 170 1234567 today", "call [number] today"),
            ("DE89370400440532013000", "[number]"),
            ("sk-live-9f8e7d6c5b4a39281706", "[key]"),
            ("12 apples, 3.50 each", "12 apples, 3.50 each"),
            ("src/main.rs:120", "src/main.rs:120"),
            ("Grüße an 北京", "Grüße an 北京"),
            ("", ""),
        ] {
            assert_eq!(masked(text), expected);
        }
    }

    #[test]
    fn dates_and_times_are_shown() {
        for text in [
            "2026-11-26",
            "due 2026-11-26.",
            "(2026-11-26)",
            "on 2026-11-26, 2026-11-27 and 2028-02-29",
            "2026-11-26 2026-11-27",
            "2026-11-26/2026-11-30",
            "2026-11-26 - 2026-11-30",
            "12 guests, room 7 2026-11-26 2 nights",
            "2026-11-26 10:15",
            "2026-11-26 10:15:30.",
            "2026-11-26T10:15:30Z",
            "2026-11-26T10:15:30.123456789Z",
            "2026-11-26t10:15:30.5+01:00 in time",
            "2026-11-26T10:15+0100/2026-11-26T11:15+0100",
            r#"["2026-11-26","2026-12-24"]"#,
        ] {
            assert_eq!(masked(text), text);
        }
    }

    /// A number that has a date within it, or looks like one, is masked as any other long number.
    #[test]
    fn a_date_hides_no_number() {
        for (text, expected) in [
            ("4111-1111-1111-1111", "[number]"),
            ("4111-11-11-1111-1111", "[number]"),
            ("2026-11-26-1111-1111", "[number]"),
            ("2026-1111-2611-1111", "[number]"),
            ("2026 1126 1111 1111", "[number]"),
            ("1985-11-26-1234", "[number]"),
            ("1985-11-26+1234", "[number]"),
            ("2026-11-261", "[number]"),
            ("2026-11-26.1234", "[number]"),
            ("2026-11-26/1234", "[number]"),
            ("2026-11-26T10:15:30.1234567890", "[number]:15:[number]"),
            ("2026-13-26", "[number]"),
            ("2026-02-30", "[number]"),
            ("2027-02-29", "[number]"),
            ("4111-11-26", "[number]"),
            ("20261126", "[number]"),
            ("202-611-2600", "[number]"),
            ("12345-2026-11-26", "[number]"),
            ("2026-11-26 4111-1111-1111-1111", "2026-11-26 [number]"),
            ("4111-1111-1111-1111 2026-11-26", "[number] 2026-11-26"),
            (
                "2026-11-26 10:15 +49 170 1234567",
                "2026-11-26 10:15 [number]",
            ),
            ("2026-11-26T4111111111111111", "[number]"),
            ("2026-11-26@example.com", "[email]"),
        ] {
            assert_eq!(masked(text), expected, "{text}");
        }
    }

    #[test]
    fn a_summary_is_one_short_line_of_fields() {
        let args = Json::parse(r#"{"to": "ada@example.com", "cents": 1200, "note": "October"}"#);
        let short = summary(&args.unwrap());
        assert_eq!(short, "cents: 1200, note: October, to: [email]");
        let lines =
            Json::parse(r#"{"a\nb": "Dear Ada,\r\n\r\n\tthe bill\u2028is paid.\n", "n": [1, 2]}"#);
        let one = summary(&lines.unwrap());
        assert_eq!(one, "a b: Dear Ada, the bill is paid., n: [1,2]");
        assert_eq!(summary(&Json::string("4111 1111\n1111 1111")), "[number]");
        let long = Json::parse(format!(r#"{{"text": "{}"}}"#, "word ".repeat(1000)));
        assert!(summary(&long.unwrap()).chars().count() < 80);
    }
}
