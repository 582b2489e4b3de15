//! Events of a stored run, from any process.

use crate::{
    Client, RuntimeError,
    data::{entries, key_of},
    keys::RunKey,
};
use agents_core::{journal::Follower, run::Event};
use agents_store::RunStatus;
use futures_core::Stream;
use futures_util::{StreamExt, stream};
use std::{collections::VecDeque, time::Duration};

/// Time between two looks at a run that goes on.
const PAUSE: Duration = Duration::from_millis(100);

/// Events of a stored run: [`stream`](Events::stream) gives those that are stored, and those that come.
#[derive(Clone, Debug)]
pub struct Events {
    client: Client,
    run: String,
    after: u64,
}

struct Following {
    events: Events,
    key: Option<RunKey>,
    follower: Follower,
    ready: VecDeque<Event>,
    is_over: bool,
}

impl Events {
    pub(crate) fn new(client: Client, run: String) -> Self {
        Events {
            client,
            run,
            after: 0,
        }
    }

    /// Leaves out the events up to this number.
    #[must_use]
    pub fn after(mut self, seq: u64) -> Self {
        self.after = seq;
        self
    }

    /// Returns the events in order, until the run is over. The number of an event is that of its entry in the journal;
    /// events of one entry share it. Pieces of streamed text are no events of a stored run.
    pub fn stream(self) -> impl Stream<Item = Result<Event, RuntimeError>> + Send + use<> {
        let following = Following {
            events: self,
            key: None,
            follower: Follower::new(),
            ready: VecDeque::new(),
            is_over: false,
        };
        let next = |mut following: Following| async move {
            let event = following.next().await.transpose()?;
            following.is_over |= event.is_err();
            Some((event, following))
        };
        stream::unfold(following, next).boxed()
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
            let Events { client, run, after } = &self.events;
            // The state first: what a run that is over has stored is all.
            let run = client.known(run).await?;
            let key = match &self.key {
                Some(key) => key.clone(),
                None => key_of(&run, &*client.keys()?)?,
            };
            let seq = self.follower.seq();
            let commits = client.bare_store().commits(&run.id, seq).await?;
            for entry in entries(&key, seq, &commits)? {
                let followed = self.follower.on(&entry);
                let events = followed.map_err(RuntimeError::unreadable)?.events;
                self.ready
                    .extend(events.into_iter().filter(|event| event.seq > *after));
            }
            self.key = Some(key);
            self.is_over = run.status == RunStatus::Done;
            if self.ready.is_empty() && !self.is_over {
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}
