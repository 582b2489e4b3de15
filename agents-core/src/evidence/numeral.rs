//! Numbers in a text, and what stands beside them.

use super::{
    iban::is_space,
    text::{Text, begins, ends},
};
use serde_json::Number;
use std::ops::Range;

/// Returns the places of all numerals of a text: digits, with the marks that separate groups and decimals.
pub(super) fn places(text: &[char]) -> Vec<Range<usize>> {
    let is_digit = |at: usize| text.get(at).is_some_and(char::is_ascii_digit);
    let is_part = |at: usize| {
        let is_mark = matches!(text[at], ',' | '.' | '_' | '\'' | '’');
        is_digit(at) || is_mark && at > 0 && is_digit(at - 1) && is_digit(at + 1)
    };
    let mut places = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let length = (at..text.len()).take_while(|at| is_part(*at)).count();
        if length > 0 {
            places.push(at..at + length);
        }
        at += length.max(1);
    }
    places
}

impl Text {
    /// Returns `true` if the text has the number as a whole, in any usual notation: not as a part of a date, a time, an
    /// exponent or a longer number.
    pub(super) fn has_number(&self, number: &Number) -> bool {
        let meant = decimal(number);
        let plain = places(&self.chars);
        let plain = plain.into_iter().filter(|place| !self.is_in_group(place));
        let plain = plain.map(|place| {
            let digits = self.chars[place.clone()].iter().collect();
            (place, digits)
        });
        let groups = self.groups.iter();
        let groups = groups.filter_map(|group| Some((group.place.clone(), group.joined.clone()?)));
        plain
            .chain(groups)
            .any(|(place, digits)| self.readings(place, &digits).contains(&meant))
    }

    fn is_in_group(&self, place: &Range<usize>) -> bool {
        let mut groups = self.groups.iter();
        groups.any(|group| group.place.contains(&place.start))
    }

    /// Returns the numbers that a numeral at this place may stand for, as decimals; none if the numeral is a part of
    /// something else.
    fn readings(&self, place: Range<usize>, digits: &str) -> Vec<String> {
        let text = &self.chars;
        let back = |by: usize| place.start.checked_sub(by).map(|at| text[at]);
        let is_signed = matches!(back(1), Some('-' | '−'));
        let is_sign = is_signed && !back(2).is_some_and(char::is_alphanumeric);
        let start = place.start - usize::from(is_sign);
        if is_signed && !is_sign || !begins(text, start) {
            return Vec::new();
        }
        let sign = if is_sign { "-" } else { "" };
        let exponent = exponent(text, place.end);
        let end = place.end + exponent.len();
        if !ends_number(text, end) || is_of_a_date(text, start..end) {
            return Vec::new();
        }
        if !exponent.is_empty() {
            let exponent: String = text[exponent].iter().collect();
            let number = serde_json::from_str(&format!("{sign}{digits}{exponent}"));
            return number.iter().map(decimal).collect();
        }
        let read = |digits: String| numeral(&format!("{sign}{digits}"));
        notations(digits).filter_map(read).collect()
    }
}

/// Returns the place of the exponent that begins here, as in `42e2`; an empty place if there is none.
fn exponent(text: &[char], at: usize) -> Range<usize> {
    let is_digit = |at: usize| text.get(at).is_some_and(char::is_ascii_digit);
    if !matches!(text.get(at), Some('e' | 'E')) {
        return at..at;
    }
    let sign = usize::from(matches!(text.get(at + 1), Some('+' | '-')));
    let from = at + 1 + sign;
    let digits = (from..text.len()).take_while(|at| is_digit(*at)).count();
    match digits {
        0 => at..at,
        digits => at..from + digits,
    }
}

/// Words behind a number that give it another value.
const FACTORS: [&str; 17] = [
    "k",
    "mio",
    "mn",
    "bn",
    "mrd",
    "tsd",
    "hundred",
    "thousand",
    "million",
    "billion",
    "trillion",
    "dozen",
    "lakh",
    "crore",
    "tausend",
    "millionen",
    "milliarden",
];

/// Words behind a number that make it a time of the day.
const TIMES: [&str; 4] = ["am", "pm", "uhr", "o'clock"];

