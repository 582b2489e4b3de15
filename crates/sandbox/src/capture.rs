use crate::output;
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt};

/// Output of a program in a box, as far as it is kept: its begin, as much as the model is shown, and its end, which
/// tells why the program failed.
#[derive(Default)]
pub(crate) struct Capture {
    pub(crate) begin: Vec<u8>,
    pub(crate) end: Vec<u8>,
    pub(crate) total: u64,
}

/// Number of bytes that are kept of the end of an output.
const END: usize = 4_096;

/// Multiple of the bytes of an output that the model is shown: a program that writes more than that is ended.
const TOO_MUCH: u64 = 16;

/// Reason why a program's output is not read any more.
#[derive(Debug)]
pub(crate) enum Stopped {
    TooMuch,
    Failed(io::Error),
}

impl Capture {
    /// Reads an output of the program to its end, or until the program has written too much.
    pub(crate) async fn read(
        from: Option<impl AsyncRead + Unpin>,
        most: usize,
    ) -> Result<Self, Stopped> {
        let mut capture = Capture::default();
        let Some(mut from) = from else {
            return Ok(capture);
        };
        let mut chunk = vec![0; 16_384];
        loop {
            match from.read(&mut chunk).await {
                Ok(0) => return Ok(capture),
                Ok(count) => capture.add(&chunk[..count], most),
                Err(error) => return Err(Stopped::Failed(error)),
            }
            if capture.is_too_much(most) {
                return Err(Stopped::TooMuch);
            }
        }
    }

    /// Adds bytes to the output, of which the model is shown `most` in all.
    pub(crate) fn add(&mut self, bytes: &[u8], most: usize) {
        let room = most.saturating_sub(self.begin.len());
        self.begin.extend(&bytes[..bytes.len().min(room)]);
        self.end.extend(&bytes[bytes.len().saturating_sub(END)..]);
        self.end.drain(..self.end.len().saturating_sub(END));
        self.total += bytes.len() as u64;
    }

    /// Returns `true` if the program has written so much that it is ended; the model is shown `most` bytes.
    pub(crate) fn is_too_much(&self, most: usize) -> bool {
        self.total > (most as u64).saturating_mul(TOO_MUCH)
    }

    /// Returns the end of the output as text of at most so many bytes, in whole lines where it is cut.
    pub(crate) fn tail(&self, most: usize) -> String {
        let end = &self.end[self.end.len().saturating_sub(most)..];
        let text = output::safe(end);
        let whole = match text.split_once('\n') {
            Some((_, rest)) if self.total > end.len() as u64 => rest,
            _ => &text,
        };
        whole.trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_begin_and_the_end_are_kept_and_too_much_is_an_error() {
        let text = [b"a".repeat(70_000), b"z".repeat(10)].concat();
        let capture = Capture::read(Some(&*text), 10_000).await.unwrap();
        assert_eq!(capture.begin, b"a".repeat(10_000));
        assert_eq!(capture.total, 70_010);
        assert_eq!(capture.end.len(), END);
        assert!(capture.end.ends_with(b"azzzzzzzzzz"));

        let capture = Capture::read(Some(&*text), 70_010).await.unwrap();
        assert_eq!(capture.begin, text);
        let stopped = Capture::read(Some(&*text), 4_000).await;
        assert!(matches!(stopped, Err(Stopped::TooMuch)));
    }
}
