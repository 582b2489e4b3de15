//! Our client at our server over HTTP: questions, models, resources and prompts, in both directions.

use crate::agents_with_servers::{agent, results, told, tools, yes};
use agents::{
    model::{Content, Media, Message, Reply, Usage},
    prelude::*,
    testing::{Script, ScriptedModel},
    tool::Scope,
};
use agents_mcp::{self as mcp, Answer, Host, HostError, Mcp, Question, Serve, Server};
use serde_json::{Value, json};
use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
    time::Duration,
};

/// Books a trip, of which the person has to say more.
#[agents::tool(none)]
async fn book(
    /// City of the trip.
    city: String,
) -> Result<String, HostError> {
    let host = Host::current().unwrap();
    host.log(format!("booking {city}")).await;
    let schema = json!({"type": "object", "required": ["nights"], "properties": {
        "nights": {"type": "integer"},
        "class": {"type": "string", "enum": ["first", "second"], "default": "second"},
    }});
    Ok(
        match host.ask(format!("How long in {city}?"), schema).await? {
            Answer::Given(values) => {
                format!("{} nights, {} class", values["nights"], values["class"])
            }
            other => format!("{other:?}"),
        },
    )
}

/// Sends a letter.
#[agents::tool(writes, external, effect_description = "sends {text}")]
async fn send_letter(
    /// Text of the letter.
    text: String,
) -> usize {
    text.len()
}

/// Counts to three.
#[agents::tool(none)]
async fn count_up() -> &'static str {
    let host = Host::current().unwrap();
    for done in [1.0, 2.0, 2.0, 3.0] {
        host.progress(done, Some(3.0), format!("at {done}")).await;
    }
    "done"
}

/// Draws a seal.
#[agents::tool(none)]
async fn draw() -> Result<Media, Error> {
    Media::bytes("image/png", b"PNG")
}

#[derive(serde::Serialize)]
struct Folder {
    title: &'static str,
    pages: Vec<Media>,
}

/// Fetches a folder.
#[agents::tool(none)]
async fn fetch() -> Result<Folder, Error> {
    let page = Media::bytes("text/plain", b"page one")?.named("office://page");
    let pages = vec![page, Media::bytes("application/pdf", b"PDF")?];
    Ok(Folder {
        title: "October",
        pages,
    })
}

/// You translate.
#[agent]
async fn translator(text: String) -> String;

fn office() -> Serve {
    let style = |_| async { Ok::<_, Infallible>("One line a change.") };
    let note = |vars: mcp::Variables| async move {
        match vars["day"].as_str() {
            "monday" => Ok("Mondays are busy."),
            day => Err(format!("there was no {day}")),
        }
    };
    let seal =
        |_| async { Ok::<_, Error>(Content::default().with(Media::bytes("image/png", b"PNG")?)) };
    mcp::serve()
        .named("office")
        .tool(Book)
        .tool(SendLetter)
        .tool(CountUp)
        .tool(Draw)
        .tool(Fetch)
        .agent(Translator)
        .host_model()
        .host_approves()
        .resource(
            mcp::Resource::new("office://style", "house style", style)
                .description("How notes are written."),
        )
        .resource(mcp::Resource::new("office://seal", "seal", seal))
        .resource(mcp::Resource::new("office://{day}/note", "note", note))
        .prompt(
            mcp::Prompt::new("review", |args| format!("Review {}.", args["what"]))
                .description("Asks for a review.")
                .argument("what", "What is reviewed.")
                .optional("how", "How."),
        )
        .prompt(mcp::Prompt::new("example", |_| {
            vec![
                Message::User {
                    content: Content::from("What is this?")
                        .with(Media::bytes("image/png", b"PNG").unwrap()),
                },
                Message::Assistant {
                    content: "A seal.".into(),
                    thinking: None,
                    calls: Vec::new(),
                },
            ]
        }))
}

