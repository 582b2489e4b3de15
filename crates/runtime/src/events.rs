//! Events of a stored run, from any process.

use crate::{
    Client, RuntimeError,
    data::{entries, key_of},
    run_key::RunKey,
    texts::Reading,
};
use agents_core::{
    agent::{TextDelta, TextFollower},
    journal::Follower,
    run::Event,
};
use agents_store::RunStatus;
use futures_core::Stream;
use futures_util::{StreamExt, stream};
use std::{collections::VecDeque, time::Duration};

/// Time between two looks at the store while there is something new.
const SHORTEST: Duration = Duration::from_millis(100);
/// Time between two looks at the store while nothing happens.
const LONGEST: Duration = Duration::from_secs(1);

/// Events of a stored run: [`stream`](Events::stream) gives the stored ones, then each new one as it comes.
///
/// ```
/// use agents::{agent::TextDelta, prelude::*};
/// use agents_runtime::{Runtime, SqliteStore};
/// use futures_util::StreamExt;
/// # use agents::testing::{Script, ScriptedModel};
///
/// /// You greet people.
/// #[agent]
/// async fn greeter(name: String) -> String;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (model, _) = ScriptedModel::new([Script::text("Good morning, Ada!")]);
/// let runtime = Runtime::open(SqliteStore::in_memory().await?).model(model);
/// let greeter = runtime.agent(Greeter);
/// # let stop = tokio_util::sync::CancellationToken::new();
/// # let worker = tokio::spawn(runtime.clone().work(stop.clone()));
/// // Somebody will read along.
/// let run = greeter.run("Ada").streamed().start().await?;
///
/// // In any process, and again after each break of the connection:
/// let mut page = String::new();
/// let mut text = runtime.events(run.id()).text();
/// while let Some(delta) = text.next().await {
///     match delta? {
///         TextDelta::Piece(piece) => page.push_str(&piece),
///         TextDelta::Reset => page.clear(),
///     }
/// }
/// assert_eq!(page, "Good morning, Ada!");
/// # stop.cancel();
/// # worker.await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Events {
    client: Client,
    run: String,
    after: u64,
    with_text: bool,
    is_so_far: bool,
}

struct Following {
    events: Events,
    key: Option<RunKey>,
    follower: Follower,
    /// Reader of streamed text; `None` if text is not wanted.
    text: Option<Reading>,
    ready: VecDeque<Event>,
    pause: Pause,
    is_over: bool,
}

/// Pause between two looks: short behind something new, and longer with each look that finds nothing.
pub(crate) struct Pause(Duration);

impl Pause {
    pub(crate) fn new() -> Self {
        Pause(SHORTEST)
    }

    /// Waits for the present pause, and makes the next one longer.
    pub(crate) async fn wait(&mut self) {
        tokio::time::sleep(self.next()).await;
    }

    fn next(&mut self) -> Duration {
        let pause = self.0;
        self.0 = LONGEST.min(pause * 2);
        pause
    }
}

impl Events {
    pub(crate) fn new(client: Client, run: String) -> Self {
        Events {
            client,
            run,
            after: 0,
            with_text: false,
            is_so_far: false,
        }
    }

    /// Leaves out the events up to this number. A reader whose stream has broken off goes on behind the last event that it
    /// got, and misses none.
    #[must_use]
    pub fn after(mut self, seq: u64) -> Self {
        self.after = seq;
        self
    }

    /// Adds the text and the reasoning of models, as they are written, if the run was started with
    /// [`streamed`](crate::Start::streamed).
    ///
    /// Text comes between the [`ModelRequested`](agents_core::run::EventKind::ModelRequested) and the
    /// [`ModelReplied`](agents_core::run::EventKind::ModelReplied) of its place, and has the number of the former. Each
    /// `ModelRequested` begins the text of its place anew. The event comes again before text that comes again: for a
    /// reader that goes on in the middle of a reply, and if a worker has ended in the middle of a reply and another one
    /// has asked the model again. Text is kept for an hour, so a reader who comes later finds the reply without it; the
    /// outcome has the answer in any case.
    #[must_use]
    pub fn with_text(mut self) -> Self {
        self.with_text = true;
        self
    }

