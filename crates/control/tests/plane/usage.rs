//! Usage as the servers of providers report it: whatever it is, no charge is negative, and what is not known costs what was
//! held. The bodies go through the clients.

use super::{activate, prices, scoring};
use agents::{anthropic, gemini, ollama, openai};
use agents_control::{Budget, ControlPlane, PurposeKey::Scoring, SqliteStore, UsageFilter, usd};
use agents_core::model::{Delta, History, Message, Model, Request};
use agents_http::testing::{Answer, Server};
use std::sync::Arc;

/// Most that a reply of 100 tokens costs; a token that is written costs a thousandth of a dollar.
const MOST: u64 = 100_000_000;

/// A way to say how many tokens were read and written.
struct Wire {
    name: &'static str,
    client: fn(&str) -> Arc<dyn Model>,
    /// Body of a reply, with `USAGE` where the usage is.
    body: &'static str,
    is_stream: bool,
    /// Usage, with `READ` and `WRITTEN` where the counts are.
    usage: &'static str,
}

const WIRES: &[Wire] = &[
    Wire {
        name: "OpenAI",
        client: |url| Arc::new(openai("m").base_url(format!("{url}/v1"))),
        body: r#"{"choices":[{"message":{"role":"assistant","content":"Oslo"},"finish_reason":"stop"}]USAGE}"#,
        is_stream: false,
        usage: r#","usage":{"prompt_tokens":READ,"completion_tokens":WRITTEN,"total_tokens":0}"#,
    },
    Wire {
        name: "OpenAI, streamed",
        client: |url| Arc::new(openai("m").base_url(format!("{url}/v1"))),
        body: "data: {\"choices\":[{\"delta\":{\"content\":\"Oslo\"}}],\"usage\":null}\n\ndata: \
               {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]USAGE}\n\ndata: [DONE]\n\n",
        is_stream: true,
        usage: r#","usage":{"prompt_tokens":READ,"completion_tokens":WRITTEN}"#,
    },
    Wire {
        name: "Responses",
        client: |url| Arc::new(openai("m").base_url(format!("{url}/v1")).responses()),
        body: r#"{"status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Oslo"}]}]USAGE}"#,
        is_stream: false,
        usage: r#","usage":{"input_tokens":READ,"output_tokens":WRITTEN}"#,
    },
    Wire {
        name: "Anthropic",
        client: |url| Arc::new(anthropic("m").base_url(url).api_key("k")),
        body: r#"{"type":"message","role":"assistant","content":[{"type":"text","text":"Oslo"}],"stop_reason":"end_turn"USAGE}"#,
        is_stream: false,
        usage: r#","usage":{"input_tokens":READ,"output_tokens":WRITTEN}"#,
    },
    Wire {
        name: "Anthropic, streamed",
        client: |url| Arc::new(anthropic("m").base_url(url).api_key("k")),
        body: "data: {\"type\":\"message_start\",\"message\":{\"content\":[],\"usage\":{\"input_tokens\":7,\"output_tokens\":1}}}\n\n\
               data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"Oslo\"}}\n\n\
               data: {\"type\":\"content_block_stop\",\"index\":0}\n\n\
               data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}USAGE}\n\n\
               data: {\"type\":\"message_stop\"}\n\n",
        is_stream: true,
        usage: r#","usage":{"input_tokens":READ,"output_tokens":WRITTEN}"#,
    },
    Wire {
        name: "Gemini",
        client: |url| Arc::new(gemini("m").base_url(url).api_key("k")),
        body: r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"Oslo"}]},"finishReason":"STOP"}]USAGE}"#,
        is_stream: false,
        usage: r#","usageMetadata":{"promptTokenCount":READ,"candidatesTokenCount":WRITTEN}"#,
    },
    Wire {
        name: "Ollama",
        client: |url| Arc::new(ollama("m").url(url)),
        body: r#"{"message":{"role":"assistant","content":"Oslo"},"done":true,"done_reason":"stop"USAGE}"#,
        is_stream: false,
        usage: r#","prompt_eval_count":READ,"eval_count":WRITTEN"#,
    },
];

