//! Conversations: what was said, a message that is sent, and what becomes of it.

use super::runs::Summary;
use crate::{
    failure::Failure,
    room::{Room, Visitor},
    wording,
};
use agents_core::{
    Error, Json,
    agent::{TextDelta, TextFollower},
    model::Message,
    run::{Event, EventKind},
    tool::Scope,
};
use agents_runtime::{Approvals, ConversationRef, Progress, RuntimeError, RuntimeErrorKind};
use agents_store::{ErrorKind, Run, RunFilter, RunStatus};
use futures_util::{
    StreamExt,
    stream::{BoxStream, Stream, unfold},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    collections::{HashMap, VecDeque},
    time::Duration,
};

/// Time between two checks for new messages, and between two checks of the state of a message's run.
const PAUSE: Duration = Duration::from_secs(1);
/// Time after which a reader of the events has to ask again. Then it is checked again whether it may read them.
const LONGEST: Duration = Duration::from_secs(10 * 60);
/// Number of runs that a page of a conversation has.
const PAGE: u32 = 100;
/// Largest number of bytes that the id of a conversation may have: it is a key of the store.
const LONGEST_ID: usize = 200;
/// Number of runs of earlier messages that are read from the store at once.
const AHEAD: u32 = 10;

/// Conversation so far, as the API returns it.
#[derive(Serialize)]
pub(crate) struct Whole {
    conversation_id: String,
    tenant_id: String,
    pub(crate) agent: String,
    pub(crate) messages: Vec<Said>,
    /// Runs of the newest messages, the oldest first.
    pub(crate) runs: Vec<Summary>,
    /// Id of the oldest run in `runs`, if the conversation has older ones: as `before`, it asks for the page of those.
    /// `None` if there are no older runs.
    next: Option<String>,
    /// Id of the last event whose news is in here; a reader of the events begins with the next one.
    last_event_id: String,
}

/// Words that a person or the agent has said in a conversation. Calls of tools are on the pages of the runs.
#[derive(Serialize)]
pub(crate) struct Said {
    pub(crate) role: &'static str,
    pub(crate) text: String,
}

/// Body of a request that sends a message to an agent.
#[derive(Deserialize)]
pub(crate) struct Sent {
    agent: String,
    /// Input of the agent: the message itself.
    input: Json,
    /// Key by which a repeated request is recognised, so that the message is sent once.
    key: Option<String>,
}

impl Sent {
    /// Creates the body of a request that sends this text to the agent of this name.
    pub(crate) fn text(agent: &str, text: &str, key: Option<String>) -> Self {
        Sent {
            agent: agent.to_owned(),
            input: Json::string(text),
            key,
        }
    }
}

/// Conversation that a visitor may read, or that has not begun.
pub(crate) struct Open {
    conversation: ConversationRef,
    tenant: String,
    /// Run of the first message; `None` before the conversation has begun.
    first: Option<Run>,
}

/// Finds a conversation of the visitor's tenant. The operator names the tenant.
async fn find(
    room: &Room,
    visitor: &Visitor,
    id: &str,
    tenant: Option<String>,
) -> Result<Open, Failure> {
    let tenant = match (visitor.tenant(), tenant) {
        (Some(own), Some(other)) if own != other => return Err(no_conversation(id)),
        (Some(own), _) => own,
        (None, named) => named.unwrap_or_default(),
    };
    let conversation = room.client.conversation(&*tenant, id);
    Ok(Open {
        first: conversation.first_run().await?,
        conversation,
        tenant,
    })
}

impl Open {
    /// Returns the filter that chooses the runs of the conversation.
    fn runs(&self) -> RunFilter {
        RunFilter {
            tenant: Some(self.tenant.clone()),
            conversation: Some(self.conversation.id().to_owned()),
            ..RunFilter::default()
        }
    }

