use super::tape::{Digest, Entry, Exchange, FORMAT, Line, Said, prefixes_after, tools_of, written};
use crate::files;
use agents_core::{
    async_trait,
    model::{Message, Model, ModelError, Reply, Request},
    run::{Begun, Clock, Happened, Moment, Tape, Timestamp},
    secret::Masker,
};
use serde_json::Value;
use std::{
    collections::{HashMap, HashSet},
    fmt,
    io::{self, Write},
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Writes a run down as it happens; give it to [`Run::tape`](crate::agent::Run::tape).
///
/// Every line is on its way to the disk before the run goes on, so a tape is whole up to the
/// moment at which a program ends. A tape holds prompts, answers and tool results in the clear, but for
/// the run's [secrets](crate::secret); on Unix, only the owner of a new file may read it.
#[derive(Clone)]
pub struct Recording(Arc<Writer>);

struct Writer {
    sink: Mutex<Sink>,
}

struct Sink {
    out: Box<dyn Write + Send>,
    known: HashSet<Digest>,
    /// What was written of each conversation, by its place.
    told: HashMap<String, Told>,
    tools: Value,
    /// The same as the request had it.
    tools_json: Option<String>,
    failed: Option<io::Error>,
    /// The first line is written: whose run this is.
    begun: bool,
    masker: Option<Arc<Masker>>,
}

/// What was written of a conversation.
#[derive(Default)]
struct Told {
    messages: Vec<Message>,
    /// That of all of them.
    digest: Digest,
    /// How many secrets were hidden in them.
    secrets: usize,
}

impl Told {
    /// Whether the request has these messages, and nothing more is to be hidden in them.
    fn is_begun_by(&self, request: &Request<'_>) -> bool {
        self.secrets == secrets_of(request) && request.messages().starts_with(&self.messages)
    }

    /// All that the request has is written now.
    fn goes_on(&mut self, request: &Request<'_>, digest: Option<&Digest>) {
        let new = &request.messages()[self.messages.len()..];
        self.messages.extend_from_slice(new);
        self.digest = digest.cloned().unwrap_or_default();
        self.secrets = secrets_of(request);
    }
}

fn secrets_of(request: &Request<'_>) -> usize {
    request.masker().map_or(0, Masker::len)
}

/// The place of the agent whose turn this is.
fn conversation_of(place: &str) -> &str {
    place.rsplit_once("/turn").map_or("", |(agent, _)| agent)
}

impl Recording {
    /// Records into a new file, which on Unix nobody but its owner may read, or over an old one, which keeps
    /// its permissions.
    ///
    /// # Errors
    /// When the file cannot be created.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Recording> {
        files::create(path.as_ref()).map(Recording::to)
    }

    /// Records into anything that can be written to.
    pub fn to(out: impl Write + Send + 'static) -> Recording {
        let sink = Sink {
            out: Box::new(out),
            known: HashSet::from([Digest::default()]),
            told: HashMap::new(),
            tools: Value::Array(Vec::new()),
            tools_json: None,
            failed: None,
            begun: false,
            masker: None,
        };
        Recording(Arc::new(Writer {
            sink: Mutex::new(sink),
        }))
    }

    /// Says whether everything was written. A run never fails because its recording does.
    ///
    /// # Errors
    /// With the first failure to write.
    pub fn finish(&self) -> io::Result<()> {
        let mut sink = self.0.sink();
        match sink.failed.take() {
            Some(error) => Err(error),
            None => sink.out.flush(),
        }
    }
}

