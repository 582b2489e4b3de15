//! Server-sent events, as the HTML standard defines their stream.

use std::{fmt, time::Duration};

/// A server-sent event, which [`Events::push`] passes to its closure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Event<'a> {
    /// Type of the event; empty if the server named none.
    pub name: &'a str,
    /// Data of the event; several `data` fields are joined by a line feed. Bytes that are no UTF-8 were replaced by
    /// `U+FFFD`.
    pub data: &'a str,
    /// Last id that the server named, in this event or an earlier one; empty if it has named none.
    pub id: &'a str,
}

/// Error of a stream in which a server-sent event is longer than the maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameTooLong {
    /// Maximum number of bytes of an event, which the event exceeds.
    pub max: usize,
}

impl fmt::Display for FrameTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an event is longer than {} bytes", self.max)
    }
}

impl std::error::Error for FrameTooLong {}

/// Cuts a stream into server-sent events.
///
/// Lines may end with a line feed, a carriage return or both. Comments, unknown fields and events without data are
/// skipped; a field `error` is the data of an event of this name. The stream may be cut anywhere, even within a
/// character. An event may have at most 16 MiB.
///
/// At the end of the stream, [`finish`](Events::finish) passes on an event whose empty line is missing, which the
/// standard would drop. Streams of JSON lines are cut by [`Lines`](crate::Lines).
///
/// ```
/// use agents_http::Events;
///
/// let mut events = Events::default();
/// let mut seen = Vec::new();
/// for piece in ["data: {\"a\"", ": 1}\r\n\r\n: a comm", "ent\r\n\r\ndata: [DONE]\n\n"] {
///     events.push(piece.as_bytes(), |event| seen.push(event.data.to_owned()))?;
/// }
/// events.finish(|event| seen.push(event.data.to_owned()));
/// assert_eq!(seen, [r#"{"a": 1}"#, "[DONE]"]);
/// # Ok::<(), agents_http::FrameTooLong>(())
/// ```
#[derive(Debug)]
pub struct Events {
    /// Beginning of a line whose end has not arrived.
    line: Vec<u8>,
    /// Data of the event so far; a line feed follows each line.
    data: String,
    name: String,
    id: String,
    retry: Option<Duration>,
    /// Is `true` if the last bytes ended with a carriage return. A line feed at the beginning of the next ones is then
    /// a part of the same end of line.
    held_return: bool,
    /// Is `true` before the first line, where a byte-order mark may stand.
    at_start: bool,
    max: usize,
}

impl Default for Events {
    fn default() -> Self {
        Events::with_max(16 << 20)
    }
}

impl Events {
    /// Creates a reader for events of at most `max` bytes. [`Events::default`] reads events of up to 16 MiB.
    pub(crate) fn with_max(max: usize) -> Self {
        Events {
            line: Vec::new(),
            data: String::new(),
            name: String::new(),
            id: String::new(),
            retry: None,
            held_return: false,
            at_start: true,
            max,
        }
    }

    /// Adds the next bytes of the stream, and passes each event that is complete now to `read`.
    ///
    /// # Errors
    /// When a line or an event is longer than 16 MiB. The rest of the stream cannot be read then.
    pub fn push(
        &mut self,
        mut piece: &[u8],
        mut read: impl FnMut(Event<'_>),
    ) -> Result<(), FrameTooLong> {
        if self.held_return && !piece.is_empty() {
            self.held_return = false;
            piece = piece.strip_prefix(b"\n").unwrap_or(piece);
            self.end_line(b"", &mut read);
        }
        while let Some(end) = piece.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (line, rest) = piece.split_at(end);
            self.bound(line.len())?;
            if rest == b"\r" {
                self.line.extend_from_slice(line);
                self.held_return = true;
                return Ok(());
            }
            piece = rest.strip_prefix(b"\r\n").unwrap_or(&rest[1..]);
            self.end_line(line, &mut read);
        }
        self.bound(piece.len())?;
        self.line.extend_from_slice(piece);
        Ok(())
    }

