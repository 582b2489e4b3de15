//! Leaks a secret in every possible way, and checks that no written text contains it.

use crate::observation::spans::All;
use crate::world::{Buffer, Plain, scripted_agent};
use agents::{
    Agent, AgentBuilder, Error, Json, Severity, ToolContext,
    blob::{BlobStore, MemoryBlobs},
    cache::{CacheError, CacheKey, ToolCache},
    journal::MemoryJournal,
    memory::{Memory, MemoryBank, Owner},
    model::{Reply, ToolCall},
    recovery::*,
    run::Approval,
    secret::Masked,
    testing::{Script, ScriptedModel},
    timeline, tool,
};
use std::{io, process::Command, sync::Arc, time::Duration};

/// The secret in all its encodings.
const SECRET: &str = "s3cr/t \"K\u{e9}y\"+42";
const SPELLED: [&str; 8] = [
    SECRET,
    r#"s3cr/t \"Kéy\"+42"#,
    r#"s3cr/t \\\"Kéy\\\"+42"#,
    "s3cr%2Ft%20%22K%C3%A9y%22%2B42",
    "s3cr%2Ft+%22K%C3%A9y%22%2B42",
    "czNjci90ICJLw6l5Iis0Mg",
    "czNjci90ICJLw6l5Iis0Mg==",
    "s3cr%2ft+%22K%c3%a9y%22%2b42",
];

/// Leaks its key in one of several ways.
#[tool(reads)]
async fn careless(
    /// Number of the way.
    way: usize,
    cx: &ToolContext,
) -> Result<serde_json::Value, String> {
    let key = cx.secret("k").await?;
    let key = key.expose_secret();
    match way {
        0 => Ok(serde_json::json!({ "key": key, key: [key, format!("Bearer {key}")] })),
        1 => Ok(SPELLED[5..].join(" ").repeat(9).into()),
        2 => Ok(SPELLED[3..5].join(" ").into()),
        3 => Err(format!("401 from https://crm/?key={}", SPELLED[3])),
        4 => panic!("cannot reach the server with {key}"),
        _ => Ok(serde_json::Value::from(key).to_string().into()),
    }
}

/// Leaks its key once; its result is cached.
#[tool(reads, cache = forever)]
async fn remembered(cx: &ToolContext) -> Result<String, String> {
    let key = cx.secret("k").await?;
    Ok(format!("the key is {}", key.expose_secret()))
}

/// A cache whose content the test can read.
struct OpenCache(Buffer);

#[agents::async_trait]
impl ToolCache for OpenCache {
    async fn get(&self, _: &CacheKey) -> Result<Option<Json>, CacheError> {
        Ok(None)
    }
    async fn put(&self, key: &CacheKey, it: &Json, _: Option<Duration>) -> Result<(), CacheError> {
        self.0.note(format!("cached {key} {it}"));
        Ok(())
    }
}

/// Fails with its text.
#[tool(writes, approval = always)]
async fn publish(
    /// Text to publish.
    text: String,
) -> Result<String, String> {
    Err(format!("cannot publish {text}"))
}

/// A repair agent that leaks the secret.
struct Blabber;

#[agents::async_trait]
impl Agent for Blabber {
    type In = String;
    type Out = String;
    fn name(&self) -> &str {
        "blabber"
    }
    async fn work(&self, _: &agents::run::RunContext, _: String) -> Result<String, Error> {
        Err(Error::escalated(
            format!("give up, {SECRET}"),
            Severity::Low,
        ))
    }
}

fn agent(bank: &MemoryBank) -> Plain<String, u32> {
    AgentBuilder::<String, u32>::new("leaky")
        .memory(bank.clone())
        .prompt(format!("Use the key {SECRET}."))
        .tool(Careless)
        .tool(Publish)
        .tool(Remembered)
        .fixer(Blabber)
        .on_error(|error, _| match error {
            CallError::InvalidArgs(..) => {
                let asked: Decision<InvalidArgs> = fix_with(Blabber).retries(1);
                Some(asked.into())
            }
            CallError::Deserialization(..) => {
                let told: Decision<Deserialization> = feedback(format!("use {SECRET}"));
                Some(told.into())
            }
            CallError::Execution(Failure::Returned(e)) => {
                let said: Decision<Execution> = escalate(format!("{e} with {SECRET}"));
                Some(said.severity(Severity::Low).into())
            }
            _ => None,
        })
        .build()
}

