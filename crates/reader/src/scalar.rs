//! Booleans, allowed values and names, in all their spellings.

use super::{
    closeness::Closeness,
    number::{MAX_LEN, negated, number},
    strict,
    tape::Kind,
};

/// Returns the literal (`true`, `false` or `null`) that a word means, in JSON or in another language.
pub(crate) fn literal(word: &str) -> Option<Kind> {
    Some(match word {
        "true" | "True" | "TRUE" => Kind::True,
        "false" | "False" | "FALSE" => Kind::False,
        "null" | "None" | "Null" | "NULL" | "nil" | "undefined" => Kind::Null,
        _ => return None,
    })
}

/// Returns the boolean that a text such as `yes` means, with its closeness; `None` if the text means no boolean or more
/// than one, has a negation, or is longer than 400 bytes.
pub(super) fn boolean(text: &str) -> Option<(bool, Closeness)> {
    if text.len() > MAX_LEN {
        return None;
    }
    let word = text.trim().to_ascii_lowercase();
    // `**Yes.**` says no more than `yes`.
    let marks = ['.', '!', '*', '`', '"', '\''];
    let (word, bare) = (word.trim_matches(marks), word.as_str());
    match word {
        "true" | "false" if word.len() < bare.len() => {
            return Some((word == "true", Closeness::Notation));
        }
        "true" => return Some((true, Closeness::Plain)),
        "false" => return Some((false, Closeness::Plain)),
        "yes" | "y" | "on" | "1" | "1.0" | "t" => return Some((true, Closeness::Notation)),
        "no" | "n" | "off" | "0" | "0.0" | "f" => return Some((false, Closeness::Notation)),
        // For a field with the name `disabled` it would mean the opposite.
        "enabled" => return Some((true, Closeness::Found)),
        "disabled" => return Some((false, Closeness::Found)),
        _ => {}
    }
    let mut found = None;
    for word in words(text) {
        let value = match () {
            () if word.eq_ignore_ascii_case("true") => true,
            () if word.eq_ignore_ascii_case("false") => false,
            () if negated(word) => return None,
            () => continue,
        };
        if found.replace(value).is_some() {
            return None;
        }
    }
    found.map(|value| (value, Closeness::Found))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '\'')
        .filter(|word| !word.is_empty())
}