    /// Returns the run of the newest message; `None` before the conversation has begun.
    pub(crate) async fn newest(&self, room: &Room) -> Result<Option<Run>, RuntimeError> {
        let newest = RunFilter {
            limit: 1,
            ..self.runs()
        };
        Ok(room.client.runs(&newest).await?.pop())
    }

    /// Returns `true` if the conversation has begun.
    pub(crate) fn has_begun(&self) -> bool {
        self.first.is_some()
    }

    /// Returns the place behind all that is over.
    async fn last(&self) -> Result<Position, RuntimeError> {
        let last = self.conversation.last_done().await?;
        Ok(last.map_or(Position::Begin, |run| Position::Behind(run.id)))
    }

    /// Returns the run with this id; `None` if the conversation has no such run.
    async fn run(
        &self,
        room: &Room,
        visitor: &Visitor,
        id: &str,
    ) -> Result<Option<Run>, RuntimeError> {
        match room.client.stored(id, &visitor.principal).await {
            Err(error) if error.kind() == RuntimeErrorKind::Store(ErrorKind::NotFound) => Ok(None),
            found => {
                let own = (&*self.tenant, Some(self.conversation.id()));
                let run = Some(found?);
                Ok(run.filter(|run| (&*run.tenant, run.conversation.as_deref()) == own))
            }
        }
    }

    /// Checks that the conversation is for the visitor.
    async fn check(&self, visitor: &Visitor) -> Result<(), Failure> {
        match self.conversation.admits(&visitor.principal).await? {
            true => Ok(()),
            false => Err(Failure::contents_are_for_others()),
        }
    }
}

fn no_conversation(id: &str) -> Failure {
    Failure {
        message: wording::no_conversation(id),
        ..Failure::not_found()
    }
}

/// Finds a conversation that has begun, and checks that the visitor may read it.
pub(crate) async fn open(
    room: &Room,
    visitor: &Visitor,
    id: &str,
    tenant: Option<String>,
) -> Result<Open, Failure> {
    match open_any(room, visitor, id, tenant).await? {
        open if open.has_begun() => Ok(open),
        _ => Err(no_conversation(id)),
    }
}

/// Finds a conversation, which may not have begun, without storing anything. Checks that the visitor may read it if it has
/// begun.
pub(crate) async fn open_any(
    room: &Room,
    visitor: &Visitor,
    id: &str,
    tenant: Option<String>,
) -> Result<Open, Failure> {
    let open = find(room, visitor, id, tenant).await?;
    if open.has_begun() {
        open.check(visitor).await?;
    }
    Ok(open)
}

/// Checks that people may send messages to an agent.
pub(crate) fn check_agent(room: &Room, agent: &str) -> Result<(), Failure> {
    match room.agents.contains(agent) {
        true => Ok(()),
        false => Err(Failure {
            message: wording::no_agent(agent),
            ..Failure::not_found()
        }),
    }
}

/// Sends a message to an agent, and returns its run. The first message begins the conversation.
pub(crate) async fn send(
    room: &Room,
    visitor: &Visitor,
    id: &str,
    tenant: Option<String>,
    sent: Sent,
) -> Result<Run, Failure> {
    let Sent { agent, input, key } = sent;
    check_agent(room, &agent)?;
    if id.len() > LONGEST_ID || id.chars().any(char::is_control) {
        return Err(Failure::invalid(wording::no_conversation_id(LONGEST_ID)));
    }
    let open = open_any(room, visitor, id, tenant).await?;
    let by = &visitor.principal;
    let scope = match by.is_operator() {
        true => Scope::from(open.tenant),
        false => Scope::from(open.tenant).user(by.id()),
    };
    let chat = room.client.agent(agent).chat(id).scope(scope);
    let message = chat.send(input).by(by).streamed();
    let message = match key {
        Some(key) => message.key(key),
        None => message,
    };
    let run = message.start().await?;
    Ok(room.client.stored(run.id(), by).await?)
}

