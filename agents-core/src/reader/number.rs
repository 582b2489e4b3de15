//! Numbers, however they are spelled. They are handled as text: no digit is
//! lost on the way.

use super::{scalar::How, strict};

/// In a longer text nothing is looked for: it is about something else.
pub(super) const LONGEST: usize = 400;

/// The one number a text holds.
pub(super) fn number(text: &str) -> Option<(String, How)> {
    let text = text.trim();
    if strict::number(text.as_bytes(), 0) == Some(text.len()) {
        return Some((text.into(), How::Plain));
    }
    if text.len() > LONGEST {
        return None;
    }
    let bytes = text.as_bytes();
    let mut found = None;
    let mut at = 0;
    while at < bytes.len() {
        let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        let starts = digit(at) || (bytes[at] == b'.' && digit(at + 1));
        if !starts {
            at += 1;
            continue;
        }
        if found.is_some() {
            return None;
        }
        // `H2O` and `v2` do not hold a number of their own.
        if text[..at]
            .chars()
            .next_back()
            .is_some_and(|c| c.is_alphanumeric() || c == '_')
        {
            return None;
        }
        let (start, negative) = sign(text, at);
        let (digits, end) = digits(bytes, at)?;
        found = Some((
            start,
            end,
            if negative {
                format!("-{digits}")
            } else {
                digits
            },
        ));
        at = end;
    }
    let (start, end, number) = found?;
    let (head, tail) = (&text[..start], &text[end..]);
    if scaled(tail)
        || negated(head)
        || compared(head, tail)
        || qualified(head.trim_end(), tail.trim_start())
    {
        return None;
    }
    let rest = text[end..].trim_matches(|c: char| c == '.' || c.is_whitespace());
    let before = text[..start].trim();
    let how = if rest.is_empty() && before.is_empty() {
        How::Notation
    } else {
        How::Found
    };
    Some((number, how))
}

/// Where a number begins with its sign and currency, and whether it is negative.
fn sign(text: &str, digits: usize) -> (usize, bool) {
    let before = text[..digits].trim_end_matches(is_currency);
    let Some(unsigned) = before.strip_suffix(['-', '+', '−']) else {
        return (before.len(), false);
    };
    let minus = !before.ends_with('+');
    // In `pages 3-` or `covid-19` the dash is none.
    match unsigned.trim_end_matches(is_currency).chars().next_back() {
        Some(c) if c.is_alphanumeric() => (before.len(), false),
        _ => (unsigned.len(), minus),
    }
}

/// Reads digits with thousands separators, a fraction and an exponent.
fn digits(bytes: &[u8], start: usize) -> Option<(String, usize)> {
    let run = |at: usize| {
        bytes[at.min(bytes.len())..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count()
    };
    let mut at = start + run(start);
    let mut whole = String::from_utf8_lossy(&bytes[start..at]).into_owned();
    let first = at - start;
    // 1,234,567 and 12,34,567: groups of two or three, the last of three.
    let mut groups = Vec::new();
    let mut end = at;
    let separator = bytes
        .get(at)
        .copied()
        .filter(|b| matches!(b, b',' | b'_' | b'\''))
        .unwrap_or(b',');
    while first > 0 && bytes.get(end) == Some(&separator) {
        let width = run(end + 1);
        let fits = if separator == b'_' {
            width > 0
        } else {
            first <= 3 && (width == 2 || width == 3)
        };
        if !fits {
            break;
        }
        groups.push((end + 1, width));
        end += 1 + width;
    }
    if separator == b'_' || groups.last().is_some_and(|&(_, width)| width == 3) {
        for (from, width) in groups {
            whole.push_str(std::str::from_utf8(&bytes[from..from + width]).ok()?);
        }
        at = end;
    }
    let significant = whole.trim_start_matches('0');
    let mut number = if significant.is_empty() {
        "0".into()
    } else {
        significant.to_owned()
    };
    let fraction = if bytes.get(at) == Some(&b'.') {
        run(at + 1)
    } else {
        0
    };
    if fraction > 0 {
        number.push_str(std::str::from_utf8(&bytes[at..=at + fraction]).ok()?);
        at += fraction + 1;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        let signed = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let exponent = run(at + 1 + signed);
        if exponent > 0 {
            let end = at + 1 + signed + exponent;
            number.push_str(std::str::from_utf8(&bytes[at..end]).ok()?);
            at = end;
        }
    }
    Some((number, at))
}

fn is_currency(c: char) -> bool {
    matches!(c, '$' | '€' | '£' | '¥' | '₹' | '~' | '≈')
}

/// `<5`, `5+`, `– 5`, `5-`, `(5)`: what stands beside the number says that it is not just that.
fn qualified(head: &str, tail: &str) -> bool {
    const DASHES: [char; 6] = ['-', '−', '–', '—', '‐', '‑'];
    let compared = head.trim_end_matches('=');
    let tagged = compared.ends_with('>') && compared.contains('<');
    if compared.ends_with(['<', '>', '≤', '≥', '≠', '!']) && !tagged || tail.starts_with('+')
    {
        return true;
    }
    // In `covid-19` and `5-day` the dash joins words.
    let word = |c: char| c.is_alphanumeric();
    if let Some(before) = head.strip_suffix(DASHES)
        && !before.trim_end().ends_with(word)
    {
        return true;
    }
    if let Some(after) = tail.strip_prefix(DASHES)
        && !after.trim_start().starts_with(word)
    {
        return true;
    }
    // Accountants write negative numbers so.
    let bare = |side: &str| {
        side.trim_matches(|c: char| c.is_whitespace() || is_currency(c))
            .to_owned()
    };
    bare(head) == "(" && bare(tail) == ")"
}

/// `10k`, `2 million`: the number alone would be another one.
fn scaled(rest: &str) -> bool {
    let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || is_currency(c) || c == '-');
    let word: String = rest.chars().take_while(|c| c.is_alphabetic()).collect();
    const LONG: [&str; 18] = [
        "k", "mn", "mm", "bn", "tn", "b", "t", "thousand", "million", "billion", "trillion",
        "hundred", "dozen", "lakh", "crore", "mio", "x", "pm",
    ];
    let whole_word = LONG[..].iter().any(|long| match *long {
        // Millimetres, tonnes, bytes and pixels are units, not factors.
        "mm" | "t" | "x" | "pm" | "b" => false,
        long => {
            word.eq_ignore_ascii_case(long) || word.to_lowercase().strip_suffix('s') == Some(long)
        }
    });
    whole_word || word == "M" || word == "B" || rest.starts_with('/') || rest.starts_with('^')
}

