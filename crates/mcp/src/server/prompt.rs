use super::wording;
use agents_core::model::{Content, Message};
use rmcp::{
    ErrorData,
    model::{self, PromptArgument},
};
use std::{collections::BTreeMap, fmt, sync::Arc};

/// Arguments with which a host asks for a prompt, by name.
pub type Arguments = BTreeMap<String, String>;

type Write = dyn Fn(&Arguments) -> Messages + Send + Sync;
type Complete = dyn Fn(&str) -> Vec<String> + Send + Sync;

/// Messages that a prompt is written as: a text, content with images, or a whole conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Messages(pub(super) Vec<Message>);

impl From<Vec<Message>> for Messages {
    fn from(messages: Vec<Message>) -> Self {
        Messages(messages)
    }
}

impl From<Content> for Messages {
    fn from(content: Content) -> Self {
        Messages(vec![Message::User { content }])
    }
}

impl From<String> for Messages {
    fn from(text: String) -> Self {
        Content::from(text).into()
    }
}

impl From<&str> for Messages {
    fn from(text: &str) -> Self {
        Content::from(text).into()
    }
}

/// A prompt that the person at a host can choose, such as a command of an editor.
///
/// ```
/// use agents_mcp as mcp;
///
/// let review = mcp::Prompt::new("review", |args| format!("Review this change:\n{}", args["diff"]))
///     .description("Asks for a review.")
///     .argument("diff", "The change.");
/// let server = mcp::serve().prompt(review);
/// # let _ = server;
/// ```
#[derive(Clone)]
#[must_use = "a prompt is offered by a server: `serve().prompt(..)`"]
pub struct Prompt {
    name: String,
    description: Option<String>,
    arguments: Vec<Argument>,
    write: Arc<Write>,
}

#[derive(Clone)]
struct Argument {
    name: String,
    description: String,
    is_required: bool,
    complete: Option<Arc<Complete>>,
}

impl Prompt {
    /// Creates a prompt whose messages `write` makes of its arguments. When `write` is called, all required arguments
    /// are there.
    pub fn new<M: Into<Messages>>(
        name: impl Into<String>,
        write: impl Fn(&Arguments) -> M + Send + Sync + 'static,
    ) -> Self {
        Prompt {
            name: name.into(),
            description: None,
            arguments: Vec::new(),
            write: Arc::new(move |args| write(args).into()),
        }
    }

    /// Sets the description, by which a person chooses the prompt.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Adds an argument that the host has to give.
    pub fn argument(self, name: impl Into<String>, description: impl Into<String>) -> Self {
        self.with(name.into(), description.into(), true)
    }

    /// Adds an argument that the host may leave out.
    pub fn optional(self, name: impl Into<String>, description: impl Into<String>) -> Self {
        self.with(name.into(), description.into(), false)
    }

    fn with(mut self, name: String, description: String, is_required: bool) -> Self {
        self.arguments.push(Argument {
            name,
            description,
            is_required,
            complete: None,
        });
        self
    }

    /// Suggests values for the argument that was added last, from what the person has written so far. Without an
    /// argument, this does nothing.
    ///
    /// ```
    /// use agents_mcp as mcp;
    ///
    /// let cities = ["Paris", "Parma", "Rome"];
    /// let weather = mcp::Prompt::new("weather", |args| format!("How is the weather in {}?", args["city"]))
    ///     .argument("city", "Which city.")
    ///     .suggests(move |begun| cities.iter().filter(|city| city.starts_with(begun)).map(ToString::to_string).collect());
    /// # let _ = weather;
    /// ```
    pub fn suggests(
        mut self,
        complete: impl Fn(&str) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        if let Some(argument) = self.arguments.last_mut() {
            argument.complete = Some(Arc::new(complete));
        }
        self
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn listed(&self) -> model::Prompt {
        let arguments = self.arguments.iter().map(|argument| {
            PromptArgument::new(&argument.name)
                .with_description(&argument.description)
                .with_required(argument.is_required)
        });
        let arguments = (!self.arguments.is_empty()).then(|| arguments.collect());
        model::Prompt::new(&self.name, self.description.clone(), arguments)
    }

    /// Returns the messages that the prompt writes for these arguments. The error says which argument is missing.
    pub(super) fn messages(&self, args: &Arguments) -> Result<Vec<Message>, ErrorData> {
        let missing = self
            .arguments
            .iter()
            .find(|argument| argument.is_required && !args.contains_key(&argument.name));
        match missing {
            Some(argument) => Err(wording::needs_argument(&self.name, &argument.name)),
            None => Ok((self.write)(args).0),
        }
    }

    /// Returns suggestions for the value of an argument, of which the person has written `begun` so far.
    pub(super) fn suggestions(&self, argument: &str, begun: &str) -> Vec<String> {
        let argument = self.arguments.iter().find(|one| one.name == argument);
        let complete = argument.and_then(|argument| argument.complete.as_ref());
        complete.map_or_else(Vec::new, |complete| complete(begun))
    }
}

impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prompt")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