/// Serves on a port of its own; returns the description of the server.
pub(crate) async fn served(server: Serve) -> Server {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = axum::Router::new().nest_service("/mcp", server.http());
    tokio::spawn(axum::serve(listener, router).into_future());
    let server = mcp::http(format!("http://{address}/mcp"));
    server.named("office").trust_hints()
}

/// Returns what the model is told of the output of one call. Our server sends receipts.
async fn output(mcp: &Mcp, tool: &str, args: &str) -> String {
    let said = told(mcp, &[(tool, args)]).await.remove(0);
    match serde_json::from_str::<Value>(&said) {
        Ok(receipt) => receipt["output"].as_str().unwrap_or(&said).to_owned(),
        Err(_) => said,
    }
}

const OSLO: &str = r#"{"city": "Oslo"}"#;

#[tokio::test]
async fn a_question_of_a_server_is_declined_unless_somebody_answers_it() {
    let server = served(office()).await;
    let silent = tools(server.clone());
    let said = output(&silent, "office_book", OSLO).await;
    assert!(said.contains("the host does not ask people"), "{said}");

    let asked = Arc::new(Mutex::new(Vec::new()));
    let questions = asked.clone();
    let answers = server.answers(move |question: Question| {
        questions.lock().unwrap().push(question.clone());
        async move {
            match question.message.contains("Oslo") {
                true => Answer::Given(json!({"nights": 3})),
                false => Answer::Declined,
            }
        }
    });
    let mcp = tools(answers);
    assert_eq!(
        output(&mcp, "office_book", OSLO).await,
        "3 nights, \"second\" class"
    );
    assert_eq!(
        output(&mcp, "office_book", r#"{"city": "Rome"}"#).await,
        "Declined"
    );
    let asked = asked.lock().unwrap();
    assert_eq!(
        (&*asked[0].server, &*asked[0].message),
        ("office", "How long in Oslo?")
    );
    assert_eq!(asked[0].schema["properties"]["nights"]["type"], "integer");
}

#[tokio::test]
async fn an_answer_that_does_not_follow_the_schema_is_not_sent() {
    for wrong in [json!({}), json!({"nights": "many"}), json!([3])] {
        let server = served(office()).await.answers(move |_| {
            let wrong = wrong.clone();
            async { Answer::Given(wrong) }
        });
        let said = output(&tools(server), "office_book", OSLO).await;
        assert!(
            said.contains("the host did not answer")
                && said.contains("`office` gets no answer: that of `.answers(..)` does not follow"),
            "{said}"
        );
    }
}

#[tokio::test]
async fn a_server_uses_a_model_only_if_one_is_lent_and_no_more_tokens_than_that() {
    let server = served(office()).await;
    let ask = r#"{"text": "Guten Tag"}"#;
    let said = output(&tools(server.clone()), "office_translator", ask).await;
    assert!(said.contains("the host lends no model"), "{said}");

    let usage = Usage {
        input_tokens: 60,
        output_tokens: 10,
        requests: 1,
        ..Default::default()
    };
    let says = |content: &'static str| {
        Script::with(move |_| Reply {
            content: content.into(),
            usage,
            ..Reply::default()
        })
    };
    let script = [says("Good day"), says("Good day again")];
    let (model, handle) = ScriptedModel::new(script);
    let mcp = tools(server.lends(model, 100));
    assert_eq!(output(&mcp, "office_translator", ask).await, "Good day");
    assert_eq!(
        output(&mcp, "office_translator", ask).await,
        "Good day again"
    );
    // 140 tokens are used now.
    let said = output(&mcp, "office_translator", ask).await;
    assert!(
        said.contains("the MCP server `office` has used up the 100 tokens of its model"),
        "{said}"
    );
    assert_eq!(handle.count(), 2);
    let request = &handle.requests()[0];
    assert!(
        matches!(&request.messages[0], Message::System { content } if content == "You translate.")
    );
    assert!(request.tools.is_empty());
}