/// Reads what was said in a conversation, and the newest of its runs that are older than the run with the id `before`.
pub(crate) async fn whole(
    room: &Room,
    visitor: &Visitor,
    open: Open,
    before: Option<String>,
) -> Result<Whole, Failure> {
    if let Some(before) = &before
        && open.run(room, visitor, before).await?.is_none()
    {
        return Err(Failure {
            message: wording::no_run_of_conversation(before),
            ..Failure::not_found()
        });
    }
    // Read before the messages: a message that ended since is told twice rather than not at all.
    let last = open.last().await?;
    let page = RunFilter {
        before,
        limit: PAGE,
        ..open.runs()
    };
    let mut runs = room.client.runs(&page).await?;
    runs.reverse();
    let messages = open.conversation.messages().await?;
    let first = open.first.as_ref();
    let earliest = runs.first().map(|run| run.id.clone());
    Ok(Whole {
        conversation_id: open.conversation.id().to_owned(),
        agent: first.map(|run| run.agent.clone()).unwrap_or_default(),
        messages: messages.iter().filter_map(said).collect(),
        next: earliest.filter(|earliest| first.is_some_and(|run| run.id != *earliest)),
        last_event_id: last.to_string(),
        runs: runs.into_iter().map(Summary::from).collect(),
        tenant_id: open.tenant,
    })
}

/// Returns the words of the messages whose runs are not over, the oldest first.
pub(crate) async fn unanswered(
    room: &Room,
    visitor: &Visitor,
    whole: &Whole,
) -> Result<Vec<String>, Failure> {
    let mut words = Vec::new();
    let is_open = |run: &&Summary| run.status != RunStatus::Done.as_str();
    for run in whole.runs.iter().filter(is_open) {
        let input = room.client.input(&run.id, &visitor.principal).await?;
        words.push(input.to().unwrap_or_else(|_| input.as_str().to_owned()));
    }
    Ok(words)
}

fn said(message: &Message) -> Option<Said> {
    let (role, text) = match message {
        Message::User { content } => ("user", content.text.to_string()),
        Message::Assistant { content, .. } if !content.is_empty() => {
            ("assistant", content.to_string())
        }
        _ => return None,
    };
    Some(Said { role, text })
}

/// Place among the events of a conversation. As a text, it is the id of an event, behind which a reader goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Position {
    /// Before the first message of the conversation.
    Begin,
    /// Within the run of a message, at the event with this number.
    In(String, u64),
    /// Behind a run, all of whose events were told.
    Behind(String),
}

impl Position {
    fn read(text: &str) -> Option<Self> {
        if text == "0" {
            return Some(Position::Begin);
        }
        let (run, at) = text.split_once('.')?;
        match at {
            "end" => Some(Position::Behind(run.to_owned())),
            number => Some(Position::In(run.to_owned(), number.parse().ok()?)),
        }
    }
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Position::Begin => f.write_str("0"),
            Position::In(run, number) => write!(f, "{run}.{number}"),
            Position::Behind(run) => write!(f, "{run}.end"),
        }
    }
}

