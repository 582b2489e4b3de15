//! The pure half of a client: bytes become a reply, without any I/O.

use super::{
    excerpt,
    halves::{self, Waiting},
};
use crate::{Event, Events, Lines};
use agents_core::model::{Delta, ModelErrorKind, Reply};
use serde::de::IgnoredAny;
use std::fmt;

/// Callback that is given the fragments of a reply as they arrive; `None` if nobody wants them.
pub type Sink<'a> = Option<&'a (dyn Fn(Delta<'_>) + Send + Sync)>;

/// The format in which a provider writes one reply.
///
/// A value reads one reply: a stream of events, or one document. A [`Decoder`] feeds it from bytes, and
/// [`ask`](crate::ask) from a server.
///
/// ```
/// use agents_core::model::{Delta, Reply};
/// use agents_http::{Decoder, Ending, Event, Format, Problem, Progress, Sink};
///
/// /// Events such as `{"text": "Hel"}`, of which the last is `{"end": true}`.
/// #[derive(Default)]
/// struct Plain {
///     reply: Reply,
///     progress: Progress,
/// }
///
/// #[derive(Default, serde::Deserialize)]
/// #[serde(default)]
/// struct Part {
///     text: String,
///     end: bool,
/// }
///
/// impl Format for Plain {
///     fn event(&mut self, event: &Event<'_>, sink: Sink<'_>) -> Result<(), Problem> {
///         self.document(event.data.as_bytes(), sink)
///     }
///
///     fn document(&mut self, json: &[u8], sink: Sink<'_>) -> Result<(), Problem> {
///         let part: Part = serde_json::from_slice(json).map_err(|error| Problem::json(&error, json))?;
///         self.reply.content.push_str(&part.text);
///         if let Some(sink) = sink {
///             sink(Delta::Text(&part.text));
///         }
///         self.progress = if part.end { Progress::Ended } else { Progress::Begun };
///         Ok(())
///     }
///
///     fn progress(&self) -> Progress {
///         self.progress
///     }
///
///     fn into_reply(self) -> Reply {
///         self.reply
///     }
/// }
///
/// let mut decoder = Decoder::new(Plain::default());
/// for piece in ["data: {\"text\": \"Hel", "lo\"}\n\ndata: {\"end\": true}\n\n"] {
///     decoder.on(piece.as_bytes(), None)?;
/// }
/// decoder.end(Ending::Closed, None)?;
/// assert_eq!(decoder.into_reply().content, "Hello");
/// # Ok::<(), Problem>(())
/// ```
pub trait Format {
    /// Reads an event of a streamed reply, and passes its fragments to `sink`. Unknown events and fields are skipped.
    ///
    /// # Errors
    /// When the event does not follow the format, or reports an error.
    fn event(&mut self, event: &Event<'_>, sink: Sink<'_>) -> Result<(), Problem>;

    /// Reads a reply that comes in one document.
    ///
    /// # Errors
    /// When the document does not follow the format, or reports an error.
    fn document(&mut self, json: &[u8], sink: Sink<'_>) -> Result<(), Problem>;

    /// Returns how much of the reply was read.
    fn progress(&self) -> Progress;

    /// Converts everything that was read into a reply. Calls of tools whose end has not arrived are left out.
    fn into_reply(self) -> Reply;
}

/// Amount of a reply that was read so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Progress {
    /// No part of the reply has arrived.
    #[default]
    Nothing,
    /// A part of the reply has arrived, and more is to come.
    Begun,
    /// The event that ends the stream has arrived, but nothing has said why the model stopped. The reply may be cut
    /// off; [`ask`](crate::ask) learns which servers never say it.
    Stopped,
    /// The content of the reply has arrived; the event that ends the stream is missing.
    Complete,
    /// All of the reply has arrived, with the event that ends the stream.
    Ended,
}

/// Framing of a response's body: how the stream of bytes is cut into JSON values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// A single JSON document: the whole body is the reply.
    Document,
    /// Server-sent events (SSE), each with a JSON value as its data.
    Events,
    /// Lines (NDJSON), each with a JSON value.
    Lines,
}

/// Way in which the body of a response ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The server ended the body as the protocol says.
    Closed,
    /// The connection broke, or a limit of the client was reached.
    BrokeOff,
}

