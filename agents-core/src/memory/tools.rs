use super::{Memory, Owner, verbatim::repeated};
use crate::{
    model::Message,
    tool::{Category, Effects, FnTool, SharedTool, ToolContext, ToolSpec},
};
use serde_json::{Value, json};
use std::sync::Arc;

/// Maximum length, in bytes, of the text that a model may write with one call. A memory is for what is worth keeping.
const LONGEST: usize = 4_000;

const NAMES: [&str; 3] = ["memory_read", "memory_write", "memory_search"];

/// Returns the three tools (read, write and search) by which the model of this agent uses the agent's memory, and no
/// other memory.
pub(crate) fn tools(memory: &Arc<dyn Memory>, agent: &str) -> [SharedTool; 3] {
    let reach = Reach {
        memory: memory.clone(),
        agent: agent.into(),
    };
    let (reading, writing, searching) = (reach.clone(), reach.clone(), reach);
    let text = |what: &str| json!({ "type": "string", "description": what });
    [
        tool(
            spec(
                NAMES[0],
                "Reads everything you have remembered, oldest line first.",
                Effects::Reads,
                json!({}),
            ),
            move |_, cx| reading.clone().read(cx),
        ),
        tool(
            spec(
                NAMES[1],
                "Remembers something for later conversations, one fact a line.",
                Effects::Writes,
                json!({ "content": text("What to remember.") }),
            ),
            move |args, cx| writing.clone().write(args, cx),
        ),
        tool(
            spec(
                NAMES[2],
                "Finds the lines you have remembered in which all these words occur.",
                Effects::Reads,
                json!({ "query": text("The words to look for.") }),
            ),
            move |args, cx| searching.clone().search(args, cx),
        ),
    ]
}

fn spec(
    name: &'static str,
    description: &'static str,
    effects: Effects,
    fields: Value,
) -> ToolSpec {
    let required: Vec<String> = fields
        .as_object()
        .map(|fields| fields.keys().cloned().collect())
        .unwrap_or_default();
    let schema = json!({ "type": "object", "properties": fields, "required": required });
    ToolSpec::new(name, description, effects, schema)
        .category(Category::Data)
        .innate()
}

fn tool<F, Fut>(spec: ToolSpec, body: F) -> SharedTool
where
    F: Fn(Value, ToolContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<String, String>> + Send + 'static,
{
    Arc::new(FnTool::with_spec(spec, body))
}

/// Access of the memory tools to the memory of one agent.
#[derive(Clone)]
struct Reach {
    memory: Arc<dyn Memory>,
    agent: Arc<str>,
}

impl Reach {
    /// Returns the agent and the scope whose memory a call reaches. The model cannot choose another one.
    fn owner(&self, cx: &ToolContext) -> Owner {
        Owner::agent(&*self.agent).scope(cx.scope().clone())
    }

    async fn read(self, cx: ToolContext) -> Result<String, String> {
        let lines = self.memory.read(&self.owner(&cx)).await;
        Ok(said(lines.map_err(failed)?, "You remember nothing yet."))
    }

    async fn write(self, args: Value, cx: ToolContext) -> Result<String, String> {
        let content = args["content"].as_str().unwrap_or_default();
        let lines = worth_keeping(content)?;
        if let Some(tool) = read_from(content, &cx) {
            return Err(format!(
                "this is what `{tool}` gave, word for word, and that can be looked up again; remember in your own words what it was about, or what you have learnt from it"
            ));
        }
        // A model knows a secret only if a person has told it. Later readers of the memory must not
        // read the secret.
        let masked = lines.iter().map(|line| cx.masker().text(line).into_owned());
        let lines = masked.collect();
        let written = self.memory.write(&self.owner(&cx), lines).await;
        written.map_err(failed)?;
        Ok("Remembered.".to_owned())
    }

    async fn search(self, args: Value, cx: ToolContext) -> Result<String, String> {
        let query = args["query"].as_str().unwrap_or_default();
        let lines = self.memory.search(&self.owner(&cx), query).await;
        Ok(said(
            lines.map_err(failed)?,
            "You remember nothing like that.",
        ))
    }
}

/// Returns the name of a tool, other than the memory tools, whose output is repeated in `content`, if the agent has
/// read such an output. Such text is not kept.
fn read_from(content: &str, cx: &ToolContext) -> Option<String> {
    let history = cx.run().node.frame(|frame| frame.history.clone());
    let outputs = history
        .messages()
        .iter()
        .filter_map(|message| match message {
            Message::Tool { name, content, .. } => Some((&**name, &**content)),
            _ => None,
        });
    let outputs = outputs.filter(|(name, _)| !NAMES.contains(name));
    repeated(content, outputs).map(str::to_owned)
}

fn failed(error: super::MemoryError) -> String {
    error.to_string()
}

/// Returns the lines of a text that are not blank, to be kept. The error tells the model why the text is not kept.
fn worth_keeping(content: &str) -> Result<Vec<String>, String> {
    if content.len() > LONGEST {
        return Err(format!(
            "this is {} bytes long, and at most {LONGEST} are remembered at once; say what is worth keeping in a few lines",
            content.len()
        ));
    }
    let lines = content
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    let lines: Vec<_> = lines.map(str::to_owned).collect();
    match lines.is_empty() {
        true => Err("there is nothing in `content` to remember".to_owned()),
        false => Ok(lines),
    }
}

fn said(lines: Vec<String>, nothing: &str) -> String {
    match lines.is_empty() {
        true => nothing.to_owned(),
        false => lines.join("\n"),
    }
}
