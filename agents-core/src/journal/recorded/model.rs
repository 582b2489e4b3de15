//! Model that answers with recorded replies.

use super::{
    Difference,
    exchanges::{Exchanges, RecordedAnswer, RecordedRequest, reply_of},
    replay::patience,
    wording,
};
use crate::{
    model::{Delta, Message, Model, ModelError, ModelErrorKind, Reply, Request},
    secret::{references, shown},
};
use async_trait::async_trait;
use std::{
    borrow::Cow,
    cmp::Reverse,
    collections::BTreeSet,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Model that answers with the replies of a recorded run, created by [`Recorded::model`](super::Recorded::model).
/// Clones share the replies that are left.
///
/// ```
/// # use agents_core as agents;
/// # use agents::{Agent, AgentBuilder, testing::{Script, ScriptedModel}};
/// use agents::{ErrorKind, journal::{MemoryJournal, Recorded}};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (model, _) = ScriptedModel::new([Script::text("Oslo")]);
/// # let geographer = AgentBuilder::<String, String>::new("geographer").build();
/// # let journal = MemoryJournal::new();
/// # geographer.run("Norway").model(model).journal(journal.clone()).await?;
/// let recorded = Recorded::of(journal.entries())?;
/// let model = recorded.model();
/// assert_eq!(model.left(), 1);
/// assert_eq!(geographer.run("Norway").model(model.clone()).await?, "Oslo");
/// assert_eq!(model.left(), 0);
///
/// // What was not asked then has no answer now.
/// let model = recorded.model();
/// let error = geographer.run("Sweden").model(model.clone()).await.unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Replay);
/// println!("{}", model.difference().unwrap());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct RecordedModel(Arc<Reader>);

struct Reader {
    exchanges: Arc<Exchanges>,
    /// Indices of the recorded requests that were made again.
    used: Mutex<BTreeSet<usize>>,
    difference: Mutex<Option<Difference>>,
}

impl RecordedModel {
    pub(super) fn new(exchanges: Arc<Exchanges>) -> Self {
        RecordedModel(Arc::new(Reader {
            exchanges,
            used: Mutex::default(),
            difference: Mutex::default(),
        }))
    }

    /// Returns the number of recorded replies and errors that no request has got yet.
    pub fn left(&self) -> usize {
        let used = lock(&self.0.used);
        let left = self.0.exchanges.left(&used);
        left.filter(|(_, asked)| !matches!(asked.said, RecordedAnswer::Nothing))
            .count()
    }

    /// Returns the difference of the first request that was not recorded, or that was not answered in the recording;
    /// `None` if there was no such request.
    pub fn difference(&self) -> Option<Difference> {
        lock(&self.0.difference).clone()
    }

    /// Finds the recorded request with the same messages, tools and answer format as the new one, and its index; the
    /// error is the difference.
    fn find(&self, request: &Request<'_>) -> Result<(usize, &RecordedRequest), ModelError> {
        let Reader {
            exchanges, used, ..
        } = &*self.0;
        let mut used = lock(used);
        let messages = seen(request);
        let place = request.place();
        let same = exchanges.left(&used).filter(|(_, asked)| {
            exchanges.messages(asked) == &*messages && asked.offers_the_same(request)
        });
        // Of several, the request that was made in the same place; and of these, one that was answered. The process of the
        // recorded run may have ended before the answer, and the next one made the request again.
        let nearest = same.max_by_key(|(index, asked)| {
            let is_answered = !matches!(asked.said, RecordedAnswer::Nothing);
            (asked.place == place, is_answered, Reverse(*index))
        });
        let Some((index, asked)) = nearest else {
            // A recording that breaks off does not say what would have come next here.
            let is_known = exchanges.requests.iter().any(|asked| asked.place == place);
            if !exchanges.has_ended && !is_known {
                return Err(self.differs(Difference::of_end(place)));
            }
            let left = exchanges.left(&used);
            return Err(self.differs(Difference::of(exchanges, left, request, &messages)));
        };
        used.insert(index);
        Ok((index, asked))
    }

    /// Records a difference, unless there was one before.
    pub(super) fn note(&self, difference: Difference) {
        lock(&self.0.difference).get_or_insert(difference);
    }

    /// Returns the difference of a run that did not make a request which the recorded agent itself made and which was
    /// answered; `None` if no such request is left.
    pub(super) fn not_made(&self) -> Option<Difference> {
        let used = lock(&self.0.used);
        let (index, asked) = self.0.exchanges.not_made(&used)?;
        let what = wording::request_not_made(index + 1);
        Some(Difference::at(asked.fact, &*asked.place, what))
    }

    fn differs(&self, difference: Difference) -> ModelError {
        let message = difference.to_string();
        self.note(difference);
        ModelError::new(ModelErrorKind::NotRecorded, message)
    }
}

impl Exchanges {
    /// Returns the recorded requests that were not made again, with their indices.
    fn left(&self, used: &BTreeSet<usize>) -> impl Iterator<Item = (usize, &RecordedRequest)> {
        let all = self.requests.iter().enumerate();
        all.filter(|(index, _)| !used.contains(index))
    }
}

impl RecordedRequest {
    fn offers_the_same(&self, request: &Request<'_>) -> bool {
        self.offer.as_ref().is_none_or(|offer| {
            offer.format.as_deref() == request.format()
                && offer.tools.as_str() == request.tools_json().unwrap_or("[]")
        })
    }
}

#[async_trait]
impl Model for RecordedModel {
    fn id(&self) -> &str {
        let last = self.0.exchanges.requests.last();
        last.map_or("recorded", |asked| &asked.model)
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        let (index, asked) = self.find(&request)?;
        let exchanges = &self.0.exchanges;
        let reply = match &asked.said {
            RecordedAnswer::Failure(error) => return Err(error.clone()),
            // The recorded request was never answered, as its work was dropped; so it has to be now.
            RecordedAnswer::Nothing if exchanges.has_ended => {
                let end = exchanges.last.unwrap_or(asked.at);
                tokio::time::sleep(patience(asked.at, end)).await;
                let what = wording::request_dropped(index + 1);
                return Err(self.differs(Difference::at(asked.fact, &*asked.place, what)));
            }
            RecordedAnswer::Nothing => {
                return Err(self.differs(Difference::of_end(request.place())));
            }
            RecordedAnswer::Reply(reply) => reply_of(reply, |text| match request.masker() {
                Some(masker) => {
                    let restored = masker.restored(text);
                    match references(&restored).is_empty() {
                        true => restored.into_owned(),
                        false => shown(&restored).into_owned(),
                    }
                }
                None => shown(text).into_owned(),
            }),
        };
        let reply = reply
            .map_err(|error| ModelError::new(ModelErrorKind::NotRecorded, error.to_string()))?;
        if let Some(sink) = request.sink() {
            let thinking = reply.thinking.iter();
            thinking.for_each(|thinking| sink(Delta::Thinking(thinking)));
            sink(Delta::Text(&reply.content));
        }
        Ok(reply)
    }
}

impl fmt::Debug for RecordedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordedModel")
            .field("left", &self.left())
            .field("difference", &self.difference())
            .finish()
    }
}

/// Returns the conversation of a request with names in the place of secrets, as a recording has it.
fn seen<'a>(request: &Request<'a>) -> Cow<'a, [Message]> {
    match request.masker() {
        Some(masker) => {
            let messages = request.messages().iter().cloned();
            Cow::Owned(messages.map(|message| masker.data(message)).collect())
        }
        None => Cow::Borrowed(request.messages()),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
