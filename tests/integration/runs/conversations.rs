//! Conversations over several runs.

use crate::world::{Add, Hang, Plain, put_down};
use agents::{
    Agent, AgentBuilder, Budget, Error, ErrorKind, Model,
    agent::{Conversation, Skill},
    journal::MemoryJournal,
    model::{Message, ModelError, Reply, Request, ToolCall},
    prelude::agent,
    team::Member,
    testing::{Script, ScriptedModel},
    tool,
};
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU32, Ordering::SeqCst},
};
use tokio_util::sync::CancellationToken;

fn crm() -> AgentBuilder<'static, String, String> {
    AgentBuilder::new("crm")
        .prompt("You know customers.")
        .tool(Add)
        .tool(Hang)
}

fn user(content: &str) -> Message {
    Message::User {
        content: content.into(),
    }
}

fn assistant(calls: &[&str]) -> Message {
    let call = |id: &&str| ToolCall {
        id: (*id).into(),
        name: "add".into(),
        arguments: "{}".into(),
    };
    Message::Assistant {
        content: String::new(),
        thinking: None,
        calls: calls.iter().map(call).collect(),
    }
}

fn result(id: &str) -> Message {
    Message::Tool {
        tool_call_id: id.into(),
        name: "add".into(),
        content: "3".into(),
    }
}

fn spoken(messages: &[Message]) -> Vec<String> {
    let say = |message: &Message| match message {
        Message::System { content } => format!("system: {content}"),
        Message::User { content } => format!("user: {content}"),
        Message::Assistant { content, calls, .. } if calls.is_empty() => {
            format!("assistant: {content}")
        }
        Message::Assistant { calls, .. } => format!("assistant calls {}", calls[0].id),
        Message::Tool {
            tool_call_id,
            content,
            ..
        } => format!("tool {tool_call_id}: {content}"),
    };
    messages.iter().map(say).collect()
}