/// Reason why the body of a response is no reply of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The bytes of the body do not follow the format of the provider.
    Malformed {
        /// Reason why the bytes of the body do not follow the format.
        why: String,
        /// Beginning of the wrong bytes, which the message shows.
        excerpt: String,
    },
    /// The server reported an error instead of the reply, or after the reply had begun.
    Reported {
        /// Kind of the error that the server reported, by which programs decide what to do.
        kind: ModelErrorKind,
        /// Message with which the server described the error.
        message: String,
    },
    /// The body ended before the reply was complete, so that more bytes were expected.
    Unfinished,
}

impl Problem {
    /// Creates the problem for bytes that could not be read as JSON of the format. JSON that ends too early is
    /// [`Problem::Unfinished`], and anything else is [`Problem::Malformed`].
    pub fn json(error: &serde_json::Error, bytes: &[u8]) -> Problem {
        match error.is_eof() {
            true => Problem::Unfinished,
            false => Problem::malformed(error, bytes),
        }
    }

    /// Creates the problem for bytes that do not follow the format.
    pub fn malformed(why: impl fmt::Display, bytes: &[u8]) -> Problem {
        Problem::Malformed {
            why: why.to_string(),
            excerpt: excerpt(bytes),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Malformed { why, excerpt } => {
                write!(
                    f,
                    "the reply does not follow the format ({why}): `{excerpt}`"
                )
            }
            Problem::Reported { message, .. } => write!(f, "the server reported: {message}"),
            Problem::Unfinished => f.write_str("the reply ended before its end"),
        }
    }
}

impl std::error::Error for Problem {}

/// Decodes the body of a response as it arrives.
///
/// If the framing is not [given](Decoder::framed), a body that begins with `{` or `[` is one document, and any other
/// body is a stream of server-sent events. A server may thus answer in another way than it was asked to. [`Format`] has
/// an example.
#[derive(Debug)]
pub struct Decoder<F> {
    format: F,
    frames: Frames,
    /// Half of a character whose other half comes in a later event.
    waiting: Waiting,
    /// Beginning of the response's body, which an error message shows.
    start: Vec<u8>,
}

/// Number of bytes at the beginning of a body that are kept for an error message.
const START: usize = 1024;

#[derive(Debug)]
enum Frames {
    Unknown,
    Document(Vec<u8>),
    Events(Events),
    Lines(Lines),
}

impl<F: Format> Decoder<F> {
    /// Creates a decoder that recognises the framing by the first byte of the body that is no white space: `{` and `[`
    /// begin one JSON document, and any other byte begins server-sent events. For a JSON value on each line, use
    /// [`framed`](Self::framed).
    pub fn new(format: F) -> Self {
        Decoder {
            format,
            frames: Frames::Unknown,
            waiting: None,
            start: Vec::new(),
        }
    }

    /// Creates a decoder for a body of which the framing is known.
    pub fn framed(format: F, framing: Framing) -> Self {
        Decoder {
            frames: Frames::of(framing),
            ..Decoder::new(format)
        }
    }

    /// Returns the framing (document, server-sent events or lines); `None` as long as it is neither given nor
    /// recognised.
    pub fn framing(&self) -> Option<Framing> {
        match &self.frames {
            Frames::Unknown => None,
            Frames::Document(_) => Some(Framing::Document),
            Frames::Events(_) => Some(Framing::Events),
            Frames::Lines(_) => Some(Framing::Lines),
        }
    }

    /// Returns how much of the reply was read. A document is read when it has ended.
    pub fn progress(&self) -> Progress {
        self.format.progress()
    }

