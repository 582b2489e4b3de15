use crate::model::{
    Capabilities, Delta, Message, Model, ModelError, ModelErrorKind, Reply, Request, ToolCall,
    Usage,
};
use async_trait::async_trait;
use futures_util::future::BoxFuture;
use serde_json::Value;
use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Model for tests, which answers from a script, in order, or by a [function](ScriptedModel::from_fn).
///
/// The model is for tests of the code around a model: the loop, the tools, the recovery. Its answers say nothing about
/// the behaviour of a real model.
///
/// ```
/// # use agents_core as agents;
/// use agents::testing::{Script, ScriptedModel};
/// use agents::{Agent, AgentBuilder};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents::Error> {
/// let (model, handle) = ScriptedModel::new([Script::text("42")]);
/// let answer = AgentBuilder::<String, u32>::new("oracle").model(model).build().run("?").await?;
/// assert_eq!(answer, 42);
/// assert_eq!(handle.requests().len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ScriptedModel {
    shared: Arc<Shared>,
    capabilities: Capabilities,
}

/// Scripted answer of a [`ScriptedModel`].
///
/// ```
/// # use agents_core as agents;
/// use agents::testing::{Script, ScriptedModel};
///
/// let (model, handle) = ScriptedModel::new([
///     Script::call("read_file", r#"{"path": "a.txt",}"#), // as models write
///     Script::text("It says hello."),
/// ]);
/// # let _ = model;
/// assert!(handle.requests().is_empty()); // nobody has asked yet
/// ```
pub enum Script {
    /// Answers the next request with this reply.
    Reply(Reply),
    /// Fails the next request with this error.
    Fail(ModelError),
    /// Computes the reply to the next request from that request.
    With(Box<dyn FnMut(&ReceivedRequest) -> Reply + Send>),
}

/// Request that a scripted model received, for a test to look at.
///
/// ```
/// # use agents_core as agents;
/// # use agents::{Agent, AgentBuilder};
/// use agents::testing::{Script, ScriptedModel};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents::Error> {
/// let (model, handle) = ScriptedModel::new([Script::text("Hello")]);
/// let greeter = AgentBuilder::<String, String>::new("greeter").prompt("You greet.").model(model).build();
/// greeter.run("Ada is here").await?;
///
/// let asked = &handle.requests()[0];
/// assert_eq!(asked.last(), "Ada is here");
/// assert!(asked.tools.is_empty() && asked.format.is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ReceivedRequest {
    /// Messages that the model was sent, oldest first.
    pub messages: Vec<Message>,
    /// Names of the tools that were offered to the model.
    pub tools: Vec<String>,
    /// Declarations of the offered tools, as a JSON array; `null` if no tool was offered.
    pub declarations: Value,
    /// JSON Schema that the model was held to for its answer; `None` if the request held it to none.
    pub format: Option<Value>,
    /// Is `true` if a streamed reply was asked for.
    pub streamed: bool,
}

impl ReceivedRequest {
    fn of(request: &Request<'_>) -> ReceivedRequest {
        ReceivedRequest {
            messages: request.messages().to_vec(),
            tools: request.tools().map(|spec| spec.name.to_string()).collect(),
            declarations: request
                .tools_json()
                .and_then(|json| serde_json::from_str(json).ok())
                .unwrap_or_default(),
            format: request.format().cloned(),
            streamed: request.sink().is_some(),
        }
    }

    /// Returns the system prompt, by which agents can be told apart; an empty text if there is none.
    pub fn prompt(&self) -> &str {
        match self.messages.first() {
            Some(Message::System { content }) => content,
            _ => "",
        }
    }

    /// Returns the text of the last message of the request; an empty text if there is no message.
    pub fn last(&self) -> &str {
        self.messages.last().map_or("", Message::text)
    }

    /// Returns the results of tool calls with which the messages end, in order, each as the tool's name and the text
    /// for the model. The list is empty if the last message is no such result.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, Effects, tool::FnTool};
    /// use agents::testing::{Script, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let schema = serde_json::json!({"type": "object"});
    /// # let now = FnTool::new("now", "The time.", Effects::Reads, schema, |_, _| async { Ok::<_, std::io::Error>("noon") });
    /// let (model, handle) = ScriptedModel::new([Script::call("now", "{}"), Script::text("It is noon")]);
    /// # let clock = AgentBuilder::<String, String>::new("clock").tool(now).model(model).build();
    /// clock.run("What time is it?").await?;
    /// // What the model was told of its call.
    /// assert_eq!(handle.requests()[1].results(), [("now", "noon")]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn results(&self) -> Vec<(&str, &str)> {
        let mut results: Vec<_> = self
            .messages
            .iter()
            .rev()
            .map_while(|message| match message {
                Message::Tool { name, content, .. } => Some((&**name, &**content)),
                _ => None,
            })
            .collect();
        results.reverse();
        results
    }
}

impl Script {
    /// Creates an answer that is a reply with this text.
    pub fn text(text: impl Into<String>) -> Script {
        Script::Reply(Reply {
            content: text.into(),
            usage: one(),
            ..Reply::default()
        })
    }