impl Writer {
    fn sink(&self) -> MutexGuard<'_, Sink> {
        self.sink.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn exchange(&self, model: &str, request: &Request<'_>, said: Said) {
        let mut sink = self.sink();
        let conversation = conversation_of(request.place());
        let mut told = sink.told.remove(conversation).unwrap_or_default();
        if !told.is_begun_by(request) {
            told = Told::default();
        }
        // What was written for an earlier request is not looked at again.
        let messages = &*written(request, told.messages.len());
        let digests = prefixes_after(told.digest.clone(), messages);
        let known = digests
            .iter()
            .rposition(|digest| sink.known.contains(digest))
            .unwrap_or(0);
        told.goes_on(request, digests.last());
        sink.told.insert(conversation.to_owned(), told);
        let tools = match request.tools_json() == sink.tools_json.as_deref() {
            true => sink.tools.clone(),
            false => tools_of(request),
        };
        let line = Line::Exchange(Box::new(Exchange {
            model: model.to_owned(),
            place: request.place().to_owned(),
            after: digests[known].clone(),
            messages: messages[known..].to_vec(),
            tools: (tools != sink.tools).then(|| tools.clone()),
            format: request.format().cloned(),
            said,
        }));
        sink.known.extend(digests);
        sink.tools = tools;
        if request.tools_json() != sink.tools_json.as_deref() {
            sink.tools_json = request.tools_json().map(str::to_owned);
        }
        sink.write(line);
    }
}

impl Sink {
    /// The first line. A run within the recorded one is a part of its tape.
    fn begin(&mut self, begun: &Begun<'_>) {
        if !std::mem::replace(&mut self.begun, true) {
            self.masker = Some(begun.masker.clone());
            self.write(Line::Tape {
                format: FORMAT,
                run_id: begun.run_id.to_owned(),
                agent: begun.agent.to_owned(),
                input: begun.input.clone(),
            });
        }
    }

    /// Every line passes here, so no secret passes.
    fn write(&mut self, line: Line) {
        if self.failed.is_some() {
            return;
        }
        let text = match &self.masker {
            Some(masker) => masker.written(line),
            None => serde_json::to_string(&line),
        };
        let written = text
            .map_err(io::Error::other)
            .and_then(|text| writeln!(self.out, "{text}"))
            .and_then(|()| self.out.flush());
        self.failed = written.err();
    }
}

impl Tape for Recording {
    fn model(&self, model: Option<Arc<dyn Model>>) -> Option<Arc<dyn Model>> {
        model.map(|model| {
            Arc::new(Recorded {
                model,
                writer: self.0.clone(),
            }) as Arc<dyn Model>
        })
    }

    fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(RecordedClock(self.0.clone()))
    }

    fn begins(&self, begun: &Begun<'_>) {
        self.0.sink().begin(begun);
    }

    fn keep(&self, moment: Moment, what: Happened) {
        let entry = Entry { moment, what };
        self.0.sink().write(Line::Happened(Box::new(entry)));
    }
}

/// A model whose every exchange is written down.
struct Recorded {
    model: Arc<dyn Model>,
    writer: Arc<Writer>,
}

#[async_trait]
impl Model for Recorded {
    fn id(&self) -> &str {
        self.model.id()
    }

    fn provider(&self) -> &str {
        self.model.provider()
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        let mut asked = Asked {
            recorded: self,
            request,
            answered: false,
        };
        let result = self.model.chat(request).await;
        let said = match &result {
            Ok(reply) => Said::Reply(reply.clone()),
            Err(error) => Said::Failure(error.clone()),
        };
        asked.write(said);
        result
    }
}

/// A request that is under way. When the run ends before the reply, that is what is written.
struct Asked<'a> {
    recorded: &'a Recorded,
    request: Request<'a>,
    answered: bool,
}

impl Asked<'_> {
    fn write(&mut self, said: Said) {
        self.answered = true;
        let Recorded { model, writer } = self.recorded;
        writer.exchange(model.id(), &self.request, said);
    }
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        if !self.answered {
            self.write(Said::Nothing);
        }
    }
}

struct RecordedClock(Arc<Writer>);

impl Clock for RecordedClock {
    fn now(&self, key: fmt::Arguments<'_>) -> Timestamp {
        let now = Timestamp::now();
        self.0.sink().write(Line::Clock {
            key: key.to_string(),
            millis: now.as_millis(),
        });
        now
    }
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recording")
    }
}