/// Asks once through a control plane with a cap, and returns what was spent, and the tokens in the log.
async fn charged(wire: &Wire, usage: &str) -> (u64, (u64, u64)) {
    let body = wire.body.replace("USAGE", usage);
    let server = match wire.is_stream {
        true => Server::plays([Answer::pieces([body])]).await,
        false => Server::plays([Answer::json(200, &body)]).await,
    };
    let store = SqliteStore::in_memory().await.unwrap();
    let (client, url) = (wire.client, server.url.clone());
    let control = ControlPlane::open(&store)
        .provider("p", move |_| client(&url))
        .prices(prices());
    let profile = scoring().max_output_tokens(100).daily_cap(usd(1));
    activate(&control, profile).await;
    let mut history = History::new();
    history.push(Message::User {
        content: "Norway".into(),
    });
    let sink = |_: Delta<'_>| {};
    let request = match wire.is_stream {
        true => Request::new(&history).with_sink(&sink),
        false => Request::new(&history),
    };
    let answer = control.model(Scoring, "acme").answer(request).await;
    let said = answer.result.map(|reply| reply.content);
    assert_eq!(said.as_deref(), Ok("Oslo"), "{}: {usage}", wire.name);
    assert_eq!(server.seen().len(), 1, "{}: it is asked once", wire.name);
    let Budget {
        spent_nanos,
        held_nanos,
    } = control.budget(&Scoring, "acme").await.unwrap();
    assert_eq!(held_nanos, 0);
    let rows = control.usage(&UsageFilter::default()).await.unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].cost_nanos, Some(spent_nanos));
    (spent_nanos, (rows[0].input_tokens, rows[0].output_tokens))
}

#[tokio::test]
async fn l12_the_tokens_of_each_wire_are_charged() {
    for wire in WIRES {
        let usage = wire.usage.replace("READ", "7").replace("WRITTEN", "40");
        assert_eq!(
            charged(wire, &usage).await,
            (40_000_000, (7, 40)),
            "{}",
            wire.name
        );
    }
}

#[tokio::test]
async fn what_a_provider_does_not_report_costs_what_was_held() {
    for wire in WIRES {
        let none = wire
            .usage
            .replace("READ", "null")
            .replace("WRITTEN", "null");
        // Half of an answer is none.
        let unread = wire.usage.replace("READ", "0").replace("WRITTEN", "40");
        let unwritten = wire.usage.replace("READ", "7").replace("WRITTEN", "0");
        for usage in ["", &none, &unread, &unwritten] {
            let (spent, _) = charged(wire, usage).await;
            // At the beginning of its stream, Anthropic has told the tokens that were read.
            let is_told = wire.name == "Anthropic, streamed" && usage == unread;
            let expect = if is_told { 40_000_000 } else { MOST };
            assert_eq!(spent, expect, "{}: {usage}", wire.name);
        }
    }
}

#[tokio::test]
async fn s5_6_negative_and_absurd_counts_cost_what_was_held_and_lose_no_reply() {
    let absurd = [
        "-1",
        "-9223372036854775808",
        "-1e300",
        "1.5",
        "1e300",
        "1e999",
        "18446744073709551615",
        "18446744073709551616",
        "\"many\"",
        "true",
        "[40]",
        "{}",
    ];
    for wire in WIRES {
        for count in absurd {
            for (read, written) in [("7", count), (count, "40"), (count, count)] {
                let usage = wire.usage.replace("READ", read).replace("WRITTEN", written);
                let (spent, _) = charged(wire, &usage).await;
                // Tokens that are read cost nothing here, so that the largest number of them is no more than the truth.
                let is_number = count == "18446744073709551615" && written == "40";
                let expect = if is_number { 40_000_000 } else { MOST };
                assert_eq!(spent, expect, "{}: {usage}", wire.name);
            }
        }
    }
}
