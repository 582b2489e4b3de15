use super::{
    Bundle, Divergence,
    bundle::Told,
    ending::{Ending, is_from_outside, is_in},
    tape::{Said, tools_of, tree},
    what_if::Changes,
};
use agents_core::{
    async_trait,
    model::{Delta, Message, Model, ModelError, ModelErrorKind, Reply, Request},
    rt::BoxFuture,
    run::{Clock, Happened, Inside, Moment, Recalled, Stopped, Tape, Timestamp},
};
use std::{
    borrow::Cow,
    cmp::Reverse,
    collections::HashSet,
    convert::Infallible,
    fmt, io,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Replays a recorded run; [`Run::tape`](crate::agent::Run::tape) takes it.
///
/// No model is asked and no network is used. Each recorded reply is given once, to the request
/// that has the same messages, tools and format as the one it was given to; which model it was is on
/// the tape, but is not compared. Tools, arms and approvers do what they always do; with
/// [`Bundle::replay`] they do not run either.
///
/// ```
/// use agents::{prelude::*, record::Replay};
///
/// # async fn test(clerk: agents::agent::ModelAgent<'_, String, String>, tape: &str) -> Result<(), Box<dyn std::error::Error>> {
/// let replay = Replay::parse(tape)?; // in a test: `include_str!("tape.jsonl")`
/// assert_eq!(clerk.run("What time is it?").tape(replay.clone()).await?, "noon");
/// assert_eq!(replay.left(), 0, "it asks less than it did");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Replay(Arc<Reader>);

struct Reader {
    told: Arc<Told>,
    /// The exchanges that have been asked for again.
    used: Mutex<HashSet<usize>>,
    what: What,
    changes: Changes,
    /// Goes on with live models and tools where the recording ends.
    live: bool,
    parted: Mutex<Option<Divergence>>,
    ending: Ending,
}

/// What came of a request.
enum Answer {
    Reply(Reply),
    /// The run ended before there was a reply; it may have ended before the request.
    Never {
        is_recorded: bool,
    },
}

/// What is taken from the tape.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    /// What models replied.
    Models,
    /// What tools gave, arms and approvers said as well.
    All,
}

impl Replay {
    /// Reads a recording from a file.
    ///
    /// # Errors
    /// When the file cannot be read, or is no tape of this format.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Replay> {
        Bundle::open(path).map(Replay::models)
    }

    /// Reads a recording from text.
    ///
    /// # Errors
    /// When the text is no tape of this format; the message names the line.
    pub fn parse(tape: &str) -> io::Result<Replay> {
        Bundle::parse(tape).map(Replay::models)
    }

    fn models(bundle: Bundle) -> Replay {
        Replay::new(bundle.0, What::Models, Changes::default(), false)
    }

    pub(super) fn all(told: Arc<Told>) -> Replay {
        Replay::new(told, What::All, Changes::default(), false)
    }

    pub(super) fn changed(told: Arc<Told>, changes: Changes, live: bool) -> Replay {
        Replay::new(told, What::All, changes, live)
    }

    fn new(told: Arc<Told>, what: What, changes: Changes, live: bool) -> Replay {
        Replay(Arc::new(Reader {
            told,
            used: Mutex::default(),
            what,
            changes,
            live,
            parted: Mutex::default(),
            ending: Ending::default(),
        }))
    }

    /// Returns the number of recorded replies that have not been asked for.
    pub fn left(&self) -> usize {
        self.0.unheard("")
    }

    /// Returns the first point at which the replay differs from the recording, if there is one.
    pub fn divergence(&self) -> Option<Divergence> {
        lock(&self.0.parted).clone()
    }
}

impl Reader {
    /// How many recorded replies of the run at this place have not been asked for.
    fn unheard(&self, run: &str) -> usize {
        let used = lock(&self.used);
        let heard = self.told.heard.iter().enumerate();
        let unheard = heard.filter(|(index, heard)| {
            !used.contains(index)
                && is_in(&heard.place, run)
                && !matches!(heard.said, Said::Nothing)
                && !self.is_taken_whole(&heard.place)
        });
        unheard.count()
    }

