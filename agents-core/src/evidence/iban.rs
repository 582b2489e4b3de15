//! Account numbers (IBAN), which people write in groups of four.

use std::ops::RangeInclusive;

/// Number of letters and digits of an account number, by ISO 13616.
const LENGTH: RangeInclusive<usize> = 15..=34;

/// Joins an account number that is written in groups of four, with the same gap between all of them. Returns `None` for
/// any other text. The check digits are not looked at.
pub(super) fn joined(text: &str) -> Option<String> {
    let gap = text.chars().find(|c| is_gap(*c))?;
    let groups: Vec<_> = text.split(gap).collect();
    let (last, whole) = groups.split_last()?;
    let is_of = |group: &str, lengths: RangeInclusive<usize>| {
        lengths.contains(&group.len()) && group.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let is_grouped = whole.iter().all(|group| is_of(group, 4..=4)) && is_of(last, 1..=4);
    let joined = groups.concat();
    (is_grouped && has_shape(&joined)).then_some(joined)
}

/// Returns `true` for a space or a hyphen, as they stand between the groups of a number.
pub(super) fn is_gap(c: char) -> bool {
    c == '-' || is_space(c)
}

/// Returns `true` for a space within a line.
pub(super) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}')
}

/// Returns `true` for a text with the shape of an account number without gaps: country, check digits, account.
pub(super) fn has_shape(text: &str) -> bool {
    let bytes = text.as_bytes();
    LENGTH.contains(&bytes.len())
        && bytes[..2].iter().all(u8::is_ascii_alphabetic)
        && bytes[2..4].iter().all(u8::is_ascii_digit)
        && bytes[4..].iter().all(u8::is_ascii_alphanumeric)
}

/// Returns `true` if the check digits of an account number are right, by ISO 7064.
pub(super) fn is_valid(account: &str) -> bool {
    if !has_shape(account) {
        return false;
    }
    let (head, tail) = account.split_at(4);
    let digits = tail.chars().chain(head.chars());
    let rest = digits
        .filter_map(|c| c.to_digit(36))
        .fold(0, |rest, digit| {
            (rest * if digit < 10 { 10 } else { 100 } + digit) % 97
        });
    rest == 1
}