/// Returns the index of the allowed value that a text means. It tries the exact spelling, then the spelling without
/// case and style, then the only value named in the text, if the text is short and denies nothing. Returns `None` if no
/// value or several are meant.
pub(super) fn choice(text: &str, allowed: &[&str]) -> Option<(usize, Closeness)> {
    type Alike<'t> = &'t dyn Fn(&str) -> bool;
    let text = text.trim();
    let folded = fold(text);
    let lower = text.to_lowercase();
    let short = text.len() <= MAX_LEN && !negated(text);
    let steps: [(Closeness, Alike<'_>); 5] = [
        (Closeness::Plain, &|value| value == text),
        (Closeness::Notation, &|value| {
            value.eq_ignore_ascii_case(text)
        }),
        (Closeness::Notation, &|value| {
            !folded.is_empty() && fold(value) == folded && dashes(value) == dashes(text)
        }),
        (Closeness::Found, &|value| short && has_word(text, value)),
        (Closeness::Found, &|value| {
            short && has_word(&lower, &value.to_lowercase())
        }),
    ];
    for (how, alike) in steps {
        let mut hits = (0..allowed.len()).filter(|&at| alike(allowed[at]));
        match (hits.next(), hits.next()) {
            (Some(at), None) => return Some((at, how)),
            (Some(_), Some(_)) => return None,
            _ => {}
        }
    }
    None
}

/// Returns whether a text begins with a dash, and whether it ends with one. Such a dash is no style: a `B-` is no `B`.
fn dashes(text: &str) -> (bool, bool) {
    (text.starts_with('-'), text.ends_with('-'))
}

/// Returns true if `value` stands in `text` as a word of its own.
fn has_word(text: &str, value: &str) -> bool {
    let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    !value.is_empty()
        && text.match_indices(value).any(|(at, _)| {
            let (before, after) = (&text[..at], &text[at + value.len()..]);
            let glued = word(before.chars().next_back()) || word(after.chars().next());
            let in_number = value.starts_with(is_digit) && follows_number(before)
                || value.ends_with(is_digit) && precedes_number(after);
            !glued && !in_number
        })
}

fn is_digit(c: char) -> bool {
    c.is_numeric()
}

/// Returns true if the text before a place ends with a number that may go on there: `-`, `1.`, `10-`, `1 `.
fn follows_number(before: &str) -> bool {
    let joint = before.trim_end_matches(['-', '−', '–', '.', ',', '/', ':', '+', ' ']);
    joint.len() < before.len()
        && (joint.ends_with(is_digit)
            || before.trim_end().ends_with(['-', '−', '–', '+', '.'])
                && !joint.ends_with(char::is_alphabetic))
}

/// Returns true if the text after a place may continue a number: `.5`, `,000`, `-20`, ` 5`.
fn precedes_number(after: &str) -> bool {
    let rest = after.trim_start_matches(['-', '−', '–', '.', ',', '/', ':', ' ']);
    rest.len() < after.len() && rest.starts_with(is_digit)
}

/// Returns a name without case, accents and style, to compare names: `maxItems`, `max_items` and `Max Items` are alike.
/// Marks between digits or before a number are no style: `1.5` is not 15, and `-5` is not 5.
pub(super) fn fold(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    // Characters that may be style; the next character decides.
    let mut between = String::new();
    for c in name.chars() {
        if matches!(c, '_' | '-' | '.') || c.is_whitespace() {
            between.push(c);
            continue;
        }
        let before = folded.chars().next_back();
        let counts = match before {
            None => between.contains(['-', '.']),
            Some(before) => before.is_numeric(),
        };
        if c.is_numeric() && counts {
            folded.push_str(&between);
        }
        between.clear();
        folded.extend(without_accent(c).to_lowercase());
    }
    folded
}

/// Returns the Latin letter without its accent; any other character comes back as it is.
fn without_accent(c: char) -> char {
    match c {
        _ if c.is_ascii() => c,
        'À'..='Å' | 'à'..='å' | 'Ā'..='ą' => 'a',
        'Ç' | 'ç' | 'Ć'..='č' => 'c',
        'Ď' | 'ď' => 'd',
        'È'..='Ë' | 'è'..='ë' | 'Ē'..='ě' => 'e',
        'Ĝ'..='ģ' => 'g',
        'Ì'..='Ï' | 'ì'..='ï' | 'Ĩ'..='į' => 'i',
        'Ñ' | 'ñ' | 'Ń'..='ň' => 'n',
        'Ò'..='Ö' | 'ò'..='ö' | 'Ō'..='ő' => 'o',
        'Ŕ'..='ř' => 'r',
        'Ś'..='š' => 's',
        'Ţ'..='ť' => 't',
        'Ù'..='Ü' | 'ù'..='ü' | 'Ũ'..='ų' => 'u',
        'Ý' | 'ý' | 'ÿ' => 'y',
        'Ź'..='ž' => 'z',
        c => c,
    }
}

/// Meaning of text without quotes, by its looks.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Guess {
    Literal(Kind),
    Number(String),
    Text,
    /// The text may be a number or not. If the schema does not settle it, reading the text is an error.
    Unclear,
}

pub(super) fn guess(text: &str, cut_off: bool) -> Guess {
    if let Some(kind) = literal(text) {
        return Guess::Literal(kind);
    }
    let unsigned = text.trim_start_matches(['-', '+']);
    if unsigned.eq_ignore_ascii_case("nan")
        || unsigned.eq_ignore_ascii_case("infinity")
        || unsigned.eq_ignore_ascii_case("inf")
    {
        return Guess::Unclear;
    }
    if cut_off && text.len() > 1 {
        let kinds = [
            ("true", Kind::True),
            ("false", Kind::False),
            ("null", Kind::Null),
        ];
        if let Some(&(_, kind)) = kinds.iter().find(|(word, _)| word.starts_with(text)) {
            return Guess::Literal(kind);
        }
    }
    if unsigned.is_empty() {
        return Guess::Unclear;
    }
    if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return Guess::Text;
    }
    let hexadecimal = unsigned.strip_prefix("0x").or(unsigned.strip_prefix("0X"));
    if hexadecimal.is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit())) {
        return Guess::Unclear;
    }
    // The text ended within the number, so the digits so far count.
    let trimmed = text.trim_end_matches(['e', 'E', '+', '-', '.']);
    if text != trimmed
        && !trimmed.is_empty()
        && strict::number(trimmed.as_bytes(), 0) == Some(trimmed.len())
    {
        return match &text.as_bytes()[trimmed.len()..] {
            b"." if !trimmed.contains(['.', 'e', 'E']) => Guess::Number(format!("{trimmed}.0")),
            b"." => Guess::Unclear,
            _ if cut_off => Guess::Number(trimmed.into()),
            _ => Guess::Unclear,
        };
    }
    let numeric = unsigned
        .bytes()
        .all(|b| b.is_ascii_digit() || b".,_eE+-".contains(&b));
    match number(text) {
        Some((number, Closeness::Notation))
            if numeric && !text.contains(',') && !leading_zero(unsigned) =>
        {
            Guess::Number(number)
        }
        _ if numeric && !unsigned[1..].contains(['-', '.']) => Guess::Unclear,
        _ => Guess::Text,
    }
}

