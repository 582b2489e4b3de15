//! What the macros leave, at run time.

use agents::{
    Code, ToolFailure,
    error::ErrorKind,
    prelude::*,
    testing::{Script, ScriptedModel},
    tool,
    tool::{Approval, Cache, Category},
};
use serde_json::json;
use std::{fmt, io, path::PathBuf, sync::Arc, time::Duration};

tool! {
    /// Read a file's contents.
    ///
    /// Line by line.
    #[tool(
        reads,
        timeout = Duration::from_secs(2),
        version = "2.1.0",
        category = data,
        cache = ttl(Duration::from_secs(60)),
        strict,
    )]
    #[example(path = "a.txt", lines = 3)]
    pub async fn read_file(
        /// Path, relative to the workspace.
        path: PathBuf,
        /// How many lines at most.
        #[serde(default)]
        lines: Option<u32>,
    ) -> io::Result<String> {
        match path.to_str() {
            Some("missing") => Err(io::ErrorKind::NotFound.into()),
            _ => Ok(format!("{} {lines:?}", path.display())),
        }
    }
}

/// Adds two numbers.
#[tool(none)]
async fn add(
    /// The first.
    left: i64,
    /// The second.
    right: i64,
) -> i64 {
    left + right
}

/// Look a word up.
#[tool(reads)]
async fn look_up(
    /// Which word.
    #[serde(rename = "term")]
    #[schemars(length(min = 1))]
    word: String,
    #[inject] words: &Arc<Vec<String>>,
    #[inject] greeting: String,
    cx: &ToolContext,
) -> String {
    format!("{greeting} {word} {} {}", words.len(), cx.tool())
}

/// Pay.
#[tool(writes, external, idempotent(for = hours(24)))]
async fn pay(
    /// How much.
    amount: u32,
) -> Result<u32, Declined> {
    Err(Declined(amount))
}

/// Pay if somebody agrees.
#[tool(writes, approval = when(|args, cx| args.amount > 100 && cx.attempt() > 0))]
async fn pay_a_lot(
    /// How much.
    amount: u32,
) {
    let _ = amount;
}

#[derive(Debug)]
struct Declined(u32);

impl fmt::Display for Declined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "declined: {}", self.0)
    }
}

impl ToolFailure for Declined {
    fn code(&self) -> Code {
        Code::RateLimit
    }
    fn retry_after(&self) -> Option<Duration> {
        Some(Duration::from_secs(u64::from(self.0)))
    }
}

#[tokio::test]
async fn a_tool_is_still_the_plain_function() {
    assert_eq!(add(17, 25).await, 42);
    assert_eq!(read_file("a".into(), Some(3)).await.unwrap(), "a Some(3)");
}

#[test]
fn what_is_written_above_a_tool_reaches_the_model() {
    let spec = ReadFile.spec();
    assert_eq!(
        (&*spec.name, &*spec.description),
        ("read_file", "Read a file's contents.\n\nLine by line.")
    );
    assert_eq!(
        spec.input_schema,
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["path"],
            "properties": {
                "path": {"type": "string", "description": "Path, relative to the workspace."},
                "lines": {
                    "type": ["integer", "null"],
                    "description": "How many lines at most.",
                    "format": "uint32",
                    "minimum": 0,
                    "default": null,
                },
            },
        })
    );
    assert_eq!(spec.output_schema, Some(json!({"type": "string"})));
    assert_eq!(spec.examples, [json!({"path": "a.txt", "lines": 3})]);
}

#[test]
fn what_a_tool_declares_reaches_its_spec() {
    let spec = ReadFile.spec();
    assert_eq!(spec.effects, agents::Effects::Reads);
    assert_eq!(spec.timeout, Some(Duration::from_secs(2)));
    assert_eq!(spec.version, "2.1.0");
    assert_eq!(spec.category, Category::Data);
    assert_eq!(spec.cache, Cache::Ttl(Duration::from_secs(60)));
    assert!(spec.strict && spec.idempotent && !spec.external);

    assert_eq!(
        (Pay.spec().approval, Pay.spec().idempotent),
        (Approval::Always, true)
    );
    assert_eq!(Pay.spec().idempotent_for, Some(hours(24)));
    assert_eq!(
        (PayALot.spec().approval, PayALot.spec().idempotent),
        (Approval::When, false)
    );
}

#[test]
fn what_is_injected_is_no_argument() {
    let tool = LookUp {
        words: Arc::default(),
        greeting: "hello".to_owned(),
    };
    let schema = &tool.spec().input_schema;
    assert_eq!(schema["required"], json!(["term"]));
    assert_eq!(schema["properties"]["term"]["minLength"], 1);
    assert_eq!(
        schema["properties"].as_object().map(serde_json::Map::len),
        Some(1)
    );
}

#[test]
fn an_error_says_more_if_its_type_does() {
    assert_eq!(
        Pay::failure(&Declined(3)),
        (Code::RateLimit, Some(Duration::from_secs(3)))
    );
    assert_eq!(
        ReadFile::failure(&io::ErrorKind::NotFound.into()),
        (Code::Unknown, None)
    );
}

/// Repairs JSON by string surgery.
#[agent]
fn regex_fixer(broken: String) -> String {
    broken.replace(",}", "}")
}

/// Counts, if it can.
#[agent(description = "Counts.")]
async fn count(text: String) -> anyhow::Result<usize> {
    anyhow::ensure!(!text.is_empty(), "nothing to count");
    Ok(text.len())
}

