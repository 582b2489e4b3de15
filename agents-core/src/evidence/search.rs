//! Search for a value in JSON and in texts.

use crate::Json;
use serde_json::{Number, Value};

/// Way in which a value was found in the evidence; the better one is less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Found {
    /// The value stands by itself in the evidence, and not within a longer text.
    Whole,
    /// The value is a part of a longer text in the evidence.
    InText,
}

/// Minimum number of letters and digits of a value that is also found if a text groups it, as `DE89 3704 0044`.
const GROUPED: usize = 8;

/// Looks for a value in another value: in its items, members and texts, but not in the keys of objects. Returns `None`
/// if the value is not found.
pub(super) fn find(value: &Value, within: &Value) -> Option<Found> {
    if is_same(value, within) {
        return Some(Found::Whole);
    }
    match within {
        Value::Array(items) => items.iter().filter_map(|item| find(value, item)).min(),
        Value::Object(members) => members
            .values()
            .filter_map(|member| find(value, member))
            .min(),
        Value::String(text) => is_in_text(value, text).then_some(Found::InText),
        _ => None,
    }
}

/// Returns `true` if a call's arguments fit a claim: all fields of the claim have the same value among the arguments. A
/// field that is `null` in the claim may be missing among the arguments. A claim that is no object fits any arguments.
pub(super) fn has_fields(input: &Json, claimed: &Value) -> bool {
    let Some(claimed) = claimed.as_object() else {
        return true;
    };
    let Ok(Value::Object(input)) = input.to_value() else {
        return claimed.is_empty();
    };
    claimed.iter().all(|(field, value)| match input.get(field) {
        Some(given) => is_equal(value, given),
        None => value.is_null(),
    })
}

/// Returns `true` for two equal values: numbers are compared by their value, and texts exactly.
fn is_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => decimal(one) == decimal(other),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| is_equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let has = |(key, value): (&String, &Value)| {
                other.get(key).is_some_and(|other| is_equal(value, other))
            };
            one.len() == other.len() && one.iter().all(has)
        }
        _ => one == other,
    }
}

/// Returns `true` for two values that are the same apart from their notation, such as upper case or `5` and `"5"`.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::String(one), Value::String(other)) => {
            let one = normal(one);
            !one.is_empty() && one == normal(other)
        }
        (Value::String(text), Value::Number(number))
        | (Value::Number(number), Value::String(text)) => {
            text.trim() == number.to_string() || numeral(text.trim()) == Some(decimal(number))
        }
        (Value::Null | Value::Bool(_), _) => one == other,
        _ => is_equal(one, other),
    }
}

fn is_in_text(value: &Value, text: &str) -> bool {
    match value {
        Value::String(value) => has_token(&normal(text), &normal(value)),
        Value::Number(number) => has_number(text, number),
        _ => false,
    }
}

/// Returns a text in lower case, with single spaces, to compare texts.
fn normal(text: &str) -> String {
    let words = text.split_whitespace().map(str::to_lowercase);
    words.collect::<Vec<_>>().join(" ")
}

/// Returns `true` if the text has the token as a whole, and not as a part of a longer token.
fn has_token(text: &str, token: &str) -> bool {
    let (text, token): (Vec<_>, Vec<_>) = (text.chars().collect(), token.chars().collect());
    let letters = token.iter().filter(|c| c.is_alphanumeric()).count();
    if letters == 0 {
        return false;
    }
    let may_be_grouped = letters >= GROUPED;
    (0..text.len()).any(|at| {
        begins(&text, at)
            && token_end(&text[at..], &token, may_be_grouped)
                .is_some_and(|length| ends(&text, at + length))
    })
}

/// Returns the length of the token at the beginning of the text; `None` if the text does not begin with it. If the
/// token may be grouped, spaces and hyphens between two characters are skipped in both.
fn token_end(text: &[char], token: &[char], may_be_grouped: bool) -> Option<usize> {
    let is_gap = |c: &char| matches!(c, ' ' | '-');
    let (mut at, mut of) = (0, 0);
    while of < token.len() {
        match text.get(at) {
            Some(c) if *c == token[of] => (at, of) = (at + 1, of + 1),
            Some(c) if may_be_grouped && at > 0 && is_gap(c) => at += 1,
            _ if may_be_grouped && of > 0 && is_gap(&token[of]) => of += 1,
            _ => return None,
        }
    }
    Some(at)
}

