//! Conversations: messages that are runs, one after the other.

use crate::{
    office::{Ran, Worker, ada, done, grace, held, pay_of, pays, waiting},
    stores::{Place, each},
};
use agents::{
    AgentBuilder, Effects, ErrorKind, Json,
    agent::{KeepLast, ModelAgent, Summarize},
    model::{Message, Model, ModelError, Reply, Request},
    testing::{Script, ScriptedModel},
    tool::{FnTool, Scope},
};
use agents_runtime::{
    Action, AgentRef, Approval, Client, Principal, Roles, RunRef, Runtime, RuntimeErrorKind,
};
use agents_store::{AuditFilter, AuditKind};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::sync::Semaphore;

fn clerk(ran: &Ran) -> ModelAgent<'static, String, String> {
    AgentBuilder::<String, String>::new("clerk")
        .prompt("You serve customers.")
        .tool(pay_of(ran, "1.0.0"))
        .build()
}

async fn office(
    place: &Place,
    scripts: impl IntoIterator<Item = Script>,
) -> (Runtime, AgentRef<String, String>, ScriptedModel, Ran) {
    let (model, handle) = ScriptedModel::new(scripts);
    let runtime = place.runtime().await.model(model);
    let ran = Ran::default();
    let clerk = runtime.agent(clerk(&ran));
    (runtime, clerk, handle, ran)
}

/// Messages of people and models, without the prompt.
pub(crate) fn said(messages: &[Message]) -> Vec<String> {
    let words = messages.iter().filter_map(|message| match message {
        Message::System { .. } => None,
        Message::User { content } => Some(format!("user: {content}")),
        Message::Assistant { content, calls, .. } => {
            let calls: String = calls
                .iter()
                .map(|call| format!("{}()", call.name))
                .collect();
            Some(format!("model: {content}{calls}"))
        }
        Message::Tool { content, .. } => Some(format!("tool: {content}")),
    });
    words.collect()
}

#[tokio::test]
async fn messages_are_answered_in_order_and_each_begins_with_what_was_said_before() {
    each(async |place| {
        let (runtime, clerk, model, _) = office(place, ["A", "B", "C"].map(Script::text)).await;
        let chat = clerk.chat("42").scope("acme");
        let mut runs = Vec::new();
        for (message, priority) in [("one", 0), ("two", 0), ("three", 9)] {
            let start = chat.send(message).by(&ada()).priority(priority);
            runs.push(start.start().await.unwrap());
        }
        assert!(chat.messages().await.unwrap().is_empty());
        let workers = [Worker::start(&runtime), Worker::start(&runtime)];
        for (run, answer) in runs.iter().zip(["A", "B", "C"]) {
            assert_eq!(done(run).await.result.unwrap(), answer);
        }
        let lengths: Vec<_> = model
            .requests()
            .iter()
            .map(|one| one.messages.len())
            .collect();
        assert_eq!(lengths, [2, 4, 6]);

        // From another process, without agents.
        let conversation = place.client().await.conversation("acme", "42");
        let messages = conversation.messages().await.unwrap();
        let expected = [
            "user: one",
            "model: A",
            "user: two",
            "model: B",
            "user: three",
            "model: C",
        ];
        assert_eq!(said(&messages), expected);
        let stored = conversation.runs().await.unwrap();
        let ids: Vec<_> = stored.iter().rev().map(|run| run.id.as_str()).collect();
        assert_eq!(ids, runs.iter().map(RunRef::id).collect::<Vec<_>>());
        for worker in workers {
            worker.stop().await;
        }
        let bytes = place.bytes();
        let has = |text: &str| {
            bytes
                .windows(text.len())
                .any(|found| found == text.as_bytes())
        };
        assert!(
            !has("three") && !has("You serve customers."),
            "contents are encrypted"
        );
    })
    .await;
}