    /// Ends the stream after the events that are stored when the stream is first read, although the run may go on: for
    /// a page that shows a run as it is.
    #[must_use]
    pub fn so_far(mut self) -> Self {
        self.is_so_far = true;
        self
    }

    /// Returns the events in order, until the run is over. Each has its number among the events of the run, from 1,
    /// which is the same in every process. Without [`with_text`](Events::with_text), streamed text is left out. While
    /// nothing happens, the store is asked once a second.
    ///
    /// An error ends the stream: there is no such run, its keys are gone, its contents were altered, or the store fails.
    pub fn stream(self) -> impl Stream<Item = Result<Event, RuntimeError>> + Send + use<> {
        let following = Following {
            text: self.with_text.then(Reading::default),
            events: self,
            key: None,
            follower: Follower::new(),
            ready: VecDeque::new(),
            pause: Pause::new(),
            is_over: false,
        };
        let next = |mut following: Following| async move {
            let event = following.next().await.transpose()?;
            following.is_over |= event.is_err();
            Some((event, following))
        };
        stream::unfold(following, next).boxed()
    }

    /// Returns the text of the answer, as it is written, until the run is over. The text of a run that was not started
    /// with [`streamed`](crate::Start::streamed) is empty. At the end, the pieces since the last
    /// [`Reset`](TextDelta::Reset) are what the model wrote; the answer itself is in the outcome. An error ends this
    /// stream as it ends that of [`stream`](Events::stream).
    pub fn text(self) -> impl Stream<Item = Result<TextDelta, RuntimeError>> + Send + use<> {
        let mut text = TextFollower::new();
        let delta = move |event: Result<Event, RuntimeError>| {
            let delta = event.map(|event| text.on(&event)).transpose();
            std::future::ready(delta)
        };
        self.with_text().stream().filter_map(delta)
    }
}

impl Following {
    async fn next(&mut self) -> Result<Option<Event>, RuntimeError> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            if self.is_over {
                return Ok(None);
            }
            self.look().await?;
            if !self.ready.is_empty() {
                self.pause = Pause::new();
            } else if !self.is_over {
                self.pause.wait().await;
            }
        }
    }

    /// Reads the entries and the text that were stored since the last look, and makes events of them.
    async fn look(&mut self) -> Result<(), RuntimeError> {
        let Events {
            client, run, after, ..
        } = &self.events;
        let store = client.bare_store();
        // The state first: what a run that is over has stored is all.
        let run = client.known(run).await?;
        let key = match &self.key {
            Some(key) => key.clone(),
            None => key_of(&run, &*client.keys()?)?,
        };
        let seq = self.follower.seq();
        let commits = store.commits(&run.id, seq).await?;
        if let Some(text) = &mut self.text {
            // Text after the entries: what was written before a reply is stored with it at the latest.
            text.read(&store.texts(&run.id, text.last()).await?, &key)?;
        }
        for entry in entries(&key, seq, &commits)? {
            let followed = self.follower.on(&entry);
            for event in followed.map_err(RuntimeError::unreadable)?.events {
                let is_wanted = event.seq > *after;
                match &mut self.text {
                    Some(text) => text.on(event, entry.seq(), is_wanted, &mut self.ready),
                    None => self.ready.extend(is_wanted.then_some(event)),
                }
            }
        }
        if let Some(text) = &mut self.text {
            text.tell(self.follower.seq(), &mut self.ready);
        }
        self.key = Some(key);
        self.is_over = run.status == RunStatus::Done || self.events.is_so_far;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_gets_longer_up_to_a_second() {
        let mut pause = Pause::new();
        let pauses: Vec<_> = (0..6).map(|_| pause.next().as_millis()).collect();
        assert_eq!(pauses, [100, 200, 400, 800, 1000, 1000]);
    }
}
