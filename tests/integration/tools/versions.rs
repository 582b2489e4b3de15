//! Versions of tools, and tools that are deprecated or blocked.

use agents::{
    Agent, AgentBuilder, Code, Effects, ErrorKind,
    model::Message,
    testing::{Script, ScriptedModel},
    tool::{FnTool, Registry, Status, ToolSet, ToolSpec},
};
use serde_json::json;

fn read(version: &'static str) -> FnTool {
    let spec = ToolSpec::new(
        "read",
        "Reads.",
        Effects::Reads,
        json!({"type": "object", "properties": {"path": {"type": "string"}}}),
    );
    FnTool::with_spec(spec.version(version), move |args, _| async move {
        Ok::<_, std::io::Error>(format!("{} by {version}", args["path"]))
    })
}

async fn run(
    tools: ToolSet,
    calls: &[(&'static str, &'static str)],
) -> (agents::Outcome<String>, ScriptedModel) {
    let (model, handle) =
        ScriptedModel::new([Script::calls(calls.iter().copied()), Script::text("done")]);
    let agent = AgentBuilder::<String, String>::new("reader")
        .tools(tools)
        .model(model)
        .build();
    (agent.run("go").outcome().await.unwrap(), handle)
}

#[tokio::test]
async fn t4_two_versions_in_one_run() {
    let registry = Registry::new().with(read("1.0.0")).unwrap();
    let registry = registry.with(read("2.1.0")).unwrap();
    let tools = registry.pick(["read@1.0.0", "read"]).unwrap();
    let calls = [
        ("read", r#"{"path":"a"}"#),
        ("read_v1_0_0", r#"{"path":"a"}"#),
    ];
    let (outcome, handle) = run(tools, &calls).await;
    let ran: Vec<_> = outcome
        .outputs
        .receipts()
        .map(|receipt| {
            let output: String = receipt.output.as_ref().unwrap().to().unwrap();
            (&*receipt.name, &*receipt.version, output)
        })
        .collect();
    assert_eq!(
        ran,
        [
            ("read", "2.1.0", r#""a" by 2.1.0"#.to_owned()),
            ("read", "1.0.0", r#""a" by 1.0.0"#.to_owned()),
        ]
    );
    let ids = &outcome.outputs.tool_order;
    assert_ne!(ids[0], ids[1]);
    // The model gets results under the names that it used, and learns which version each is.
    let request = handle.requests().pop().unwrap();
    let answered: Vec<_> = request
        .results()
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(answered, ["read", "read_v1_0_0"]);
    let offered = request.declarations.to_string();
    assert!(offered.contains("Reads. (Version 1.0.0.)"), "{offered}");
}

#[test]
fn t4_the_same_version_twice_is_refused() {
    let registry = Registry::new().with(read("1.0.0")).unwrap();
    let error = registry.with(read("1.0.0")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Build);
    assert_eq!(
        error.to_string(),
        "`read@1.0.0` is registered already; give the tool that changed a new version"
    );
}

#[test]
fn what_is_not_there_is_said_with_what_is() {
    let registry = Registry::new().with(read("1.0.0")).unwrap();
    let said = |key: &str| registry.get(key).err().unwrap().to_string();
    assert_eq!(
        said("raed"),
        "no tool `raed` is registered; did you mean `read`?"
    );
    assert_eq!(
        said("read@3.0.0"),
        "no tool `read@3.0.0` is registered; there is `read@1.0.0`"
    );
    let bare = registry.clone().block("read", "no").unwrap_err();
    assert_eq!(
        bare.to_string(),
        "say which version of `read` is meant: `read@1.0.0`"
    );
}

#[tokio::test]
async fn t5_deprecated_tools_are_hidden_and_run() {
    let mut registry = Registry::new()
        .with(read("1.9.0"))
        .and_then(|registry| registry.with(read("1.10.0")))
        .unwrap();
    assert_eq!(registry.get("read").unwrap().spec().version, "1.10.0");
    registry.deprecate("read@1.10.0", "use read 1.9").unwrap();
    assert_eq!(registry.get("read").unwrap().spec().version, "1.9.0");
    let keys = |specs: Vec<&ToolSpec>| specs.iter().map(|spec| spec.key()).collect::<Vec<_>>();
    assert_eq!(keys(registry.list().collect()), ["read@1.9.0"]);
    assert_eq!(
        keys(registry.list_with_deprecated().collect()),
        ["read@1.9.0", "read@1.10.0"]
    );
    let tools = registry.pick(["read@1.10.0"]).unwrap();
    let (outcome, handle) = run(tools, &[("read", r#"{"path":"a"}"#)]).await;
    assert!(outcome.outputs.last_tool.is_some());
    assert_eq!(handle.requests()[0].tools, ["read"]);
}

#[tokio::test]
async fn t5_blocked_tools_are_refused_and_not_offered() {
    let mut registry = Registry::new()
        .with(read("1.0.0"))
        .and_then(|registry| registry.with(read("2.0.0")))
        .unwrap();
    registry.block("read@1.0.0", "it follows links").unwrap();
    assert_eq!(registry.list_with_deprecated().count(), 1);
    let blocked = Status::Blocked {
        reason: "it follows links".into(),
    };
    assert!(registry.all().any(|spec| spec.status == blocked));

    let tools = registry.pick(["read", "read@1.0.0"]).unwrap();
    let calls = [("read_v1_0_0", "{}"), ("rea", "{}")];
    let (outcome, handle) = run(tools, &calls).await;
    let request = handle.requests().pop().unwrap();
    assert_eq!(request.tools, ["read"]);
    let receipts: Vec<_> = outcome.outputs.receipts().collect();
    let error = receipts[0].error.as_ref().unwrap();
    assert_eq!(error.code, Code::PolicyDenied);
    assert_eq!(error.message, "`read@1.0.0` is blocked: it follows links");
    assert_eq!(
        (&*receipts[0].name, &*receipts[0].version),
        ("read", "1.0.0")
    );
    assert!(receipts[0].attempts.is_empty());
    assert_eq!(
        receipts[1].error.as_ref().unwrap().message,
        "there is no tool `rea`; did you mean `read`?"
    );

    // An agent without other tools has none.
    let tools = registry.pick(["read@1.0.0"]).unwrap();
    let (outcome, handle) = run(tools, &[("read", "{}")]).await;
    assert!(handle.requests()[0].tools.is_empty());
    let told = handle.requests().pop().unwrap();
    assert!(
        matches!(told.messages.last(), Some(Message::Tool { content, .. }) if content.contains("is blocked"))
    );
    assert_eq!(outcome.result.unwrap(), "done");
}

#[tokio::test]
async fn a_changed_copy_of_a_tool_is_told_of_as_it_is() {
    let schema = json!({"type": "object", "properties": {"left": {"type": "integer"}}});
    let old = ToolSpec::new("add", "Adds.", Effects::None, schema);
    assert!(old.declaration().contains("left"));
    let mut new = old.clone();
    new.input_schema = json!({"type": "object", "properties": {"right": {"type": "integer"}}});
    assert!(new.declaration().contains("right"), "{}", new.declaration());
}