fn script() -> Vec<Script> {
    let json = |text: &str| serde_json::Value::from(text).to_string();
    let way = |way: usize| ("careless".to_owned(), format!(r#"{{"way":{way}}}"#));
    let mut first = Reply {
        content: format!("I was told {SECRET} and {}", SPELLED[5]),
        thinking: Some(format!("the key is {SECRET}").into()),
        ..Reply::default()
    };
    let publish = |text: &str| ToolCall {
        id: String::new(),
        name: "publish".into(),
        arguments: format!(r#"{{"text":{}}}"#, json(text)),
    };
    first.calls = vec![publish(SECRET), publish(SPELLED[6])];
    vec![
        Script::calls((0..6).map(way)),
        Script::Reply(first),
        Script::calls([
            ("remembered", "{}".to_owned()),
            ("memory_write", format!(r#"{{"content":{}}}"#, json(SECRET))),
        ]),
        Script::call("careless", format!("{SECRET} is no JSON")),
        Script::call("careless", format!(r#"{{"way":{}}}"#, json(SECRET))),
        Script::call(format!("no_tool_{SECRET}"), "{}"),
        Script::text(format!("no number but {SECRET}")),
        Script::text("still none"),
    ]
}

/// Approves and denies in turn.
async fn judge() -> Approval {
    match JUDGED.with(|judged| judged.replace(judged.get() + 1)) % 2 {
        0 => Approval::Approve,
        _ => Approval::deny(format!("not with {SECRET}")),
    }
}

thread_local! {
    static JUDGED: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

fn hits(text: &str) -> Vec<String> {
    let around = |at: usize| {
        let from = text.floor_char_boundary(at.saturating_sub(120));
        text[from..text.ceil_char_boundary(at + 60)].to_owned()
    };
    let found = |spelled: &&str| text.find(*spelled);
    SPELLED.iter().filter_map(found).map(around).collect()
}

/// Performs the run, and returns all written text: from subscribers, from the journal and from the outcome.
async fn everything(journal: &MemoryJournal) -> String {
    let kept = Buffer::default();
    let (events, uses, asked) = (kept.clone(), kept.clone(), kept.clone());
    let (bank, blobs) = (MemoryBank::new(), Arc::new(MemoryBlobs::new()));
    let live = timeline::live_to(kept.clone(), true);
    let all = All::default();
    let outcome = {
        let _guard = agents_needs::watched_by(all.clone());
        let (model, _) = ScriptedModel::new(script());
        agent(&bank)
            .run(format!("Do it with {SECRET}"))
            .model(model)
            .max_output_bytes(100)
            .blobs(blobs.clone())
            .cache(OpenCache(kept.clone()))
            .secret("k", SECRET.to_owned())
            .record_content()
            .approver(move |request: agents::run::ApprovalRequest| {
                asked.note(format!("{request:?}"));
                judge()
            })
            .on_event(move |event| {
                live(event);
                events.note(format!("{event:?}"));
            })
            .on_tool_use(move |name, args, result| uses.note(format!("{name} {args} {result:?}")))
            .journal(journal.clone())
            .outcome()
            .await
            .unwrap()
    };
    kept.note(serde_json::to_string(&journal.entries()).unwrap());
    kept.note(format!("{:?}", journal.entries()));
    kept.note(serde_json::to_string(&outcome.outputs).unwrap());
    kept.note(format!("{outcome:?}"));
    kept.note(format!("{}", outcome.result.as_ref().unwrap_err()));
    kept.note(timeline::of(&outcome).width(300).to_string());
    for attachment in outcome.outputs.receipts().flat_map(|r| &r.attachments) {
        let blob = blobs.get(&attachment.url).await.unwrap().unwrap();
        kept.note(format!("blob {}", String::from_utf8(blob).unwrap()));
    }
    let lines = bank.read(&Owner::agent("leaky")).await.unwrap();
    kept.note(format!("in memory {lines:?}"));
    kept.note(all.text());
    kept.text()
}

#[tokio::test]
async fn k3_nothing_that_is_written_holds_it() {
    let written = everything(&MemoryJournal::new()).await;
    assert_eq!(hits(&written), [""; 0]);
    let masked = written.matches("[secret:k]").count();
    assert!(masked > 100, "it did go every way: {masked}");
    for way in [
        "gen_ai.input.messages",
        "execute_tool",
        "escalated",
        "cannot publish",
        "not approved",
        "answer refused",
        "cached /remembered@1.0.0",
        "blob ",
        "in memory [\"[secret:k]\"]",
        "✓ remembered",
    ] {
        assert!(written.contains(way), "{way}");
    }
}

#[tokio::test]
async fn k3_neither_does_what_a_tracer_exports() {
    let bank = MemoryBank::new();
    let run = async {
        let (model, _) = ScriptedModel::new(script());
        let agent = agent(&bank);
        let run = agent.run(format!("Do it with {SECRET}")).model(model);
        let run = run.secret("k", SECRET.to_owned()).record_content();
        run.outcome().await.unwrap()
    };
    let (_, spans) = crate::observation::traces::traced(run).await;
    let exported = format!("{spans:?}");
    assert_eq!(hits(&exported), [""; 0]);
    assert!(exported.matches("[secret:k]").count() > 20);
}

#[tokio::test]
async fn recorded_replies_have_the_secret_where_it_was() {
    let journal = MemoryJournal::new();
    everything(&journal).await;
    let recorded = agents::journal::Recorded::of(journal.entries()).unwrap();
    let shown = format!("{:?} {:?}", recorded.messages(), recorded.receipts());
    assert_eq!(hits(&shown), [""; 0]);
    let model = recorded.model();
    let outcome = agent(&MemoryBank::new())
        .run(format!("Do it with {SECRET}"))
        .secret("k", SECRET.to_owned())
        .approver(|_| judge())
        .max_output_bytes(100)
        .blobs(MemoryBlobs::new())
        .override_model(model.clone())
        .outcome()
        .await
        .unwrap();
    let result = &outcome.result;
    assert_eq!((model.left(), model.difference()), (0, None), "{result:?}");
}

/// Program that the next test runs.
#[tokio::test]
#[ignore = "run by the test below"]
async fn a_program_that_panics() {
    let writer = || Masked::new(io::stderr());
    let printing = crate::observation::spans::Printing::new(writer);
    tracing::subscriber::set_global_default(printing).unwrap();
    let schema = serde_json::json!({"type": "object"});
    let reckless = tool::FnTool::new(
        "reckless",
        "Logs what it should not.",
        agents::Effects::None,
        schema,
        |_, cx| async move {
            let key = cx.secret("k").await?;
            tracing::info!(
                key = key.expose_secret(),
                "asking with {:?}",
                key.expose_secret()
            );
            let key = key.expose_secret().to_owned();
            // A panic in another thread, which the run cannot catch.
            let _ = std::thread::spawn(move || panic!("a thread with {key}")).join();
            let key = cx.secret("k").await?;
            match key.expose_secret() {
                "" => Ok::<_, agents::secret::SecretError>(()),
                key => panic!("a tool with {key}"),
            }
        },
    );
    let agent = scripted_agent("a", [Script::call("reckless", "{}"), Script::text("done")])
        .tool(reckless)
        .build();
    let run = agent.run("go").secret("k", SECRET.to_owned());
    let outcome = run.outcome().await.unwrap();
    println!("{:?}", outcome.outputs);
    let _ = std::thread::spawn(|| panic!("of something else")).join();
}

#[test]
fn s5_8_neither_does_what_a_panic_prints_nor_what_a_tool_logs() {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "secrets::leaks::a_program_that_panics"])
        .args(["--ignored", "--nocapture"])
        .env("RUST_BACKTRACE", "1")
        .output()
        .unwrap();
    let printed = [output.stdout, output.stderr].concat();
    let printed = String::from_utf8_lossy(&printed);
    assert!(output.status.success(), "{printed}");
    assert_eq!(hits(&printed), [""; 0]);
    for line in [
        "a thread with [secret:k]",
        "panicked at tests/integration/secrets/leaks.rs",
        "a tool with [secret:k]",
        "asking with",
        "of something else",
    ] {
        assert!(printed.contains(line), "{line} in {printed}");
    }
}