/// Returns `true` if a whole token may begin at this place of the text.
fn begins(text: &[char], at: usize) -> bool {
    let before = at.checked_sub(1).map(|at| text[at]);
    let beyond = at.checked_sub(2).map(|at| text[at]);
    is_boundary(before, beyond)
}

/// Returns `true` if a whole token may end just before this place of the text.
fn ends(text: &[char], at: usize) -> bool {
    is_boundary(text.get(at).copied(), text.get(at + 1).copied())
}

/// Returns `true` if a token may end at `next`, which `beyond` follows. A hyphen or a dot between letters holds them
/// together: `A-17` is no token of `A-17-B`.
fn is_boundary(next: Option<char>, beyond: Option<char>) -> bool {
    let is_of_a_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    match next {
        Some('-' | '_' | '.' | '@' | '+' | '\'' | '’') => !is_of_a_word(beyond),
        Some(',') => !beyond.is_some_and(|c| c.is_ascii_digit()),
        next => !is_of_a_word(next),
    }
}

/// Returns `true` if the text has the number, in any usual notation.
fn has_number(text: &str, number: &Number) -> bool {
    let meant = decimal(number);
    let text: Vec<_> = text.chars().collect();
    let is_part = |at: usize| {
        let is_digit = |at: usize| text.get(at).is_some_and(char::is_ascii_digit);
        is_digit(at)
            || matches!(text[at], ',' | '.' | '_' | '\'' | '’')
                && at > 0
                && is_digit(at - 1)
                && is_digit(at + 1)
    };
    let mut at = 0;
    while at < text.len() {
        if !text[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let from = at;
        while at < text.len() && is_part(at) {
            at += 1;
        }
        let signed = from > 0 && matches!(text[from - 1], '-' | '−');
        let is_sign = signed && (from < 2 || !text[from - 2].is_alphanumeric());
        let from_sign = if is_sign { from - 1 } else { from };
        // A unit may follow a number, as in `5kg`, but no letter or hyphen stands before one.
        let is_free = (is_sign || !signed) && begins(&text, from_sign);
        let digits: String = text[from..at].iter().collect();
        let sign = if is_sign { "-" } else { "" };
        if is_free
            && notations(&digits).any(|one| numeral(&format!("{sign}{one}")) == Some(meant.clone()))
        {
            return true;
        }
    }
    false
}

/// Returns the numbers that a numeral may stand for: read with a decimal point, and with a decimal comma.
fn notations(digits: &str) -> impl Iterator<Item = String> {
    let without = |separators: &[char]| digits.replace(separators, "");
    let english = without(&[',', '_', '\'', '’']);
    let german = without(&['.', '_', '\'', '’']).replace(',', ".");
    let is_grouped = |separator: char, point: char| {
        let whole = digits.split(point).next().unwrap_or_default();
        let mut groups = whole.split(separator);
        groups.next();
        groups.all(|group| group.len() == 3)
    };
    let english = is_grouped(',', '.').then_some(english);
    let german = is_grouped('.', ',').then_some(german);
    english.into_iter().chain(german)
}

/// Returns a number as a decimal without needless zeros; `None` if the text is no number.
fn numeral(text: &str) -> Option<String> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let (whole, fraction) = (
        whole.trim_start_matches('0'),
        fraction.trim_end_matches('0'),
    );
    let whole = if whole.is_empty() { "0" } else { whole };
    let sign = if whole == "0" && fraction.is_empty() {
        ""
    } else {
        sign
    };
    Some(match fraction {
        "" => format!("{sign}{whole}"),
        _ => format!("{sign}{whole}.{fraction}"),
    })
}

/// Returns a number of JSON as a decimal without needless zeros. A number too large for that stays as it is written.
fn decimal(number: &Number) -> String {
    let written = number.to_string();
    let plain = || number.as_f64().filter(|_| written.contains(['e', 'E']));
    let plain = plain().map(|float| float.to_string());
    numeral(&plain.unwrap_or_else(|| written.clone())).unwrap_or(written)
}

#[cfg(test)]
mod tests;
