//! Our server, with clients of its own process and over HTTP.

// Revisions after 2025-11-25 call logging and subscriptions deprecated.
#![allow(deprecated)]

use crate::agents_with_servers::{agent, results, tools, yes};
use agents::{
    model::{Capabilities, Media},
    prelude::*,
    testing::{Script, ScriptedModel},
    tool::Scope,
};
use agents_mcp::{self as mcp, Serve};
use rmcp::{
    ClientHandler, RoleClient,
    model::{
        CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, LoggingLevel,
        LoggingMessageNotificationParam, ProgressNotificationParam,
        ResourceUpdatedNotificationParam, SetLevelRequestParams, SubscribeRequestParams,
        UnsubscribeRequestParams,
    },
    service::{NotificationContext, PeerRequestOptions, RunningService, ServiceExt},
};
use serde_json::{Value, json};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

/// Adds two numbers.
#[agents::tool(none)]
async fn add(
    /// The first.
    a: i64,
    /// The second.
    b: i64,
) -> i64 {
    a + b
}

/// Sends a letter.
#[agents::tool(writes, external, effect_description = "sends {text}")]
async fn send_letter(
    /// Text of the letter.
    text: String,
) -> usize {
    text.len()
}

static CANCELLED: Mutex<u32> = Mutex::new(0);

/// Waits for ever.
#[agents::tool(reads)]
async fn wait(cx: &ToolContext) -> u32 {
    let token = cx.cancellation().clone();
    tokio::spawn(async move {
        token.cancelled().await;
        *CANCELLED.lock().unwrap() += 1;
    });
    std::future::pending().await
}

/// Makes a text louder.
#[agent]
fn shout(text: String) -> String {
    text.to_uppercase()
}

/// Draws a seal.
#[agents::tool(none)]
async fn draw() -> Result<Media, Error> {
    Media::bytes("image/png", b"PNG")
}

#[derive(serde::Serialize)]
struct Scanned {
    caption: &'static str,
    attachment: Media,
}

/// Scans a letter.
#[agents::tool(none)]
async fn scan() -> Result<Scanned, Error> {
    let attachment = Media::bytes("image/png", b"SCAN")?.named("letter.png");
    Ok(Scanned {
        caption: "a letter",
        attachment,
    })
}

/// You describe seals.
#[agent(tools = [Draw])]
async fn viewer(question: String) -> String;

/// You answer questions.
#[agent(tools = [Add])]
async fn answerer(question: String) -> String;

fn office() -> Serve {
    mcp::serve()
        .named("office")
        .instructions("Ask before noon.")
        .tool(Add)
        .tool(SendLetter)
        .tool(Wait)
        .agent(Shout)
        .agent(Answerer)
}

/// Counts to three, and back by one.
#[agents::tool(none)]
async fn count_up() -> &'static str {
    let host = mcp::Host::current().unwrap();
    for done in [1.0, 2.0, 1.0, 3.0] {
        host.progress(done, Some(3.0), format!("at {done}")).await;
    }
    host.log("counted").await;
    "done"
}

/// Progress and lines of a log that a host was told of, and changes of resources.
#[derive(Clone, Default)]
struct Listens(Arc<Mutex<Vec<String>>>);

impl ClientHandler for Listens {
    async fn on_progress(
        &self,
        said: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.0
            .lock()
            .unwrap()
            .push(said.message.unwrap_or_default());
    }

    async fn on_logging_message(
        &self,
        said: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.0.lock().unwrap().push(format!("log {}", said.data));
    }

    async fn on_resource_updated(
        &self,
        changed: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.0
            .lock()
            .unwrap()
            .push(format!("changed {}", changed.uri));
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.lock().unwrap().push("changed tools".to_owned());
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.lock().unwrap().push("changed resources".to_owned());
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.lock().unwrap().push("changed prompts".to_owned());
    }
}

type Client = RunningService<RoleClient, Listens>;

async fn connected(server: Serve) -> Client {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (input, output) = tokio::io::split(theirs);
    tokio::spawn(server.on(input, output));
    Listens::default()
        .serve(tokio::io::split(ours))
        .await
        .unwrap()
}

