//! Numbers in all their spellings. They are handled as text, so no digit is lost on the way.

mod qualifiers;

pub(super) use self::qualifiers::negated;
use self::qualifiers::{compared, qualified, scaled};
use super::{closeness::Closeness, strict};

/// Maximum length in bytes of a text in which a number is looked for; a longer text is about something else.
pub(super) const MAX_LEN: usize = 400;

/// Returns the only number in a text, with its closeness; `None` if the text has no number or several, or if other text
/// changes the number's value. A text of more than 400 bytes gives `None` too, unless it is a number as JSON spells it.
pub(super) fn number(text: &str) -> Option<(String, Closeness)> {
    let text = text.trim();
    if strict::number(text.as_bytes(), 0) == Some(text.len()) {
        return Some((text.into(), Closeness::Plain));
    }
    if text.len() > MAX_LEN {
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
    // `9.` is a nine, and `1.5.` has a point too many.
    let written = &text[start..end];
    let pointed = written.contains(['.', 'e', 'E']);
    let tail = tail.strip_prefix('.').filter(|_| !pointed).unwrap_or(tail);
    let alone = head.trim().is_empty() && tail.trim().is_empty();
    let how = if alone && is_plain(written) {
        Closeness::Notation
    } else {
        Closeness::Found
    };
    Some((number, how))
}

/// Returns the value of a fraction, if the value is not whole and has only a few decimal places: `1/4` is 0.25.
pub(super) fn fraction(text: &str) -> Option<(String, Closeness)> {
    let (above, below) = text.trim().split_once('/')?;
    let (above, below): (i32, i32) = (above.trim().parse().ok()?, below.trim().parse().ok()?);
    (below > 0).then_some(())?;
    let value = f64::from(above) / f64::from(below);
    let written = value.to_string();
    (written.len() < 12 && value.fract() != 0.0).then_some((written, Closeness::Found))
}

/// Returns the start of the number whose first digit is at `digits`, with its sign and currency, and true if the number
/// is negative.
fn sign(text: &str, digits: usize) -> (usize, bool) {
    let before = text[..digits].trim_end_matches(is_currency);
    let Some(unsigned) = before.strip_suffix(['-', '+', '−']) else {
        return (before.len(), false);
    };
    let minus = !before.ends_with('+');
    // In `pages 3-` or `covid-19` the dash is no minus sign.
    match unsigned.trim_end_matches(is_currency).chars().next_back() {
        Some(c) if c.is_alphanumeric() => (before.len(), false),
        _ => (unsigned.len(), minus),
    }
}

/// Reads digits with thousands separators, a fraction and an exponent. Returns the number as JSON, and its end.
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

/// Returns true if a number in this spelling has only one meaning. Then no currency and no `~` stands before its
/// digits, and no comma between them can be a decimal mark. `1,200` is 1.2 to half the world. `1,200,000`, `1,200.50`
/// and `1'200` are one number everywhere.
fn is_plain(number: &str) -> bool {
    let unsigned = number.strip_prefix(['-', '+', '−']).unwrap_or(number);
    let (grouped, point) = match unsigned.find(['.', 'e', 'E']) {
        Some(at) => (&unsigned[..at], unsigned[at..].starts_with('.')),
        None => (unsigned, false),
    };
    let mut groups = grouped.split([',', '\'', '_']);
    let first = groups.next().unwrap_or_default();
    let separated = groups.clone().count();
    let commas = grouped.contains(',');
    first.bytes().all(|b| b.is_ascii_digit())
        && groups.all(|group| group.len() == 3)
        && (separated != 1 || !commas || point)
}

fn is_currency(c: char) -> bool {
    matches!(c, '$' | '€' | '£' | '¥' | '₹' | '~' | '≈')
}

/// Returns a JSON number as an integer, if the number is whole and its exponent adds at most 64 zeros: `5.0`, `1e3`.
pub(super) fn to_integer(number: &str) -> Option<String> {
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
        // Nobody writes 1e400 to mean four hundred digits.
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
    fn other_notations_are_told_from_numbers_with_marks() {
        let how = |text: &str| number(text).map(|(_, how)| how);
        for text in [
            "+5",
            "007",
            ".5",
            "9.",
            " 9. ",
            "−5",
            "1'200",
            "1_200",
            "1,200,000",
            "1,200.50",
            "-1,200.5e3",
        ] {
            assert_eq!(how(text), Some(Closeness::Notation), "{text}");
        }
        for text in [
            "$12",
            "€12",
            "¥1200",
            "~12",
            "-€4",
            "€-4",
            "$ 12",
            "12 €",
            "12€",
            "12%",
            "12 USD",
            "#12",
            "+ 5",
            ". 5",
            // Other decimal marks, and texts that may be several numbers.
            "1,200",
            "1,000",
            "12,34,567",
            "1_2",
            "$1,200.50",
            "9...",
            "1.5.",
            "5!",
        ] {
            assert_eq!(how(text), Some(Closeness::Found), "{text}");
        }
        assert_eq!(how(" -12.5e3 "), Some(Closeness::Plain));
    }

    #[test]
    fn only_whole_numbers_become_integers() {
        for text in ["", "-", "1.5", "7\u{200b}<think>...Non", "1e400", "0x10"] {
            assert_eq!(to_integer(text), None, "{text}");
        }
        for (text, want) in [
            ("5.0", "5"),
            ("1e3", "1000"),
            ("-20e-1", "-2"),
            ("0.0", "0"),
        ] {
            assert_eq!(to_integer(text).as_deref(), Some(want), "{text}");
        }
    }

    #[test]
    fn ambiguous_numbers_are_refused() {
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
            // Texts that mean more or less than the number.
            "<5",
            ">= 5",
            "≥5",
            "!= 5",
            "5+",
            // A dash that may be a sign or the end of a range.
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
            assert_eq!(to_integer(text).as_deref(), want, "{text}");
        }
    }
}