    /// Adds the next bytes of the body, and passes the fragments that they complete to `sink`. Whatever follows the end
    /// of a stream is skipped. An event that is named `error` is an error in every format.
    ///
    /// # Errors
    /// When the bytes do not follow the format, or report an error.
    pub fn on(&mut self, mut bytes: &[u8], sink: Sink<'_>) -> Result<(), Problem> {
        if matches!(self.frames, Frames::Unknown) {
            let blank = |byte: &u8| !byte.is_ascii_whitespace();
            let Some(first) = bytes.iter().position(blank) else {
                return Ok(());
            };
            self.frames = Frames::of(match bytes[first] {
                b'{' | b'[' => Framing::Document,
                _ => Framing::Events,
            });
            bytes = &bytes[first..];
        }
        let Decoder {
            format,
            frames,
            waiting,
            start,
        } = self;
        if format.progress() == Progress::Nothing && start.len() < START {
            start.extend_from_slice(&bytes[..bytes.len().min(START - start.len())]);
        }
        match frames {
            Frames::Document(held) => {
                held.extend_from_slice(bytes);
                Ok(())
            }
            Frames::Events(events) => {
                let mut read = Ok(());
                let pushed = events.push(bytes, |event| {
                    if read.is_ok() {
                        read = whole(read_event(format, &event, waiting, sink), event.data);
                    }
                });
                read?;
                pushed.map_err(|error| Problem::malformed(error, b""))
            }
            Frames::Lines(lines) => {
                let complete = lines.push(bytes);
                complete.split(|byte| *byte == b'\n').try_for_each(|line| {
                    let read = read_line(format, line, waiting, sink);
                    whole(read, &String::from_utf8_lossy(line))
                })
            }
            Frames::Unknown => Ok(()),
        }
    }

    /// Says that the body has ended, in this way.
    ///
    /// # Errors
    /// With [`Problem::Unfinished`] if the reply is not complete, and with another problem if a document does not
    /// follow the format, if an error is reported, or if a body that is not empty has no reply in it. A reply that is
    /// [complete](Progress::Complete) may lack the event that ends its stream, if the server has ended the body.
    pub fn end(&mut self, ending: Ending, sink: Sink<'_>) -> Result<(), Problem> {
        let closed = ending == Ending::Closed;
        let Decoder {
            format,
            frames,
            waiting,
            start,
        } = self;
        match frames {
            Frames::Document(held) if closed => read_document(format, held, waiting, sink)?,
            Frames::Events(events) if closed => {
                let mut read = Ok(());
                events.finish(|event| read = read_event(format, &event, waiting, sink));
                unless_cut(read)?;
            }
            Frames::Lines(lines) if closed => {
                unless_cut(read_line(format, lines.rest(), waiting, sink))?;
            }
            _ => {}
        }
        match format.progress() {
            Progress::Ended => Ok(()),
            Progress::Complete if closed => Ok(()),
            Progress::Nothing if closed && !start.is_empty() => {
                Err(Problem::malformed("it has no reply", start))
            }
            _ => Err(Problem::Unfinished),
        }
    }

    /// Converts everything that was read into a reply. Calls of tools whose end has not arrived are left out.
    pub fn into_reply(self) -> Reply {
        self.format.into_reply()
    }
}

impl Frames {
    fn of(framing: Framing) -> Frames {
        match framing {
            Framing::Document => Frames::Document(Vec::new()),
            Framing::Events => Frames::Events(Events::default()),
            Framing::Lines => Frames::Lines(Lines::default()),
        }
    }
}

/// Reads an event, unless the stream has ended before it. An event that is named `error` is one in every format.
fn read_event(
    format: &mut impl Format,
    event: &Event<'_>,
    waiting: &mut Waiting,
    sink: Sink<'_>,
) -> Result<(), Problem> {
    for data in documents(event.data) {
        if matches!(format.progress(), Progress::Stopped | Progress::Ended) {
            return Ok(());
        }
        if event.name == "error" {
            return Err(Problem::named_error(data.as_bytes()));
        }
        let data = &*halves::joined(data, waiting);
        format.event(&Event { data, ..*event }, sink)?;
    }
    Ok(())
}

