//! Replies: an answer in one document and a streamed one give the same reply.

use crate::{HELLO, ask, call, history, listen, server::*, tools, user};
use agents_core::model::{FinishReason, Model, Reply, Request, Usage};

/// An answer as a stream of lines, and as one document.
struct Case {
    name: &'static str,
    lines: &'static [&'static str],
    whole: &'static str,
}

const CASES: &[Case] = &[
    Case {
        name: "text",
        lines: &[
            r#"{"model":"m","message":{"role":"assistant","content":"Grüß "},"done":false}"#,
            r#"{"model":"m","message":{"role":"assistant","content":"\"Gott\" 🦀"},"done":false}"#,
            r#"{"model":"m","message":{"role":"assistant","content":""},"done_reason":"stop","done":true,"prompt_eval_count":10,"eval_count":4}"#,
        ],
        whole: r#"{"model":"m","message":{"role":"assistant","content":"Grüß \"Gott\" 🦀"},"done_reason":"stop","done":true,"prompt_eval_count":10,"eval_count":4}"#,
    },
    Case {
        name: "thinking",
        lines: &[
            r#"{"message":{"role":"assistant","content":"","thinking":"Hmm, "},"done":false}"#,
            r#"{"message":{"role":"assistant","content":"","thinking":"yes."},"done":false}"#,
            r#"{"message":{"role":"assistant","content":"Yes."},"done":false}"#,
            r#"{"message":{"role":"assistant","content":""},"done_reason":"length","done":true,"eval_count":4}"#,
        ],
        whole: r#"{"message":{"role":"assistant","content":"Yes.","thinking":"Hmm, yes."},"done_reason":"length","done":true,"eval_count":4}"#,
    },
    Case {
        name: "several calls in one chunk, without ids",
        lines: &[
            r#"{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"add","arguments":{"left":1,"right":2}}},{"function":{"name":"read_file","arguments":{"path":"a \"b\".txt"}}}]},"done":false}"#,
            r#"{"message":{"role":"assistant","content":""},"done_reason":"stop","done":true,"prompt_eval_count":1,"eval_count":1}"#,
        ],
        whole: r#"{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"add","arguments":{"left":1,"right":2}}},{"function":{"name":"read_file","arguments":{"path":"a \"b\".txt"}}}]},"done_reason":"stop","done":true,"prompt_eval_count":1,"eval_count":1}"#,
    },
    Case {
        name: "several calls in many chunks, with ids, beside text",
        lines: &[
            r#"{"message":{"role":"assistant","content":"I'll look."},"done":false}"#,
            r#"{"message":{"role":"assistant","content":"","tool_calls":[{"id":"call_a","function":{"index":0,"name":"add","arguments":{"left":1,"right":2}}}]},"done":false}"#,
            r#"{"message":{"role":"assistant","content":"","tool_calls":[{"id":"call_b","function":{"index":1,"name":"add","arguments":{"left":3,"right":4}}}]},"done":false}"#,
            r#"{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}"#,
        ],
        whole: r#"{"message":{"role":"assistant","content":"I'll look.","tool_calls":[{"id":"call_a","function":{"index":0,"name":"add","arguments":{"left":1,"right":2}}},{"id":"call_b","function":{"index":1,"name":"add","arguments":{"left":3,"right":4}}}]},"done":true,"done_reason":"stop"}"#,
    },
    Case {
        name: "the model was only loaded",
        lines: &[
            r#"{"message":{"role":"assistant","content":""},"done_reason":"load","done":true}"#,
        ],
        whole: r#"{"message":{"role":"assistant","content":""},"done_reason":"load","done":true}"#,
    },
];

async fn whole(body: &str) -> Reply {
    let server = Server::plays([Answer::json(200, body)]).await;
    ask(&server.model()).await.unwrap()
}

