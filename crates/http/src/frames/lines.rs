/// Cuts a stream into lines, as servers write JSON line by line (NDJSON). A line may have any length: bound the body
/// with [`Limits`](crate::Limits).
///
/// ```
/// use agents_http::Lines;
///
/// let mut lines = Lines::default();
/// assert_eq!(lines.push(b"{\"a\""), b"");
/// assert_eq!(lines.push(b": 1}\n{\"b\": 2}\n{"), b"{\"a\": 1}\n{\"b\": 2}\n");
/// assert_eq!(lines.rest(), b"{");
/// ```
#[derive(Debug, Default)]
pub struct Lines {
    held: Vec<u8>,
    /// Number of bytes at the start of `held` that the last call has returned; the next call removes them.
    returned: usize,
}

impl Lines {
    /// Adds the next bytes of the stream. Returns the lines that are complete now, each with its line feed. If no line
    /// is complete, the result is empty.
    pub fn push<'a>(&'a mut self, piece: &'a [u8]) -> &'a [u8] {
        self.held.drain(..self.returned);
        self.returned = 0;
        let Some(end) = piece.iter().rposition(|byte| *byte == b'\n') else {
            self.held.extend_from_slice(piece);
            return b"";
        };
        let (lines, begun) = piece.split_at(end + 1);
        if self.held.is_empty() {
            self.held.extend_from_slice(begun);
            return lines;
        }
        self.held.extend_from_slice(piece);
        self.returned = self.held.len() - begun.len();
        &self.held[..self.returned]
    }

    /// Returns the bytes of the last line, which has no line feed yet.
    pub fn rest(&self) -> &[u8] {
        &self.held[self.returned..]
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_lines_are_the_same_however_the_stream_is_cut(
            text in "[a\n]{0,40}",
            cuts in proptest::collection::vec(1usize..6, 1..40),
        ) {
            let (mut lines, mut read) = (Lines::default(), Vec::new());
            let mut left = text.as_bytes();
            for cut in cuts.iter().cycle() {
                let (piece, rest) = left.split_at((*cut).min(left.len()));
                let complete = lines.push(piece);
                prop_assert!(complete.is_empty() || complete.ends_with(b"\n"));
                read.extend_from_slice(complete);
                left = rest;
                if left.is_empty() {
                    break;
                }
            }
            prop_assert!(!lines.rest().contains(&b'\n'));
            read.extend_from_slice(lines.rest());
            prop_assert_eq!(read, text.into_bytes());
        }
    }
}