#[tokio::test]
async fn the_tokens_of_a_lent_model_are_counted_on_when_a_connection_is_made_again() {
    let server = served(office()).await;
    // Each description lends a model of its own.
    let mcp = Mcp::new(move |_| {
        let reply = Reply {
            content: "Good day".into(),
            usage: Usage {
                input_tokens: 60,
                requests: 1,
                ..Default::default()
            },
            ..Reply::default()
        };
        let (model, _) = ScriptedModel::new([Script::with(move |_| reply.clone())]);
        server.clone().lends(model, 50)
    });
    let ask = r#"{"text": "Guten Tag"}"#;
    assert_eq!(output(&mcp, "office_translator", ask).await, "Good day");
    mcp.close();
    let said = output(&mcp, "office_translator", ask).await;
    assert!(said.contains("the 50 tokens"), "{said}");
}

#[tokio::test]
async fn the_person_at_the_host_decides_about_a_call_that_needs_approval() {
    let server = served(office()).await;
    let letter = r#"{"text": "Dear all"}"#;
    for (allow, expected) in [
        (true, "8"),
        (false, "the person at the host did not allow it"),
    ] {
        let server = server
            .clone()
            .answers(move |question: Question| async move {
                assert_eq!(
                    question.message,
                    "Allow `send_letter`, which sends Dear all?"
                );
                Answer::Given(json!({"allow": allow}))
            });
        let said = output(&tools(server), "office_send_letter", letter).await;
        assert!(said.contains(expected), "{said}");
    }
    // Without an answer, as without the question.
    let said = output(&tools(server), "office_send_letter", letter).await;
    assert!(said.contains("this server asks nobody"), "{said}");
}

#[tokio::test]
async fn resources_are_knowledge_that_an_agent_loads_without_approval() {
    let server = served(office()).await;
    let mcp = tools(server.clone().knowledge("office://style"));
    let (model, handle) = ScriptedModel::new([
        Script::call("office_read_house_style", "{}"),
        Script::text("done"),
    ]);
    agent(&mcp).run("go").model(model).await.unwrap();
    assert_eq!(results(&handle, 1), ["One line a change."]);
    let offered = &handle.requests()[0].tools;
    assert!(offered.contains(&"office_book".to_owned()), "{offered:?}");
    assert!(
        !offered.contains(&"office_read_seal".to_owned()),
        "{offered:?}"
    );

    let all = tools(server.clone().knowledge("*"));
    let script = [
        Script::call("office_read_seal", "{}"),
        Script::text("a seal"),
    ];
    let (model, handle) = ScriptedModel::new(script);
    agent(&all).run("go").model(model).await.unwrap();
    let requests = handle.requests();
    let last = requests[1].messages.last().unwrap().media();
    assert_eq!((last.len(), last[0].media_type()), (1, "image/png"));
    let none = tools(server);
    let listed = none.tools(&Scope::default()).await.unwrap();
    assert!(
        !listed.iter().any(|one| one.tool.name.contains("read")),
        "{listed:?}"
    );
}

#[tokio::test]
async fn images_and_files_of_a_tool_reach_the_model_of_another_process() {
    let mcp = tools(served(office()).await);
    let calls = [("office_draw", "{}"), ("office_fetch", "{}")];
    let (model, handle) = ScriptedModel::new([Script::calls(calls), Script::text("done")]);
    let outcome = agent(&mcp).run("go").model(model).outcome().await.unwrap();
    let requests = handle.requests();
    let messages = &requests[1].messages;
    let files = |nth: usize| -> Vec<_> {
        let files = messages[messages.len() - 2 + nth].media().iter();
        files
            .map(|file| (file.media_type(), file.to_bytes().unwrap()))
            .collect()
    };
    assert_eq!(files(0), [("image/png", b"PNG".to_vec())]);
    // A file that is a text comes as a text.
    assert_eq!(files(1), [("application/pdf", b"PDF".to_vec())]);
    let told = requests[1].results();
    assert!(told[1].1.contains("page one"), "{}", told[1].1);
    let receipts = outcome.outputs.receipts();
    let counts: Vec<_> = receipts.map(|receipt| receipt.attachments.len()).collect();
    assert_eq!(counts, [1, 1]);
}

