use super::Message;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{
    any::Any,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

/// List of the messages of a conversation, which only grows.
///
/// Beside the messages a history keeps slots. In a slot a model client, or a wrapper around a client, may hold
/// messages that it has already encoded, so that no message is serialised twice. The slots are a cache: a clone or
/// a stored copy of a history does not have them.
///
/// ```
/// # use agents_core as agents;
/// use agents::model::{History, Message};
///
/// let mut history = History::new();
/// history.push(Message::System { content: "You add.".into() });
/// history.push(Message::User { content: "2 + 2".into() });
/// assert_eq!(history.messages().len(), 2);
///
/// // It is data: stored, and read again.
/// let stored = serde_json::to_string(&history)?;
/// assert_eq!(serde_json::from_str::<History>(&stored)?, history);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Default)]
pub struct History {
    messages: Vec<Message>,
    has_images: bool,
    has_files: bool,
    /// Slots in which clients keep encoded messages, one for each type of content; there are few.
    slots: Mutex<Vec<Box<dyn Any + Send>>>,
}

impl History {
    /// Creates a history that has no messages yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a message to the end of the conversation.
    pub fn push(&mut self, message: Message) {
        self.note_media(&message);
        self.messages.push(message);
    }

    fn note_media(&mut self, message: &Message) {
        for media in message.media() {
            match media.is_image() {
                true => self.has_images = true,
                false => self.has_files = true,
            }
        }
    }

    /// Returns `true` if a message of the conversation has an image.
    pub fn has_images(&self) -> bool {
        self.has_images
    }

    /// Returns `true` if a message of the conversation has a file that is no image.
    pub(crate) fn has_files(&self) -> bool {
        self.has_files
    }

    /// Returns the messages of the conversation, oldest first.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Returns the conversation under this system prompt. If the prompt is the same already, the history stays
    /// untouched, so that no message has to be encoded anew.
    pub(crate) fn with_system(history: Arc<History>, system: &str) -> Arc<History> {
        let (led, rest) = match history.messages() {
            [Message::System { content }, rest @ ..] => (content.as_str(), rest),
            rest => ("", rest),
        };
        if led == system {
            return history;
        }
        let system = (!system.is_empty()).then(|| Message::System {
            content: system.to_owned(),
        });
        let messages: Vec<_> = system.into_iter().chain(rest.iter().cloned()).collect();
        Arc::new(History::from(messages))
    }

    /// Returns a copy of the history that takes over its slots.
    pub(crate) fn with_slots(&self) -> History {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = std::mem::take(&mut *slots);
        History {
            slots: Mutex::new(taken),
            ..self.clone()
        }
    }

    /// Lends a model client the slot in which it keeps what it has already encoded of this history, together with
    /// the messages.
    ///
    /// There is one slot for each type `W`. The slot starts as `W::default()`, and keeps its content while messages are
    /// added. `W` should remember how many messages it covers, and to which client it belongs if several clients may
    /// use the same type.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::model::{History, Message};
    ///
    /// #[derive(Default)]
    /// struct Encoded { done: usize, body: Vec<u8> }
    ///
    /// let mut history = History::new();
    /// history.push(Message::User { content: "hi".into() });
    /// let added = history.wire(|encoded: &mut Encoded, messages| {
    ///     let new = &messages[encoded.done..];
    ///     encoded.done = messages.len();
    ///     encoded.body.extend(new.iter().flat_map(|_| *b"x"));
    ///     new.len()
    /// });
    /// assert_eq!(added, 1);
    /// assert_eq!(history.wire(|encoded: &mut Encoded, _| encoded.body.len()), 1);
    /// ```
    pub fn wire<W, R>(&self, f: impl FnOnce(&mut W, &[Message]) -> R) -> R
    where
        W: Default + Send + 'static,
    {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let held = slots.iter().position(|slot| slot.is::<W>());
        let at = held.unwrap_or_else(|| {
            slots.push(Box::new(W::default()));
            slots.len() - 1
        });
        match slots[at].downcast_mut::<W>() {
            Some(wire) => f(wire, &self.messages),
            None => f(&mut W::default(), &self.messages),
        }
    }
}

impl Clone for History {
    fn clone(&self) -> Self {
        History {
            messages: self.messages.clone(),
            has_images: self.has_images,
            has_files: self.has_files,
            slots: Mutex::default(),
        }
    }
}

impl From<Vec<Message>> for History {
    fn from(messages: Vec<Message>) -> Self {
        let mut history = History::new();
        messages
            .iter()
            .for_each(|message| history.note_media(message));
        history.messages = messages;
        history
    }
}

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.messages).finish()
    }
}

impl PartialEq for History {
    fn eq(&self, other: &Self) -> bool {
        self.messages == other.messages
    }
}

impl Serialize for History {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.messages.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for History {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(History::from)
    }
}
