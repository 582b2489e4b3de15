//! Error kinds and messages of the client.

use crate::{HELLO, ask, history, listen, server::*, user};
use agents_core::model::{ModelError, ModelErrorKind as Kind, Request};
use agents_http::{
    KeyHeader,
    testing::{EARLIER_KEY, check_credentials},
};
use agents_ollama::{Bundle, Credential, MemoryBundles, OAuth, Ollama, ollama};
use std::time::Duration;

/// Returns the error of a request without and with streaming, with the server's address as `SERVER`.
async fn both(answer: Answer, set: impl Fn(Ollama) -> Ollama) -> [ModelError; 2] {
    let server = Server::plays([answer]).await;
    let model = set(server.model());
    let history = history([user("hi")]);
    let shorten = |error: ModelError| {
        let status = error.status();
        let said = error.to_string().replace(&server.url, "SERVER");
        let short = ModelError::new(error.kind(), said);
        status.map_or(short.clone(), |status| short.with_status(status))
    };
    let whole = ask(&model).await.unwrap_err();
    let streamed = listen(&model, Request::new(&history)).await.0.unwrap_err();
    [shorten(whole), shorten(streamed)]
}

async fn check(answer: Answer, kind: Kind, status: Option<u16>, message: &str) {
    for error in both(answer.clone(), |model| model).await {
        assert_eq!(
            (error.kind(), error.status(), error.to_string().as_str()),
            (kind, status, message)
        );
    }
}

#[tokio::test]
async fn an_unknown_model() {
    for body in [
        r#"{"error":"model 'm' not found"}"#,
        r#"{"error":"model \"m\" not found, try pulling it first"}"#,
    ] {
        let message = "Ollama at SERVER has no model `m`: get it with `ollama pull m`";
        check(Answer::json(404, body), Kind::NotFound, Some(404), message).await;
    }
}

#[tokio::test]
async fn a_server_that_is_not_ollama() {
    check(
        Answer::with_head(404, "content-type: text/plain\r\n", "404 page not found"),
        Kind::Refused,
        Some(404),
        "SERVER does not have /api/chat (404: `404 page not found`): is that Ollama? the address is given without a \
         path such as /v1 or /api",
    )
    .await;
}

#[tokio::test]
async fn an_unreachable_server() {
    let port = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let error = ask(&ollama("m").url(format!("localhost:{port}")))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), Kind::Unreachable);
    let text = error.to_string();
    let expect = format!(
        "no server answers at http://localhost:{port} (Connection refused (os error 111)): start Ollama with `ollama \
         serve`, or say where it is with the environment variable OLLAMA_HOST or `.url(..)`"
    );
    if cfg!(target_os = "linux") {
        assert_eq!(text, expect);
    }
}

#[tokio::test]
async fn an_invalid_address_or_header() {
    let error = ask(&ollama("m").url("ftp://gpu-box")).await.unwrap_err();
    assert_eq!((error.kind(), error.is_transient()), (Kind::Setup, false));
    assert_eq!(
        error.to_string(),
        "`ftp://gpu-box` is not an address of an Ollama server (its scheme is neither `http` nor `https`): write `http://host:port`, or `host:port`"
    );
    let error = ask(&ollama("m").header("a b", "c")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the header `a b` cannot be sent; give it a valid name, and a value without control characters, in `.header(..)`"
    );
    let error = ask(&ollama("m").bearer("s3cret\n")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the header `authorization` cannot be sent; give it a valid name, and a value without control characters, in `.header(..)`"
    );
}

#[cfg(not(feature = "tls"))]
#[tokio::test]
async fn https_without_tls() {
    let error = ask(&ollama("m").url("https://127.0.0.1:9"))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "https://127.0.0.1:9 asks for HTTPS, which this build does not speak: enable the feature `tls`"
    );
}