/// Asks another.
#[agent]
async fn outer(text: String) -> Result<usize, Error> {
    Count.run(text).await
}

/// The time.
#[agent]
fn now() -> u64 {
    12
}

/// Use your tools.
#[agent(tools = [Add, ReadFile, ..more_tools()], budget(max_turns = 3, time = Duration::from_secs(60)))]
async fn calculator(question: String) -> String;

fn more_tools() -> Vec<LookUp> {
    vec![LookUp {
        words: Arc::new(vec![String::new()]),
        greeting: "hi".to_owned(),
    }]
}

#[tokio::test]
async fn a_function_with_a_body_is_an_agent_and_a_function() {
    assert_eq!(regex_fixer("{,}".to_owned()), "{}");
    assert_eq!(RegexFixer.run("{,}").await.unwrap(), "{}");
    assert_eq!(
        (RegexFixer.name(), RegexFixer.description()),
        ("regex_fixer", "Repairs JSON by string surgery.")
    );
    assert_eq!(Now.run(()).await.unwrap(), 12);
}

#[tokio::test]
async fn an_agent_that_can_fail_gives_its_answer_or_its_error() {
    assert_eq!(Count.run("four").await.unwrap(), 4);
    let error = Count.run("").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Failed);
    assert!(error.to_string().ends_with("nothing to count"), "{error}");
    assert_eq!(Count.description(), "Counts.");
    // An error of the framework is not made one of the body.
    assert_eq!(Outer.run("").await.unwrap_err().message(), error.message());
}

#[tokio::test]
async fn agents_follow_each_other() {
    assert_eq!(RegexFixer.then(Count).run("{,}").await.unwrap(), 2);
}

#[tokio::test]
async fn a_model_drives_an_agent_without_a_body() {
    let (model, handle) = ScriptedModel::new([
        Script::call("add", r#"{"left": 17, "right": 25}"#),
        Script::call("look_up", r#"{"term": "x"}"#),
        Script::text("42"),
    ]);
    assert_eq!(Calculator.run("17 + 25?").model(model).await.unwrap(), "42");
    let requests = handle.requests();
    assert_eq!(requests[0].tools, ["add", "read_file", "look_up"]);
    assert!(format!("{:?}", requests[0].messages).contains("Use your tools."));
    assert!(requests[1].last().contains("42"), "{}", requests[1].last());
    assert!(
        requests[2].last().contains("hi x 1 look_up"),
        "{}",
        requests[2].last()
    );
}

struct FileManager {
    root: PathBuf,
}

#[agent(
    prompt = format!("You manage {}.", self.root.display()),
    description = "Manages files.",
    tools = [ReadFile, LookUp { words: Arc::default(), greeting: self.greeting() }, ..self.more()],
)]
impl FileManager {
    /// File management operations.
    #[skill]
    async fn manage_files(&self, request: String) -> Vec<String>;

    /// Answers without a model when the question is only about the root.
    #[skill(when = |request: &String| request.contains("where"))]
    fn root(&self, _request: String) -> Vec<String> {
        vec![self.root.display().to_string()]
    }

    /// Refuses.
    #[skill(when = |request| request.contains("delete"))]
    async fn refuse(&self, request: String) -> Result<Vec<String>, String> {
        Err(format!("no: {request}"))
    }

    fn greeting(&self) -> String {
        "hey".to_owned()
    }

    fn more(&self) -> Vec<Add> {
        vec![Add]
    }
}

#[tokio::test]
async fn an_impl_is_an_agent_with_skills() {
    let manager = FileManager {
        root: "/srv".into(),
    };
    assert_eq!(
        (manager.name(), manager.description()),
        ("file_manager", "Manages files.")
    );
    assert_eq!(manager.run("where is it?").await.unwrap(), ["/srv"]);
    assert!(
        manager
            .run("delete it")
            .await
            .unwrap_err()
            .to_string()
            .ends_with("no: delete it")
    );

    let (model, handle) = ScriptedModel::new([Script::text(r#"["a", "b"]"#)]);
    assert_eq!(manager.run("list").model(model).await.unwrap(), ["a", "b"]);
    assert_eq!(handle.requests()[0].tools, ["read_file", "look_up", "add"]);
    assert!(format!("{:?}", handle.requests()[0].messages).contains("You manage /srv."));
}

mod lent {
    //! What the agent's own prompt may be.

    use super::*;

    struct Clerk {
        prompt: String,
    }

    #[agent(prompt = &self.prompt)]
    impl Clerk {
        /// Answers.
        #[skill]
        async fn answer(&self, request: String) -> String;
    }

    #[tokio::test]
    async fn a_prompt_may_be_lent_by_its_agent() {
        let clerk = Clerk {
            prompt: "You are a clerk of Ghent.".to_owned(),
        };
        let (model, handle) = ScriptedModel::new([Script::text("done")]);
        clerk.run("go").model(model).await.unwrap();
        assert!(
            format!("{:?}", handle.requests()[0].messages).contains("You are a clerk of Ghent.")
        );
    }
}

mod renamed {
    //! `crate = path`, for those who call `agents` something else.

    use agents as toolbox;
    use toolbox::{agent, prelude::Tool, tool};

    /// Nothing.
    #[tool(none, crate = toolbox)]
    async fn nothing() {}

    /// You do nothing.
    #[agent(crate = toolbox, tools = [Nothing])]
    async fn idle(_x: String) -> String;

    #[test]
    fn works() {
        assert_eq!(Nothing.spec().name, "nothing");
        let _ = Idle;
    }
}
