//! Tools, agents and checks shared by the tests.

use agents::{
    Agent, AgentBuilder, Code, Effects, Error, Model, Outcome,
    agent::{Data, ModelAgent, Run, Skill},
    async_trait,
    error::AnyError,
    journal::{Entry, MemoryJournal, Recorded},
    model::{ModelError, Reply, Request},
    recovery::{
        CallError, Decision, Deserialization, ErrorContext, Execution, Failure, InvalidArgs, Plan,
        Raw, ReadError,
    },
    run::{AgentOutputs, ToolEnvelope},
    testing::{Script, ScriptedModel},
    tool,
    tool::{FnTool, ToolSet, ToolSpec},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::{
    borrow::Cow,
    fmt,
    io::{self, Write},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

/// Agent from text to text, or from `I` to `O`.
pub(crate) type Plain<I = String, O = String> = ModelAgent<'static, I, O>;

/// Adds two integers.
#[tool(none)]
pub(crate) async fn add(
    /// The first.
    left: i64,
    /// The second.
    right: i64,
) -> i64 {
    left + right
}

/// Reads a file.
#[tool(reads)]
pub(crate) async fn read_file(
    /// Path of the file.
    path: String,
    /// Maximum number of lines.
    #[serde(default)]
    lines: Option<u32>,
) -> io::Result<String> {
    match path.as_str() {
        "missing" => Err(io::Error::new(io::ErrorKind::NotFound, "no such file")),
        _ => Ok(format!("{path}:{lines:?}")),
    }
}

/// Waits.
#[tool(none)]
pub(crate) async fn wait(
    /// Time in milliseconds.
    millis: u64,
) -> u64 {
    tokio::time::sleep(Duration::from_millis(millis)).await;
    millis
}

/// Never returns.
#[tool(none, timeout = Duration::from_millis(50))]
pub(crate) async fn hang() -> String {
    std::future::pending().await
}

/// Panics.
#[tool(none)]
pub(crate) async fn panics() -> String {
    panic!("the disk is on fire")
}

/// Number of executions of [`write_file`].
pub(crate) static WRITES: AtomicU32 = AtomicU32::new(0);

/// Writes a file.
#[tool(writes, approval = always)]
pub(crate) async fn write_file(
    /// Path of the file.
    path: String,
) -> String {
    WRITES.fetch_add(1, SeqCst);
    path
}

/// Creates an agent with all of these tools.
pub(crate) fn worker<O: Data + schemars::JsonSchema>() -> Plain<String, O> {
    AgentBuilder::<String, O>::new("worker")
        .prompt("Work.")
        .tool(Add)
        .tool(ReadFile)
        .tool(Wait)
        .tool(Hang)
        .tool(Panics)
        .tool(WriteFile)
        .build()
}

/// Runs the worker on a script.
pub(crate) async fn work(
    script: impl IntoIterator<Item = Script>,
) -> (Outcome<String>, ScriptedModel) {
    let (model, handle) = ScriptedModel::new(script);
    let outcome = worker::<String>()
        .run("go")
        .model(model)
        .outcome()
        .await
        .expect("the worker is well built");
    (outcome, handle)
}

/// Returns the results of the last reply's calls, as the model got them.
pub(crate) fn told(handle: &ScriptedModel) -> Vec<String> {
    let last = handle.requests().pop().expect("the model was asked");
    last.results()
        .into_iter()
        .map(|(_, text)| text.to_owned())
        .collect()
}

/// Creates a tool that returns its arguments; also returns the count of its executions.
pub(crate) fn counted(spec: ToolSpec) -> (FnTool, Arc<AtomicU32>) {
    let runs = Arc::new(AtomicU32::new(0));
    let count = runs.clone();
    let tool = FnTool::with_spec(spec, move |args, _| {
        let nth = count.fetch_add(1, SeqCst) + 1;
        async move { Ok::<_, io::Error>(format!("{args} #{nth}")) }
    });
    (tool, runs)
}

/// Creates the declaration of a tool that takes any object.
pub(crate) fn spec(name: &'static str, effects: Effects) -> ToolSpec {
    ToolSpec::new(name, "Does it.", effects, json!({"type": "object"}))
}

/// Creates the declaration of a tool that takes an integer `n`.
pub(crate) fn spec_with_n(name: &'static str, effects: Effects) -> ToolSpec {
    ToolSpec::new(name, "Does it.", effects, schema_of_n())
}

/// Returns the schema of an object with an integer `n`.
pub(crate) fn schema_of_n() -> Value {
    json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
}

/// Creates a model with this script, for tests that do not look at its requests.
pub(crate) fn scripted_model(script: impl IntoIterator<Item = Script>) -> ScriptedModel {
    ScriptedModel::new(script).0
}

/// Creates a model that calls [`add`] in every reply, with other arguments each time, and never answers; also returns
/// its handle.
pub(crate) fn always_adds() -> (ScriptedModel, ScriptedModel) {
    let mut nth = 0;
    ScriptedModel::from_fn(move |_| {
        nth += 1;
        Script::call("add", format!(r#"{{"left":{nth},"right":1}}"#))
    })
}

/// Creates an agent of this name, which a model with this script drives. Tests add its tools, arms and handlers.
pub(crate) fn scripted_agent(
    name: impl Into<Cow<'static, str>>,
    script: impl IntoIterator<Item = Script>,
) -> AgentBuilder<'static, String, String> {
    AgentBuilder::new(name).model(scripted_model(script))
}

/// Default arms of an agent, as a function.
pub(crate) trait Arms:
    Fn(CallError<'_, AnyError>, &ErrorContext) -> Option<Plan> + Send + Sync + 'static
{
}

impl<F> Arms for F where
    F: Fn(CallError<'_, AnyError>, &ErrorContext) -> Option<Plan> + Send + Sync + 'static
{
}

/// Returns arms with one for `invalid_args` alone.
pub(crate) fn on_args(
    arm: impl Fn(&Raw<'_>, &ReadError) -> Decision<InvalidArgs> + Send + Sync + 'static,
) -> impl Arms {
    move |error: CallError<'_, AnyError>, _: &ErrorContext| match error {
        CallError::InvalidArgs(raw, fault) => Some(arm(raw, fault).into()),
        _ => None,
    }
}

/// Returns arms with one for `deserialization_error` alone.
pub(crate) fn on_field(
    arm: impl Fn(Option<&Value>, &ReadError) -> Decision<Deserialization> + Send + Sync + 'static,
) -> impl Arms {
    move |error: CallError<'_, AnyError>, _: &ErrorContext| match error {
        CallError::Deserialization(value, fault) => Some(arm(value, fault).into()),
        _ => None,
    }
}

/// Returns arms with one for `execution_error` alone.
pub(crate) fn on_failure(
    arm: impl Fn(&Failure<'_, AnyError>) -> Decision<Execution> + Send + Sync + 'static,
) -> impl Arms {
    move |error: CallError<'_, AnyError>, _: &ErrorContext| match error {
        CallError::Execution(failure) => Some(arm(&failure).into()),
        _ => None,
    }
}

/// Creates an agent that works in code, without a model.
pub(crate) fn native<I, O, F, Fut>(name: &'static str, body: F) -> Plain<I, O>
where
    I: Data,
    O: Data + schemars::JsonSchema,
    F: Fn(I) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<O, Error>> + Send + 'static,
{
    AgentBuilder::new(name)
        .skill(Skill::native("work", "Works.", body))
        .build()
}

/// Scripted model with this name.
pub(crate) struct Named(pub(crate) &'static str, pub(crate) ScriptedModel);

#[async_trait]
impl Model for Named {
    fn id(&self) -> &str {
        self.0
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        self.1.chat(request).await
    }
}

/// Creates an agent with these tools and this script; also returns its model.
pub(crate) fn agent_with(
    tools: impl IntoIterator<Item = FnTool>,
    script: impl IntoIterator<Item = Script>,
) -> (Plain, ScriptedModel) {
    let (model, handle) = ScriptedModel::new(script);
    let agent = AgentBuilder::new("worker")
        .tools(ToolSet::new().with_all(tools))
        .model(model)
        .build();
    (agent, handle)
}

/// Returns the error of each call, by its code and message; nothing where it succeeded.
pub(crate) fn errors(outputs: &AgentOutputs) -> Vec<Option<(Code, String)>> {
    let error = |receipt: &ToolEnvelope| {
        let error = receipt.error.as_ref()?;
        Some((error.code, error.message.clone()))
    };
    outputs.receipts().map(error).collect()
}

/// Performs a run with a journal; returns its outcome and its recording.
pub(crate) async fn recorded<A: Agent>(run: Run<'_, A>) -> (Outcome<A::Out>, Recorded) {
    let journal = MemoryJournal::new();
    let outcome = run.journal(journal.clone()).outcome().await.unwrap();
    let written = serde_json::to_string(&journal.entries()).unwrap();
    let entries = serde_json::from_str(&written).unwrap();
    (outcome, Recorded::of(entries).unwrap())
}

/// Checks that a recording gives the same outcome as the run, byte for byte.
pub(crate) fn tells_the_same<O: DeserializeOwned + fmt::Debug>(
    recorded: &Recorded,
    outcome: &Outcome<O>,
) {
    let told = recorded.outcome::<O>().unwrap();
    let pretty = |outcome: &Outcome<O>| serde_json::to_string_pretty(&outcome.outputs).unwrap();
    assert_eq!(pretty(&told), pretty(outcome));
    let receipts: Vec<_> = outcome.outputs.receipts().cloned().map(Arc::new).collect();
    assert_eq!(recorded.receipts(), receipts);
    assert_eq!(told.trace, outcome.trace);
    assert_eq!(told.run_id, outcome.run_id);
    assert_eq!(told.usage, outcome.usage);
    assert_eq!(told.cost, outcome.cost);
    assert_eq!(
        (recorded.usage(), recorded.cost()),
        (outcome.usage, outcome.cost)
    );
    assert_eq!(told.partial, outcome.partial);
    assert_eq!(told.repairs, outcome.repairs);
    assert_eq!(told.escalations, outcome.escalations);
    assert_eq!(told.stopped, outcome.stopped);
    let said = |outcome: &Outcome<O>| match &outcome.result {
        Ok(answer) => format!("{answer:?}"),
        Err(error) => format!("{} {error:#}", error.kind()),
    };
    assert_eq!(said(&told), said(outcome));
}

/// Journal of an interrupted run, up to the end of its process.
#[derive(Clone)]
pub(crate) struct PutDown(pub(crate) Vec<Entry>);

impl PutDown {
    /// Returns the journal for the resuming process, read from the entries of the first.
    pub(crate) fn journal(&self) -> MemoryJournal {
        let written = serde_json::to_string(&self.0).expect("entries can be written");
        MemoryJournal::of(serde_json::from_str(&written).expect("entries can be read"))
    }

    /// Returns the number of entries of this kind.
    pub(crate) fn count(&self, kind: &str) -> usize {
        let kinds = self.0.iter().map(Entry::kind);
        kinds.filter(|one| *one == kind).count()
    }

    /// Returns the number of replies of models.
    pub(crate) fn replies(&self) -> usize {
        self.count("replied")
    }

    /// Returns all facts, as they are serialised.
    pub(crate) fn text(&self) -> String {
        let facts: Vec<_> = self.0.iter().map(Entry::fact).collect();
        facts.join("\n")
    }
}

impl fmt::Display for PutDown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = self.0.last().map_or("", Entry::kind);
        write!(f, "after entry {} (`{last}`)", self.0.len())
    }
}

/// Kinds of facts that are stored together, since nothing is awaited in between. Examples are a failure and the
/// decision about it, a settlement and the agent that continues, and the cause of an end and the end.
const TOGETHER: [(&str, &str); 7] = [
    ("ended", "planned"),
    ("planned", "stopped"),
    ("repaired", "stopped"),
    ("decided", "stopped"),
    ("settled", "worked"),
    ("finished", "worked"),
    ("worked", "charged"),
];

/// Returns `true` if the next entry is stored together with these.
fn goes_on(entries: &[Entry], next: &str) -> bool {
    let last = entries.last().map_or("", Entry::kind);
    // Dropped work is stored together with its replacement.
    let is_dropped = matches!(next, "abandoned" | "dropped" | "void");
    is_dropped
        || (last, next) == ("abandoned", "settled")
        || TOGETHER.contains(&(last, next))
        || is_ending(entries)
}

/// Returns `true` if a run is stopped and not over yet, or a repair agent has given up and its repair has not ended yet.
fn is_ending(entries: &[Entry]) -> bool {
    let (mut runs, mut repairs) = (0, 0);
    for entry in entries {
        let fact = entry.fact();
        match entry.kind() {
            "stopped" => runs += 1,
            "over" => runs = 0,
            "did" => repairs += 1,
            _ if !fact.contains("\"repaired\"") => {}
            _ if fact.contains("\"escalated\"") || fact.contains("\"thrown\"") => repairs -= 1,
            _ => {}
        }
    }
    runs > 0 || repairs > 0
}

/// Returns the run of this journal, interrupted after each of its entries. Entries that are stored together with the
/// next are left out.
pub(crate) fn put_down(journal: &MemoryJournal) -> Vec<PutDown> {
    let entries = journal.entries();
    assert!(!entries.is_empty(), "nothing was stored");
    let ends = (1..=entries.len()).filter(|end| {
        let next = entries.get(*end);
        next.is_none_or(|next| !goes_on(&entries[..*end], next.kind()))
    });
    ends.map(|end| PutDown(entries[..end].to_vec())).collect()
}

/// Returns the run of this journal, interrupted after the `nth` fact of this kind.
pub(crate) fn put_down_after(journal: &MemoryJournal, kind: &str, nth: usize) -> PutDown {
    let mut all = put_down(journal).into_iter();
    let found = all.find(|one| one.count(kind) == nth);
    found.unwrap_or_else(|| panic!("it never comes to `{kind}` for the {nth}. time"))
}

/// Checks that a resumed run has the same result as a run without interruption.
pub(crate) fn same<O: fmt::Debug>(resumed: &Outcome<O>, whole: &Outcome<O>, at: &PutDown) {
    let result = |outcome: &Outcome<O>| match &outcome.result {
        Ok(answer) => format!("{answer:?}"),
        Err(error) => format!("{error:#}"),
    };
    let receipt = |receipt: &ToolEnvelope| {
        let error = receipt.error.as_ref().map(|error| error.message.clone());
        (receipt.call_id.clone(), receipt.output.clone(), error)
    };
    let receipts =
        |outcome: &Outcome<O>| -> Vec<_> { outcome.outputs.receipts().map(receipt).collect() };
    assert_eq!(resumed.run_id, whole.run_id, "{at}");
    assert_eq!(result(resumed), result(whole), "{at}");
    assert_eq!(receipts(resumed), receipts(whole), "{at}");
    let (outputs, expected) = (&resumed.outputs, &whole.outputs);
    assert_eq!(outputs.tool_order, expected.tool_order, "{at}");
    assert_eq!(outputs.response, expected.response, "{at}");
    assert_eq!(resumed.usage, whole.usage, "{at}");
    assert_eq!(resumed.partial, whole.partial, "{at}");
    assert_eq!(resumed.escalations, whole.escalations, "{at}");
}

/// Writer that keeps the written text.
#[derive(Clone, Default)]
pub(crate) struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Buffer {
    /// Returns the written text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    /// Writes a line.
    pub(crate) fn note(&self, text: impl AsRef<str>) {
        writeln!(self.clone(), "{}", text.as_ref()).unwrap();
    }
}

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