#[tokio::test]
async fn whoever_waits_for_a_message_does_not_wait_for_later_ones() {
    each(async |place| {
        let (begun, go_on) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
        let (begins, goes_on) = (begun.clone(), go_on.clone());
        let schema = json!({"type": "object"});
        let look = FnTool::new(
            "look",
            "Looks.",
            Effects::Reads,
            schema,
            move |_: Value, _| {
                let (begins, goes_on) = (begins.clone(), goes_on.clone());
                async move {
                    begins.add_permits(1);
                    goes_on.acquire().await.unwrap().forget();
                    Ok::<_, agents::Error>("seen")
                }
            },
        );
        let looks = || Script::call("look", "{}");
        let (model, _) = ScriptedModel::new([looks(), Script::text("A"), looks()]);
        let runtime = place.runtime().await.model(model);
        let clerk = AgentBuilder::<String, String>::new("clerk")
            .tool(look)
            .build();
        let clerk = runtime.agent(clerk);
        let chat = clerk.chat("42").scope("acme");
        let others = async {
            begun.acquire().await.unwrap().forget();
            // The second message never gets an answer.
            chat.send("two").by(&ada()).start().await.unwrap();
            go_on.add_permits(1);
        };
        let first = async { chat.send("one").by(&ada()).await };
        let both = async { tokio::join!(first, others).0 };
        let answer = tokio::time::timeout(Duration::from_secs(20), both).await;
        assert_eq!(answer.expect("it is not late").unwrap(), "A");
    })
    .await;
}

#[tokio::test]
async fn a_process_without_the_agent_sends_messages_by_its_name() {
    each(async |place| {
        let (runtime, _, _, _) = office(place, ["A", "B"].map(Script::text)).await;
        let worker = Worker::start(&runtime);
        let json = |text: &str| Json::parse(text).unwrap();
        let chat = place.client().await.agent("clerk").chat("42").scope("acme");
        // An input that does not fit ends its run, and the conversation goes on.
        let misfit = chat.send(json("7")).by(&ada()).start().await.unwrap();
        let first = chat.send(json("\"one\"")).by(&ada()).start().await.unwrap();
        let error = done(&misfit).await.result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
        assert!(
            error.to_string().contains("does not fit the agent"),
            "{error}"
        );
        assert_eq!(done(&first).await.result.unwrap(), json("\"A\""));
        // What is awaited is worked by the worker.
        assert_eq!(chat.send(json("\"two\"")).await.unwrap(), json("\"B\""));
        let said_there = said(&chat.messages().await.unwrap());
        let expected = ["user: one", "model: A", "user: two", "model: B"];
        assert_eq!(said_there, expected);
        worker.stop().await;
    })
    .await;
}

#[tokio::test]
async fn an_input_that_fitted_where_its_run_was_started_holds_the_run() {
    each(async |place| {
        let earlier = place.runtime().await;
        let clerk = AgentBuilder::<u32, String>::new("clerk").build();
        let run = earlier.agent(clerk).run(7_u32).start().await.unwrap();
        let (runtime, _, _, _) = office(place, []).await;
        let worker = Worker::start(&runtime);
        let why = held(&run).await;
        assert!(why.contains("does not fit the agent"), "{why}");
        worker.stop().await;
    })
    .await;
}

/// Model that notes how many of its requests are under way at once.
#[derive(Clone, Default)]
struct Counting(Arc<[AtomicUsize; 2]>);

#[agents::async_trait]
impl Model for Counting {
    fn id(&self) -> &str {
        "counting"
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        let [now, most] = &*self.0;
        most.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
        tokio::time::sleep(Duration::from_millis(5)).await;
        now.fetch_sub(1, SeqCst);
        let content = request.messages().len().to_string();
        Ok(Reply {
            content,
            ..Reply::default()
        })
    }
}