#[tokio::test]
async fn what_was_said_goes_on_with_calls_and_all() {
    let (model, handle) = ScriptedModel::new([
        Script::call("add", r#"{"left": 1, "right": 2}"#),
        Script::text("Three."),
        Script::call("add", r#"{"left": 3, "right": 4}"#),
        Script::text("Seven."),
    ]);
    let crm = crm().budget(Budget::new().max_turns(2)).build();
    let mut chat = crm.chat().model(model);
    assert_eq!(chat.send("How many orders?").await.unwrap(), "Three.");
    let outcome = chat.send("And with four more?").outcome().await.unwrap();
    assert_eq!(
        outcome.result.unwrap(),
        "Seven.",
        "each send has its own budget"
    );
    assert_eq!(outcome.usage.requests, 2);
    assert_eq!(outcome.outputs.tool_order.len(), 1);
    let said = [
        "system: You know customers.",
        "user: How many orders?",
        "assistant calls call_1_0",
        "tool call_1_0: 3",
        "assistant: Three.",
        "user: And with four more?",
        "assistant calls call_3_0",
        "tool call_3_0: 7",
        "assistant: Seven.",
    ];
    assert_eq!(spoken(&handle.requests()[3].messages), said[..8]);
    assert_eq!(spoken(&chat.messages()), said);
}

#[tokio::test]
async fn a_send_without_an_answer_is_forgotten() {
    let (model, handle) = ScriptedModel::new([
        Script::text("A customer."),
        Script::call("add", r#"{"left": 1, "right": 2}"#),
        Script::fail("out of memory"),
        Script::call("hang", "{}"),
        Script::text("Ten anvils."),
    ]);
    let crm: Plain = crm().model(model).build();
    let mut chat = crm.chat();
    chat.send("Who is ACME?").await.unwrap();
    let before = chat.messages();

    let failed = chat.send("And their orders?").outcome().await.unwrap();
    assert_eq!(failed.result.unwrap_err().kind(), ErrorKind::Model);
    assert_eq!(
        failed.outputs.tool_order.len(),
        1,
        "its receipts say what was done"
    );
    assert_eq!(chat.messages(), before);

    let token = CancellationToken::new();
    let cancel = token.clone();
    let hanging = move |event: &agents::run::Event| {
        if let agents::run::EventKind::AttemptStarted { .. } = event.kind {
            cancel.cancel();
        }
    };
    let cancelled = chat
        .send("And their orders?")
        .cancel(token)
        .on_event(hanging)
        .await;
    assert_eq!(cancelled.unwrap_err().kind(), ErrorKind::Cancelled);
    assert_eq!(chat.messages(), before);

    drop(chat.send("Never mind."));
    assert_eq!(chat.send("And their orders?").await.unwrap(), "Ten anvils.");
    assert_eq!(
        spoken(&handle.requests()[4].messages),
        [
            "system: You know customers.",
            "user: Who is ACME?",
            "assistant: A customer.",
            "user: And their orders?",
        ]
    );
}

#[tokio::test]
async fn a_stored_conversation_goes_on() {
    let (model, _) = ScriptedModel::new([Script::text("A customer.")]);
    let crm = crm().build();
    let mut chat = crm.chat().model(model);
    chat.send("Who is ACME?").await.unwrap();
    let stored = serde_json::to_string(&chat.snapshot()).unwrap();

    let stored: Conversation = serde_json::from_str(&stored).unwrap();
    let (model, handle) = ScriptedModel::new([Script::text("Ten anvils.")]);
    let mut chat = crm.chat().model(model).resume(stored.clone()).unwrap();
    chat.send("And their orders?").await.unwrap();
    assert_eq!(handle.requests()[0].messages.len(), 4);
    assert_eq!(chat.messages().len(), 5);

    let other = AgentBuilder::<String, String>::new("erp").build();
    assert_eq!(
        other.chat().resume(stored).unwrap_err().message(),
        "the stored conversation was had with agent `crm`, not with `erp`"
    );
}

#[tokio::test]
async fn a_send_that_was_put_down_in_the_middle_is_finished() {
    let crm = crm().build();
    let script = || {
        [
            Script::text("A customer."),
            Script::call("add", r#"{"left": 1, "right": 2}"#),
            Script::text("Three."),
        ]
    };
    let journal = MemoryJournal::new();
    let (model, _) = ScriptedModel::new(script());
    let mut chat = crm.chat().model(model);
    chat.send("Who is ACME?").await.unwrap();
    let stored = chat.snapshot();
    let send = chat.send("How many orders?").journal(journal.clone());
    send.await.unwrap();
    let whole = chat.messages();

    for at in put_down(&journal) {
        let rest = script().into_iter().skip(1 + at.replies());
        let (model, _) = ScriptedModel::new(rest);
        let mut chat = crm.chat().model(model).resume(stored.clone()).unwrap();
        let send = chat.send("How many orders?").journal(at.journal());
        assert_eq!(send.await.unwrap(), "Three.", "{at}");
        assert_eq!(chat.messages(), whole, "{at}");
    }
}

struct Desk {
    greeting: Mutex<String>,
}

#[agent(prompt = format!("You are at the desk. {}", self.greeting.lock().unwrap()))]
impl Desk {
    /// Answers.
    #[skill]
    async fn answer(&self, request: String) -> String;

    /// Repeats the requested word.
    #[skill(when = |request| request.starts_with("say "))]
    fn say(&self, request: String) -> Result<String, Error> {
        let word = request.trim_start_matches("say ").to_owned();
        *self.greeting.lock().unwrap() = format!("Say {word}.");
        Ok(word)
    }
}

#[tokio::test]
async fn what_a_skill_without_a_model_answered_is_known_to_the_model() {
    let desk = Desk {
        greeting: Mutex::default(),
    };
    let (model, handle) = ScriptedModel::new([Script::text("Hello."), Script::text("You did.")]);
    let mut chat = desk.chat().model(model);
    chat.send("Hi!").await.unwrap();
    assert_eq!(chat.send("say cheese").await.unwrap(), "cheese");
    chat.send("Who said that?").await.unwrap();
    assert_eq!(
        spoken(&handle.requests()[1].messages),
        [
            "system: You are at the desk. Say cheese.\n\nAnswers.",
            "user: Hi!",
            "assistant: Hello.",
            "user: say cheese",
            "assistant: cheese",
            "user: Who said that?",
        ],
        "the prompt is that of today"
    );
}

#[tokio::test]
async fn choosing_a_skill_knows_what_was_said_and_is_no_part_of_it() {
    let agent = AgentBuilder::<String, String>::new("crm")
        .skill(Skill::model("customers", "Knows customers."))
        .skill(Skill::model("orders", "Knows orders."))
        .build();
    let (model, handle) = ScriptedModel::new([
        Script::text("customers"),
        Script::text("A customer."),
        Script::text("orders"),
        Script::text("Ten anvils."),
    ]);
    let mut chat = agent.chat().model(model);
    chat.send("Who is ACME?").await.unwrap();
    chat.send("And their last order?").await.unwrap();
    assert!(
        handle.requests()[2].last().contains(
            "\nWhat was said before:\nuser: Who is ACME?\nassistant: A customer.\n\nRequest: And their last order?\n"
        ),
        "{}",
        handle.requests()[2].last()
    );
    assert_eq!(
        spoken(&chat.messages()),
        [
            "system: Knows orders.",
            "user: Who is ACME?",
            "assistant: A customer.",
            "user: And their last order?",
            "assistant: Ten anvils.",
        ]
    );
}

/// A client that encodes messages, and records how many were new.
struct Encoding(ScriptedModel, Arc<Mutex<Vec<usize>>>);

#[agents::async_trait]
impl Model for Encoding {
    fn id(&self) -> &str {
        "encoding"
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        let new = request.history().wire(|done: &mut usize, messages| {
            let new = messages.len() - *done;
            *done = messages.len();
            new
        });
        self.1.lock().unwrap().push(new);
        self.0.chat(request).await
    }
}

#[tokio::test]
async fn nothing_is_encoded_twice_however_long_the_conversation() {
    let (model, _) = ScriptedModel::always(Script::text("Yes."));
    let encoded: Arc<Mutex<Vec<usize>>> = Arc::default();
    let agent = crm().model(Encoding(model, encoded.clone())).build();
    let mut chat = agent.chat();
    for _ in 0..20 {
        chat.send("Still there?").await.unwrap();
    }
    let encoded = encoded.lock().unwrap().clone();
    assert_eq!(encoded, [[2].as_slice(), &[2; 19]].concat());
}

#[tokio::test]
async fn inputs_and_answers_of_any_type_can_be_exchanged() {
    let (model, handle) = ScriptedModel::new([Script::text("[3, 4]"), Script::text("[5]")]);
    let agent = AgentBuilder::<(u32, bool), Vec<u32>>::new("counter")
        .model(model)
        .build();
    let agent = Arc::new(agent);
    let mut chat = agent.chat();
    assert_eq!(chat.send((2, true)).await.unwrap(), [3, 4]);
    assert_eq!(chat.send((1, false)).await.unwrap(), [5]);
    let said = spoken(&handle.requests()[1].messages);
    assert_eq!(
        said[1..],
        ["user: [2,true]", "assistant: [3, 4]", "user: [1,false]"]
    );
}

#[tokio::test]
async fn a_team_can_be_talked_to_and_is_its_root_in_that() {
    let (model, handle) = ScriptedModel::new([
        Script::call("clerk", r#"{"input": "count"}"#),
        Script::text("Three."),
        Script::text("Three, as I said."),
    ]);
    let clerk: Plain = AgentBuilder::new("clerk")
        .skill(Skill::native("count", "Counts.", |_: String| async {
            Ok("3".into())
        }))
        .build();
    let team = Member::new(crm().build()).delegate(clerk).build();
    let mut chat = team.chat().model(model.clone());
    assert_eq!(chat.send("How many orders?").await.unwrap(), "Three.");
    let stored = chat.snapshot();
    let mut chat = team.chat().model(model).resume(stored).unwrap();
    chat.send("How many?").await.unwrap();
    let said = [
        "system: You know customers.",
        "user: How many orders?",
        "assistant calls call_1_0",
        "tool call_1_0: 3",
        "assistant: Three.",
        "user: How many?",
        "assistant: Three, as I said.",
    ];
    assert_eq!(spoken(&handle.requests()[2].messages), said[..6]);
    assert_eq!(spoken(&chat.messages()), said);
    assert!(
        handle
            .requests()
            .iter()
            .all(|asked| asked.tools.contains(&"clerk".to_owned()))
    );
}

#[tokio::test]
async fn a_skill_that_takes_over_knows_what_was_said() {
    let gives_up = tool::FnTool::new(
        "look_up",
        "Looks.",
        agents::Effects::Reads,
        serde_json::json!({ "type": "object", "properties": {} }),
        |_, _| async { Err::<String, _>(std::io::Error::other("no such book")) },
    );
    let agent: Plain = AgentBuilder::new("crm")
        .tool(gives_up)
        .on_error(|_, _| {
            Some(agents::recovery::escalate::<agents::recovery::Execution>("no book").into())
        })
        .skill(Skill::model("books", "Looks into books.").when(|_| true))
        .skill(Skill::model("guess", "Guesses."))
        .on_escalation(|_| agents::escalation::reroute_to_skill("guess"))
        .build();
    let (model, handle) = ScriptedModel::new([
        Script::text("A customer."),
        Script::call("look_up", "{}"),
        Script::text("Ten anvils, I guess."),
        Script::text("As I said."),
    ]);
    let mut chat = agent.chat().model(model);
    chat.send("Who is ACME?").await.unwrap();
    let answer = chat.send("And their last order?").await.unwrap();
    assert_eq!(answer, "Ten anvils, I guess.");
    assert_eq!(
        spoken(&handle.requests()[2].messages)[1..],
        [
            "user: Who is ACME?",
            "assistant: A customer.",
            "user: And their last order?"
        ],
        "what was given up is no part of it"
    );
    chat.send("Sure?").await.unwrap();
    assert_eq!(
        spoken(&handle.requests()[3].messages)[3..],
        [
            "user: And their last order?",
            "assistant: Ten anvils, I guess.",
            "user: Sure?"
        ]
    );
}

/// Pays an amount.
#[tool(writes)]
async fn pay(
    /// Amount in euros; 0 takes for ever.
    amount: u32,
) -> String {
    if amount == 0 {
        return std::future::pending().await;
    }
    format!("paid {amount}")
}

fn cashier(model: impl Model) -> Plain {
    let cashier = AgentBuilder::new("cashier").prompt("You pay.");
    cashier.tool(Pay).tool(Add).model(model).build()
}

#[tokio::test]
async fn a_send_that_fails_after_a_payment_is_kept() {
    let (model, handle) = ScriptedModel::new([
        Script::calls([
            ("pay", r#"{"amount": 5}"#),
            ("add", r#"{"left": 1, "right": 2}"#),
        ]),
        Script::fail("out of memory"),
        Script::text("It is paid already."),
    ]);
    let cashier = cashier(model);
    let mut chat = cashier.chat();
    let failed = chat.send("Pay 5.").await.unwrap_err();
    let known = [
        "system: You pay.".to_owned(),
        "user: Pay 5.".to_owned(),
        "assistant calls call_1_0".to_owned(),
        "tool call_1_0: paid 5".to_owned(),
        "tool call_1_1: 3".to_owned(),
        format!("assistant: [no answer: {failed}]"),
    ];
    assert_eq!(spoken(&chat.messages()), known);
    assert_eq!(chat.send("Well?").await.unwrap(), "It is paid already.");
    assert_eq!(spoken(&handle.requests()[2].messages)[..6], known);
}

#[tokio::test]
async fn a_payment_that_was_cut_off_is_kept_as_in_doubt() {
    for is_dropped in [false, true] {
        let (model, handle) = ScriptedModel::new([
            Script::calls([("pay", r#"{"amount": 5}"#), ("pay", r#"{"amount": 0}"#)]),
            Script::text("I shall look."),
        ]);
        let cashier = cashier(model);
        let mut chat = cashier.chat();
        let token = CancellationToken::new();
        let cancel = token.clone();
        let begun = AtomicU32::new(0);
        let second = move |event: &agents::run::Event| {
            if let agents::run::EventKind::AttemptStarted { .. } = event.kind
                && begun.fetch_add(1, SeqCst) == 1
            {
                cancel.cancel();
            }
        };
        if is_dropped {
            let send = chat.send("Pay 5 and 0.").on_event(second);
            tokio::select! {
                answer = send => panic!("{answer:?}"),
                () = token.cancelled() => {}
            }
        } else {
            let send = chat.send("Pay 5 and 0.").cancel(token).on_event(second);
            assert_eq!(send.await.unwrap_err().kind(), ErrorKind::Cancelled);
        }
        assert_eq!(chat.send("Well?").await.unwrap(), "I shall look.");
        let known = spoken(&handle.requests()[1].messages);
        assert_eq!(known[3], "tool call_1_0: paid 5");
        assert!(known[4].starts_with("tool call_1_1: "), "{known:#?}");
        assert!(
            known[5].starts_with("assistant: [no answer: "),
            "{known:#?}"
        );
        assert_eq!(known[6], "user: Well?");
    }
}

#[tokio::test]
async fn a_conversation_that_owns_its_agent_can_be_a_field_and_move_to_another_task() {
    struct Session {
        own: agents::agent::Chat<'static, Plain>,
        shared: agents::agent::Chat<'static, Arc<Plain>>,
    }
    let (model, handle) = ScriptedModel::always(Script::text("Hello."));
    let shared = Arc::new(cashier(model.clone()));
    let mut session = Session {
        own: cashier(model).into_chat(),
        shared: shared.clone().into_chat(),
    };
    let session = tokio::spawn(async move {
        session.own.send("Hi").await.unwrap();
        session.own.send("Hi again").await.unwrap();
        session.shared.send("Hi").await.unwrap();
        session
    });
    let session = session.await.unwrap();
    assert_eq!(session.own.messages().len(), 5);
    assert_eq!(session.shared.messages().len(), 3);
    assert_eq!(handle.count(), 3);
}

#[tokio::test]
async fn a_conversation_starts_from_given_messages_if_each_result_has_its_call() {
    let (model, handle) = ScriptedModel::new([
        Script::call("add", r#"{"left": 1, "right": 2}"#),
        Script::text("Seven."),
    ]);
    let crm: Plain = crm().model(model).build();
    let system = Message::System {
        content: "You are another agent.".into(),
    };
    let given = [
        system,
        user("How many?"),
        assistant(&["a", "b"]),
        result("b"),
        result("a"),
        assistant(&[]),
    ];
    let mut chat = crm.chat().with_messages(given).unwrap();
    assert_eq!(chat.send("And now?").await.unwrap(), "Seven.");
    let told = spoken(&handle.requests()[1].messages);
    assert_eq!(told[0], "system: You know customers.");
    assert_eq!(told[1], "user: How many?");
    assert_eq!(told[7], "assistant calls call_3_0", "its id is new");

    for (messages, problem) in [
        (
            vec![user("?"), result("a")],
            "message 2 does not fit: it is a result for `a`, and no call with that id is open",
        ),
        (
            vec![assistant(&["a"]), user("?"), result("a")],
            "message 3 does not fit: it is a result for `a`, and no call with that id is open",
        ),
        (
            vec![assistant(&["a"]), result("a"), result("a")],
            "message 3 does not fit: it is a result for `a`, and no call with that id is open",
        ),
    ] {
        let error = crm.chat().with_messages(messages).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Build);
        assert!(error.to_string().contains(problem), "{error}");
    }
}

/// Returns the ids of calls and results in a conversation: `a` for a call, `=a` for its result, and `?a` for a result that
/// says that it is lost.
fn calls_and_results(messages: &[Message]) -> Vec<String> {
    let of = |message: &Message| match message {
        Message::Assistant { calls, .. } => calls.iter().map(|call| call.id.clone()).collect(),
        Message::Tool {
            tool_call_id,
            content,
            ..
        } if content.contains("it is not known whether the call was carried out") => {
            vec![format!("?{tool_call_id}")]
        }
        Message::Tool { tool_call_id, .. } => vec![format!("={tool_call_id}")],
        _ => vec!["-".to_owned()],
    };
    messages.iter().flat_map(of).collect()
}

#[tokio::test]
async fn conversations_with_dangling_calls_are_mended_on_load() {
    for (messages, mended) in [
        (vec![user("?"), assistant(&["a"])], vec!["-", "a", "?a"]),
        (
            vec![user("?"), assistant(&["a", "b"]), result("a")],
            vec!["-", "a", "b", "=a", "?b"],
        ),
        (
            vec![
                assistant(&["a", "b"]),
                result("b"),
                user("?"),
                assistant(&["c"]),
                assistant(&[]),
            ],
            vec!["a", "b", "=b", "?a", "-", "c", "?c"],
        ),
        // Two calls that a program elsewhere has given the same id.
        (
            vec![assistant(&["a", "a"]), result("a")],
            vec!["a", "a", "=a", "?a"],
        ),
    ] {
        let (model, handle) = ScriptedModel::new([Script::text("Seven.")]);
        let crm: Plain = crm().model(model).build();
        let mut chat = crm.chat().with_messages(messages.clone()).unwrap();
        assert_eq!(calls_and_results(&chat.messages()), mended);
        assert_eq!(chat.send("And now?").await.unwrap(), "Seven.");
        let sent = &handle.requests()[0].messages[1..];
        assert_eq!(calls_and_results(&sent[..sent.len() - 1]), mended);

        // The same of a conversation that was stored in the middle of a turn.
        let mut stored = serde_json::to_value(crm.chat().snapshot()).unwrap();
        stored["messages"] = serde_json::to_value(&messages).unwrap();
        let stored = serde_json::from_value(stored).unwrap();
        let chat = crm.chat().resume(stored).unwrap();
        assert_eq!(calls_and_results(&chat.messages()), mended);
    }
    // A result without its call is no conversation.
    let mut stored = serde_json::to_value(crm().build().chat().snapshot()).unwrap();
    stored["messages"] = serde_json::to_value([user("?"), result("a")]).unwrap();
    let stored = serde_json::from_value(stored).unwrap();
    let refused = crm().build().into_chat().resume(stored).map(|_| ());
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Build);
}
