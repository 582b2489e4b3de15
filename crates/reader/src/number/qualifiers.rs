//! Marks and words beside a number that change its value.

use super::is_currency;

/// Returns true if a mark beside a number gives the number another value: `<5`, `5+`, `– 5`, `5-`, `(5)`. The text is
/// then not read as a number. `head` is the text before the number and its sign, `tail` the text behind it.
pub(super) fn qualified(head: &str, tail: &str) -> bool {
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
    // Accountants write negative numbers in parentheses.
    let bare = |side: &str| {
        side.trim_matches(|c: char| c.is_whitespace() || is_currency(c))
            .to_owned()
    };
    bare(head) == "(" && bare(tail) == ")"
}

/// Returns true if a factor, a slash or a power follows the number: `10k`, `2 million`, `5/8`, `5^2`. The text is then
/// not read as a number.
pub(super) fn scaled(rest: &str) -> bool {
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

/// Returns true if the number is a bound or counts something else: `less than 5`, `at least 5`, `5 or more`,
/// `2 per head`.
pub(super) fn compared(before: &str, after: &str) -> bool {
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

pub(crate) fn negated(before: &str) -> bool {
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