/// `less than 5`, `at least 5`, `5 or more`, `2 per head`: the number bounds, or counts something else.
fn compared(before: &str, after: &str) -> bool {
    const BEFORE: [&str; 14] = [
        "than",
        "least",
        "most",
        "under",
        "over",
        "below",
        "above",
        "within",
        "exceeding",
        "beyond",
        "between",
        "until",
        "or",
        "per",
    ];
    const AFTER: [&str; 6] = ["or", "per", "each", "times", "plus", "minus"];
    has_word(before, &BEFORE) || has_word(after, &AFTER)
}

pub(super) fn negated(before: &str) -> bool {
    const NO: [&str; 17] = [
        "not",
        "minus",
        "negative",
        "never",
        "except",
        "isn't",
        "without",
        "neither",
        "nor",
        "don't",
        "doesn't",
        "didn't",
        "won't",
        "can't",
        "cannot",
        "shouldn't",
        "mustn't",
    ];
    has_word(before, &NO)
}

fn has_word(text: &str, words: &[&str]) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '\'')
        .any(|word| words.iter().any(|known| word.eq_ignore_ascii_case(known)))
}

/// A number as an integer, if it is one and whole: `5.0`, `1e3`.
pub(super) fn whole(number: &str) -> Option<String> {
    let (sign, unsigned) = match number.strip_prefix('-') {
        Some(unsigned) => ("-", unsigned),
        None => ("", number),
    };
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
        None => (unsigned, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let shift = exponent.checked_sub(fraction.len() as i64)?;
    if shift >= 0 {
        // Nobody writes 1e400 and wants four hundred digits.
        if shift > 64 {
            return None;
        }
        digits.extend(std::iter::repeat_n('0', shift as usize));
    } else {
        let cut = digits.len().checked_sub(usize::try_from(-shift).ok()?);
        let keep = cut.unwrap_or(0);
        if digits[keep..].bytes().any(|b| b != b'0') {
            return None;
        }
        digits.truncate(keep);
    }
    let digits = digits.trim_start_matches('0');
    match digits {
        "" => Some("0".into()),
        digits => Some(format!("{sign}{digits}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn num(text: &str) -> Option<String> {
        number(text).map(|(number, _)| number)
    }

    #[test]
    fn one_number_is_taken() {
        for (text, want) in [
            ("42", "42"),
            (" -7 ", "-7"),
            ("8,000", "8000"),
            ("1,234,567.5", "1234567.5"),
            ("12,34,567", "1234567"),
            ("80kg", "80"),
            ("about 3 days", "3"),
            ("$9.99", "9.99"),
            ("-€4", "-4"),
            (".5", "0.5"),
            ("007", "7"),
            ("1_000", "1000"),
            ("75%", "75"),
            ("6.022e23", "6.022e23"),
            ("9.", "9"),
            ("covid-19", "19"),
            ("5-day", "5"),
            ("<b>5</b>", "5"),
            ("ten (10)", "10"),
            ("−5", "-5"),
        ] {
            assert_eq!(num(text).as_deref(), Some(want), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_not_whole() {
        for text in ["", "-", "1.5", "7\u{200b}<think>...Non", "1e400", "0x10"] {
            assert_eq!(whole(text), None, "{text}");
        }
        for (text, want) in [
            ("5.0", "5"),
            ("1e3", "1000"),
            ("-20e-1", "-2"),
            ("0.0", "0"),
        ] {
            assert_eq!(whole(text).as_deref(), Some(want), "{text}");
        }
    }

    #[test]
    fn two_or_half_a_number_is_refused() {
        for text in [
            "",
            "five",
            "3 or 4",
            "2.000,5",
            "1.2.3",
            "10-20",
            "B12",
            "10k",
            "2 million",
            "5M",
            "1/2",
            "not 5",
            "minus 3",
            "less than 5",
            "at least 5",
            "over 9000",
            "5 or more",
            "2 per person",
            "don't take 5",
            "1,5",
            // More or less than the number.
            "<5",
            ">= 5",
            "≥5",
            "!= 5",
            "5+",
            // A dash that may be a sign, or the end of a range.
            "–5",
            "− 5",
            "--5",
            "5-",
            "4.50-",
            "(5)",
            "($4.50)",
        ] {
            assert_eq!(num(text), None, "{text}");
        }
    }

    #[test]
    fn whole_numbers_stay_exact() {
        for (text, want) in [
            ("5.0", Some("5")),
            ("1e3", Some("1000")),
            ("-0.0", Some("0")),
            ("12.50e1", Some("125")),
            ("3.5", None),
            ("1e-1", None),
            ("9007199254740993.00", Some("9007199254740993")),
        ] {
            assert_eq!(whole(text).as_deref(), want, "{text}");
        }
    }
}