/// News of a conversation that are sent to a reader.
pub(crate) struct News {
    /// Id of the event; `None` for news that are not repeated to a reader who comes back.
    pub(crate) id: Option<String>,
    /// Kind and data of the event. It is `None` for the first event alone, whose id is the place where the news begin.
    pub(crate) told: Option<(&'static str, Value)>,
}

/// Returns the news of a conversation behind the event with this id; without an id, those of the messages that are not
/// over. New messages follow for up to ten minutes. The first event is the id of the place where the news begin.
///
/// # Errors
/// When there is no event with this id.
pub(crate) async fn follow(
    room: &Room,
    visitor: &Visitor,
    open: Open,
    last: Option<&str>,
) -> Result<impl Stream<Item = Result<News, RuntimeError>> + Send + use<>, Failure> {
    let unknown = || Failure::invalid(wording::NO_EVENT);
    let at = match last {
        Some(last) => Position::read(last).ok_or_else(unknown)?,
        None => open.last().await?,
    };
    let begin = News {
        id: Some(at.to_string()),
        told: None,
    };
    let (run, told) = match at {
        Position::Begin => (None, None),
        Position::In(run, number) => (Some(run), Some(number)),
        Position::Behind(run) => (Some(run), None),
    };
    let run = match run {
        Some(id) => Some(open.run(room, visitor, &id).await?.ok_or_else(unknown)?),
        None => None,
    };
    let mut following = Following {
        approvals: room.client.approvals(),
        visitor: visitor.clone(),
        room: room.clone(),
        behind: RunFilter {
            after: run.as_ref().map(|run| run.id.clone()),
            oldest_first: true,
            limit: AHEAD,
            ..open.runs()
        },
        ahead: VecDeque::new(),
        current: None,
        news: VecDeque::from([begin]),
    };
    if let Some(run) = run.filter(|_| told.is_some()) {
        following.begin(run, told);
    }
    let next = |mut following: Following| async move {
        let news = following.next().await;
        Some((news, following))
    };
    Ok(unfold(following, next).take_until(tokio::time::sleep(LONGEST)))
}

struct Following {
    room: Room,
    visitor: Visitor,
    approvals: Approvals,
    /// Filter that chooses the runs behind the last one that was told.
    behind: RunFilter,
    /// Runs whose news come next, in order.
    ahead: VecDeque<Run>,
    current: Option<Current>,
    news: VecDeque<News>,
}

/// Run whose news are being told.
struct Current {
    run: String,
    events: BoxStream<'static, Result<Event, RuntimeError>>,
    text: TextFollower,
    /// Number of the last event of the run that the reader has been told.
    told: Option<u64>,
    /// Ids of the run's requests for approval, by the calls that they are about.
    requests: HashMap<String, String>,
    is_held: bool,
}

impl Following {
    async fn next(&mut self) -> Result<News, RuntimeError> {
        loop {
            if let Some(news) = self.news.pop_front() {
                return Ok(news);
            }
            let Some(current) = &mut self.current else {
                self.look().await?;
                continue;
            };
            match tokio::time::timeout(PAUSE, current.events.next()).await {
                Ok(Some(Ok(event))) => self.hear(&event).await?,
                // The keys of an erased run are gone; the conversation goes on.
                Ok(Some(Err(error))) if error.kind() == RuntimeErrorKind::Sealed => {
                    self.end(Some(&error)).await?;
                }
                Ok(Some(Err(error))) => return Err(error),
                Ok(None) => self.end(None).await?,
                Err(_) => self.look_at_state().await?,
            }
        }
    }

    /// Takes the run of the next message, or looks in the store for one.
    async fn look(&mut self) -> Result<(), RuntimeError> {
        if let Some(run) = self.ahead.pop_front() {
            self.begin(run, None);
            return Ok(());
        }
        let come = self.room.client.runs(&self.behind).await?;
        match come.last() {
            Some(last) => self.behind.after = Some(last.id.clone()),
            None => tokio::time::sleep(PAUSE).await,
        }
        self.ahead.extend(come);
        Ok(())
    }

    fn begin(&mut self, run: Run, told: Option<u64>) {
        self.current = Some(Current {
            run: run.id.clone(),
            events: self
                .room
                .client
                .events(&run.id)
                .with_text()
                .stream()
                .boxed(),
            text: TextFollower::new(),
            told,
            requests: HashMap::new(),
            is_held: false,
        });
        if told.is_none() {
            let data = json!(Summary::from(run.clone()));
            self.tell(Some(Position::In(run.id, 0)), "message", data);
        }
    }

    fn tell(&mut self, at: Option<Position>, kind: &'static str, data: Value) {
        let id = at.map(|at| at.to_string());
        let told = Some((kind, data));
        self.news.push_back(News { id, told });
    }