async fn pieces(pieces: impl IntoIterator<Item = impl AsRef<[u8]>>) -> (Reply, Vec<String>) {
    let server = Server::plays([Answer::pieces(pieces)]).await;
    let history = history([user("hi")]);
    let (reply, heard) = listen(&server.model(), Request::new(&history)).await;
    assert!(server.bodies()[0].contains(r#""stream":true"#));
    (reply.unwrap(), heard)
}

#[tokio::test]
async fn blocking_and_streaming_give_equal_replies() {
    for Case {
        name,
        lines,
        whole: body,
    } in CASES
    {
        let expect = whole(body).await;
        let each = lines.iter().map(|line| format!("{line}\n"));
        let (reply, heard) = pieces(each).await;
        assert_eq!(reply, expect, "{name}");
        let thinking = expect
            .thinking
            .map(|thinking| thinking.len() + 2 * 2)
            .unwrap_or_default();
        assert_eq!(
            heard.concat().len(),
            expect.content.len() + thinking,
            "{name}: {heard:?}"
        );
    }
}

#[tokio::test]
async fn a_stream_gives_the_same_reply_however_it_is_split() {
    for Case {
        name,
        lines,
        whole: body,
    } in CASES
    {
        let expect = whole(body).await;
        let bytes = lines.join("\n").into_bytes();
        for at in (1..bytes.len()).step_by(7) {
            let (one, two) = bytes.split_at(at);
            assert_eq!(pieces([one, two]).await.0, expect, "{name} at {at}");
        }
        assert_eq!(
            pieces(bytes.chunks(1)).await.0,
            expect,
            "{name} byte by byte"
        );
        assert_eq!(pieces([bytes]).await.0, expect, "{name} at once");
    }
}

#[tokio::test]
async fn fields_of_a_reply() {
    let reply = whole(CASES[3].whole).await;
    assert_eq!(
        reply,
        Reply {
            content: "I'll look.".into(),
            thinking: None,
            calls: vec![
                call("call_a", "add", r#"{"left":1,"right":2}"#),
                call("call_b", "add", r#"{"left":3,"right":4}"#),
            ],
            finish: FinishReason::Stop,
            usage: Usage {
                input_tokens: 0,
                output_tokens: 0,
                requests: 1,
                ..Usage::default()
            },
            ..Reply::default()
        }
    );
    assert_eq!(
        whole(HELLO).await.usage,
        Usage {
            input_tokens: 10,
            output_tokens: 2,
            requests: 1,
            ..Usage::default()
        }
    );
    assert_eq!(whole(CASES[1].whole).await.finish, FinishReason::Length);
    assert_eq!(
        whole(CASES[4].whole).await.finish,
        FinishReason::Other("load".into())
    );
}

#[tokio::test]
async fn arguments_stay_as_they_were_written() {
    let with = |arguments: &str| {
        format!(
            r#"{{"message":{{"content":null,"tool_calls":[{{"function":{{"name":"f"{arguments}}}}}]}},"done":true}}"#
        )
    };
    for (arguments, expect) in [
        (
            r#","arguments":{"n":12345678901234567890123, "x":1.10}"#,
            r#"{"n":12345678901234567890123, "x":1.10}"#,
        ),
        (r#","arguments": { } "#, "{ }"),
        (
            r#","arguments":"{\"path\": \"a\\nb\"}""#,
            r#"{"path": "a\nb"}"#,
        ),
        (r#","arguments":"{path: 'a'""#, "{path: 'a'"),
        (r#","arguments":[1]"#, "[1]"),
        (r#","arguments":null"#, ""),
        ("", ""),
    ] {
        let reply = whole(&with(arguments)).await;
        assert_eq!(reply.calls, [call("", "f", expect)], "{arguments}");
        let (streamed, _) = pieces([with(arguments)]).await;
        assert_eq!(streamed, reply);
    }
}

#[tokio::test]
async fn unusual_answers_are_read() {
    for body in [
        // `null` for missing fields, as Go writes them
        r#"{"message":{"role":"assistant","content":"hello","thinking":null,"tool_calls":null},"done":true,"done_reason":null,"eval_count":null}"#,
        // a stream although `stream` was false
        "{\"message\":{\"content\":\"hel\"},\"done\":false}\n{\"message\":{\"content\":\"lo\"},\"done\":true}\n",
        // one document over several lines
        "{\n  \"message\": {\n    \"content\": \"hello\"\n  },\n  \"done\": true\n}\n",
        // no `done` at all
        r#"{"message":{"content":"hello"}}"#,
    ] {
        assert_eq!(whole(body).await.content, "hello", "{body}");
    }
    // blank lines, carriage returns, and text after the end
    let (reply, heard) = pieces([
        "\r\n{\"message\":{\"content\":\"hel\"},\"done\":false}\r\n\n",
        "{\"message\":{\"content\":\"lo\"},\"done\":true}\n\n{\"message\":{\"content\":\"!\"},\"done\":false}\n",
    ])
    .await;
    assert_eq!(
        (reply.content.as_str(), heard),
        ("hello", vec!["hel".to_owned(), "lo".to_owned()])
    );
}

#[tokio::test]
async fn streaming_can_be_turned_off() {
    let server = Server::plays([Answer::json(200, HELLO)]).await;
    let history = history([user("hi")]);
    let (reply, heard) = listen(&server.model().streaming(false), Request::new(&history)).await;
    assert_eq!(reply.unwrap().content, "hello");
    assert_eq!(heard, ["hello"], "all at once, but told all the same");
    assert!(server.bodies()[0].contains(r#""stream":false"#));
}

#[tokio::test]
async fn a_stream_leaves_the_connection_usable() {
    let server = Server::plays([Answer::pieces([HELLO])]).await;
    let history = history([user("hi")]);
    for _ in 0..3 {
        listen(&server.model(), Request::new(&history))
            .await
            .0
            .unwrap();
    }
    assert_eq!(server.seen()[2].connection, 0);
}

#[tokio::test]
async fn a_stream_need_not_end_after_done() {
    let line = format!("{HELLO}\n");
    let server = Server::plays([Answer::begun().piece(&line).wait(5_000)]).await;
    let history = history([user("hi")]);
    let begun = std::time::Instant::now();
    assert_eq!(
        listen(&server.model(), Request::new(&history))
            .await
            .0
            .unwrap()
            .content,
        "hello"
    );
    assert!(begun.elapsed().as_secs() < 3);

    let server = Server::plays([Answer::begun().piece(&line).cut()]).await;
    assert_eq!(
        listen(&server.model(), Request::new(&history))
            .await
            .0
            .unwrap()
            .content,
        "hello"
    );
}

#[tokio::test]
async fn one_client_serves_concurrent_requests() {
    let server = Server::plays([Answer::json(200, HELLO)]).await;
    let (model, tools) = (server.model(), tools());
    let asked: Vec<_> = (0..50)
        .map(|_| {
            let (model, tools) = (model.clone(), tools.clone());
            tokio::spawn(async move {
                let history = history([user("hi")]);
                model.chat(Request::new(&history).with_tools(&tools)).await
            })
        })
        .collect();
    for answer in asked {
        assert_eq!(answer.await.unwrap().unwrap().content, "hello");
    }
    assert_eq!(server.seen().len(), 50);
}

/// Connections depend on the runtime that opened them. A client that outlives a runtime must not reuse its connections
/// in the next.
#[test]
fn a_client_survives_its_runtime() {
    let rt = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
    };
    let home = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let server = home.block_on(Server::plays([Answer::json(200, HELLO)]));
    let model = server.model();
    let idle = rt();
    idle.block_on(ask(&model)).unwrap();
    // `idle` still exists, but nothing polls its tasks.
    assert_eq!(rt().block_on(ask(&model)).unwrap().content, "hello");
    assert_eq!(rt().block_on(ask(&model)).unwrap().content, "hello");
}
