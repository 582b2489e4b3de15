//! Arguments in short, without personal data, for lists of requests.

use agents_core::Json;
use serde_json::Value;

/// Maximum length of one argument's value in a summary, in characters.
const LONGEST_VALUE: usize = 60;
/// Maximum length of a summary of arguments, in characters.
const LONGEST: usize = 400;

/// Returns a summary of arguments in one line, in which addresses of mail, long numbers and keys are masked.
///
/// Masking goes by the look of the text: it finds neither names nor anything that looks like ordinary words. Secrets
/// have been replaced by their names before.
pub(crate) fn summary(args: &Json) -> String {
    let text = match args.to_value() {
        Ok(Value::Object(fields)) => {
            let fields = fields
                .iter()
                .map(|(name, value)| format!("{name}: {}", shown(value)));
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
    cut(&masked(&text), LONGEST_VALUE)
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
        // Numbers are written in groups: "4111 1111 1111 1111".
        let grouped = rest
            .find(|c: char| !c.is_ascii_digit() && !" -.()+/".contains(c))
            .unwrap_or(rest.len());
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
    fn a_summary_is_one_short_line_of_fields() {
        let args = Json::parse(r#"{"to": "ada@example.com", "cents": 1200, "note": "October"}"#);
        let short = summary(&args.unwrap());
        assert_eq!(short, "cents: 1200, note: October, to: [email]");
        let long = Json::parse(format!(r#"{{"text": "{}"}}"#, "word ".repeat(1000)));
        assert!(summary(&long.unwrap()).chars().count() < 80);
    }
}