/// Returns the documents in the data of an event. Mostly there is one. Some servers leave out the empty lines between
/// events, or what stands before the word that ends the stream.
fn documents(data: &str) -> impl Iterator<Item = &str> {
    const END: &str = "[DONE]";
    let is_document = |line: &str| {
        let line = line.trim();
        line == END || line.starts_with('{') && serde_json::from_str::<IgnoredAny>(line).is_ok()
    };
    let has_several = data.contains('\n') && data.lines().all(is_document);
    let (one, lines) = match has_several {
        true => (None, Some(data.lines())),
        false => (Some(data), None),
    };
    let glued = one.and_then(|data| data.trim_end().strip_suffix(END));
    let glued = glued.map(|data| data.trim_end().trim_end_matches("data:").trim_end());
    let (one, end) = match glued.filter(|data| data.ends_with('}')) {
        Some(data) => (Some(data), Some(END)),
        None => (one, None),
    };
    one.into_iter()
        .chain(end)
        .chain(lines.into_iter().flatten())
}

fn read_line(
    format: &mut impl Format,
    line: &[u8],
    waiting: &mut Waiting,
    sink: Sink<'_>,
) -> Result<(), Problem> {
    let data = String::from_utf8_lossy(line.trim_ascii());
    if data.is_empty() {
        return Ok(());
    }
    let event = Event {
        data: &data,
        ..Event::default()
    };
    read_event(format, &event, waiting, sink)
}

/// Reads a body that begins with a document. A server that was asked for one may add the end of a stream to it, and a
/// stream may lack the name of its first field.
fn read_document(
    format: &mut impl Format,
    body: &[u8],
    waiting: &mut Waiting,
    sink: Sink<'_>,
) -> Result<(), Problem> {
    let text = String::from_utf8_lossy(body);
    let json = halves::joined(&text, waiting);
    let Some((first, rest)) = with_events(&json) else {
        return format.document(json.as_bytes(), sink);
    };
    if rest.trim_start_matches("data:").trim() == "[DONE]" {
        return format.document(first.as_bytes(), sink);
    }
    let first = Event {
        data: first,
        ..Event::default()
    };
    let mut read = read_event(format, &first, waiting, sink);
    let mut on = |event: Event<'_>| {
        if read.is_ok() {
            read = read_event(format, &event, waiting, sink);
        }
    };
    let mut events = Events::default();
    let pushed = events.push(rest.as_bytes(), &mut on);
    events.finish(&mut on);
    pushed.map_err(|error| Problem::malformed(error, b""))?;
    read
}

/// Splits a body into its first document and the events behind it; `None` if no events follow.
fn with_events(body: &str) -> Option<(&str, &str)> {
    // Mostly the body ends with its document.
    let is_one = body.trim_end().ends_with(['}', ']']) && !body.contains("\ndata:");
    if is_one && !body.trim_end().ends_with("[DONE]") {
        return None;
    }
    let mut documents = serde_json::Deserializer::from_str(body).into_iter::<IgnoredAny>();
    documents.next()?.ok()?;
    let (first, rest) = body.split_at(documents.byte_offset());
    let rest = rest.trim_start();
    let is_event = ["data:", "event:", "id:", ":"]
        .iter()
        .any(|field| rest.starts_with(field));
    is_event.then_some((first, rest))
}

/// Turns an early end of JSON into [`Problem::Malformed`], for an event that has arrived as a whole: more bytes would
/// not complete it.
fn whole(read: Result<(), Problem>, data: &str) -> Result<(), Problem> {
    match read {
        Err(Problem::Unfinished) => Err(Problem::malformed(
            "the JSON of an event ends too early",
            data.as_bytes(),
        )),
        read => read,
    }
}

/// Turns a wrong format into [`Problem::Unfinished`], for the last event of a body that may have been cut off.
fn unless_cut(read: Result<(), Problem>) -> Result<(), Problem> {
    match read {
        Err(Problem::Malformed { .. }) => Err(Problem::Unfinished),
        read => read,
    }
}