#[tokio::test]
async fn several_workers_work_on_one_run_of_a_conversation_at_a_time() {
    each(async |place| {
        let model = Counting::default();
        let mut workers = Vec::new();
        let mut clerks = Vec::new();
        for _ in 0..3 {
            let runtime = place.runtime().await.model(model.clone());
            clerks.push(runtime.agent(clerk(&Ran::default())));
            workers.push(Worker::start(&runtime));
        }
        // Three processes write at once.
        let mut writers = tokio::task::JoinSet::new();
        for clerk in clerks {
            writers.spawn(async move {
                let mut runs = Vec::new();
                for _ in 0..5 {
                    runs.push(clerk.chat("42").send("More.").start().await.unwrap());
                }
                for run in &runs {
                    done(run).await.result.unwrap();
                }
            });
        }
        writers.join_all().await;
        let messages = place.client().await.conversation("", "42").messages().await;
        let said = said(&messages.unwrap());
        let counts = said.iter().filter(|line| line.starts_with("model: "));
        let expected: Vec<_> = (1..=15).map(|n| format!("model: {}", 2 * n)).collect();
        assert_eq!(counts.cloned().collect::<Vec<_>>(), expected);
        assert_eq!(model.0[1].load(SeqCst), 1, "one request at a time");
    })
    .await;
}

#[tokio::test]
async fn a_message_without_an_answer_is_kept_if_a_tool_has_written_and_forgotten_otherwise() {
    each(async |place| {
        let scripts = [
            Script::text("Hello."),
            Script::fail("out of memory"),
            pays(700),
            Script::fail("out of memory"),
            Script::text("It is paid."),
        ];
        let (runtime, clerk, _, ran) = office(place, scripts).await;
        let chat = clerk.chat("42").scope("acme");
        let _worker = Worker::start(&runtime);
        done(&chat.send("Hello?").start().await.unwrap()).await;
        let failed = chat.send("Nobody hears this.").start().await.unwrap();
        assert_eq!(
            done(&failed).await.result.unwrap_err().kind(),
            ErrorKind::Model
        );
        assert_eq!(
            said(&chat.messages().await.unwrap()),
            ["user: Hello?", "model: Hello."]
        );

        let pays = chat.send("Pay.").by(&ada()).start().await.unwrap();
        let request = waiting(&pays).await.remove(0);
        let approvals = runtime.approvals();
        approvals
            .decide(&request.id, Approval::Approve, &grace())
            .await
            .unwrap();
        assert!(done(&pays).await.result.is_err());
        assert_eq!(*ran.lock().unwrap(), [json!(700)]);
        let kept = said(&chat.messages().await.unwrap());
        assert_eq!(kept[2..5], ["user: Pay.", "model: pay()", "tool: paid 700"]);
        assert!(kept[5].starts_with("model: [no answer:"), "{kept:?}");

        let last = chat.send("Is it paid?").start().await.unwrap();
        assert_eq!(done(&last).await.result.unwrap(), "It is paid.");
        assert_eq!(chat.messages().await.unwrap().len(), 1 + 8);
    })
    .await;
}

#[tokio::test]
async fn a_cancelled_message_has_its_turn_and_changes_nothing() {
    each(async |place| {
        let (runtime, clerk, model, _) = office(place, [pays(1), Script::text("Hello.")]).await;
        let chat = clerk.chat("42").scope("acme");
        let _worker = Worker::start(&runtime);
        let first = chat.send("Pay.").start().await.unwrap();
        waiting(&first).await;
        let second = chat.send("Not this.").start().await.unwrap();
        let third = chat.send("Hello?").start().await.unwrap();
        // They wait for the first one, and so for people.
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert_eq!(model.requests().len(), 1);
        second.cancel(&ada()).await.unwrap();
        first.cancel(&ada()).await.unwrap();
        for run in [&first, &second] {
            let error = done(run).await.result.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Cancelled);
        }
        assert_eq!(done(&third).await.result.unwrap(), "Hello.");
        assert_eq!(
            said(&chat.messages().await.unwrap()),
            ["user: Hello?", "model: Hello."]
        );
    })
    .await;
}

