//! Thinking, and blocks that only the server understands, go back to the server.

use crate::{
    HELLO, ask, bodies, call, client, decoding, kept, listen, messages, replies, result, said,
    text, tool_use, user,
};
use agents_anthropic::anthropic;
use agents_core::model::{FinishReason, History, Message, Model, Request, Thinking};
use agents_http::testing::{Answer, Server};
use serde_json::{Value, json};

#[tokio::test]
async fn thinking_goes_back_unchanged_and_in_its_place() {
    let reply = decoding::whole(&decoding::two_calls());
    let sent = messages(vec![
        user("hi"),
        kept(&reply),
        result("toolu_1", "read_file", "x"),
    ])
    .await;
    let expect = json!([
        { "type": "thinking", "thinking": "h…m", "signature": "EqQB" },
        { "type": "redacted_thinking", "data": "EmwK" },
        text("Lookíng"),
        tool_use("toolu_1", "read_file", json!({ "path": "é" })),
        tool_use("toolu_2", "now", json!({})),
    ]);
    assert_eq!(sent[1]["content"], expect);

    // Thinking may stand between texts and calls.
    let signed = r#"{"type":"thinking","thinking":"2","signature":"b"}"#;
    let mixed: [(&str, &[&str]); 5] = [
        (r#"{"type":"thinking","thinking":"1","signature":"a"}"#, &[]),
        (r#"{"type":"text","text":"x"}"#, &[]),
        (signed, &[]),
        (
            r#"{"type":"tool_use","id":"a","name":"now","input":{}}"#,
            &[],
        ),
        (r#"{"type":"text","text":"y"}"#, &[]),
    ];
    let reply = decoding::whole(&decoding::blocks(&mixed, "tool_use"));
    let sent = messages(vec![user("hi"), kept(&reply)]).await;
    assert_eq!(
        sent[1]["content"][2],
        serde_json::from_str::<Value>(signed).unwrap()
    );
    assert_eq!(sent[1]["content"][4], text("y"));
    // A stored conversation keeps it.
    let stored = serde_json::to_string(&kept(&reply)).unwrap();
    assert_eq!(
        messages(vec![user("hi"), serde_json::from_str(&stored).unwrap()]).await,
        sent
    );
}

#[tokio::test]
async fn blocks_of_the_servers_own_tools_go_back() {
    let search: [(&str, &[&str]); 3] = [
        (
            r#"{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}"#,
            &[
                r#"{"type":"input_json_delta","partial_json":"{\"query\":"}"#,
                r#"{"type":"input_json_delta","partial_json":"\"x\"}"}"#,
            ],
        ),
        (
            r#"{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"encrypted_content":"Eo"}]}"#,
            &[],
        ),
        (
            r#"{"type":"compaction","content":null}"#,
            &[r#"{"type":"compaction_delta","content":"So far"}"#],
        ),
    ];
    let reply = decoding::whole(&decoding::blocks(&search, "end_turn"));
    assert_eq!(reply.calls, []);
    let sent = messages(vec![user("hi"), kept(&reply)]).await;
    let expect = json!([
        { "type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": { "query": "x" } },
        { "type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{ "encrypted_content": "Eo" }] },
        { "type": "compaction", "content": "So far" },
    ]);
    assert_eq!(sent[1]["content"], expect);
}

#[tokio::test]
async fn citations_of_a_search_go_back() {
    let found = r#"{"type":"web_search_result_location","url":"https://x.org","title":"X","encrypted_index":"Eo8B","cited_text":"é"}"#;
    // The server does not take the `file_id` of such a citation, and does not miss it.
    let quoted = r#"{"type":"char_location","cited_text":"q","document_index":0,"file_id":null}"#;
    let delta = |citation: &str| format!(r#"{{"type":"citations_delta","citation":{citation}}}"#);
    let deltas = [
        r#"{"type":"text_delta","text":"It is "}"#.to_owned(),
        delta(found),
        delta(quoted),
        r#"{"type":"text_delta","text":"so"}"#.to_owned(),
        delta(found),
    ];
    let deltas = deltas.each_ref().map(String::as_str);
    let quotes = [delta(quoted)];
    let quotes = quotes.each_ref().map(String::as_str);
    let streamed = decoding::blocks(
        &[
            (r#"{"type":"text","text":"","citations":[]}"#, &deltas),
            (r#"{"type":"text","text":", and","citations":null}"#, &[]),
            (r#"{"type":"text","text":" not"}"#, &quotes),
        ],
        "end_turn",
    );
    let document = format!(
        r#"{{"type":"message","content":[
            {{"type":"text","text":"It is so","citations":[{found},{quoted},{found}]}},
            {{"type":"text","text":", and"}},
            {{"type":"text","text":" not","citations":[{quoted}]}}
        ],"stop_reason":"end_turn"}}"#
    );
    let found: Value = serde_json::from_str(found).unwrap();
    let expect = json!([
        { "type": "text", "text": "It is so", "citations": [found, found] },
        text(", and"),
        text(" not"),
    ]);
    for body in [streamed, document] {
        let reply = decoding::whole(&body);
        assert_eq!(reply.content, "It is so, and not");
        let sent = messages(vec![user("hi"), kept(&reply), user("Why?")]).await;
        assert_eq!(sent[1]["content"], expect);
    }
}

#[tokio::test]
async fn a_reply_that_the_server_pauses_is_gone_on_with() {
    let searching: [(&str, &[&str]); 2] = [
        (r#"{"type":"text","text":"Searching"}"#, &[]),
        (
            r#"{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}"#,
            &[],
        ),
    ];
    let found: [(&str, &[&str]); 2] = [
        (
            r#"{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}"#,
            &[],
        ),
        (r#"{"type":"text","text":": found"}"#, &[]),
    ];
    let answers = [
        Answer::pieces([decoding::blocks(&searching, "pause_turn")]),
        Answer::pieces([decoding::blocks(&found, "end_turn")]),
    ];
    let server = Server::plays(answers).await;
    let history = History::from(vec![user("hi")]);
    let (reply, heard) = listen(&client(&server), Request::new(&history)).await;
    let reply = reply.unwrap();
    assert_eq!(
        (&*reply.content, &reply.finish),
        ("Searching: found", &FinishReason::Stop)
    );
    assert_eq!((reply.usage.input_tokens, reply.usage.requests), (14, 2));
    assert_eq!(heard, ["Searching", ": found"]);
    let bodies = bodies(&server);
    let blocks = |blocks: &[(&str, &[&str])]| -> Vec<Value> {
        blocks
            .iter()
            .map(|(begin, _)| serde_json::from_str(begin).unwrap())
            .collect()
    };
    let begun = json!({ "role": "assistant", "content": blocks(&searching) });
    assert_eq!(bodies[1]["messages"][1], begun);
    assert_eq!(bodies[1]["messages"][0], bodies[0]["messages"][0]);
    // All of it is one message afterwards.
    let sent = messages(vec![user("hi"), kept(&reply)]).await;
    let expect = [blocks(&searching), blocks(&found)].concat();
    assert_eq!(sent[1]["content"], json!(expect));
}

#[tokio::test]
async fn a_server_that_pauses_for_ever() {
    let text: (&str, &[&str]) = (r#"{"type":"text","text":"x"}"#, &[]);
    let server = replies(Answer::pieces([decoding::blocks(&[text], "pause_turn")])).await;
    let reply = ask(&client(&server)).await.unwrap();
    assert_eq!(reply.finish, FinishReason::Other("pause_turn".into()));
    assert_eq!((server.seen().len(), &*reply.content), (9, "xxxxxxxxx"));
}

#[tokio::test]
async fn the_thinking_of_another_provider_stays_away() {
    let foreign = Thinking::from("hm").with_opaque("gemini", "[]");
    let broken = Thinking::from("hm").with_opaque("anthropic", r#"[{"thinking":{"length":7}}]"#);
    for thinking in [Thinking::from("hm"), foreign, broken] {
        let message = Message::Assistant {
            content: "Done.".into(),
            thinking: Some(thinking),
            calls: Vec::new(),
        };
        assert_eq!(
            messages(vec![message]).await[0]["content"],
            json!([text("Done.")])
        );
    }
}

#[tokio::test]
async fn only_a_thinking_budget_raises_the_limit_of_a_reply() {
    let server = replies(Answer::json(200, HELLO)).await;
    let history = History::from(vec![user("hi")]);
    let older = |budget: Option<u32>| {
        let model = anthropic("claude-3-haiku-20240307")
            .base_url(&server.url)
            .api_key("k");
        budget.map_or(model.clone(), |budget| model.thinking_budget(budget))
    };
    for budget in [None, Some(2_000)] {
        older(budget).chat(Request::new(&history)).await.unwrap();
    }
    let bodies = bodies(&server);
    assert_eq!(bodies[0]["max_tokens"], 4_096);
    assert_eq!(bodies[1]["max_tokens"], 10_192);
}

#[tokio::test]
async fn a_turn_that_another_model_began_goes_on_without_a_thinking_budget() {
    let server = replies(Answer::json(200, HELLO)).await;
    let model = client(&server).thinking_budget(40_000);
    let thinking = json!({ "type": "enabled", "budget_tokens": 40_000 });
    let mut history = History::from(vec![user("hi")]);
    model.chat(Request::new(&history)).await.unwrap();
    history.push(said("", &[call("a", "now", "{}")]));
    history.push(result("a", "now", "noon"));
    model.chat(Request::new(&history)).await.unwrap();
    history.push(said("Noon.", &[]));
    history.push(user("And now?"));
    model.chat(Request::new(&history)).await.unwrap();
    history.push(kept(&decoding::whole(&decoding::two_calls())));
    model.chat(Request::new(&history)).await.unwrap();
    let bodies = bodies(&server);
    assert_eq!(bodies[0]["max_tokens"], 48_192);
    for (body, expect) in
        bodies
            .iter()
            .zip([Some(&thinking), None, Some(&thinking), Some(&thinking)])
    {
        assert_eq!(body.get("thinking"), expect);
    }
}