async fn call(client: &Client, tool: &'static str, args: Value) -> CallToolResult {
    let Value::Object(args) = args else {
        panic!("arguments are an object")
    };
    let request = CallToolRequestParams::new(tool).with_arguments(args);
    client.call_tool(request).await.unwrap()
}

fn text(result: &CallToolResult) -> &str {
    &result.content[0].as_text().unwrap().text
}

#[tokio::test]
async fn a_host_sees_tools_and_agents_with_their_schemas_and_hints() {
    let client = connected(office()).await;
    let info = client.peer().peer_info().unwrap();
    assert_eq!(info.server_info.as_ref().unwrap().name, "office");
    assert_eq!(info.instructions.as_deref(), Some("Ask before noon."));
    let listed = client.list_all_tools().await.unwrap();
    let names: Vec<_> = listed.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["add", "send_letter", "wait", "shout", "answerer"]);
    let hints = |name: &str| {
        let tool = listed.iter().find(|tool| tool.name == name).unwrap();
        let hints = tool.annotations.clone().unwrap();
        (
            hints.read_only_hint.unwrap(),
            hints.open_world_hint.unwrap(),
        )
    };
    assert_eq!(
        (hints("add"), hints("send_letter")),
        ((true, false), (false, true))
    );
    assert_eq!(listed[0].input_schema["required"], json!(["a", "b"]));
    assert_eq!(listed[3].input_schema["required"], json!(["text"]));
    assert_eq!(
        listed[4].description.as_deref(),
        Some("You answer questions.")
    );
}

#[tokio::test]
async fn a_call_is_a_run_with_a_receipt() {
    let client = connected(office()).await;
    // Read leniently, as the calls of models are.
    let result = call(&client, "add", json!({"a": "20", "b": 1})).await;
    assert_eq!((text(&result), result.is_error), ("21", Some(false)));
    let receipt = result.structured_content.unwrap();
    assert_eq!(
        (&receipt["name"], &receipt["output"]),
        (&json!("add"), &json!(21))
    );
    assert_eq!(receipt["attempts"].as_array().unwrap().len(), 1);

    let result = call(&client, "shout", json!({"text": "hello"})).await;
    assert_eq!(text(&result), "HELLO");
    let result = call(&client, "add", json!({"a": "many", "b": 1})).await;
    assert_eq!(result.is_error, Some(true));
    assert!(
        text(&result).starts_with("VALIDATION_ERROR"),
        "{}",
        text(&result)
    );
    let unknown = client
        .call_tool(CallToolRequestParams::new("subtract"))
        .await
        .unwrap_err();
    assert!(
        unknown
            .to_string()
            .contains("this server has no tool `subtract`"),
        "{unknown}"
    );
}

#[tokio::test]
async fn an_output_that_is_a_file_has_no_text_and_one_with_a_file_has_its_own() {
    let client = connected(office().tool(Draw).tool(Scan)).await;
    let drawn = call(&client, "draw", json!({})).await;
    assert_eq!(drawn.content.len(), 1);
    assert_eq!(drawn.content[0].as_image().unwrap().data, "UE5H");
    let scanned = call(&client, "scan", json!({})).await;
    let said: Value = serde_json::from_str(text(&scanned)).unwrap();
    let file = json!({"type": "image/png", "name": "letter.png", "attachment": 1});
    assert_eq!(said, json!({"caption": "a letter", "attachment": file}));
    assert_eq!(scanned.content[1].as_image().unwrap().data, "U0NBTg==");
}