#[tokio::test]
async fn awaiting_a_message_answers_the_earlier_ones_here_first() {
    each(async |place| {
        let (_, clerk, _, _) = office(place, ["A", "B"].map(Script::text)).await;
        let chat = clerk.chat("42");
        let first = chat.send("one").start().await.unwrap();
        assert_eq!(chat.send("two").await.unwrap(), "B");
        assert_eq!(done(&first).await.result.unwrap(), "A");
    })
    .await;
}

#[tokio::test]
async fn a_conversation_is_shortened_before_each_message() {
    each(async |place| {
        let (_, clerk, model, _) = office(place, ["A", "B", "C"].map(Script::text)).await;
        let chat = clerk.shorten(KeepLast::exchanges(1)).chat("42");
        for message in ["one", "two", "three"] {
            chat.send(message).await.unwrap();
        }
        let kept = ["user: two", "model: B", "user: three", "model: C"];
        assert_eq!(said(&chat.messages().await.unwrap()), kept);
        assert_eq!(model.requests()[2].messages.len(), 4);
    })
    .await;
}

#[tokio::test]
async fn a_summary_is_a_part_of_its_message_and_is_not_made_again() {
    each(async |place| {
        let scripts = [
            Script::text("A"),
            Script::text("They said one."),
            pays(3),
            Script::text("Paid."),
        ];
        let (runtime, clerk, model, _) = office(place, scripts).await;
        let summarizer = AgentBuilder::<String, String>::new("summarizer").prompt("Sum up.");
        let summary = Summarize::with(summarizer.build()).after(1).keep(0);
        let chat = clerk.shorten(summary).chat("42").scope("acme");
        let worker = Worker::start(&runtime);
        done(&chat.send("one").start().await.unwrap()).await;
        let run = chat.send("Pay.").start().await.unwrap();
        let request = waiting(&run).await.remove(0);
        worker.stop().await;
        // Another process goes on behind the summary.
        let approvals = runtime.approvals();
        approvals
            .decide(&request.id, Approval::Approve, &grace())
            .await
            .unwrap();
        let _worker = Worker::start(&runtime);
        assert_eq!(done(&run).await.result.unwrap(), "Paid.");
        assert_eq!(model.requests().len(), 4);
        let kept = said(&chat.messages().await.unwrap());
        let rest = [
            "model: They said one.",
            "user: Pay.",
            "model: pay()",
            "tool: paid 3",
            "model: Paid.",
        ];
        assert_eq!(kept[1..], rest);
    })
    .await;
}

#[tokio::test]
async fn tenants_have_conversations_of_their_own_and_agents_as_well() {
    each(async |place| {
        let (runtime, clerk, model, _) = office(place, ["A", "B"].map(Script::text)).await;
        let other = AgentBuilder::<String, String>::new("other").build();
        let other = runtime.agent(other);
        let acme = clerk.chat("42").scope("acme");
        acme.send("one").await.unwrap();
        clerk.chat("42").scope("other").send("two").await.unwrap();
        assert_eq!(model.requests()[1].messages.len(), 2, "it begins anew");
        let client = place.client().await;
        for (tenant, line) in [("acme", "user: one"), ("other", "user: two")] {
            let messages = client.conversation(tenant, "42").messages().await.unwrap();
            assert_eq!(said(&messages)[0], line);
        }
        let nothing = client.conversation("third", "42");
        assert!(nothing.snapshot().await.unwrap().is_none());
        // A message for another tenant belongs to the conversation of that tenant.
        let elsewhere = acme.send("three").scope("third").start().await.unwrap();
        let runs = client.conversation("third", "42").runs().await.unwrap();
        assert_eq!(runs[0].id, elsewhere.id());

        let error = other.chat("42").scope("acme").send("one").start().await;
        let error = error.unwrap_err();
        assert_eq!(error.kind(), RuntimeErrorKind::Invalid);
        let why =
            "the conversation `42` is one with `clerk`; give each conversation an id of its own";
        assert_eq!(error.to_string(), why);
        // A key belongs to one conversation.
        acme.send("again").key("k").start().await.unwrap();
        let error = clerk
            .chat("43")
            .scope("acme")
            .send("again")
            .key("k")
            .start()
            .await;
        assert_eq!(error.unwrap_err().kind(), RuntimeErrorKind::Invalid);
    })
    .await;
}