    /// Creates an answer that calls one tool, with arguments as a model would write them.
    pub fn call(tool: impl Into<String>, arguments: impl Into<String>) -> Script {
        Script::calls([(tool.into(), arguments.into())])
    }

    /// Creates an answer that calls several tools, each with arguments as a model would write them.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, Effects, tool::FnTool};
    /// use agents::testing::{Script, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let schema = serde_json::json!({"type": "object"});
    /// # let look = FnTool::new("look", "Looks.", Effects::Reads, schema, |_, _| async { Ok::<_, std::io::Error>("dark") });
    /// // Two calls at once, of which one has the wrong name.
    /// let (model, _) = ScriptedModel::new([
    ///     Script::calls([("look", "{}"), ("loook", "{}")]),
    ///     Script::text("dark"),
    /// ]);
    /// # let watcher = AgentBuilder::<String, String>::new("watcher").tool(look).model(model).build();
    /// let outcome = watcher.run("Look").outcome().await?;
    /// let went_well: Vec<bool> = outcome.outputs.receipts().map(|receipt| receipt.is_ok()).collect();
    /// assert_eq!(went_well, [true, false]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn calls<T: Into<String>, A: Into<String>>(
        calls: impl IntoIterator<Item = (T, A)>,
    ) -> Script {
        let calls = calls
            .into_iter()
            .map(|(tool, arguments)| ToolCall {
                id: String::new(),
                name: tool.into(),
                arguments: arguments.into(),
            })
            .collect();
        Script::Reply(Reply {
            calls,
            usage: one(),
            ..Reply::default()
        })
    }

    /// Creates an answer that fails the request, with this message and the kind [`ModelErrorKind::Refused`].
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder};
    /// use agents::{model::Model, testing::{Script, ScriptedModel}};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// // What happens when the model is down?
    /// let (down, _) = ScriptedModel::new([Script::fail("out of memory")]);
    /// let (spare, _) = ScriptedModel::new([Script::text("Hello")]);
    /// let greeter = AgentBuilder::<String, String>::new("greeter").model(down.or(spare)).build();
    /// assert_eq!(greeter.run("Greet me").await?, "Hello");
    /// # Ok(())
    /// # }
    /// ```
    pub fn fail(message: impl Into<String>) -> Script {
        Script::Fail(ModelError::new(ModelErrorKind::Refused, message))
    }

    /// Creates an answer that is computed from the request.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder};
    /// use agents::{model::Reply, testing::{Script, ScriptedModel}};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// // An answer that depends on what was asked.
    /// let (model, _) = ScriptedModel::new([Script::with(|asked| Reply {
    ///     content: asked.last().to_uppercase(),
    ///     ..Reply::default()
    /// })]);
    /// let echo = AgentBuilder::<String, String>::new("echo").model(model).build();
    /// assert_eq!(echo.run("hello").await?, "HELLO");
    /// # Ok(())
    /// # }
    /// ```
    pub fn with(answer: impl FnMut(&ReceivedRequest) -> Reply + Send + 'static) -> Script {
        Script::With(Box::new(answer))
    }
}

fn one() -> Usage {
    Usage {
        input_tokens: 10,
        output_tokens: 5,
        requests: 1,
        ..Usage::default()
    }
}

#[derive(Default)]
struct Shared {
    script: Mutex<VecDeque<Script>>,
    /// Function that answers when the script has ended; `None` if requests then fail.
    rest: Mutex<Option<AnswerFn>>,
    asked: Mutex<Vec<ReceivedRequest>>,
}

type AnswerFn = Box<dyn FnMut(&ReceivedRequest) -> BoxFuture<'static, Script> + Send>;

impl ScriptedModel {
    /// Creates a model that gives these answers in order and fails after the last, and a handle that inspects its
    /// requests.
    pub fn new(script: impl IntoIterator<Item = Script>) -> (ScriptedModel, ScriptedModel) {
        let shared = Shared {
            script: Mutex::new(script.into_iter().collect()),
            ..Shared::default()
        };
        let model = ScriptedModel {
            shared: Arc::new(shared),
            capabilities: Capabilities {
                images: true,
                files: true,
                ..Capabilities::default()
            },
        };
        (model.clone(), model)
    }

