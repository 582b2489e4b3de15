use crate::world::{spec, worker};
use agents::{
    Agent, AgentBuilder, Effects,
    model::Message,
    run::{Event, EventKind},
    testing::{Script, ScriptedModel},
    tool::FnTool,
};
use serde_json::Value;
use std::sync::{Arc, Mutex};

#[tokio::test]
async fn everything_that_happens_is_told_in_order() {
    let (model, handle) = ScriptedModel::new([
        Script::call("add", r#"{"left":"1","right":2}"#),
        Script::text("three it is"),
    ]);
    let told = Arc::new(Mutex::new(Vec::new()));
    let sink = told.clone();
    worker::<String>()
        .run("go")
        .model(model)
        .on_event(move |event| {
            assert_eq!(&*event.agent, "worker");
            sink.lock().unwrap().push(name(&event.kind));
        })
        .await
        .unwrap();
    let expected = [
        [
            "run started",
            "model requested",
            "model replied",
            "call started",
            "repaired",
            "attempt",
            "call ended ok",
        ]
        .as_slice(),
        [
            "model requested",
            "text",
            "text",
            "text",
            "model replied",
            "run ended",
        ]
        .as_slice(),
    ];
    assert_eq!(*told.lock().unwrap(), expected.concat());
    let requests = handle.requests();
    assert!(
        !requests.is_empty() && requests.iter().all(|asked| asked.streamed),
        "whoever listens gets pieces"
    );
}

#[tokio::test]
async fn whoever_listens_is_added_to_those_who_do() {
    let (model, _) = ScriptedModel::new([
        Script::call("add", r#"{"left":1,"right":2}"#),
        Script::text("three it is"),
    ]);
    let told = Arc::new(Mutex::new(Vec::new()));
    let tell = |who: &'static str| {
        let told = told.clone();
        move || told.lock().unwrap().push(who)
    };
    let (a, b, c, d) = (tell("a"), tell("b"), tell("c"), tell("d"));
    worker::<String>()
        .run("go")
        .model(model)
        .on_event(move |event| {
            if matches!(event.kind, EventKind::RunEnded { .. }) {
                a()
            }
        })
        .on_event(move |event| {
            if matches!(event.kind, EventKind::RunEnded { .. }) {
                b()
            }
        })
        .on_tool_use(move |_, _, _| c())
        .on_tool_use(move |_, _, _| d())
        .await
        .unwrap();
    // The settlement of the call, and the end of the run.
    let expected = ["c", "d", "a", "b"];
    assert_eq!(*told.lock().unwrap(), expected);
}

fn name(kind: &EventKind) -> &'static str {
    match kind {
        EventKind::RunStarted { .. } => "run started",
        EventKind::AgentStarted => "agent started",
        EventKind::AgentEnded { .. } => "agent ended",
        EventKind::SkillChosen { .. } => "skill chosen",
        EventKind::ModelRequested { .. } => "model requested",
        EventKind::Text(_) => "text",
        EventKind::Thinking(_) => "thinking",
        EventKind::ModelReplied { .. } => "model replied",
        EventKind::CallStarted { .. } => "call started",
        EventKind::CallRepaired { .. } => "repaired",
        EventKind::ApprovalRequested(_) => "approval requested",
        EventKind::ApprovalDecided { .. } => "approval decided",
        EventKind::AttemptStarted { .. } => "attempt",
        EventKind::BackingOff { .. } => "backing off",
        EventKind::FixerRequested { .. } => "fixer requested",
        EventKind::FixerReplied { .. } => "fixer replied",
        EventKind::CallFailed { .. } => "call failed",
        EventKind::Instructed(_) => "instructed",
        EventKind::HandedOff { .. } => "handed off",
        EventKind::Shortened { .. } => "shortened",
        EventKind::TicketGiven { .. } => "ticket given",
        EventKind::KnowledgeUsed { .. } => "knowledge used",
        EventKind::CallEnded(receipt) if receipt.is_ok() => "call ended ok",
        EventKind::CallEnded(_) => "call ended",
        EventKind::AnswerRepaired { .. } => "answer repaired",
        EventKind::AnswerFailed { .. } => "answer failed",
        EventKind::AnswerRefused { .. } => "answer refused",
        EventKind::Stopped(_) => "stopped",
        EventKind::Failed { .. } => "failed",
        EventKind::RunEnded { .. } => "run ended",
        EventKind::Escalated(_) => "escalated",
        EventKind::ResolutionRefused(_) => "resolution refused",
        EventKind::EscalationSettled(_) => "settled",
        EventKind::SecretLookup { scope: Some(_), .. } => "secret",
        EventKind::SecretLookup { .. } => "no secret",
    }
}

