use super::tape::{Digest, Exchange, FORMAT, Line, Said, prefixes, text, tools_of, written};
use agents_core::{
    model::{Delta, Message, Model, ModelError, ModelErrorKind, Reply, Request},
    rt::async_trait,
    run::{Clock, Tape, Timestamp},
};
use serde_json::Value;
use std::{
    collections::HashMap,
    fmt, fs, io,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Answers from a tape; give it to [`Run::tape`](crate::run::Run::tape).
///
/// No model is asked and no network is used. Each recorded reply is given once, to the request
/// that has the same messages, tools and format as the one it was given to; which model it was is on
/// the tape, but is not compared.
#[derive(Clone)]
pub struct Replay(Arc<Reader>);

struct Reader {
    run_id: String,
    model: String,
    clock: HashMap<String, u64>,
    left: Mutex<Vec<Heard>>,
}

/// A recorded exchange, its whole conversation put together.
struct Heard {
    number: usize,
    messages: Vec<Message>,
    tools: Value,
    format: Option<Value>,
    said: Said,
}

impl Replay {
    /// Reads a tape from a file.
    ///
    /// # Errors
    /// When the file cannot be read, or is no tape of this format.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Replay> {
        Replay::parse(&fs::read_to_string(path)?)
    }

    /// Reads a tape from its text.
    ///
    /// # Errors
    /// When the text is no tape of this format; the message names the line.
    pub fn parse(tape: &str) -> io::Result<Replay> {
        let mut reader = Reader {
            run_id: String::new(),
            model: String::new(),
            clock: HashMap::new(),
            left: Mutex::default(),
        };
        let mut conversations: HashMap<Digest, Vec<Message>> =
            HashMap::from([(Digest::default(), Vec::new())]);
        let mut tools = Value::Array(Vec::new());
        let mut heard = Vec::new();
        for (number, line) in tape
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
        {
            let bad = |what: String| {
                io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!("line {} of the tape: {what}", number + 1),
                )
            };
            match serde_json::from_str(line).map_err(|error| bad(error.to_string()))? {
                Line::Tape {
                    format: FORMAT,
                    run_id,
                } => reader.run_id = run_id,
                Line::Tape { format, .. } => {
                    return Err(bad(format!(
                        "it has format {format}; this version reads format {FORMAT}"
                    )));
                }
                Line::Clock { key, millis } => {
                    reader.clock.insert(key, millis);
                }
                Line::Exchange(exchange) => {
                    let Exchange {
                        model,
                        after,
                        messages: new,
                        tools: offered,
                        format,
                        said,
                    } = *exchange;
                    let mut messages = conversations.get(&after).cloned().ok_or_else(|| {
                        bad("it continues a conversation that no line before it holds".into())
                    })?;
                    messages.extend(new);
                    for (len, digest) in prefixes(&messages).into_iter().enumerate() {
                        conversations
                            .entry(digest)
                            .or_insert_with(|| messages[..len].to_vec());
                    }
                    tools = offered.unwrap_or(tools);
                    reader.model = model;
                    heard.push(Heard {
                        number: heard.len() + 1,
                        messages,
                        tools: tools.clone(),
                        format,
                        said,
                    });
                }
            }
        }
        if reader.run_id.is_empty() {
            let message =
                "line 1 of the tape: it does not say whose run this is; is it a tape at all?";
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        reader.left = Mutex::new(heard);
        Ok(Replay(Arc::new(reader)))
    }

    /// How many recorded replies have not been asked for.
    pub fn left(&self) -> usize {
        let answers = |heard: &&Heard| !matches!(heard.said, Said::Nothing);
        self.0.left().iter().filter(answers).count()
    }
}

