use super::tape::{
    Earlier, Entry, Exchange, FORMAT, Line, Readings, Said, Text, hide, text, tools_of, tree,
};
use crate::files;
use agents_core::{
    Error, ErrorKind, async_trait,
    model::{Model, ModelError, Reply, Request},
    run::{Begun, Clock, Happened, Moment, Tape, Timestamp},
    secret::Masker,
};
use std::{
    borrow::Cow,
    collections::HashMap,
    fmt,
    io::{self, Write},
    mem,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

/// Writes a run to a file or a writer as it happens; [`Run::tape`](crate::agent::Run::tape) takes
/// it.
///
/// Every line is on its way to the disk before the run goes on, so a tape is whole up to the moment at
/// which a program ends; readings of the clock go with the line that follows them. A tape holds prompts,
/// answers and tool results in the clear, but for the run's [secrets](crate::secret); on Unix, only the owner of a new
/// file may read it.
///
/// A recording is of one run, with all that goes on within it: each message of a [chat](crate::agent::Chat)
/// is a run of its own. Another run that is given the same one ends with
/// [`ErrorKind::Build`](crate::ErrorKind::Build) before it begins; one that was stored and goes on may go on
/// with its own.
///
/// Where it cannot be written, the run goes on; that is a warning in the log, and what
/// [`finish`](Recording::finish) says. Nothing is written after that: a tape has no holes.
#[derive(Clone)]
pub struct Recording(Arc<Writer>);

struct Writer {
    sink: Mutex<Sink>,
}

struct Sink {
    out: Box<dyn Write + Send>,
    /// How many exchanges are written.
    exchanges: usize,
    /// Where those are that a conversation began with.
    begun_with: HashMap<Beginning, Earlier>,
    /// What was last offered.
    tools: String,
    failed: Option<io::Error>,
    /// The run that it is of, from the first line on.
    run_id: Option<String>,
    masker: Option<Arc<Masker>>,
    /// The model that was asked last.
    recorded: Weak<Recorded>,
    /// How the clock was read since the last line.
    clock: Readings,
    /// The run has ended: no line follows for certain.
    is_over: bool,
}

/// The first messages of a conversation: those before, and the digest of the last of them.
type Beginning = (Option<Earlier>, [u8; 32]);

/// What was written of a conversation; it is kept with that.
#[derive(Default)]
struct Told {
    /// Where it was written.
    writer: Weak<Writer>,
    /// All that was.
    last: Option<Earlier>,
    /// How many secrets were hidden in them.
    secrets: usize,
}

impl Recording {
    /// Records into a file, which is created or overwritten.
    ///
    /// On Unix nobody but its owner may read a new one; an old one keeps its permissions.
    ///
    /// # Errors
    /// When the file cannot be created.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Recording> {
        files::create(path.as_ref()).map(Recording::to)
    }

    /// Records into any writer.
    pub fn to(out: impl Write + Send + 'static) -> Recording {
        let sink = Sink {
            out: Box::new(out),
            exchanges: 0,
            begun_with: HashMap::new(),
            tools: "[]".to_owned(),
            failed: None,
            run_id: None,
            masker: None,
            recorded: Weak::new(),
            clock: Readings::new(),
            is_over: false,
        };
        Recording(Arc::new(Writer {
            sink: Mutex::new(sink),
        }))
    }

    /// Returns whether everything was written; a run never fails because its recording does.
    ///
    /// # Errors
    /// With the first failure to write.
    pub fn finish(&self) -> io::Result<()> {
        let mut sink = self.0.sink();
        sink.write_clock();
        match &sink.failed {
            Some(error) => Err(io::Error::new(error.kind(), error.to_string())),
            None => sink.out.flush(),
        }
    }
}

impl Writer {
    fn sink(&self) -> MutexGuard<'_, Sink> {
        self.sink.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The model, recorded: the same as before where it is the same model.
    fn recorded(self: &Arc<Self>, model: Arc<dyn Model>) -> Arc<Recorded> {
        let mut sink = self.sink();
        let last = sink.recorded.upgrade();
        if let Some(last) = last.filter(|last| Arc::ptr_eq(&last.model, &model)) {
            return last;
        }
        let recorded = Arc::new(Recorded {
            model,
            writer: self.clone(),
        });
        sink.recorded = Arc::downgrade(&recorded);
        recorded
    }

    fn exchange(self: &Arc<Self>, model: &str, request: &Request<'_>, said: Said<'_>) {
        let mut sink = self.sink();
        sink.exchanges += 1;
        let (after, messages) = self.news(request, &mut sink);
        let tools = tools_of(request);
        let are_new = tools != sink.tools;
        let line = Line::Exchange(Box::new(Exchange {
            clock: mem::take(&mut sink.clock),
            model: model.into(),
            place: request.place().into(),
            after,
            messages,
            tools: are_new.then(|| tree(tools)),
            format: request.format().map(Cow::Borrowed),
            said,
        }));
        sink.write(line);
        if are_new {
            tools.clone_into(&mut sink.tools);
        }
    }