/// Returns `true` if a number may end at this place. A unit may follow, as in `5kg` and `5-day`, but no factor, as in
/// `5k`, and no hour, as in `5 pm`.
fn ends_number(text: &[char], at: usize) -> bool {
    let length = |from: usize| {
        let rest = text.iter().skip(from);
        rest.take_while(|c| c.is_alphabetic() || **c == '\'')
            .count()
    };
    let unit = length(at);
    let is_joined = matches!(text.get(at), Some('-' | '‐' | '‑'));
    let is_apart = text.get(at).is_some_and(|c| is_space(*c)) || is_joined;
    let word = match is_apart {
        true => at + 1..at + 1 + length(at + 1),
        false => at..at + unit,
    };
    let written: String = text[word.clone()].iter().collect();
    let lower = written.to_lowercase();
    let is_one_of = |words: &[&str]| {
        let singular = lower.strip_suffix('s').unwrap_or(&lower);
        words.iter().any(|word| *word == lower || *word == singular)
    };
    let is_factor = is_one_of(&FACTORS) || !is_apart && matches!(&*written, "M" | "B");
    if is_factor || is_one_of(&TIMES) {
        return false;
    }
    // `3-night` has a unit, and `3-B` is a name.
    let has_unit = is_joined && word.len() > 1 && written == lower;
    ends(text, if has_unit { word.end } else { at + unit })
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Returns `true` for the name of a month, also if it is cut to three or four letters. The verb "may" is none.
fn is_month(word: &str) -> bool {
    let lower = word.to_lowercase();
    let is_cut = matches!(lower.len(), 3 | 4);
    word != "may"
        && MONTHS
            .iter()
            .any(|month| *month == lower || is_cut && month.starts_with(&lower))
}

/// Returns `true` for a number beside the name of a month: a day, as in `28 November`, or a year, as in
/// `November 28, 2026`.
fn is_of_a_date(text: &[char], place: Range<usize>) -> bool {
    let words = |part: &[char]| {
        let part: String = part.iter().collect();
        let words = part.split(|c: char| c.is_whitespace() || c == ',' || c == '.');
        let words: Vec<_> = words
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect();
        words
    };
    let near = 24;
    let before = words(&text[place.start.saturating_sub(near)..place.start]);
    let behind = words(&text[place.end..text.len().min(place.end + near)]);
    let (last, earlier) = match &before[..] {
        [.., earlier, last] => (Some(last), Some(earlier)),
        [last] => (Some(last), None),
        [] => (None, None),
    };
    let is_month = |word: Option<&String>| word.is_some_and(|word| is_month(word));
    let is_day = |word: &String| word.starts_with(|c: char| c.is_ascii_digit()) && word.len() <= 4;
    let ordinals = ["st", "nd", "rd", "th", "of"];
    let mut behind = behind
        .iter()
        .skip_while(|word| ordinals.contains(&word.as_str()));
    match place.len() {
        1 | 2 => is_month(last) || is_month(behind.next()),
        4 => is_month(last) || is_month(earlier) && last.is_some_and(is_day),
        _ => false,
    }
}

/// Returns `true` if a currency stands beside a place of the text: a sign, or a code of three capital letters.
pub(super) fn has_currency(text: &[char], start: usize, end: usize) -> bool {
    let is_sign = |c: &char| matches!(c, '$' | '€' | '£' | '¥' | '₹');
    let gap = |at: Option<&char>| usize::from(at.is_some_and(|c| is_space(*c)));
    let before = &text[..start];
    let before = &before[..before.len() - gap(before.last())];
    let behind = &text[end..];
    let behind = &behind[gap(behind.first())..];
    let is_code =
        |letters: Vec<&char>| letters.len() == 3 && letters.iter().all(|c| c.is_ascii_uppercase());
    let word = |c: &&char| c.is_alphanumeric();
    before.last().is_some_and(is_sign)
        || behind.first().is_some_and(is_sign)
        || is_code(before.iter().rev().take_while(word).collect())
        || is_code(behind.iter().take_while(word).collect())
}

/// Returns the numbers that a numeral may stand for: read with a decimal point, and with a decimal comma.
fn notations(digits: &str) -> impl Iterator<Item = String> {
    let without = |separators: &[char]| digits.replace(separators, "");
    let english = without(&[',', '_', '\'', '’']);
    let german = without(&['.', '_', '\'', '’']).replace(',', ".");
    let is_grouped = |separator: char, point: char| {
        let whole = digits.split(point).next().unwrap_or_default();
        let mut groups = whole.split([separator, '_', '\'', '’']);
        let first = groups.next().unwrap_or_default();
        groups.all(|group| group.len() == 3 && first.len() <= 3)
    };
    let english = is_grouped(',', '.').then_some(english);
    let german = is_grouped('.', ',').then_some(german);
    english.into_iter().chain(german)
}

/// Returns a number as a decimal without needless zeros; `None` if the text is no number.
pub(super) fn numeral(text: &str) -> Option<String> {
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
pub(super) fn decimal(number: &Number) -> String {
    let written = number.to_string();
    let plain = || number.as_f64().filter(|_| written.contains(['e', 'E']));
    let plain = plain().map(|float| float.to_string());
    numeral(&plain.unwrap_or_else(|| written.clone())).unwrap_or(written)
}
