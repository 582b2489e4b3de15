//! A low estimate of the tokens of a text.

/// Greatest number of bytes that a token of a word may have.
const LONGEST: usize = 16;

/// Returns a number of tokens that a text has at least.
///
/// The tokenizers of language models cut a text at its blanks first, so that a word is one token or more. A long word
/// counts one more for every 16 bytes. English text has about a third more tokens than that.
pub(crate) fn at_least(text: &str) -> u64 {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let tokens = words.map(|word| word.len().div_ceil(LONGEST));
    u64::try_from(tokens.sum::<usize>()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::at_least;

    #[test]
    fn a_word_is_one_token_and_a_long_one_more() {
        for (text, tokens) in [
            ("", 0),
            ("        \n\n\t ---------- ... {}", 0),
            ("The quick brown fox jumps over the lazy dog.", 9),
            ("x = { \"a\": [1, 2, 3] }", 5),
            ("Donaudampfschifffahrtsgesellschaft", 3),
        ] {
            assert_eq!(at_least(text), tokens, "{text:?}");
        }
    }
}