    /// Sets what the model can do. By default, the model can do everything, and the size of its window is not known.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{model::{Capabilities, Model}, testing::{Script, ScriptedModel}};
    ///
    /// let (model, _) = ScriptedModel::new([Script::text("done")]);
    /// // A model that reads text alone.
    /// let model = model.capable_of(Capabilities::default());
    /// assert!(!model.capabilities().images);
    /// ```
    #[must_use]
    pub fn capable_of(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Creates a model that gives the same answer to every request, and a handle that inspects its requests. A computed
    /// answer is computed anew for each request.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder};
    /// use agents::testing::{Script, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// let (model, handle) = ScriptedModel::always(Script::text("7"));
    /// let oracle = AgentBuilder::<String, u32>::new("oracle").model(model).build();
    /// for _ in 0..3 {
    ///     assert_eq!(oracle.run("?").await?, 7);
    /// }
    /// assert_eq!(handle.count(), 3);
    ///
    /// // A model that is down, and stays down.
    /// let (down, _) = ScriptedModel::always(Script::fail("out of memory"));
    /// for _ in 0..3 {
    ///     assert!(oracle.run("?").override_model(down.clone()).await.is_err());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn always(script: Script) -> (ScriptedModel, ScriptedModel) {
        match script {
            Script::Reply(reply) => Self::from_fn(move |_| Script::Reply(reply.clone())),
            Script::Fail(error) => Self::from_fn(move |_| Script::Fail(error.clone())),
            Script::With(mut answer) => Self::from_fn(move |asked| Script::Reply(answer(asked))),
        }
    }

    /// Creates a model whose answers a function computes from the requests, and a handle that inspects its requests.
    ///
    /// The function is called once for each request, in the order in which the requests arrive.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, Effects, tool::FnTool};
    /// use agents::testing::{Script, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let schema = serde_json::json!({"type": "object"});
    /// # let now = FnTool::new("now", "The time.", Effects::Reads, schema, |_, _| async { Ok::<_, std::io::Error>("noon") });
    /// // Calls the tool first, and answers with its result.
    /// let (model, handle) = ScriptedModel::from_fn(|asked| match asked.results()[..] {
    ///     [] => Script::call("now", "{}"),
    ///     [(_, time), ..] => Script::text(format!("It is {time}.")),
    /// });
    /// let clock = AgentBuilder::<String, String>::new("clock").tool(now).model(model).build();
    /// assert_eq!(clock.run("What time is it?").await?, "It is noon.");
    /// assert_eq!(handle.count(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_fn(
        mut answer: impl FnMut(&ReceivedRequest) -> Script + Send + 'static,
    ) -> (ScriptedModel, ScriptedModel) {
        Self::of(Box::new(move |asked| {
            let script = answer(asked);
            Box::pin(async { script })
        }))
    }

    /// Creates a model whose answers an async function computes from the requests, and a handle that inspects its
    /// requests.
    ///
    /// Requests that arrive at the same time are answered at the same time.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder};
    /// use agents::testing::{Script, ScriptedModel};
    /// use std::time::Duration;
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), agents::Error> {
    /// // A model that thinks for a minute.
    /// let (slow, _) = ScriptedModel::from_async_fn(|asked| async move {
    ///     tokio::time::sleep(Duration::from_secs(60)).await;
    ///     Script::text(asked.last().to_uppercase())
    /// });
    /// let echo = AgentBuilder::<String, String>::new("echo").model(slow).build();
    /// assert_eq!(echo.run("hello").await?, "HELLO");
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_async_fn<F>(
        mut answer: impl FnMut(ReceivedRequest) -> F + Send + 'static,
    ) -> (ScriptedModel, ScriptedModel)
    where
        F: Future<Output = Script> + Send + 'static,
    {
        Self::of(Box::new(move |asked| Box::pin(answer(asked.clone()))))
    }

    fn of(rest: AnswerFn) -> (ScriptedModel, ScriptedModel) {
        let (model, handle) = ScriptedModel::new([]);
        *lock(&model.shared.rest) = Some(rest);
        (model, handle)
    }

    /// Returns the requests received so far.
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        lock(&self.shared.asked).clone()
    }

    /// Returns the number of requests received so far.
    pub fn count(&self) -> usize {
        lock(&self.shared.asked).len()
    }

    async fn answer(&self, asked: &ReceivedRequest) -> Result<Reply, ModelError> {
        let next = lock(&self.shared.script).pop_front();
        let script = match next {
            Some(script) => script,
            None => {
                // The lock is free again while the answer is awaited.
                let answer = lock(&self.shared.rest).as_mut().map(|rest| rest(asked));
                match answer {
                    Some(answer) => answer.await,
                    None => return Err(self.unforeseen()),
                }
            }
        };
        match script {
            Script::Reply(reply) => Ok(reply),
            Script::Fail(error) => Err(error),
            Script::With(mut answer) => Ok(answer(asked)),
        }
    }

    fn unforeseen(&self) -> ModelError {
        let count = self.count();
        let message = format!("the script has ended; request {count} was not foreseen");
        ModelError::new(ModelErrorKind::Malformed, message)
    }
}

#[async_trait]
impl Model for ScriptedModel {
    fn id(&self) -> &str {
        "scripted"
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        let asked = ReceivedRequest::of(&request);
        lock(&self.shared.asked).push(asked.clone());
        // A real model takes its time: let others run.
        tokio::task::yield_now().await;
        let reply = self.answer(&asked).await?;
        if let Some(sink) = request.sink() {
            reply
                .content
                .split_inclusive(' ')
                .for_each(|word| sink(Delta::Text(word)));
        }
        Ok(reply)
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedModel")
            .field("asked", &self.count())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Script::Reply(_) => "Reply",
            Script::Fail(_) => "Fail",
            Script::With(_) => "With",
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
