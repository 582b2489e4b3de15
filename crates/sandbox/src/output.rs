use crate::wording;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Result of a program that ran to its end.
///
/// A status other than 0 is a result, too: the model reads in the standard error why its code failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ran {
    /// Exit status; 0 says that all went well.
    pub status: i32,
    /// Standard output; a long one is cut, and says so at its end.
    pub stdout: String,
    /// Standard error; a long one is cut, and says so at its end.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
}

impl Ran {
    /// Creates the result from the begin of each output, and the number of bytes that the output had in all.
    pub(crate) fn new(status: i32, out: (&[u8], u64), err: (&[u8], u64)) -> Self {
        Ran {
            status,
            stdout: shown(out.0, out.1),
            stderr: shown(err.0, err.1),
        }
    }
}

/// Returns the begin of an output as text, with a remark if the output is longer.
fn shown(begin: &[u8], total: u64) -> String {
    match total > begin.len() as u64 {
        true => {
            let whole = whole_characters(begin);
            safe(whole) + &wording::cut(whole.len(), total)
        }
        false => safe(begin),
    }
}

/// Returns the bytes of UTF-8 without an incomplete character at their end.
fn whole_characters(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => &bytes[..error.valid_up_to()],
        _ => bytes,
    }
}

/// Returns bytes as text that is safe to show. What is no UTF-8, and control characters other than tabs and ends of
/// lines, become `�`.
pub(crate) fn safe(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
    let is_safe = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
    let replaced = |c| {
        if is_safe(c) {
            c
        } else {
            char::REPLACEMENT_CHARACTER
        }
    };
    text.chars().map(replaced).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_safe_text_and_is_cut_with_a_remark() {
        assert_eq!(
            safe(b"a\xff\x1b[31mb\tc\r\nd\0"),
            "a\u{fffd}\u{fffd}[31mb\tc\nd\u{fffd}"
        );
        assert_eq!(shown("héé".as_bytes(), 5), "héé");
        let cut = shown(&"héé".as_bytes()[..4], 5);
        assert!(cut.starts_with("hé\n"), "{cut}");
        assert!(cut.contains("3 of 5 bytes"), "{cut}");
    }
}
