//! Scalars of other syntaxes, written as JSON.

use std::borrow::Cow;

use serde_json::Value;

/// Returns text as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

/// Number as JSON writes it; its digits are those of the text and are never recomputed.
pub(super) enum Number<'t> {
    Integer(Cow<'t, str>),
    Fraction(Cow<'t, str>),
}

/// Reads a number, also in people's spellings: `007`, `+5`, `.5`, `5.`. Returns `None` for other text.
pub(super) fn number(raw: &str) -> Option<Number<'_>> {
    let (minus, digits) = match raw.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, raw.strip_prefix('+').unwrap_or(raw)),
    };
    let whole_len = digits.bytes().take_while(u8::is_ascii_digit).count();
    let (whole, rest) = digits.split_at(whole_len);
    let (fraction, exponent) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(rest.bytes().take_while(u8::is_ascii_digit).count()),
        None => ("", rest),
    };
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    if !exponent.is_empty() {
        let power = exponent.strip_prefix(['e', 'E'])?;
        let power = power.strip_prefix(['+', '-']).unwrap_or(power);
        if power.is_empty() || !power.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
    }
    let trimmed = whole.trim_start_matches('0');
    let plain = !whole.is_empty()
        && (trimmed.len() == whole.len() || whole == "0")
        && (fraction.is_empty() != rest.starts_with('.'))
        && !raw.starts_with('+');
    let text = if plain {
        Cow::Borrowed(raw)
    } else {
        let sign = if minus { "-" } else { "" };
        let whole = if trimmed.is_empty() { "0" } else { trimmed };
        let point = if fraction.is_empty() { "" } else { "." };
        Cow::Owned(format!("{sign}{whole}{point}{fraction}{exponent}"))
    };
    Some(if rest.is_empty() {
        Number::Integer(text)
    } else {
        Number::Fraction(text)
    })
}