impl Reader {
    fn left(&self) -> MutexGuard<'_, Vec<Heard>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The recorded reply; `None` if the run ended before there was one.
    fn answer(&self, request: &Request<'_>) -> Result<Option<Reply>, ModelError> {
        let mut left = self.left();
        let (messages, tools) = (&*written(request), tools_of(request));
        let same = |heard: &Heard| {
            heard.messages == messages
                && heard.tools == tools
                && heard.format.as_ref() == request.format()
        };
        match left.iter().position(same) {
            Some(at) => match left.remove(at).said {
                Said::Reply(reply) => Ok(Some(reply)),
                Said::Nothing => Ok(None),
                Said::Failure(message) => Err(ModelError::new(ModelErrorKind::Refused, message)),
            },
            None => Err(ModelError::new(
                ModelErrorKind::NotRecorded,
                divergence(&left, messages, &tools),
            )),
        }
    }
}

/// Where a request leaves the recording: against the recorded one that it shares most with.
fn divergence(left: &[Heard], now: &[Message], tools: &Value) -> String {
    let shared = |heard: &Heard| {
        heard
            .messages
            .iter()
            .zip(now)
            .take_while(|(a, b)| a == b)
            .count()
    };
    let Some(nearest) = left
        .iter()
        .max_by_key(|heard| (shared(heard), std::cmp::Reverse(heard.number)))
    else {
        return "the recording has no more replies; this request was not made when it was recorded"
            .into();
    };
    let number = nearest.number;
    let at = shared(nearest);
    match (nearest.messages.get(at), now.get(at)) {
        (Some(then), Some(now)) => {
            let (then, now) = difference(&text_of(then), &text_of(now));
            format!(
                "request {number} differs from the recording in message {}: recorded `{then}`, now `{now}`",
                at + 1
            )
        }
        (Some(_), None) => format!(
            "request {number} is shorter than the recorded one: message {} is missing",
            at + 1
        ),
        (None, Some(now)) => format!(
            "request {number} is longer than the recorded one: message {} `{}` was not there",
            at + 1,
            difference("", &text_of(now)).1
        ),
        (None, None) if nearest.tools != *tools => {
            format!("request {number} offers other tools than were recorded")
        }
        (None, None) => format!("request {number} asks for another format than was recorded"),
    }
}

/// What a message says; everything about it when that is not enough to tell two apart.
fn text_of(message: &Message) -> String {
    match message {
        Message::System { content } | Message::User { content } | Message::Tool { content, .. } => {
            content.clone()
        }
        Message::Assistant { .. } => text(message),
    }
}

/// Both texts from shortly before they part, shortened.
fn difference(then: &str, now: &str) -> (String, String) {
    let same = then
        .chars()
        .zip(now.chars())
        .take_while(|(a, b)| a == b)
        .count();
    let from = same.saturating_sub(20);
    let part = |text: &str| text.chars().skip(from).take(80).collect::<String>();
    (part(then), part(now))
}

impl Tape for Replay {
    fn model(&self, _: Option<Arc<dyn Model>>) -> Option<Arc<dyn Model>> {
        Some(Arc::new(Replayed(self.0.clone())))
    }

    fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(Replayed(self.0.clone()))
    }
}

struct Replayed(Arc<Reader>);

#[async_trait]
impl Model for Replayed {
    fn id(&self) -> &str {
        &self.0.model
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        // Where the recorded run waited in vain, this one waits for what ended it.
        let Some(reply) = self.0.answer(&request)? else {
            return std::future::pending().await;
        };
        if let Some(sink) = request.sink() {
            reply
                .thinking
                .iter()
                .for_each(|text| sink(Delta::Thinking(text)));
            sink(Delta::Text(&reply.content));
        }
        Ok(reply)
    }
}

impl Clock for Replayed {
    fn now(&self, key: fmt::Arguments<'_>) -> Timestamp {
        // A reading that was not recorded belongs to a run that has parted from it already.
        self.0
            .clock
            .get(&key.to_string())
            .copied()
            .map_or_else(Timestamp::now, Timestamp::from_millis)
    }

    fn run_id(&self) -> String {
        self.0.run_id.clone()
    }
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay")
            .field("run_id", &self.0.run_id)
            .field("left", &self.left())
            .finish()
    }
}