/// Decision 24: whoever wrote in the conversation may not decide about requests that are made in it.
#[tokio::test]
async fn whoever_wrote_in_the_conversation_may_not_decide_about_its_requests() {
    each(async |place| {
        let scripts = [Script::text("Hello."), pays(900), Script::text("Paid.")];
        let (model, _) = ScriptedModel::new(scripts);
        let roles = Roles::new().share_conversations();
        let runtime = place.runtime().await.model(model).roles(roles);
        let ran = Ran::default();
        let clerk = runtime.agent(clerk(&ran));
        let chat = clerk.chat("42").scope("acme");
        let bob = Principal::new("bob", "acme");
        let _worker = Worker::start(&runtime);
        let first = chat
            .send("If she asks, pay me.")
            .by(&bob)
            .start()
            .await
            .unwrap();
        done(&first).await;
        let second = chat
            .send("Pay what is due.")
            .by(&ada())
            .start()
            .await
            .unwrap();
        let request = waiting(&second).await.remove(0);
        let client = place.client().await;
        // Also after his message was erased.
        client
            .erase(first.id(), &Principal::operator())
            .await
            .unwrap();
        let approvals = client.approvals();
        for who in [&bob, &ada()] {
            let known = approvals.get_readable(&request.id, who).await.unwrap();
            let decided = approvals.decide(&request.id, Approval::Approve, who).await;
            let error = decided.unwrap_err();
            assert_eq!(error.kind(), RuntimeErrorKind::Forbidden, "{error}");
            let told = known.refusal.map(|refusal| refusal.to_string());
            assert_eq!(told, Some(error.to_string()), "it is known before");
        }
        let known = approvals.get_readable(&request.id, &grace()).await.unwrap();
        assert!(known.refusal.is_none(), "{known:?}");
        approvals
            .decide(&request.id, Approval::Approve, &grace())
            .await
            .unwrap();
        done(&second).await.result.unwrap();
        assert_eq!(*ran.lock().unwrap(), [json!(900)]);
    })
    .await;
}

