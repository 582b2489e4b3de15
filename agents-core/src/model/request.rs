use super::{History, Message, Model, ModelError, ModelErrorKind, wording};
use crate::{
    scope::Scope,
    secret::{Masker, Secret, SecretError},
    tool::{ToolSet, ToolSpec},
};
use async_trait::async_trait;
use serde_json::Value;
use std::{fmt, time::Duration};

/// A fragment of a reply that is being streamed.
///
/// ```
/// # use agents_core as agents;
/// use agents::model::{Delta, Request};
///
/// // In a `Model` of your own: whoever listens is told each piece as it arrives.
/// fn arrived(request: &Request<'_>, piece: &str, thinking: bool) {
///     if let Some(sink) = request.sink() {
///         sink(if thinking { Delta::Thinking(piece) } else { Delta::Text(piece) });
///     }
/// }
/// # let _ = arrived;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delta<'a> {
    /// Next characters of the text of the reply.
    Text(&'a str),
    /// Next characters of the model's reasoning.
    Thinking(&'a str),
}

/// A request to a model: a history, the tools that the model may call, and the format of its answer.
///
/// ```
/// # use agents_core as agents;
/// use agents::model::{Delta, History, Message, Request};
/// use agents::tool::ToolSet;
/// use serde_json::json;
///
/// // In a test of a `Model` of your own:
/// let mut history = History::default();
/// history.push(Message::User { content: "How old is the universe?".into() });
/// let schema = json!({"type": "integer"});
/// let (tools, sink) = (ToolSet::new(), |delta: Delta<'_>| println!("{delta:?}"));
/// let request = Request::new(&history).with_format(&schema).with_tools(&tools).with_sink(&sink);
/// assert_eq!(request.messages().len(), 1);
/// assert_eq!(request.format(), Some(&schema));
/// ```
#[derive(Clone, Copy)]
pub struct Request<'a> {
    history: &'a History,
    tools: Option<&'a ToolSet>,
    format: Option<&'a Value>,
    sink: Option<&'a (dyn Fn(Delta<'_>) + Send + Sync)>,
    masker: Option<&'a Masker>,
    place: Option<&'a (dyn fmt::Display + Send + Sync)>,
    failures: Option<Failures<'a>>,
    patience: Patience,
    asker: Option<&'a dyn OfRun>,
}

/// Run that makes a request, as far as model clients may know of it.
#[async_trait]
pub(crate) trait OfRun: Send + Sync {
    /// Returns the id of the run that makes the request.
    fn of_id(&self) -> &str;

    /// Returns the scope for which the run works: organisation, workspace and user.
    fn of_scope(&self) -> &Scope;

    /// Looks for a secret of the run by its name, and masks the secret in the run; `None` if the run has no such
    /// secret.
    async fn find(&self, name: &str) -> Result<Option<Secret>, SecretError>;
}

/// Time that a caller waits for a reply. The client has limits of its own; the shorter limit applies.
///
/// ```
/// # use agents_core as agents;
/// use agents::model::Patience;
/// use std::time::Duration;
///
/// let patience = Patience { first_token: Some(Duration::from_secs(10)), ..Patience::default() };
/// assert_eq!(patience.idle, None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Patience {
    /// Maximum time until the reply begins; `None` for the client's own.
    pub first_token: Option<Duration>,
    /// Maximum time in which no byte of the reply arrives; `None` for the client's own.
    pub idle: Option<Duration>,
}

/// Callback that is told the name of a model and the error with which it failed.
type Failures<'a> = &'a (dyn Fn(&str, &ModelError) + Send + Sync);

impl<'a> Request<'a> {
    /// Creates a request for the message that follows `history`.
    pub fn new(history: &'a History) -> Self {
        Request {
            history,
            tools: None,
            format: None,
            sink: None,
            masker: None,
            place: None,
            failures: None,
            patience: Patience::default(),
            asker: None,
        }
    }

    /// Sets the tools that the model may call; blocked tools are not offered.
    #[must_use]
    pub fn with_tools(mut self, tools: &'a ToolSet) -> Self {
        self.tools = tools.offered().next().is_some().then_some(tools);
        self
    }

    /// Sets a JSON Schema that the answer has to follow.
    ///
    /// Do not combine a format with tools: a model that must follow a schema cannot call.
    #[must_use]
    pub fn with_format(mut self, schema: &'a Value) -> Self {
        self.format = Some(schema);
        self
    }