    /// How many recorded calls of the run at this place are not settled again.
    fn unsettled(&self, run: &str) -> usize {
        // Tools that run may take another way.
        if self.what == What::Models {
            return 0;
        }
        let Told {
            receipts,
            abandoned,
            ..
        } = &*self.told;
        let calls = receipts.keys().filter(|call| !abandoned.contains(*call));
        let calls = calls.filter(|call| !self.is_taken_whole(call));
        self.ending.unsettled(calls, run)
    }

    /// What came next is not on the tape and did not happen either: something had ended the run.
    fn is_past_the_end(&self, place: &str) -> bool {
        !self.live && self.changes.is_empty() && self.told.was_stopped_around(place)
    }

    /// What is recorded of this request.
    fn answer(&self, request: &Request<'_>) -> Result<Answer, ModelError> {
        let mut used = lock(&self.used);
        let (messages, tools) = (&*hidden(request), tree(tools_of(request)));
        let left = || {
            let heard = self.told.heard.iter().enumerate();
            heard.filter(|(index, _)| !used.contains(index))
        };
        let same = left().filter(|(_, heard)| {
            heard.messages == messages
                && heard.tools == tools
                && heard.format.as_ref() == request.format()
        });
        // Of several, the one that was made in the same place.
        let nearest = same.max_by_key(|(index, heard)| {
            let here = heard.place == request.place();
            (here, Reverse(*index))
        });
        let Some((index, heard)) = nearest else {
            let place = request.place();
            if left().all(|(_, heard)| heard.place != place) && self.is_past_the_end(place) {
                return Ok(Answer::Never { is_recorded: false });
            }
            let left = left().map(|(_, heard)| heard);
            let parted = Divergence::of_request(left, request, messages, &tools);
            let message = parted.to_string();
            lock(&self.parted).get_or_insert(parted);
            return Err(ModelError::new(ModelErrorKind::NotRecorded, message));
        };
        used.insert(index);
        self.ending.moved();
        match heard.said.clone() {
            Said::Reply(reply) => Ok(Answer::Reply(reply.into_owned())),
            Said::Nothing => Ok(Answer::Never { is_recorded: true }),
            Said::Failure(error) => Err(error.into_owned()),
        }
    }

    /// Whether a place lies within an execution whose result is taken from the tape.
    fn is_taken_whole(&self, place: &str) -> bool {
        // `/call0003.02/helper#..` is within what `/call0003/run2` gave.
        let within = |at: usize| {
            let end = place[at + 1..]
                .find('/')
                .map_or(place.len(), |end| at + 1 + end);
            let (call, attempt) = place[..end].rsplit_once('.')?;
            let attempt: u32 = attempt.parse().ok()?;
            let run = self.told.happened.get(&format!("{call}/run{attempt}"));
            run.filter(|_| !self.changes.lie_within(call, attempt))
        };
        self.what == What::All
            && place
                .match_indices("/call")
                .any(|(at, _)| within(at).is_some())
    }

    /// Not on the tape: from here on it happens, or the run ends.
    fn part(&self, parted: Divergence) -> Recalled {
        let reason = parted.to_string();
        lock(&self.parted).get_or_insert(parted);
        match self.live {
            true => Recalled::Live,
            false => Recalled::Diverged(reason),
        }
    }
}

impl Tape for Replay {
    fn model(&self, model: Option<Arc<dyn Model>>) -> Option<Arc<dyn Model>> {
        let reader = self.0.clone();
        let live = model.filter(|_| reader.live);
        Some(Arc::new(Replayed { reader, live }))
    }

    fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(Replayed {
            reader: self.0.clone(),
            live: None,
        })
    }

    fn recall(&self, moment: &Moment) -> Recalled {
        let reader = &self.0;
        if reader.what == What::Models {
            return Recalled::Live;
        }
        if let Some(changed) = reader.changes.at(&moment.at) {
            return Recalled::Happened(Box::new(changed));
        }
        let (call, what) = moment.at.rsplit_once('/').unwrap_or_default();
        let attempt = what.strip_prefix("run").and_then(|nth| nth.parse().ok());
        if attempt.is_some_and(|attempt| reader.changes.lie_within(call, attempt)) {
            return reader.part(Divergence::of_change(moment));
        }
        match reader.told.happened.get(&moment.at) {
            Some(entry) if entry.moment == *moment => {
                Recalled::Happened(Box::new(entry.what.clone()))
            }
            // Nothing was put away, so nothing is.
            None if what == "whole" && !reader.live => {
                Recalled::Happened(Box::new(Happened::Kept(Vec::new())))
            }
            recorded if what.starts_with("run") || what.starts_with("approval") => match recorded {
                None if reader.is_past_the_end(&moment.at) => {
                    Recalled::Happened(Box::new(Happened::Nothing(Inside::default())))
                }
                recorded => {
                    let recorded = recorded.map(|entry| &entry.moment);
                    reader.part(Divergence::of_moment(moment, recorded))
                }
            },
            _ => Recalled::Live,
        }
    }

    fn keep(&self, moment: Moment, what: Happened) {
        if let (Happened::Settled(_), Some(call)) = (&what, moment.at.strip_suffix("/settled")) {
            self.0.ending.settled(call);
        }
    }

    fn in_vain<'a>(&'a self, place: &'a str) -> BoxFuture<'a, Infallible> {
        let is_recorded = self.0.told.happened.contains_key(place);
        Box::pin(self.0.ending.wait(place, is_recorded))
    }

    fn ended<'a>(&'a self, run: &'a str) -> BoxFuture<'a, Stopped> {
        let reader = &self.0;
        let is_patient = reader.what == What::Models;
        let missing = move || reader.unheard(run) + reader.unsettled(run);
        Box::pin(async move {
            let end = reader.told.end_of(run);
            let is_dropped = end.is_none() && run.is_empty();
            // A run that ended by its answer gets there again, and what it waited for in vain is dropped. One
            // within another, of which no end is told, ended with that one.
            if end.flatten().is_none() && !is_dropped {
                return std::future::pending().await;
            }
            let over = reader.ending.over(run, is_patient, missing).await;
            let parted = match (over, end.flatten()) {
                (Ok(is_recorded), Some(stopped)) if is_recorded || is_from_outside(stopped) => {
                    return stopped.clone();
                }
                (Ok(_), Some(stopped)) => Divergence::of_stop(run, stopped),
                (over, _) => Divergence::of_end(run, over.err().unwrap_or_default()),
            };
            let reason = parted.to_string();
            lock(&reader.parted).get_or_insert(parted);
            Stopped::Diverged { reason }
        })
    }

    fn waits(&self) -> bool {
        self.0.what == What::Models || (self.0.live && self.divergence().is_some())
    }
}

struct Replayed {
    reader: Arc<Reader>,
    /// The model to go on with where the recording ends.
    live: Option<Arc<dyn Model>>,
}

#[async_trait]
impl Model for Replayed {
    fn id(&self) -> &str {
        let last = self.reader.told.heard.last();
        last.map_or("", |heard| &heard.model)
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        let answer = match (self.reader.answer(&request), &self.live) {
            (Err(error), Some(live)) if error.kind() == ModelErrorKind::NotRecorded => {
                return live.chat(request).await;
            }
            (answer, _) => answer?,
        };
        // Where the recorded run waited in vain, this one waits for what ended it.
        let reply = match answer {
            Answer::Reply(reply) => reply,
            Answer::Never { is_recorded } => {
                let ending = &self.reader.ending;
                match ending.wait(request.place(), is_recorded).await {}
            }
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
        let read = self.reader.told.clock.get(&key.to_string());
        read.map_or_else(Timestamp::now, |millis| Timestamp::from_millis(*millis))
    }

    fn run_id(&self) -> String {
        self.reader.told.run_id.clone()
    }
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay")
            .field("run_id", &self.0.told.run_id)
            .field("left", &self.left())
            .field("divergence", &self.divergence())
            .finish()
    }
}

/// The conversation as it may have been written down: without secrets.
fn hidden<'a>(request: &Request<'a>) -> Cow<'a, [Message]> {
    match request.masker() {
        // One by one, as they were written: what hides a secret in one says nothing of another.
        Some(masker) => {
            let messages = request.messages().iter().cloned();
            Cow::Owned(messages.map(|message| masker.data(message)).collect())
        }
        None => Cow::Borrowed(request.messages()),
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
