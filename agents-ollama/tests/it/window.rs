//! Conversations that do not fit into the model's window. The server speaks Ollama's documented format: a newer one
//! refuses them, and an older one cuts them off without a word.

use crate::{HELLO, history, server::*, user};
use agents_core::model::{
    ContextOverflow, Model, ModelError, ModelErrorKind as Kind, Reply, Request,
};
use agents_ollama::Ollama;

/// Reply of a server that reports this many tokens of the prompt.
fn reply(read: u64) -> Answer {
    let count = format!(r#""prompt_eval_count":{read}"#);
    Answer::json(200, &HELLO.replace(r#""prompt_eval_count":10"#, &count))
}

fn loaded(name: &str, window: u64) -> Answer {
    let models = format!(
        r#"{{"models":[{{"name":"other","context_length":1}},{{"name":"{name}","context_length":{window}}}]}}"#
    );
    Answer::json(200, &models)
}

/// Sends a message of this many words.
async fn send(model: &Ollama, words: usize) -> Result<Reply, ModelError> {
    let history = history([user(&"word ".repeat(words))]);
    model.chat(Request::new(&history)).await
}

fn sizes(sent: u64, read: Option<u64>, window: u64) -> ContextOverflow {
    ContextOverflow {
        sent: Some(sent),
        read,
        window: Some(window),
    }
}

#[tokio::test]
async fn a_server_is_told_the_window_and_to_refuse_what_is_longer() {
    let server = Server::plays([reply(3)]).await;
    let model = server.model().window(8192);
    assert_eq!(model.capabilities().window, Some(8192));
    assert_eq!(
        model.option("num_ctx", 512).capabilities().window,
        Some(512)
    );
    assert_eq!(server.model().capabilities().window, None);
    send(&server.model().window(8192), 3).await.unwrap();
    let body = server.bodies().remove(0);
    assert!(
        body.contains(r#""truncate":false,"shift":false,"options":{"num_ctx":8192}"#),
        "{body}"
    );
}

#[tokio::test]
async fn the_words_of_a_refusal_are_an_overflow_with_its_sizes() {
    let told =
        "request (9120 tokens) exceeds the available context size (4096 tokens), try increasing it";
    for (status, words, overflow) in [
        (400, told, sizes(9_120, None, 4_096)),
        (
            400,
            "the prompt is longer than the context length currently available to the model; shorten the prompt",
            ContextOverflow {
                window: Some(512),
                ..ContextOverflow::default()
            },
        ),
        (
            400,
            "the input length exceeds the context length",
            ContextOverflow {
                window: Some(512),
                ..ContextOverflow::default()
            },
        ),
        (
            500,
            "no user query found in messages",
            ContextOverflow {
                window: Some(512),
                ..ContextOverflow::default()
            },
        ),
    ] {
        let server =
            Server::plays([Answer::json(status, &format!(r#"{{"error":"{words}"}}"#))]).await;
        let error = send(&server.model().window(512), 5).await.unwrap_err();
        assert_eq!(error.kind(), Kind::TooLong, "{words}");
        assert_eq!(error.status(), Some(status));
        assert_eq!(error.overflow(), Some(overflow), "{words}");
        assert!(error.to_string().contains("`.window(..)`"), "{error}");
        assert!(
            error.to_string().contains("`context = trim(..)`"),
            "{error}"
        );
        assert!(!error.is_transient());
    }
}

#[tokio::test]
async fn a_reply_to_a_prompt_that_was_cut_off_is_an_error() {
    // An older server reads half of the window and two tokens more.
    let server = Server::plays([reply(2_050)]).await;
    let error = send(&server.model().window(4_096), 9_000)
        .await
        .unwrap_err();
    assert_eq!(error.overflow(), Some(sizes(9_000, Some(2_050), 4_096)));
    assert_eq!(
        error.to_string(),
        format!(
            "the conversation is too long for `m` (9000 tokens or more, for a window of 4096) at {}, which read only \
             2050 tokens of it: give the model a larger window with `.window(..)`, or have the agent shorten the \
             conversation with `context = trim(..)`",
            server.url
        )
    );
}

#[tokio::test]
async fn a_server_that_decides_the_window_itself_is_asked_for_it() {
    for name in ["m", "m:latest"] {
        let server = Server::plays([reply(2_050), loaded(name, 4_096)]).await;
        let error = send(&server.model(), 9_000).await.unwrap_err();
        assert_eq!(error.overflow(), Some(sizes(9_000, Some(2_050), 4_096)));
        assert!(server.seen()[1].head.starts_with("GET /api/ps "));
    }
}

#[tokio::test]
async fn a_cached_prompt_is_no_false_alarm() {
    // Some versions count only what was not cached, and the oldest ones count nothing then.
    let uncounted = HELLO.replace(r#","prompt_eval_count":10"#, "");
    for (answer, words) in [
        (reply(12), 4_000),
        (reply(4_000), 4_000),
        (Answer::json(200, &uncounted), 9_000),
    ] {
        let server = Server::plays([answer]).await;
        send(&server.model().window(4_096), words).await.unwrap();
        assert_eq!(server.seen().len(), 1, "the window is known");
    }
    let server = Server::plays([reply(12), loaded("m", 16_384)]).await;
    send(&server.model(), 9_000).await.unwrap();
}

#[tokio::test]
async fn without_proof_a_reply_is_a_reply() {
    // A server that does not tell the window, another model, nonsense, and an error.
    for answer in [
        Answer::json(404, "404 page not found"),
        loaded("m2", 4_096),
        Answer::json(200, r#"{"models":[{"name":"m"}]}"#),
        Answer::json(200, "[]"),
        Answer::nothing(),
    ] {
        let server = Server::plays([reply(2_050), answer]).await;
        send(&server.model(), 9_000).await.unwrap();
        assert_eq!(server.seen().len(), 2);
    }
    // No server has a window that is smaller than that by itself.
    let server = Server::plays([reply(12)]).await;
    send(&server.model(), 2_000).await.unwrap();
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_conversation_is_counted_message_by_message() {
    let server = Server::plays([reply(900), reply(900), reply(300)]).await;
    let model = server.model().window(1_000);
    let mut history = history([user(&"word ".repeat(600))]);
    model.chat(Request::new(&history)).await.unwrap();
    history.push(user(&"word ".repeat(600)));
    let error = model.chat(Request::new(&history)).await.unwrap_err();
    assert_eq!(error.overflow(), Some(sizes(1_200, Some(900), 1_000)));
    // Another conversation begins anew.
    let other = crate::history([user(&"word ".repeat(500))]);
    model.chat(Request::new(&other)).await.unwrap();
}
