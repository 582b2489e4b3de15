//! A conversation that is followed: the text of its answers, one after the other.

use crate::{ConversationRef, RuntimeError, events::Pause};
use agents_core::agent::TextDelta;
use futures_core::Stream;
use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use std::collections::VecDeque;

/// News of a conversation that is followed: see [`ConversationRef::text`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spoken {
    /// The text of the answer to a message has changed.
    Text {
        /// Id of the run that answers the message of the conversation.
        run: String,
        /// Change of the text of the answer: more text, or a new beginning.
        delta: TextDelta,
    },
    /// A message is over. [`messages`](ConversationRef::messages) has it, if it was kept.
    Over {
        /// Id of the run that answered the message of the conversation.
        run: String,
    },
}

struct Following {
    conversation: ConversationRef,
    /// Id of the run of the last message that was seen; `None` before the first look, and `Some(None)` if there was
    /// none to see.
    seen: Option<Option<String>>,
    open: VecDeque<String>,
    current: Option<(String, BoxStream<'static, Result<TextDelta, RuntimeError>>)>,
    pause: Pause,
    has_failed: bool,
}

impl ConversationRef {
    /// Returns the text of the answers while models write them: of messages that are not over, and of new ones.
    /// Messages without [`streamed`](crate::Start::streamed) have no text. The stream goes on until it is dropped, or
    /// until an error ends it.
    ///
    /// A reader whose connection has broken off reads [`messages`](ConversationRef::messages), and follows anew: it gets
    /// the text of the answer under way from its beginning.
    ///
    /// ```
    /// use agents::{agent::TextDelta, prelude::*};
    /// use agents_runtime::{Runtime, Spoken, SqliteStore};
    /// use futures_util::StreamExt;
    /// # use agents::testing::{Script, ScriptedModel};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (model, _) = ScriptedModel::new([Script::text("A machine tool.")]);
    /// # let runtime = Runtime::open(SqliteStore::in_memory().await?).model(model);
    /// # let support = runtime.agent(AgentBuilder::<String, String>::new("support").build());
    /// let case = support.chat("case-7");
    /// let page = async {
    ///     let (mut page, mut news) = (String::new(), case.stored().text());
    ///     while let Some(spoken) = news.next().await {
    ///         match spoken? {
    ///             Spoken::Text { delta: TextDelta::Piece(piece), .. } => page.push_str(&piece),
    ///             Spoken::Text { delta: TextDelta::Reset, .. } => page.clear(),
    ///             Spoken::Over { .. } => break, // or wait for the next message
    ///         }
    ///     }
    ///     Ok(page)
    /// };
    /// // Somewhere else, a message is sent and worked.
    /// let (page, answer) = tokio::join!(page, case.send("What is a lathe?").streamed().into_future());
    /// # let page: Result<_, agents_runtime::RuntimeError> = page;
    /// assert_eq!(page?, answer?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn text(&self) -> impl Stream<Item = Result<Spoken, RuntimeError>> + Send + use<> {
        let following = Following {
            conversation: self.clone(),
            seen: None,
            open: VecDeque::new(),
            current: None,
            pause: Pause::new(),
            has_failed: false,
        };
        let next = |mut following: Following| async move {
            if following.has_failed {
                return None;
            }
            let spoken = following.next().await;
            following.has_failed = spoken.is_err();
            Some((spoken, following))
        };
        stream::unfold(following, next).boxed()
    }
}

impl Following {
    async fn next(&mut self) -> Result<Spoken, RuntimeError> {
        loop {
            if let Some((run, text)) = &mut self.current {
                let run = run.clone();
                if let Some(delta) = text.next().await {
                    let delta = delta?;
                    return Ok(Spoken::Text { run, delta });
                }
                self.current = None;
                return Ok(Spoken::Over { run });
            }
            if let Some(run) = self.open.pop_front() {
                let text = self.conversation.client().events(&run).text();
                self.current = Some((run, text.boxed()));
                continue;
            }
            self.look().await?;
            match self.open.is_empty() {
                true => self.pause.wait().await,
                false => self.pause = Pause::new(),
            }
        }
    }

    /// Looks for new messages of the conversation. The first time, it takes the messages that are not over.
    async fn look(&mut self) -> Result<(), RuntimeError> {
        let seen = match self.seen.take() {
            Some(seen) => seen,
            None => self.conversation.last_done().await?.map(|run| run.id),
        };
        let come = self.conversation.runs_behind(seen.as_deref()).await?;
        self.open.extend(come.into_iter().map(|run| run.id));
        self.seen = Some(self.open.back().cloned().or(seen));
        Ok(())
    }
}