#[tokio::test]
async fn refusals() {
    check(
        Answer::json(400, r#"{"error":"\"m\" does not support thinking"}"#),
        Kind::Refused,
        Some(400),
        "model `m` cannot think: leave out `.think(..)`",
    )
    .await;
    check(
        Answer::json(400, r#"{"error":"invalid format: expected \"json\" or a JSON schema"}"#),
        Kind::Refused,
        Some(400),
        "Ollama at SERVER refused the request (400): invalid format: expected \"json\" or a JSON schema",
    )
    .await;
    check(
        Answer::json(401, r#"{"error":{"message":"no key"}}"#),
        Kind::Refused,
        Some(401),
        "SERVER refused the request (401: `no key`): set a key with `.bearer(..)` or `.header(..)`",
    )
    .await;
    check(
        Answer::json(500, r#"{"error":"model requires more system memory (9.1 GiB) than is available (2.3 GiB)"}"#),
        Kind::Refused,
        Some(500),
        "Ollama at SERVER failed (500): model requires more system memory (9.1 GiB) than is available (2.3 GiB)",
    )
    .await;
    check(
        Answer::with_head(
            502,
            "content-type: text/html\r\n",
            "<html>\n  <h1>Bad   Gateway</h1>\n</html>",
        ),
        Kind::Unreachable,
        Some(502),
        "the gateway at SERVER does not reach Ollama (502): <html> <h1>Bad Gateway</h1> </html>",
    )
    .await;
}

#[tokio::test]
async fn an_overloaded_server() {
    let busy = r#"{"error":"server busy, please try again.  maximum pending requests exceeded"}"#;
    check(
        Answer::json(503, busy),
        Kind::Overloaded,
        Some(503),
        "Ollama at SERVER has too much to do (503: `server busy, please try again.  maximum pending requests exceeded`): \
         ask again later, or let the model do so with `.retry(3)`",
    )
    .await;
    let often = Answer::with_head(429, "retry-after: 7\r\n", "");
    let server = Server::plays([often]).await;
    let error = ask(&server.model()).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Overloaded);
    assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
}

#[tokio::test]
async fn transient_errors_are_marked_as_such() {
    for (answer, transient) in [
        (Answer::json(400, "{}"), false),
        (Answer::json(404, "{}"), false),
        (Answer::json(500, "{}"), false),
        (Answer::json(200, "<html>"), false),
        (Answer::json(408, "{}"), true),
        (Answer::json(429, "{}"), true),
        (Answer::json(502, "{}"), true),
        (Answer::json(503, "{}"), true),
        (Answer::json(504, "{}"), true),
        (Answer::nothing().cut(), true),
        (Answer::begun().piece("{\"mess").cut(), true),
    ] {
        for error in both(answer.clone(), |model| model).await {
            assert_eq!(error.is_transient(), transient, "{answer:?}: {error}");
        }
    }
}

#[tokio::test]
async fn errors_of_listing_models() {
    for (status, body, message) in [
        (
            404,
            "404 page not found",
            "SERVER does not have /api/tags (404: `404 page not found`): is that Ollama? the address is given without a path such as /v1 or /api",
        ),
        (
            404,
            r#"{"error":"no model here"}"#,
            "SERVER does not have /api/tags (404: `no model here`): is that Ollama? the address is given without a path such as /v1 or /api",
        ),
        (
            500,
            r#"{"error":"the disk is gone"}"#,
            "Ollama at SERVER failed (500): the disk is gone",
        ),
    ] {
        let server = Server::plays([Answer::json(status, body)]).await;
        let error = server.model().models().await.unwrap_err();
        assert_eq!(error.to_string().replace(&server.url, "SERVER"), message);
        assert_eq!(
            (error.kind(), error.status()),
            (Kind::Refused, Some(status))
        );
    }
}

#[tokio::test]
async fn a_list_of_models_has_the_token_of_no_organisation_and_no_secret_of_a_run() {
    let server = Server::plays([Answer::json(200, r#"{"models":[{"name":"m"}]}"#)]).await;
    let bundles = MemoryBundles::new().with("", Bundle::new("at-1", "https://auth.example.com"));
    let model = server.model().credential(OAuth::new(bundles));
    assert_eq!(model.models().await.unwrap(), ["m"]);
    let head = server.seen().remove(0).head;
    assert!(head.contains("authorization: Bearer at-1"), "{head}");

    let model = server.model().credential(Credential::secret("gateway"));
    let error = model.models().await.unwrap_err().to_string();
    assert!(error.contains("outside of a run"), "{error}");
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let elsewhere = Server::plays([Answer::json(200, HELLO)]).await;
    let head = format!("location: {}/api/chat\r\n", elsewhere.url);
    let message = format!(
        "SERVER redirects (307) to {}/api/chat: redirects are not followed, give that address to `.url(..)` if you \
         trust it",
        elsewhere.url
    );
    check(
        Answer::with_head(307, &head, ""),
        Kind::Refused,
        Some(307),
        &message,
    )
    .await;
    assert!(elsewhere.seen().is_empty());
}

#[tokio::test]
async fn an_error_instead_of_an_answer() {
    for (error, text) in [
        (
            r#"{"error":"llama runner process has terminated: exit status 2"}"#,
            "llama runner process has terminated: exit status 2",
        ),
        (
            r#"{"error":{"message":"out of memory","code":7}}"#,
            "out of memory",
        ),
        (r#"{"error":{"code":7}}"#, r#"{"code":7}"#),
    ] {
        check(
            Answer::json(200, error),
            Kind::Refused,
            None,
            &format!("Ollama at SERVER reported: {text}"),
        )
        .await;
    }
    // in the middle of a stream
    let begun = r#"{"message":{"role":"assistant","content":"Well"},"done":false}"#;
    let answer = Answer::pieces([
        format!("{begun}\n"),
        "{\"error\":\"out of memory\"}\n".to_owned(),
    ]);
    check(
        answer,
        Kind::Refused,
        None,
        "Ollama at SERVER reported: out of memory",
    )
    .await;
}

#[tokio::test]
async fn malformed_answers() {
    check(
        Answer::json(200, "<html><body>Sign in, please</body></html>"),
        Kind::Malformed,
        None,
        "SERVER did not answer as Ollama does (expected value at line 1 column 1): `<html><body>Sign in, please</body></html>`",
    )
    .await;
    check(
        Answer::json(200, r#"{"choices":[]}"#),
        Kind::Malformed,
        None,
        "SERVER did not answer as Ollama does (no `message`): `{\"choices\":[]}`",
    )
    .await;
    let long = format!("<p>{}</p>", "long ".repeat(100));
    let shown = format!("<p>{}…", &"long ".repeat(100)[..157]);
    check(
        Answer::json(200, &long),
        Kind::Malformed,
        None,
        &format!(
            "SERVER did not answer as Ollama does (expected value at line 1 column 1): `{shown}`"
        ),
    )
    .await;
    check(
        Answer::json(200, ""),
        Kind::Interrupted,
        None,
        "the reply of SERVER broke off after 0 characters: it never said `\"done\": true`",
    )
    .await;
}

#[tokio::test]
async fn a_stream_that_breaks_off() {
    let begun = "{\"message\":{\"role\":\"assistant\",\"content\":\"Grüße\"},\"done\":false}\n";
    let never = "the reply of SERVER broke off after 5 characters: it never said `\"done\": true`";
    // the body ends properly, but before `done`
    check(Answer::pieces([begun]), Kind::Interrupted, None, never).await;
    check(
        Answer::pieces([begun, "{\"message\":{\"conte"]),
        Kind::Interrupted,
        None,
        never,
    )
    .await;
    check(
        Answer::json(200, begun.strip_suffix("lse}\n").unwrap()),
        Kind::Interrupted,
        None,
        &never.replace('5', "0"),
    )
    .await;
    // the connection breaks
    for answer in [
        Answer::begun().piece(begun).cut(),
        Answer::begun().piece(begun).piece("{\"mess").cut(),
    ] {
        let [whole, streamed] = both(answer, |model| model).await;
        for error in [whole, streamed] {
            assert_eq!(error.kind(), Kind::Interrupted);
            let text = error.to_string();
            assert!(
                text.starts_with("the reply of SERVER broke off after 5 characters ("),
                "{text}"
            );
        }
    }
    // the connection breaks before the first byte
    let [whole, streamed] = both(Answer::nothing().cut(), |model| model).await;
    for error in [whole, streamed] {
        assert_eq!(error.kind(), Kind::Interrupted);
        assert!(
            error
                .to_string()
                .starts_with("SERVER broke off before it replied ("),
            "{error}"
        );
    }
}

#[tokio::test]
async fn the_timeout_counts_from_the_last_byte() {
    let message = "no byte from SERVER for 200ms: the model may still be loading; wait longer with `.timeout(..)`, or \
                   keep it loaded with `.keep_alive(..)`";
    let hurried = |model: Ollama| model.timeout(Duration::from_millis(200));
    let begun = "{\"message\":{\"content\":\"x\"},\"done\":false}\n";
    for answer in [
        Answer::nothing().wait(3_000),
        Answer::begun().wait(3_000),
        Answer::begun().piece(begun).wait(3_000),
    ] {
        for error in both(answer, hurried).await {
            assert_eq!(
                (error.kind(), error.to_string().as_str()),
                (Kind::TimedOut, message)
            );
        }
    }

    let end = format!("{HELLO}\n");
    let drip = (0..8)
        .fold(Answer::begun(), |answer, _| answer.piece(begun).wait(60))
        .piece(&end)
        .and([Step::Send(b"0\r\n\r\n".to_vec())]);
    let server = Server::plays([drip]).await;
    let history = history([user("hi")]);
    let (reply, _) = listen(&hurried(server.model()), Request::new(&history)).await;
    assert_eq!(reply.unwrap().content, "xxxxxxxxhello");
}

#[tokio::test]
async fn an_endless_answer() {
    let line = format!(
        "{{\"message\":{{\"content\":\"{}\"}},\"done\":false}}\n",
        "x".repeat(1 << 20)
    );
    let answer = (0..66).fold(Answer::begun(), |answer, _| answer.piece(&line));
    let message = "SERVER sent more than 64 MiB: no reply is as long as that";
    check(answer, Kind::Malformed, None, message).await;
}

#[tokio::test]
async fn a_secret_that_the_server_repeats_is_not_shown() {
    let body = r#"{"error":"the token hunter2-of-a-gateway is not valid"}"#;
    let set = |model: Ollama| model.header("x-token", "hunter2-of-a-gateway");
    for error in both(Answer::json(401, body), set).await {
        let said = error.to_string();
        assert!(said.contains("the token *** is not valid"), "{said}");
    }
}

#[tokio::test]
async fn a_credential_is_looked_up_at_each_request_and_never_shown() {
    check_credentials(KeyHeader::BEARER, HELLO, |url, credential| {
        let client = ollama("m").url(url).bearer(EARLIER_KEY);
        client.credential(credential)
    })
    .await;
}