    /// Passes the last event to `read`, if the stream ended without an empty line behind it.
    pub fn finish(&mut self, mut read: impl FnMut(Event<'_>)) {
        if self.held_return || !self.line.is_empty() {
            self.held_return = false;
            self.end_line(b"", &mut read);
        }
        self.read_line(b"", &mut read);
    }

    /// Reads the line whose last bytes are `rest`; the field `line` has its beginning.
    fn end_line(&mut self, rest: &[u8], read: &mut impl FnMut(Event<'_>)) {
        if self.line.is_empty() {
            return self.read_line(rest, read);
        }
        let mut line = std::mem::take(&mut self.line);
        line.extend_from_slice(rest);
        self.read_line(&line, read);
        // The buffer is kept for the next line.
        line.clear();
        self.line = line;
    }

    /// Returns how long the server asks clients to wait before they connect again, by its last `retry` field; `None` if
    /// it has sent none.
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Checks that the event stays within the maximum if this number of bytes is added.
    fn bound(&self, more: usize) -> Result<(), FrameTooLong> {
        let size = self.line.len() + self.data.len() + more;
        if size > self.max {
            return Err(FrameTooLong { max: self.max });
        }
        Ok(())
    }

    fn read_line(&mut self, line: &[u8], read: &mut impl FnMut(Event<'_>)) {
        let line = match line.strip_prefix("\u{feff}".as_bytes()) {
            Some(line) if self.at_start => line,
            _ => line,
        };
        self.at_start = false;
        if line.is_empty() {
            if let Some(data) = self.data.strip_suffix('\n') {
                read(Event {
                    name: &self.name,
                    data,
                    id: &self.id,
                });
            }
            self.data.clear();
            self.name.clear();
            return;
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (field, value) = match colon {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line, &b""[..]),
        };
        let value = String::from_utf8_lossy(value.strip_prefix(b" ").unwrap_or(value));
        match field {
            b"data" => {
                self.data.push_str(&value);
                self.data.push('\n');
            }
            b"event" => value.as_ref().clone_into(&mut self.name),
            // Some servers have written `error: {..}` for an event of this name.
            b"error" => {
                self.name.clear();
                self.name.push_str("error");
                self.data.push_str(&value);
                self.data.push('\n');
            }
            b"id" if !value.contains('\0') => value.as_ref().clone_into(&mut self.id),
            b"retry" => {
                if let Ok(millis) = value.parse() {
                    self.retry = Some(Duration::from_millis(millis));
                }
            }
            // A comment, whose field is empty, or an unknown field.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{Event, Events, FrameTooLong};
    use proptest::prelude::*;
    use std::time::Duration;

    type Seen = Vec<(String, String, String)>;

    fn seen(log: &mut Seen) -> impl FnMut(Event<'_>) {
        |event| log.push((event.name.into(), event.data.into(), event.id.into()))
    }

    fn read(pieces: &[&[u8]]) -> Seen {
        let (mut events, mut log) = (Events::default(), Seen::new());
        for piece in pieces {
            events.push(piece, seen(&mut log)).unwrap();
        }
        events.finish(seen(&mut log));
        log
    }

    fn event(name: &str, data: &str, id: &str) -> (String, String, String) {
        (name.into(), data.into(), id.into())
    }

    #[test]
    fn fields_comments_and_line_ends() {
        for (stream, expect) in [
            ("data: a\n\n", vec![event("", "a", "")]),
            ("data:a\ndata: b\n\n", vec![event("", "a\nb", "")]),
            ("data:  a\n\n", vec![event("", " a", "")]),
            ("data\n\n", vec![event("", "", "")]),
            ("event: ping\n\n", vec![]),
            (
                "event: x\ndata: a\nid: 7\n\ndata: b\n\n",
                vec![event("x", "a", "7"), event("", "b", "7")],
            ),
            (": hello\r\ndata: a\r\n\r\n", vec![event("", "a", "")]),
            ("data: a\rdata: b\r\r", vec![event("", "a\nb", "")]),
            ("unknown: 1\ndata: a\n\n\n\n", vec![event("", "a", "")]),
            (
                "error: {}\n\ndata: a\n\n",
                vec![event("error", "{}", ""), event("", "a", "")],
            ),
            ("\u{feff}data: a\n\n", vec![event("", "a", "")]),
            // The end of the stream completes the last event.
            (
                "data: a\n\ndata: b",
                vec![event("", "a", ""), event("", "b", "")],
            ),
        ] {
            assert_eq!(read(&[stream.as_bytes()]), expect, "{stream:?}");
            let bytes: Vec<_> = stream.as_bytes().chunks(1).collect();
            assert_eq!(read(&bytes), expect, "{stream:?}, byte by byte");
        }
    }

    #[test]
    fn a_character_may_be_cut_in_two() {
        let whole = "data: é…\n\n".as_bytes();
        for at in 0..whole.len() {
            let (left, right) = whole.split_at(at);
            assert_eq!(read(&[left, right]), [event("", "é…", "")], "at {at}");
        }
        assert_eq!(read(&[b"data: \xff\n\n"]), [event("", "\u{fffd}", "")]);
    }

    #[test]
    fn the_time_before_a_new_connection_is_read() {
        let mut events = Events::default();
        events
            .push(b"retry: 1500\nretry: soon\n\n", |_| ())
            .unwrap();
        assert_eq!(events.retry(), Some(Duration::from_millis(1500)));
    }

    #[test]
    fn an_event_has_a_maximum_length() {
        let too_long = Err(FrameTooLong { max: 8 });
        let mut events = Events::with_max(8);
        assert_eq!(events.push(b"data: abcdef", |_| ()), too_long);
        let mut events = Events::with_max(8);
        assert_eq!(
            events.push(b"data: a\ndata: b\ndata: c\ndata: d\n", |_| ()),
            too_long
        );
        // Events that fit may follow each other for ever.
        let mut events = Events::with_max(8);
        for _ in 0..10 {
            assert_eq!(events.push(b"data: a\n\n", |_| ()), Ok(()));
        }
    }

    proptest! {
        #[test]
        fn the_events_are_the_same_however_the_stream_is_cut(
            stream in "(data: ?|event:|id: |:|[aé\r\n]){0,30}",
            cuts in proptest::collection::vec(1usize..5, 1..60),
        ) {
            let whole = read(&[stream.as_bytes()]);
            let (mut pieces, mut left) = (Vec::new(), stream.as_bytes());
            for cut in cuts.iter().cycle() {
                let (piece, rest) = left.split_at((*cut).min(left.len()));
                pieces.push(piece);
                left = rest;
                if left.is_empty() {
                    break;
                }
            }
            prop_assert_eq!(read(&pieces), whole);
        }
    }
}