    /// Turns an event of the run into news for the reader. An event that the reader was told before is left out.
    async fn hear(&mut self, event: &Event) -> Result<(), RuntimeError> {
        let Some(current) = &mut self.current else {
            return Ok(());
        };
        let run = current.run.clone();
        let delta = current.text.on(event);
        let is_known = current.told.is_some_and(|told| event.seq <= told);
        let is_last = current.told == Some(event.seq);
        let delta = match (&event.kind, delta) {
            // The reader has a part of the text that this request has got. All of it comes again.
            (EventKind::ModelRequested { .. }, _) if is_last => Some(TextDelta::Reset),
            (EventKind::Text(_), delta) if is_last => delta,
            _ if is_known => None,
            (_, delta) => delta,
        };
        let request = match &event.kind {
            EventKind::ApprovalRequested(request) => {
                let id = Approvals::id_of(&run, request);
                let before = current.requests.insert(request.call_id.clone(), id.clone());
                // A run that goes on in another process asks again, with the same id.
                (before.as_ref() != Some(&id)).then_some(("asked", id))
            }
            EventKind::ApprovalDecided { call_id, .. } => {
                let id = current.requests.get(&**call_id);
                id.map(|id| ("decided", id.clone()))
            }
            _ => None,
        };
        let at = Position::In(run.clone(), event.seq);
        match delta {
            Some(TextDelta::Piece(text)) => {
                let data = json!({"run_id": run, "text": text});
                self.tell(Some(at.clone()), "piece", data);
            }
            Some(TextDelta::Reset) => {
                self.tell(Some(at.clone()), "reset", json!({"run_id": run}));
            }
            None => {}
        }
        if let Some((kind, id)) = request.filter(|_| !is_known) {
            let request = self.approvals.get(&id, &self.visitor.principal).await?;
            self.tell(Some(at), kind, json!(request));
        }
        Ok(())
    }

    /// Tells the reader if the run is held, of which the run has no event.
    async fn look_at_state(&mut self) -> Result<(), RuntimeError> {
        let Some(current) = &mut self.current else {
            return Ok(());
        };
        let id = current.run.clone();
        let run = self
            .room
            .client
            .stored(&id, &self.visitor.principal)
            .await?;
        let held = run.held.filter(|_| run.status == RunStatus::Held);
        let is_news = held.is_some() && !current.is_held;
        current.is_held = held.is_some();
        if is_news {
            self.tell(None, "held", json!({"run_id": id, "held": held}));
        }
        Ok(())
    }

    /// Tells the reader how the run has ended. `error` is the reason why the run cannot be read.
    async fn end(&mut self, error: Option<&RuntimeError>) -> Result<(), RuntimeError> {
        let Some(current) = self.current.take() else {
            return Ok(());
        };
        let id = current.run;
        let run = self
            .room
            .client
            .stored(&id, &self.visitor.principal)
            .await?;
        let (mut answer, mut partial) = (None, false);
        let mut failure = error.map(ToString::to_string);
        if error.is_none()
            && let Progress::Done(outcome) = self.room.client.run::<Value>(&id).progress().await?
        {
            partial = outcome.partial;
            match outcome.result {
                Ok(value) => answer = Some(value),
                Err(error) => failure = Some(Error::to_string(&error)),
            }
        }
        let data = json!({
            "run_id": id,
            "end": run.end.map(agents_store::End::as_str),
            "answer": answer,
            "partial": partial,
            "error": failure,
        });
        self.tell(Some(Position::Behind(id)), "end", data);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_as_it_is_written() {
        for position in [
            Position::Begin,
            Position::In("a-b".into(), 17),
            Position::Behind("a-b".into()),
        ] {
            assert_eq!(Position::read(&position.to_string()), Some(position));
        }
        for text in ["", "1", "a", "a.", "a.b", "a.-1", "a.1.2"] {
            assert_eq!(Position::read(text), None, "{text}");
        }
    }
}
