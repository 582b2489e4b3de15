//! Check of how deep brackets nest.

use super::{
    MAX_DEPTH,
    error::{ReadError, too_deep},
};

/// Checks that brackets nest no deeper than 127 levels, the depth that `serde_json` reads into a tree.
///
/// A type with a `RawValue` or an `IgnoredAny` inside reads any depth. A program that visits such a value level by
/// level therefore checks the text first.
///
/// ```
/// use agents_reader::{ReadErrorKind, check_depth};
///
/// assert!(check_depth("[[1], [2]]").is_ok());
/// assert_eq!(check_depth(&"[".repeat(200)).unwrap_err().kind(), ReadErrorKind::TooDeep);
/// ```
///
/// # Errors
///
/// If the brackets nest deeper. The error names the byte of the first bracket that is too deep.
pub fn check_depth(text: &str) -> Result<(), ReadError> {
    let opens = |byte: &&u8| matches!(byte, b'{' | b'[');
    // Most texts have fewer brackets than the maximum depth, so counting them suffices.
    if text.as_bytes().iter().filter(opens).count() <= MAX_DEPTH {
        return Ok(());
    }
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = quoted,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Err(too_deep(at));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_strings_do_not_count() {
        let offset = |text: &str| check_depth(text).err().and_then(|error| error.offset());
        let nested = |levels| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(offset(&nested(MAX_DEPTH)), None);
        assert_eq!(offset(&nested(MAX_DEPTH + 1)), Some(MAX_DEPTH));
        assert_eq!(offset(&nested(1_000_000)), Some(MAX_DEPTH));
        let quoted = format!(r#"{{"a": "\"{}"}}"#, "[".repeat(500));
        assert_eq!(offset(&quoted), None);
        assert_eq!(offset(&format!("[{}]", vec!["[]"; 500].join(","))), None);
    }
}
