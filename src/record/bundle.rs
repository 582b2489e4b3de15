use super::{
    Replay, WhatIf,
    tape::{Entry, Exchange, FORMAT, Line, Said},
};
use crate::files;
use agents_core::{
    Json,
    agent::Data,
    model::{Message, Reply},
    run::{Happened, ToolEnvelope},
};
use serde::de::IgnoredAny;
use serde_json::Value;
use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap, HashSet},
    fmt, io,
    path::Path,
    sync::Arc,
};

/// A recorded run as data: the prompt, the messages, the tool declarations, the receipts and the
/// models' replies.
///
/// It is all that is needed to have the run again, without network and without running a tool.
///
/// ```
/// use agents::{prelude::*, record::{Bundle, Recording}};
///
/// # use agents::testing::{Script, ScriptedModel};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use agents::{Effects, tool::FnTool};
/// # let (model, _) = ScriptedModel::new([Script::call("now", "{}"), Script::text("noon")]);
/// # let path = std::env::temp_dir().join(format!("agents-bundle-{}.jsonl", std::process::id()));
/// # let schema = serde_json::json!({"type": "object"});
/// # let now = FnTool::new("now", "The time.", Effects::Reads, schema, |_, _| async { Ok::<_, Error>("12:00") });
/// let clerk = AgentBuilder::<String, String>::new("clerk").prompt("Be brief.").tool(now).build();
/// clerk.run("What time is it?").model(model).tape(Recording::create(&path)?).await?;
///
/// let bundle = Bundle::open(&path)?;
/// assert_eq!(bundle.prompt(), Some("Be brief."));
/// assert_eq!(bundle.envelopes().next().unwrap().output.as_ref().unwrap().as_str(), r#""12:00""#);
///
/// // The same again, from what is written down alone.
/// let again = clerk.run(bundle.input::<String>()?).tape(bundle.replay()).await?;
/// assert_eq!(again, "noon");
///
/// // And if it had been midnight?
/// let what_if = bundle.what_if().output(0, "0:00").replay()?;
/// clerk.run(bundle.input::<String>()?).tape(what_if.clone()).await.unwrap_err();
/// let parted = what_if.divergence().unwrap();
/// assert_eq!((&*parted.recorded, &*parted.now), ("12:00", "0:00"));
/// # std::fs::remove_file(path)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Bundle(pub(super) Arc<Told>);

/// What a tape tells.
#[derive(Default)]
pub(super) struct Told {
    pub(super) run_id: String,
    agent: String,
    input: Option<Json>,
    pub(super) clock: HashMap<String, u64>,
    pub(super) heard: Vec<Heard>,
    /// What happened, by its moment's name.
    pub(super) happened: HashMap<String, Entry>,
    /// The receipts, by the place of their call.
    pub(super) receipts: BTreeMap<String, Arc<ToolEnvelope>>,
    /// Those of them whose call was left unsettled by what it was a part of.
    pub(super) abandoned: HashSet<String>,
}

/// A recorded exchange, its whole conversation put together.
pub(super) struct Heard {
    pub(super) number: usize,
    pub(super) model: String,
    pub(super) place: String,
    pub(super) messages: Vec<Message>,
    pub(super) tools: Value,
    pub(super) format: Option<Value>,
    pub(super) said: Said<'static>,
}

impl Bundle {
    /// Reads a bundle from a file that a [`Recording`](super::Recording) has written.
    ///
    /// A full disk or a power cut may leave only the beginning of the last line; that line is left out, with a warning
    /// in the log.
    ///
    /// # Errors
    /// When the file cannot be read, or is no tape of this format.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Bundle> {
        let path = path.as_ref();
        Bundle::parse(&files::text(path)?).map_err(|error| files::of(path, error))
    }

    /// Reads a bundle from text; a last line that breaks off is left out.
    ///
    /// # Errors
    /// When the text is no tape of this format; the message names the line.
    pub fn parse(tape: &str) -> io::Result<Bundle> {
        let mut told = Told::default();
        let mut tools = Value::Array(Vec::new());
        let lines = written_whole(tape).lines().enumerate();
        for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            told.read(line, &mut tools).map_err(|what| {
                let message = format!("line {} of the tape: {what}", number + 1);
                io::Error::new(io::ErrorKind::InvalidData, message)
            })?;
        }
        if told.run_id.is_empty() {
            let message =
                "line 1 of the tape: it does not say whose run this is; is it a tape at all?";
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        Ok(Bundle(Arc::new(told)))
    }

    /// Returns the id of the run, which its replay has as well.
    pub fn run_id(&self) -> &str {
        &self.0.run_id
    }

    /// Returns the name of the agent that was run.
    pub fn agent(&self) -> &str {
        &self.0.agent
    }

    /// Returns the input of the run.
    ///
    /// # Errors
    /// When that does not fit `I`.
    pub fn input<I: Data>(&self) -> Result<I, serde_json::Error> {
        match &self.0.input {
            Some(input) => input.to(),
            None => serde_json::from_str("null"),
        }
    }

    /// Returns the prompt of the first agent that asked a model.
    pub fn prompt(&self) -> Option<&str> {
        match self.0.heard.first()?.messages.first()? {
            Message::System { content } => Some(content),
            _ => None,
        }
    }

    /// Returns the conversation of the first agent that asked a model, as it was at the end.
    pub fn messages(&self) -> Vec<Message> {
        let Some(first) = self.0.heard.first() else {
            return Vec::new();
        };
        let agent = agent_of(&first.place);
        let mut of_agent = self.0.heard.iter().rev();
        let last = of_agent.find(|heard| agent_of(&heard.place) == agent);
        let mut messages = last.map(|heard| heard.messages.clone()).unwrap_or_default();
        if let Some(Said::Reply(reply)) = last.map(|heard| &heard.said) {
            messages.push(Message::Assistant {
                content: reply.content.clone(),
                thinking: reply.thinking.clone(),
                calls: reply.calls.clone(),
            });
        }
        messages
    }

    /// Returns the declarations of the tools that the models were offered.
    pub fn tools(&self) -> Vec<&Value> {
        let mut tools: Vec<&Value> = Vec::new();
        let offered = self
            .0
            .heard
            .iter()
            .filter_map(|heard| heard.tools.as_array());
        for tool in offered.flatten() {
            if !tools.contains(&tool) {
                tools.push(tool);
            }
        }
        tools
    }

    /// Returns the receipts of all calls, those that were left unsettled included, in the order of
    /// [`AgentOutputs::tool_order`](crate::run::AgentOutputs::tool_order).
    pub fn envelopes(&self) -> impl Iterator<Item = &ToolEnvelope> {
        self.0.receipts.values().map(|receipt| &**receipt)
    }

    /// Returns the models' replies, in order.
    pub fn replies(&self) -> impl Iterator<Item = &Reply> {
        self.0.heard.iter().filter_map(|heard| match &heard.said {
            Said::Reply(reply) => Some(&**reply),
            Said::Failure(_) | Said::Nothing => None,
        })
    }

    /// Creates a replay of the run; [`Run::tape`](crate::agent::Run::tape) takes it.
    ///
    /// Models answer from the bundle, tools give what they gave, arms and approvers say what they
    /// said. What agents do beside that they do again: agents that are functions, delegates, repair
    /// agents.
    pub fn replay(&self) -> Replay {
        Replay::all(self.0.clone())
    }

    /// Creates a variation of the run, in which calls can be given other results.
    pub fn what_if(&self) -> WhatIf {
        WhatIf::new(self.0.clone())
    }
}

