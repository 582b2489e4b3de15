//! Reader of an answer while the model still writes it.

use super::scanner::Scanner;
use super::{Declared, Printed};

/// Incremental reader of an answer that arrives in chunks.
///
/// The contents that [`push`](Stream::push) and [`finish`](Stream::finish) return add up to the content that
/// [`read`](super::read) returns for the whole answer. Where the answer is divided into chunks makes no difference.
///
/// ```
/// use agents_reader::printed::{Declared, Stream};
///
/// let schema = serde_json::json!({"type": "object"});
/// let tools = [Declared { name: "look", schema: &schema }];
/// let mut stream = Stream::new(&tools);
/// let mut shown = String::new();
/// for chunk in ["I look. <tool_", "call>{\"name\": \"look\", ", "\"arguments\": {}}</tool_call>"] {
///     shown += &stream.push(chunk); // never half a call
/// }
/// let printed = stream.finish();
/// assert_eq!(shown + &printed.content, "I look. ");
/// assert_eq!(printed.calls[0].name, "look");
/// ```
#[derive(Debug)]
pub struct Stream<'a> {
    scanner: Scanner<'a>,
    held: String,
    /// Number of bytes of held text that may be examined again. Text is held while a call is incomplete. Examining all
    /// of it for each chunk would take quadratic time. Arriving text therefore adds to this number, and examining held
    /// text again reduces it.
    credit: usize,
}

/// Number of held bytes that may be examined again for each byte that arrives. Each chunk counts as this number of
/// bytes more than it has. Held text is not examined again until enough bytes have arrived.
const LOOKS_PER_BYTE: usize = 16;

impl<'a> Stream<'a> {
    /// Creates a reader of an answer in which these tools may be called.
    pub fn new(tools: &'a [Declared<'a>]) -> Self {
        Self {
            scanner: Scanner::new(tools),
            held: String::new(),
            credit: 0,
        }
    }

    /// Declares that the prompt has already opened the thinking block, so that the answer only
    /// contains the closing marker.
    #[must_use]
    pub fn thinking(mut self) -> Self {
        self.scanner.start_thinking();
        self
    }

    /// Adds the next chunk of the answer and returns the content that can be shown now.
    pub fn push(&mut self, chunk: &str) -> String {
        self.held.push_str(chunk);
        self.credit += LOOKS_PER_BYTE * (chunk.len() + LOOKS_PER_BYTE);
        if self.credit >= self.held.len() {
            self.credit -= self.held.len();
            let used = self.scanner.advance(&self.held);
            self.held.drain(..used);
        }
        self.scanner.take_content()
    }

    /// Ends the answer and returns all that was read. The `content` of the result is only what [`push`](Self::push) has
    /// not returned.
    pub fn finish(mut self) -> Printed {
        self.scanner.finish(&self.held);
        self.scanner.into_printed()
    }
}
