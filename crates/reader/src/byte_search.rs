//! Search for the next byte of interest, eight bytes at a time.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Returns a word whose high bits mark the bytes of `word` that are zero, to search eight bytes at once. Behind the
/// first zero byte the marks may be wrong.
const fn zeros(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & HIGH
}

const fn word_at(bytes: &[u8], at: usize) -> u64 {
    match bytes.split_at(at).1.first_chunk::<8>() {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => 0,
    }
}

/// Returns the index of the first `"`, `\`, control character or `other` at or after `from`; the length of `bytes` if
/// no such byte follows.
pub(super) fn string_special(bytes: &[u8], mut from: usize, other: u8) -> usize {
    let other_word = ONES * other as u64;
    while from + 8 <= bytes.len() {
        let word = word_at(bytes, from);
        let control = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
        let found = control
            | zeros(word ^ (ONES * b'"' as u64))
            | zeros(word ^ (ONES * b'\\' as u64))
            | zeros(word ^ other_word);
        if found != 0 {
            return from + (found.trailing_zeros() / 8) as usize;
        }
        from += 8;
    }
    while let Some(&b) = bytes.get(from) {
        if b == b'"' || b == b'\\' || b < 0x20 || b == other {
            break;
        }
        from += 1;
    }
    from
}

/// Returns the index of the first byte at or after `from` that is not JSON's white space.
pub(super) fn skip_space(bytes: &[u8], mut from: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\t' | b'\r') = bytes.get(from) {
        from += 1;
        // Indented text: a run of blanks is usually long.
        while from + 8 <= bytes.len() && word_at(bytes, from) == ONES * b' ' as u64 {
            from += 8;
        }
    }
    from
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_a_simple_loop() {
        let text = "abcdefgh\"ijk\\lm\u{1f}n'é—o\n  ü\u{7f}";
        let slow = |from: usize, other: u8| {
            text.bytes()
                .enumerate()
                .skip(from)
                .find(|&(_, b)| b == b'"' || b == b'\\' || b < 0x20 || b == other)
                .map_or(text.len(), |(at, _)| at)
        };
        for from in 0..=text.len() {
            for other in [b'"', b'\'', 0xE2, 0xC3] {
                assert_eq!(
                    string_special(text.as_bytes(), from, other),
                    slow(from, other)
                );
            }
        }
    }
}