/// Without roles, a conversation is its author's: another user of the tenant neither reads nor writes in it.
#[tokio::test]
async fn a_conversation_is_its_authors_unless_it_is_shared() {
    each(async |place| {
        let scripts = ["A", "B", "C", "D"].map(Script::text);
        let (runtime, clerk, _, _) = office(place, scripts).await;
        let _worker = Worker::start(&runtime);
        let carol = Principal::new("carol", "acme");
        let says = async |scope: Scope, by: Option<&Principal>, id: &str| {
            let start = clerk.chat(id).scope(scope).send("Hello.");
            let start = match by {
                Some(by) => start.by(by),
                None => start,
            };
            start.start().await
        };
        let first = says("acme".into(), Some(&ada()), "hers").await.unwrap();
        done(&first).await;
        let of_grace = Scope::from("acme").user("grace");
        done(&says(of_grace, None, "for grace").await.unwrap()).await;
        done(&says("acme".into(), None, "of a program").await.unwrap()).await;

        let refused = says("acme".into(), Some(&carol), "hers").await.unwrap_err();
        assert_eq!(refused.kind(), RuntimeErrorKind::Forbidden);
        assert!(
            refused.to_string().contains("is not for `carol`"),
            "{refused}"
        );
        let client = place.client().await;
        let refused = client
            .say(first.id(), "Stop.")
            .by(&carol)
            .await
            .unwrap_err();
        assert_eq!(refused.kind(), RuntimeErrorKind::Forbidden);

        let hers = client.conversation("acme", "hers");
        let run = hers.first_run().await.unwrap().unwrap();
        let admitted = async |client: &Client, id: &str, by: &Principal| {
            client.conversation("acme", id).admits(by).await.unwrap()
        };
        for (id, by, is_admitted) in [
            ("hers", ada(), true),
            ("hers", Principal::operator(), true),
            ("hers", carol.clone(), false),
            ("hers", carol.clone().role("supervisor"), false),
            ("hers", Principal::new("ada", "other"), false),
            ("for grace", grace(), true),
            ("for grace", carol.clone(), false),
            ("of a program", carol.clone(), true),
            ("not begun", carol.clone(), true),
        ] {
            assert_eq!(admitted(&client, id, &by).await, is_admitted, "{id} {by:?}");
        }
        assert!(!client.may_see_contents_of(&run, &carol).await.unwrap());
        assert!(client.may_see_contents_of(&run, &ada()).await.unwrap());

        // Sharing is said: for everybody who may see contents, or for those with the role.
        let shared = client.clone().roles(Roles::new().share_conversations());
        assert!(admitted(&shared, "hers", &carol).await);
        let roles = Roles::new().for_action(Action::ReadArguments, "supervisor");
        let with_role = client.clone().roles(roles);
        assert!(!admitted(&with_role, "hers", &carol).await);
        assert!(admitted(&with_role, "hers", &carol.role("supervisor")).await);
        assert!(admitted(&with_role, "hers", &ada()).await);
        // The role for arguments is needed for arguments, also by the author.
        assert!(!with_role.may_see_contents_of(&run, &ada()).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn whoever_began_a_conversation_is_known_also_after_it_was_erased() {
    each(async |place| {
        let scripts = ["A", "B", "C"].map(Script::text);
        let (runtime, clerk, _, _) = office(place, scripts).await;
        let _worker = Worker::start(&runtime);
        let operator = Principal::operator();
        let named_alike = Principal::new("operator", "acme");
        let bob = Principal::new("bob", "acme");
        let says = async |id: &str, by: &Principal| {
            let start = clerk.chat(id).scope("acme").send("Hello.").by(by);
            let run = start.start().await.unwrap();
            done(&run).await;
        };
        says("42", &ada()).await;
        says("of the operator", &operator).await;
        let client = place.client().await;
        let began = async |id: &str, by: &Principal| {
            let conversation = client.conversation("acme", id);
            conversation.was_begun_by(by).await.unwrap()
        };
        let elsewhere = Principal::new("ada", "other");
        for is_erased in [false, true] {
            assert!(began("42", &ada()).await, "erased: {is_erased}");
            for other in [&bob, &elsewhere, &operator, &named_alike] {
                assert!(!began("42", other).await, "{other:?}");
            }
            assert!(!began("none", &ada()).await);
            assert!(!began("of the operator", &named_alike).await);
            assert!(began("of the operator", &operator).await);
            for id in ["42", "of the operator"] {
                let conversation = client.conversation("acme", id);
                conversation.erase(&operator).await.unwrap();
            }
        }
    })
    .await;
}

#[tokio::test]
async fn an_erased_conversation_begins_anew() {
    each(async |place| {
        let (runtime, clerk, model, _) = office(place, ["A", "B", "C"].map(Script::text)).await;
        let chat = clerk.chat("42").scope("acme");
        chat.send("one").await.unwrap();
        chat.send("two").await.unwrap();
        let operator = Principal::operator();
        let client = runtime.as_client();
        let conversation = client.conversation("acme", "42");
        let open = chat.send("three").start().await.unwrap();
        let error = conversation.erase(&operator).await.unwrap_err();
        assert!(error.to_string().contains("cancel it"), "{error}");
        let stranger = Principal::new("eve", "other");
        assert!(conversation.erase(&stranger).await.is_err());
        open.cancel(&ada()).await.unwrap();
        let worker = Worker::start(&runtime);
        done(&open).await;
        worker.stop().await;
        assert_eq!(conversation.erase(&operator).await.unwrap(), 3);
        assert!(chat.messages().await.unwrap().is_empty());
        chat.send("four").await.unwrap();
        assert_eq!(model.requests()[2].messages.len(), 2);
        client.audit().verify().await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn whoever_may_not_erase_a_run_erases_no_conversation() {
    each(async |place| {
        let (runtime, clerk, ..) = office(place, [Script::text("A")]).await;
        let chat = clerk.chat("42").scope("acme");
        chat.send("one").await.unwrap();
        let client = runtime.as_client();
        let conversation = client.conversation("acme", "42");
        let error = conversation.erase(&grace()).await.unwrap_err();
        assert_eq!(error.kind(), RuntimeErrorKind::Forbidden);
        assert!(error.to_string().contains("`erase`"), "{error}");
        let stranger = Principal::new("eve", "other").role("privacy");
        let roles = Roles::new().for_action(Action::Erase, "privacy");
        let ruled = client.clone().roles(roles).conversation("acme", "42");
        let unknown = ruled.erase(&stranger).await.unwrap_err();
        assert!(unknown.to_string().contains("no conversation"), "{unknown}");
        assert_eq!(chat.messages().await.unwrap().len(), 3);
        let filter = AuditFilter {
            kind: Some(AuditKind::Refused),
            ..AuditFilter::default()
        };
        let refused = client.audit().events(&filter).await.unwrap();
        let told: Vec<_> = refused
            .iter()
            .map(|event| (event.actor.as_deref(), event.reason.clone()))
            .collect();
        let expected = [("grace", error), ("eve", unknown)];
        let expected = expected.map(|(by, error)| (Some(by), Some(error.to_string())));
        assert_eq!(told, expected);
        assert_eq!(ruled.erase(&grace().role("privacy")).await.unwrap(), 1);
        assert!(chat.messages().await.unwrap().is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_message_that_was_put_into_another_conversation_is_held() {
    let place = Place::of_file();
    let (runtime, clerk, _, _) = office(&place, [Script::text("A")]).await;
    let run = clerk.chat("42").send("one").start().await.unwrap();
    let db = Connection::open(place.address()).unwrap();
    let moved = "UPDATE agent_runs SET conversation = 'of the boss'";
    assert_eq!(db.execute(moved, []).unwrap(), 1);
    let _worker = Worker::start(&runtime);
    let why = held(&run).await;
    assert!(why.contains("its row was changed by hand"), "{why}");
}

#[tokio::test]
async fn a_secret_is_in_no_message_of_a_conversation() {
    each(async |place| {
        let schema = json!({"type": "object"});
        let ask = FnTool::new(
            "ask",
            "Asks.",
            Effects::Reads,
            schema,
            |_: Value, cx| async move {
                let key = cx.secret("crm").await?;
                Ok::<_, agents::secret::SecretError>(format!("the key is {}", key.expose_secret()))
            },
        );
        let secret = "a-long-key-of-the-crm";
        let (model, handle) = ScriptedModel::new([
            Script::call("ask", "{}"),
            Script::text("I have seen it."),
            Script::text("Yes."),
        ]);
        let store = agents::secret::SecretStore::new().org("acme", "crm", secret);
        let runtime = place.runtime().await.model(model).secrets(store);
        let agent = AgentBuilder::<String, String>::new("clerk").tool(ask);
        let chat = runtime.agent(agent.build()).chat("42").scope("acme");
        chat.send("What is the key?").await.unwrap();
        chat.send("Is that so?").await.unwrap();
        let shown = format!("{:?}", chat.messages().await.unwrap());
        assert!(!shown.contains(secret), "{shown}");
        let sent = format!("{:?}", handle.requests()[2].messages);
        assert!(!sent.contains(secret), "{sent}");
        assert!(shown.contains("[secret:crm]"), "{shown}");
    })
    .await;
}