#[tokio::test]
async fn resources_are_listed_and_read() {
    let mcp = tools(served(office()).await);
    let scope = Scope::default();
    let listed = mcp.resources(&scope).await.unwrap();
    let uris: Vec<_> = listed.iter().map(|one| one.uri.as_str()).collect();
    assert_eq!(uris, ["office://style", "office://seal"]);
    assert_eq!(listed[0].description, "How notes are written.");
    let note = mcp.read(&scope, "office://monday/note").await.unwrap();
    assert_eq!(note.text, "Mondays are busy.");
    let seal = mcp.read(&scope, "office://seal").await.unwrap();
    assert_eq!(
        (seal.text.as_str(), seal.media[0].base64()),
        ("", Some("UE5H"))
    );
    for (uri, why) in [
        (
            "office://sunday/note",
            "cannot be read: there was no sunday",
        ),
        ("office://sunday/../note", "this server has no resource"),
        (
            "office://nothing",
            "this server has no resource `office://nothing`",
        ),
    ] {
        let error = mcp.read(&scope, uri).await.unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
}

#[tokio::test]
async fn a_prompt_of_a_server_is_a_task_or_the_beginning_of_a_chat() {
    let mcp = tools(served(office()).await);
    let scope = Scope::default();
    let listed = mcp.prompts(&scope).await.unwrap();
    assert_eq!(
        (&*listed[0].name, &*listed[0].description),
        ("review", "Asks for a review.")
    );
    let needed: Vec<_> = listed[0]
        .arguments
        .iter()
        .map(|one| (&*one.name, one.is_required))
        .collect();
    assert_eq!(needed, [("what", true), ("how", false)]);

    let review = mcp
        .prompt(&scope, "review", [("what", "this")])
        .await
        .unwrap();
    assert_eq!(
        review,
        [Message::User {
            content: "Review this.".into()
        }]
    );
    let missing = mcp
        .prompt(&scope, "review", [("how", "well")])
        .await
        .unwrap_err();
    assert!(
        missing.to_string().contains("needs the argument `what`"),
        "{missing}"
    );
    let unknown = mcp
        .prompt(&scope, "nothing", [("", ""); 0])
        .await
        .unwrap_err();
    assert!(
        unknown
            .to_string()
            .contains("this server has no prompt `nothing`"),
        "{unknown}"
    );

    let mut example = mcp.prompt(&scope, "example", [("", ""); 0]).await.unwrap();
    assert_eq!((example.len(), example[0].media().len()), (2, 1));
    // The model here reads texts alone.
    if let Message::User { content } = &mut example[0] {
        content.media.clear();
    }
    let (model, handle) = ScriptedModel::new([Script::text("Wax.")]);
    let agent = AgentBuilder::<String, String>::new("clerk")
        .prompt("You know seals.")
        .model(model)
        .build();
    let mut chat = agent.chat().with_messages(example).unwrap();
    assert_eq!(chat.send("Of what?").await.unwrap(), "Wax.");
    assert_eq!(handle.requests()[0].messages.len(), 4);
}

#[tokio::test]
async fn a_host_is_told_of_changes_and_reads_the_list_anew() {
    let changes = mcp::Changes::new();
    let server = served(office().changes(&changes)).await.knowledge("*");
    let mcp = tools(server);
    let scope = Scope::default();
    let listed = mcp.tools(&scope).await.unwrap().len();
    // The lists are the same, so nothing is blocked by that.
    for change in [mcp::Changes::tools, mcp::Changes::resources] {
        change(&changes);
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(mcp.tools(&scope).await.unwrap().len(), listed);
    }
    assert_eq!(mcp.changed(&scope).await.unwrap().len(), 0);
    let mcp_agent = agent(&mcp);
    let (model, _) =
        ScriptedModel::new([Script::call("office_count_up", "{}"), Script::text("done")]);
    mcp_agent
        .run("go")
        .model(model)
        .approver(yes)
        .await
        .unwrap();
}