/// A call has one id in the model's reply and another on its receipt. Events name one of the two, and all events of a
/// call have the same place.
#[tokio::test]
async fn ids_of_a_call_are_told_apart() {
    let script = [
        Script::call("add", r#"{"left":"1","right":2}"#),
        Script::text("three it is"),
    ];
    let (model, handle) = ScriptedModel::new(script);
    let told: Arc<Mutex<Vec<(String, Value)>>> = Arc::default();
    let sink = told.clone();
    let outcome = worker::<String>()
        .run("go")
        .model(model)
        .on_event(move |event| {
            let data = serde_json::to_value(&event.kind).unwrap()["data"].take();
            sink.lock().unwrap().push((event.place.clone(), data));
        })
        .outcome()
        .await
        .unwrap();
    let Some(Message::Tool { tool_call_id, .. }) = handle.requests()[1].messages.last().cloned()
    else {
        panic!("the model is given the result");
    };
    let call_id = outcome.outputs.tool_order[0].to_string();
    assert_ne!(tool_call_id, call_id);
    let events = told.lock().unwrap();
    let with = |key: &str, id: &str| {
        let have = events.iter().filter(|(_, data)| data[key] == id);
        have.map(|(place, _)| place.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(
        with("tool_call_id", &tool_call_id),
        ["/call0000"; 2],
        "started, repaired"
    );
    assert_eq!(
        with("call_id", &call_id),
        ["/call0000"; 2],
        "executed, ended"
    );
}

/// (8) The hook fires once for each call, with the repaired arguments and the recovered result.
#[tokio::test]
async fn x16_the_tool_hook_sees_repaired_arguments_once() {
    let (model, _) = ScriptedModel::new([
        Script::calls([("add", r#"{"left":"1","right":2,}"#), ("nope", "{}")]),
        Script::text("three it is"),
    ]);
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let sink = told.clone();
    worker::<String>()
        .run("go")
        .model(model)
        .on_tool_use(move |name, args, result| {
            let result = result.map(ToString::to_string).map_err(|error| error.code);
            sink.lock()
                .unwrap()
                .push(format!("{name} {args} {result:?}"));
        })
        .await
        .unwrap();
    assert_eq!(
        *told.lock().unwrap(),
        [
            r#"add {"left":1,"right":2} Ok("3")"#,
            r#"nope {} Err(PolicyDenied)"#
        ]
    );
}

#[tokio::test]
async fn an_event_can_be_read_where_it_was_not_made() {
    let (model, _) = ScriptedModel::new([
        Script::call("add", r#"{"left":"1","right":2}"#),
        Script::call("add", r#"{"left":"one"}"#),
        Script::call("panics", "{}"),
        Script::call("read_file", r#"{"path": 12345678901234567890123}"#),
        Script::text("three it is"),
    ]);
    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink = lines.clone();
    let run = worker::<String>()
        .run("go")
        .model(model)
        .on_event(move |event| {
            let line = serde_json::to_string(event).unwrap();
            sink.lock().unwrap().push(line);
        })
        .outcome()
        .await
        .unwrap();
    let lines = lines.lock().unwrap().clone();
    assert!(lines.len() > 20, "{lines:#?}");
    for (seq, line) in (1..).zip(&lines) {
        let event: Event = serde_json::from_str(line).unwrap();
        assert_eq!((event.seq, &*event.run_id), (seq, &*run.run_id));
        assert_eq!(serde_json::to_string(&event).unwrap(), *line);
    }
}

#[tokio::test]
async fn an_agent_that_is_dropped_has_ended_without_an_answer() {
    let (slow, _) = ScriptedModel::new([Script::call("never", "{}")]);
    let (quick, _) = ScriptedModel::new([Script::text("first")]);
    let never = FnTool::with_spec(spec("never", Effects::Reads), |_, _| {
        std::future::pending::<std::io::Result<()>>()
    });
    let slow = AgentBuilder::<String, String>::new("slow")
        .tool(never)
        .model(slow)
        .build();
    let quick = AgentBuilder::<String, String>::new("quick")
        .model(quick)
        .build();
    let race = agents::compose::first_of((slow, quick));
    let ended: Arc<Mutex<Vec<(String, bool)>>> = Arc::default();
    let sink = ended.clone();
    let run = race.run("go").on_event(move |event| {
        if let EventKind::AgentEnded { ok } = event.kind {
            sink.lock().unwrap().push((event.agent.to_string(), ok));
        }
    });
    assert_eq!(run.await.unwrap(), "first");
    let ended = ended.lock().unwrap().clone();
    assert_eq!(
        ended,
        [("quick".to_owned(), true), ("slow".to_owned(), false)]
    );
}