    /// Asks for a streamed reply, whose fragments are passed to this callback.
    #[must_use]
    pub fn with_sink(mut self, sink: &'a (dyn Fn(Delta<'_>) + Send + Sync)) -> Self {
        self.sink = Some(sink);
        self
    }

    /// Sets the masker of the run's secrets, for what a client logs.
    #[must_use]
    pub(crate) fn with_masker(mut self, masker: &'a Masker) -> Self {
        self.masker = Some(masker);
        self
    }

    /// Returns the masker of the run's secrets, for clients that log conversations; `None` if there are no
    /// secrets. The model itself gets the text unmasked.
    pub(crate) fn masker(&self) -> Option<&'a Masker> {
        self.masker.filter(|masker| !masker.is_empty())
    }

    /// Sets the run that makes the request, so that clients can ask for its scope and secrets.
    #[must_use]
    pub(crate) fn of_run(mut self, run: &'a dyn OfRun) -> Self {
        self.asker = Some(run);
        self
    }

    /// Returns the scope of the run that makes the request: the organisation, the workspace and the user. `None`
    /// outside of a run.
    pub fn scope(&self) -> Option<&'a Scope> {
        self.asker.map(OfRun::of_scope)
    }

    /// Returns a secret of the run that makes the request, such as the key that the model's server asks for. The secret
    /// is found as [a tool's secrets](crate::ToolContext::secret) are, and masked in the run from now on.
    ///
    /// # Errors
    /// With [`ModelErrorKind::Setup`] outside of a run, and if the run has no such secret, or the secret cannot be
    /// looked up or masked.
    pub async fn secret(&self, name: &str) -> Result<Secret, ModelError> {
        let setup = |why: String| ModelError::new(ModelErrorKind::Setup, why);
        let Some(run) = self.asker else {
            return Err(setup(wording::secret_outside(name)));
        };
        let found = run.find(name).await;
        let found = found.and_then(|secret| secret.ok_or_else(|| SecretError::missing(name)));
        found.map_err(|error| setup(wording::secret_missing(&error)))
    }

    /// Sets the path of the request in the run, for records of the request.
    #[must_use]
    pub(crate) fn with_place(mut self, place: &'a (dyn fmt::Display + Send + Sync)) -> Self {
        self.place = Some(place);
        self
    }

    /// Returns the path of the request in the run: the path of the agent, followed by the turn. The path is empty
    /// outside of a run.
    pub fn place(&self) -> String {
        self.place.map(ToString::to_string).unwrap_or_default()
    }

    /// Returns the id of the run that makes the request; `None` outside of a run.
    pub fn run_id(&self) -> Option<&'a str> {
        self.asker.map(OfRun::of_id)
    }

    /// Sets the callback that is told of requests which fail and are repeated, with the same model or a fallback.
    #[must_use]
    pub(crate) fn with_failures(mut self, failures: Failures<'a>) -> Self {
        self.failures = Some(failures);
        self
    }

    /// Reports that the model of this name failed and that another request is made instead; a run stores the report as
    /// a fact.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::model::{Model, ModelError, Reply, Request};
    ///
    /// // In a model that stands for two.
    /// async fn either(first: &dyn Model, second: &dyn Model, request: Request<'_>) -> Result<Reply, ModelError> {
    ///     match first.chat(request).await {
    ///         Ok(reply) => Ok(reply),
    ///         Err(error) => {
    ///             request.failed(first.id(), &error);
    ///             second.chat(request).await
    ///         }
    ///     }
    /// }
    /// # let _ = either;
    /// ```
    pub fn failed(&self, model: &str, error: &ModelError) {
        if let Some(failures) = self.failures {
            failures(model, error);
        }
    }

    /// Sets how long the caller waits for the reply. The client keeps to these limits, as far as it can.
    #[must_use]
    pub fn with_patience(mut self, patience: Patience) -> Self {
        self.patience = patience;
        self
    }

    /// Returns how long the caller waits for the reply.
    pub fn patience(&self) -> Patience {
        self.patience
    }

    /// Returns the message of the error with the run's secrets masked, for logs.
    pub(super) fn masked(&self, error: &ModelError) -> String {
        let message = error.to_string();
        match self.masker() {
            Some(masker) => masker.text(&message).into_owned(),
            None => message,
        }
    }

    /// Returns the history of the conversation; [`History::wire`] lends the client what it has already encoded.
    pub fn history(&self) -> &'a History {
        self.history
    }

    /// Returns the messages of the conversation, oldest first.
    pub fn messages(&self) -> &'a [Message] {
        self.history.messages()
    }

    /// Checks that the model can read the images and files of the conversation.
    ///
    /// A client need not call this method: a run does so before each request.
    ///
    /// # Errors
    /// With [`ModelErrorKind::Setup`] if the model cannot read them.
    pub fn check_media(&self, model: &dyn Model) -> Result<(), ModelError> {
        let able = model.capabilities();
        let what = match (self.history.has_images(), self.history.has_files()) {
            (true, _) if !able.images => "an image",
            (_, true) if !able.files => "a file",
            _ => return Ok(()),
        };
        let id = model.id();
        Err(ModelError::new(
            ModelErrorKind::Setup,
            wording::unreadable(what, id),
        ))
    }

    /// Returns `true` if the model may call tools.
    pub fn has_tools(&self) -> bool {
        self.tools.is_some()
    }

    /// Returns the tools that the model may call.
    pub fn tools(&self) -> impl Iterator<Item = &'a ToolSpec> {
        self.tools.into_iter().flat_map(ToolSet::offered)
    }

    /// Returns the tools as a JSON array of function declarations, the form that Ollama and most other servers take;
    /// `None` if there are no tools. The array is made once for each set of tools.
    pub fn tools_json(&self) -> Option<&'a str> {
        self.tools.map(ToolSet::declarations)
    }

    /// Returns the JSON Schema that the answer has to follow; `None` if the answer is free.
    pub fn format(&self) -> Option<&'a Value> {
        self.format
    }

    /// Returns the callback for fragments of the reply; `None` asks for the complete reply.
    pub fn sink(&self) -> Option<&'a (dyn Fn(Delta<'_>) + Send + Sync)> {
        self.sink
    }
}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools: Vec<_> = self.tools().map(|tool| &*tool.name).collect();
        f.debug_struct("Request")
            .field("messages", &self.messages())
            .field("tools", &tools)
            .field("format", &self.format)
            .field("streamed", &self.sink.is_some())
            .field("place", &self.place())
            .finish_non_exhaustive()
    }
}