    /// What of the conversation is not written yet, and where the rest is.
    fn news(
        self: &Arc<Self>,
        request: &Request<'_>,
        sink: &mut Sink,
    ) -> (Option<Earlier>, Vec<Text>) {
        let masker = request.masker();
        let secrets = masker.map_or(0, Masker::len);
        request.history().wire(|told: &mut Told, messages| {
            // What was written for an earlier request is not looked at again, unless more is to be hidden.
            if !std::ptr::eq(told.writer.as_ptr(), &**self) || told.secrets != secrets {
                *told = Told {
                    writer: Arc::downgrade(self),
                    secrets,
                    last: None,
                };
            }
            let covered = told.last.map_or(0, |last| last.messages);
            let new = messages[covered..].iter();
            let mut new: Vec<_> = new.map(text).collect();
            let after = match told.last {
                Some(last) => Some(last),
                None => {
                    // What was written before a secret was known is not the same any more.
                    new.iter_mut().for_each(|message| hide(message, masker));
                    sink.begin_conversation(&mut new)
                }
            };
            told.last = Some(Earlier {
                exchange: sink.exchanges,
                messages: messages.len(),
            });
            (after, new)
        })
    }
}

impl Sink {
    /// The first line. A run within the recorded one is a part of its tape.
    fn begin(&mut self, begun: &Begun<'_>) -> Result<(), Error> {
        match &self.run_id {
            Some(_) if begun.is_within => {}
            // It was stored, and goes on.
            Some(run_id) if run_id == begun.run_id => {
                self.masker = Some(begun.masker.clone());
                self.is_over = false;
            }
            Some(run_id) => {
                let message = format!(
                    "this recording holds the run {run_id} already, and cannot hold another one, of `{}`: make a \
                     `Recording` for each run, and so for each message of a chat",
                    begun.agent
                );
                return Err(Error::new(ErrorKind::Build, message));
            }
            None => {
                self.run_id = Some(begun.run_id.to_owned());
                self.masker = Some(begun.masker.clone());
                self.write(Line::Tape {
                    format: FORMAT,
                    run_id: begun.run_id.into(),
                    agent: begun.agent.into(),
                    input: Cow::Borrowed(begun.input),
                });
            }
        }
        Ok(())
    }

    /// Takes off a conversation that begins what another began with, and says where that is.
    fn begin_conversation(&mut self, messages: &mut Vec<Text>) -> Option<Earlier> {
        let (mut before, mut after) = (None, None);
        for (index, message) in messages.iter().enumerate() {
            let here = Earlier {
                exchange: self.exchanges,
                messages: index + 1,
            };
            let digest = hmac_sha256::Hash::hash(message.get().as_bytes());
            let known = *self.begun_with.entry((before, digest)).or_insert(here);
            after = if known == here { after } else { Some(known) };
            before = Some(known);
        }
        messages.drain(..after.map_or(0, |after: Earlier| after.messages));
        after
    }

    /// Every line passes here, so no secret passes.
    fn write(&mut self, line: Line<'_>) {
        if self.failed.is_none()
            && let Err(error) = self.try_to_write(line)
        {
            tracing::warn!(
                run_id = self.run_id,
                %error,
                "the recording cannot be written, and ends here; the run goes on"
            );
            self.failed = Some(error);
        }
    }

    /// The clock was read, and no line is to come.
    fn write_clock(&mut self) {
        if !self.clock.is_empty() {
            let clock = mem::take(&mut self.clock);
            self.write(Line::Clock(clock));
        }
    }

    fn try_to_write(&mut self, mut line: Line<'_>) -> io::Result<()> {
        let mut text = line.text()?;
        if let Some(masker) = &self.masker
            && masker.is_in(&text)
        {
            line.hide(masker);
            text = line.text()?;
            if let Cow::Owned(masked) = masker.written::<Line<'static>>(&text) {
                text = masked;
            }
        }
        // In one piece: a file takes each by itself.
        text.push('\n');
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }
}

impl Tape for Recording {
    fn model(&self, model: Option<Arc<dyn Model>>) -> Option<Arc<dyn Model>> {
        let recorded = self.0.recorded(model?);
        Some(recorded)
    }

    fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(RecordedClock(self.0.clone()))
    }

    fn begins(&self, begun: &Begun<'_>) -> Result<(), Error> {
        self.0.sink().begin(begun)
    }

    fn recalls(&self) -> bool {
        false
    }

    fn keep(&self, moment: Moment, what: Happened) {
        let mut sink = self.0.sink();
        // A run within it may end long before it does.
        sink.is_over = sink.is_over || (moment.at == "/ended");
        let clock = mem::take(&mut sink.clock);
        let entry = Entry {
            clock,
            moment,
            what,
        };
        sink.write(Line::Happened(Box::new(entry)));
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
            Ok(reply) => Said::Reply(Cow::Borrowed(reply)),
            Err(error) => Said::Failure(Cow::Borrowed(error)),
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
    fn write(&mut self, said: Said<'_>) {
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
        let mut sink = self.0.sink();
        sink.clock.push((key.to_string(), now.as_millis()));
        if sink.is_over {
            sink.write_clock();
        }
        now
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        self.write_clock();
    }
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recording")
    }
}