#[tokio::test]
async fn an_agent_that_a_host_calls_has_the_model_of_the_server_and_tells_its_progress() {
    let (model, _) = ScriptedModel::new([
        Script::call("add", r#"{"a": 1, "b": 2}"#),
        Script::text("It is 3."),
    ]);
    let client = connected(office().model(model)).await;
    let result = call(&client, "answerer", json!({"question": "1 + 2?"})).await;
    assert_eq!(text(&result), "It is 3.");
    let progress = client.service().0.lock().unwrap().clone();
    assert!(
        progress.contains(&"answerer calls add".to_owned()),
        "{progress:?}"
    );

    let client = connected(office()).await;
    let result = call(&client, "answerer", json!({"question": "1 + 2?"})).await;
    assert!(
        text(&result).contains("this agent has no model"),
        "{}",
        text(&result)
    );
}

#[tokio::test]
async fn an_agent_whose_model_reads_texts_alone_is_not_asked_about_an_image() {
    for images in [false, true] {
        let (model, handle) = ScriptedModel::new([
            Script::call("draw", "{}"),
            Script::text("A seal of red wax."),
        ]);
        let able = Capabilities {
            images,
            ..Default::default()
        };
        let client = connected(office().agent(Viewer).model(model.capable_of(able))).await;
        let result = call(&client, "viewer", json!({"question": "Which seal?"})).await;
        let expected = match images {
            true => "A seal of red wax.",
            false => "the conversation has an image, which the model",
        };
        assert!(text(&result).contains(expected), "{}", text(&result));
        assert_eq!(handle.count(), 1 + usize::from(images));
    }
}

#[tokio::test]
async fn a_call_that_needs_approval_is_not_run_and_the_host_is_told_where_to_ask() {
    let letter = json!({"text": "Dear all"});
    let client = connected(office()).await;
    let result = call(&client, "send_letter", letter.clone()).await;
    assert_eq!(result.is_error, Some(true));
    assert!(
        text(&result)
            .contains("needs a person's approval (sends Dear all), and this server asks nobody"),
        "{}",
        text(&result)
    );
    assert_eq!(result.structured_content.unwrap()["attempts"], json!([]));

    let client = connected(office().approval_at("https://desk.example/approvals")).await;
    let result = call(&client, "send_letter", letter.clone()).await;
    assert!(
        text(&result).contains("ask for it at https://desk.example/approvals"),
        "{}",
        text(&result)
    );

    let client = connected(office().approver(yes)).await;
    assert_eq!(text(&call(&client, "send_letter", letter).await), "8");
}

#[tokio::test]
async fn a_tool_tells_its_host_how_the_work_goes_on() {
    let client = connected(office().tool(CountUp)).await;
    let told = client.service().0.clone();
    assert_eq!(text(&call(&client, "count_up", json!({})).await), "done");
    tokio::time::sleep(Duration::from_millis(50)).await;
    // A number that does not grow is not sent.
    assert_eq!(
        std::mem::take(&mut *told.lock().unwrap()),
        ["at 1", "at 2", "at 3", r#"log "counted""#]
    );
    let level = SetLevelRequestParams::new(LoggingLevel::Warning);
    client.set_level(level).await.unwrap();
    call(&client, "count_up", json!({})).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(
        !told
            .lock()
            .unwrap()
            .iter()
            .any(|line| line.starts_with("log"))
    );
}

#[tokio::test]
async fn a_host_is_told_of_changes_of_the_resources_that_it_has_subscribed_to() {
    let changes = mcp::Changes::new();
    let read = |_| async { Ok::<_, std::convert::Infallible>("text") };
    let server = office()
        .resource(mcp::Resource::new("office://{day}/note", "note", read))
        .changes(&changes);
    let client = connected(server).await;
    let told = client.service().0.clone();
    let (monday, tuesday) = ("office://monday/note", "office://tuesday/note");
    client
        .subscribe(SubscribeRequestParams::new(monday))
        .await
        .unwrap();
    let unknown = SubscribeRequestParams::new("office://nothing");
    assert!(client.subscribe(unknown).await.is_err());
    let heard = async || {
        changes.resource(monday);
        changes.resource(tuesday);
        tokio::time::sleep(Duration::from_millis(50)).await;
        std::mem::take(&mut *told.lock().unwrap())
    };
    assert_eq!(heard().await, [format!("changed {monday}")]);
    client
        .unsubscribe(UnsubscribeRequestParams::new(monday))
        .await
        .unwrap();
    assert_eq!(heard().await, [""; 0]);
}

#[tokio::test]
async fn a_host_is_told_of_a_change_once_and_of_none_after_it_has_left() {
    let tasks = || {
        tokio::runtime::Handle::current()
            .metrics()
            .num_alive_tasks()
    };
    let before = tasks();
    let changes = mcp::Changes::new();
    let client = connected(office().changes(&changes)).await;
    let told = client.service().0.clone();
    // It has said so once.
    client.notify_initialized().await.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    changes.tools();
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(*told.lock().unwrap(), ["changed tools"]);
    client.cancel().await.unwrap();
    for _ in 0..100 {
        if tasks() == before {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{} tasks are left, of {before}", tasks());
}

#[tokio::test]
async fn a_host_that_is_far_behind_is_told_of_all_that_may_have_changed() {
    let changes = mcp::Changes::new();
    let read = |_| async { Ok::<_, std::convert::Infallible>("text") };
    let server = office()
        .resource(mcp::Resource::new("office://{day}/note", "note", read))
        .changes(&changes);
    let client = connected(server).await;
    let told = client.service().0.clone();
    let (monday, tuesday) = ("office://monday/note", "office://tuesday/note");
    client
        .subscribe(SubscribeRequestParams::new(monday))
        .await
        .unwrap();
    // The first change is lost among many that nobody has subscribed to.
    changes.resource(monday);
    for _ in 0..64 {
        changes.resource(tuesday);
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    let mut told = told.lock().unwrap().clone();
    told.sort_unstable();
    let lists = ["changed prompts", "changed resources", "changed tools"];
    assert_eq!(told[0], format!("changed {monday}"));
    assert_eq!(told[1..], lists);
}

#[tokio::test]
async fn a_call_that_the_host_cancels_is_cancelled_here() {
    let client = connected(office()).await;
    let request = CallToolRequest::new(CallToolRequestParams::new("wait"));
    let request = ClientRequest::CallToolRequest(request);
    let options = PeerRequestOptions::no_options();
    let handle = client
        .send_cancellable_request(request, options)
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    handle.cancel(None).await.unwrap();
    for _ in 0..100 {
        if *CANCELLED.lock().unwrap() > 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the tool was not told");
}

#[cfg(feature = "http")]
#[tokio::test]
async fn our_client_and_our_server_speak_by_http() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = axum::Router::new().nest_service("/mcp", office().http());
    tokio::spawn(axum::serve(listener, router).into_future());

    let url = format!("http://{address}/mcp");
    let mcp = tools(mcp::http(url).named("office").trust_hints());
    let listed = mcp.tools(&Scope::default()).await.unwrap();
    assert_eq!(listed.len(), 5);
    let script = [
        Script::calls([
            ("office_add", r#"{"a": 1, "b": 1}"#),
            ("office_send_letter", r#"{"text": "x"}"#),
        ]),
        Script::text("done"),
    ];
    let (model, handle) = ScriptedModel::new(script);
    // Our person agrees, and theirs is not asked.
    agent(&mcp)
        .run("go")
        .model(model)
        .approver(yes)
        .await
        .unwrap();
    let results = results(&handle, 1);
    assert!(results[0].contains(r#""output":2"#), "{}", results[0]);
    assert!(
        results[1].contains("this server asks nobody"),
        "{}",
        results[1]
    );

    let gone = tools(mcp::http("http://127.0.0.1:9/mcp").named("gone"));
    let why = gone.tools(&Scope::default()).await.unwrap_err();
    assert_eq!(why.kind(), mcp::McpErrorKind::Unreachable, "{why}");
}

#[tokio::test]
async fn the_tools_of_another_server_are_handed_on_under_the_same_rules() {
    let notes = crate::peer::Notes::new("proxy");
    let peer = tools(crate::peer::server("well", &notes).reads("peer_add"));
    let client = connected(mcp::serve().source(&peer)).await;
    let result = call(&client, "peer_add", json!({"a": 1, "b": 2})).await;
    assert_eq!(text(&result), "3");
    let result = call(&client, "peer_write_note", json!({"text": "x"})).await;
    assert!(
        text(&result).contains("needs a person's approval"),
        "{}",
        text(&result)
    );
    assert_eq!(notes.count("note x"), 0);
}