fn leading_zero(text: &str) -> bool {
    text.len() > 1 && text.starts_with('0') && text.as_bytes()[1].is_ascii_digit()
}

/// Returns true if text without JSON's quotes has quotes of another kind: `«x»`, or `&quot;x&quot;` as HTML writes it.
/// They may be quotes, or belong to the text.
pub(super) fn has_other_quotes(text: &str) -> bool {
    const MARKS: [char; 15] = [
        '«', '»', '‹', '›', '„', '‚', '“', '”', '‘', '’', '「', '」', '『', '』', '`',
    ];
    const ENTITIES: [&str; 6] = ["&quot;", "&#34;", "&#x22;", "&apos;", "&#39;", "&amp;"];
    text.starts_with(MARKS)
        || text.ends_with(MARKS)
        || ENTITIES.iter().any(|entity| text.contains(entity))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_by_case_style_and_word() {
        let allowed = ["in_progress", "Done", "open"];
        assert_eq!(
            choice("in-progress", &allowed),
            Some((0, Closeness::Notation))
        );
        assert_eq!(choice("DONE", &allowed), Some((1, Closeness::Notation)));
        assert_eq!(
            choice("it is open now", &allowed),
            Some((2, Closeness::Found))
        );
        assert_eq!(choice("open or Done", &allowed), None);
        assert_eq!(choice("not open", &allowed), None);
        assert_eq!(choice("done.", &allowed), Some((1, Closeness::Notation)));
        // A grade, not a style of one.
        assert_eq!(choice("b-", &["A", "B"]), Some((1, Closeness::Found)));
        assert_eq!(choice("B-", &["A-", "B-"]), Some((1, Closeness::Plain)));
    }

    #[test]
    fn separators_in_numbers_are_no_style() {
        for (one, two) in [
            ("1.5", "15"),
            ("-5", "5"),
            ("1_2", "12"),
            ("x 1 2", "x12"),
            (".5", "5"),
        ] {
            assert_ne!(fold(one), fold(two), "{one}");
        }
        for (one, two) in [
            ("gpt-4", "GPT4"),
            ("v 2", "v_2"),
            ("maxItems", "max-items"),
            ("_id", "ID"),
            ("a1_b", "A1B"),
        ] {
            assert_eq!(fold(one), fold(two), "{one}");
        }
        let allowed = ["1", "2", "20"];
        assert_eq!(choice("level 2", &allowed), Some((1, Closeness::Found)));
        assert_eq!(choice("level-2", &allowed), Some((1, Closeness::Found)));
        for text in ["-2", "2.5", "1 2", "2-5", "+2", "0.2", "1/2", "- 2"] {
            assert_eq!(choice(text, &allowed), None, "{text}");
        }
    }

    #[test]
    fn booleans() {
        assert_eq!(boolean("Yes"), Some((true, Closeness::Notation)));
        assert_eq!(
            boolean("the result is FALSE."),
            Some((false, Closeness::Found))
        );
        assert_eq!(boolean("disabled"), Some((false, Closeness::Found)));
        assert_eq!(boolean("true or false"), None);
        assert_eq!(boolean("not true"), None);
        assert_eq!(boolean("maybe"), None);
    }
}