impl Told {
    fn read(&mut self, line: &str, tools: &mut Value) -> Result<(), String> {
        // An old tape may lack what lines have now; then its age is what has to be said.
        if let Some(format) = format_of(line).filter(|format| *format != FORMAT) {
            return Err(format!(
                "it has format {format}; this version reads format {FORMAT}"
            ));
        }
        match serde_json::from_str(line).map_err(|error| match error.is_data() {
            true => error.to_string(),
            false => "it is no JSON; is it a tape at all?".to_owned(),
        })? {
            Line::Tape {
                run_id,
                agent,
                input,
                format: _,
            } => {
                self.run_id = run_id.into_owned();
                self.agent = agent.into_owned();
                self.input = Some(input.into_owned());
            }
            Line::Clock(readings) => self.clock.extend(readings),
            Line::Happened(entry) => self.take_in(*entry),
            Line::Exchange(exchange) => self.hear(*exchange, tools)?,
        }
        Ok(())
    }

    fn take_in(&mut self, mut entry: Entry) {
        self.clock.extend(entry.clock.drain(..));
        let at = &entry.moment.at;
        match (&entry.what, at.rsplit_once('/')) {
            (Happened::Settled(receipt), Some((call, how))) => {
                self.receipts.insert(call.to_owned(), receipt.clone());
                match how {
                    "abandoned" => self.abandoned.insert(call.to_owned()),
                    _ => self.abandoned.remove(call),
                };
            }
            _ => {
                self.happened.insert(at.clone(), entry);
            }
        }
    }

    /// `offered` is what was offered last.
    fn hear(&mut self, exchange: Exchange<'static>, offered: &mut Value) -> Result<(), String> {
        let Exchange {
            clock,
            model,
            place,
            after,
            messages: new,
            tools,
            format,
            said,
        } = exchange;
        self.clock.extend(clock);
        let mut messages = Vec::new();
        if let Some(after) = after {
            let number = after.exchange.checked_sub(1);
            let earlier = number.and_then(|number| self.heard.get(number));
            let begun = earlier.and_then(|heard| heard.messages.get(..after.messages));
            messages.extend_from_slice(
                begun.ok_or("it continues a conversation that no line before it holds")?,
            );
        }
        for new in &new {
            messages.push(serde_json::from_str(new.get()).map_err(|error| error.to_string())?);
        }
        if let Some(tools) = tools {
            *offered = tools;
        }
        self.heard.push(Heard {
            number: self.heard.len() + 1,
            model: model.into_owned(),
            place: place.into_owned(),
            messages,
            tools: offered.clone(),
            format: format.map(Cow::into_owned),
            said,
        });
        Ok(())
    }
}

/// The tape without a last line that breaks off, of which nothing is known.
fn written_whole(tape: &str) -> &str {
    let Some((before, last)) = tape.rsplit_once('\n') else {
        return tape;
    };
    let read = serde_json::from_str::<IgnoredAny>(last);
    if last.trim().is_empty() || !read.is_err_and(|error| error.is_eof()) {
        return tape;
    }
    tracing::warn!(
        bytes = last.len(),
        "the last line of the tape breaks off, and is left out"
    );
    before
}

/// The agent to whose turn a place belongs.
fn agent_of(place: &str) -> &str {
    place.rsplit_once("/turn").map_or(place, |(agent, _)| agent)
}

/// The format that the first line of a tape says it has.
fn format_of(line: &str) -> Option<u32> {
    let line: Value = serde_json::from_str(line).ok()?;
    line.get("tape")?.get("format")?.as_u64()?.try_into().ok()
}

impl fmt::Debug for Bundle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bundle")
            .field("run_id", &self.0.run_id)
            .field("agent", &self.0.agent)
            .field("requests", &self.0.heard.len())
            .field("calls", &self.0.receipts.len())
            .finish()
    }
}
