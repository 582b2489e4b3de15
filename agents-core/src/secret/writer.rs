use super::mask::masked;
use std::io::{self, Write};

/// Writer that masks the secrets of every run in progress; put it under a logger's output.
///
/// Log lines that tools and libraries write themselves are masked as well.
///
/// Each write is masked by itself. The logger above must therefore write whole lines, as
/// `tracing_subscriber::fmt` does:
///
/// ```ignore
/// tracing_subscriber::fmt().with_writer(|| Masked::new(std::io::stderr())).init();
/// ```
#[derive(Debug)]
pub struct Masked<W>(W);

impl<W: Write> Masked<W> {
    /// Creates a writer that masks the secrets in a text, and writes the masked text to `to`.
    pub fn new(to: W) -> Self {
        Masked(to)
    }
}

impl<W: Write> Write for Masked<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        self.0.write_all(masked(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
