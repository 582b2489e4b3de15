//! Answers of HTTP servers as results of calls.

use super::server::{Answer, Server, call, get, json, run, with};
use agents::{Code, http::Method};
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn t11_json_comes_as_json_and_numbers_keep_their_digits() {
    let server = Server::start(|_| {
        let body = r#"{"id": 9007199254740993, "ok": true}"#;
        with(
            200,
            "content-type: application/json; charset=utf-8\r\netag: \"7\"\r\nset-cookie: a=b\r\n",
            body,
        )
    })
    .await;
    let receipt = call(server.tool(), json!({ "url": server.url("/a?b=c") })).await;
    let output = receipt.output.as_ref().unwrap();
    assert!(
        output
            .as_str()
            .contains(r#""json":{"id": 9007199254740993, "ok": true}"#),
        "{output}"
    );
    let answer = output.to_value().unwrap();
    assert_eq!(answer["status"], 200);
    assert_eq!(answer["url"], server.url("/a?b=c"));
    assert_eq!(
        answer["headers"],
        json!({ "content-length": "36", "etag": "\"7\"" })
    );
    assert_eq!(answer["bytes"], 36);
    assert!(
        answer.get("text").is_none() && answer.get("truncated").is_none(),
        "{answer}"
    );
    let asked = &server.asked()[0];
    assert!(asked.starts_with("GET /a?b=c HTTP/1.1\r\n"), "{asked}");
    assert!(
        !asked.to_lowercase().contains("cookie") && !asked.contains("accept-encoding"),
        "{asked}"
    );
}

#[tokio::test]
async fn t11_text_is_cut_where_the_preview_ends() {
    let server = Server::start(|path| match path {
        "/text" => with(200, "content-type: text/html\r\n", &"é".repeat(50)),
        "/json" => json(&format!(r#"{{"long": "{}"}}"#, "x".repeat(100))),
        "/broken" => json(r#"{"a": "#),
        "/latin" => Answer::Bytes("HTTP/1.1 200 X\r\ncontent-type: text/plain; charset=iso-8859-1\r\nconnection: close\r\n\r\nplain".into()),
        _ => with(200, "", r#"[1, 2]"#),
    })
    .await;
    let tool = || server.tool().preview(31);
    let answer = get(tool(), &server.url("/text")).await.unwrap();
    assert_eq!(answer.text.unwrap(), format!("{}…", "é".repeat(15)));
    assert!(answer.truncated);
    assert_eq!(answer.bytes, 100);
    let answer = get(tool(), &server.url("/json")).await.unwrap();
    assert_eq!(
        answer.text.unwrap(),
        format!(r#"{{"long": "{}…"#, "x".repeat(21))
    );
    assert!(answer.truncated && answer.json.is_none());
    let answer = get(tool(), &server.url("/broken")).await.unwrap();
    assert_eq!(
        (answer.text.as_deref(), answer.truncated),
        (Some(r#"{"a": "#), false)
    );
    let answer = get(tool(), &server.url("/latin")).await.unwrap();
    assert_eq!(answer.text.as_deref(), Some("plain"));
    let answer = get(tool(), &server.url("/unnamed")).await.unwrap();
    assert_eq!(
        answer.json.unwrap().as_str(),
        "[1, 2]",
        "JSON is seen where nobody says so"
    );
}

#[tokio::test]
async fn a_key_that_is_cut_is_hidden() {
    const KEY: &str = "the-key-of-the-crm";
    let server = Server::start(|path| {
        let text = format!("{}{KEY}{}", &"y".repeat(999)[..500], "z".repeat(50));
        let status = path[1..].parse().unwrap();
        with(status, "content-type: text/plain\r\n", &text)
    })
    .await;
    for kept in 0..=KEY.len() {
        // The ends of the preview, of reading, and of a failure's message.
        for tool in [
            server.tool().preview(500 + kept),
            server.tool().max_bytes(500 + kept),
        ] {
            let outcome = run(tool, json!({ "url": server.url("/200") })).await;
            let receipt = outcome.outputs.receipts().next().unwrap();
            assert!(receipt.output.as_ref().unwrap().as_str().contains("yyy"));
            let told = serde_json::to_string(&outcome.outputs).unwrap();
            assert!(!told.contains(&KEY[..4]), "{kept}: {told}");
        }
        let failing = server.tool().preview(500 + kept);
        let receipt = call(failing, json!({ "url": server.url("/500") })).await;
        let said = &receipt.error.as_ref().unwrap().message;
        assert!(said.contains("yyy") && !said.contains(&KEY[..4]), "{said}");
    }
}

#[tokio::test]
async fn what_is_not_text_is_described() {
    let server = Server::start(|path| match path {
        "/png" => with(200, "content-type: image/png\r\n", "\u{89}PNG"),
        "/zero" => with(200, "content-type: text/plain\r\n", "a\0b"),
        _ => with(204, "", ""),
    })
    .await;
    let answer = get(server.tool(), &server.url("/png")).await.unwrap();
    assert_eq!(answer.binary.as_deref(), Some("5 bytes, image/png"));
    let answer = get(server.tool(), &server.url("/zero")).await.unwrap();
    assert_eq!(answer.binary.as_deref(), Some("3 bytes, text/plain"));
    let answer = get(server.tool(), &server.url("/")).await.unwrap();
    assert_eq!((answer.status, answer.bytes), (204, 0));
    assert!(answer.json.is_none() && answer.text.is_none() && answer.binary.is_none());
}

#[tokio::test]
async fn a_body_without_an_end_is_left() {
    let server = Server::start(|_| {
        Answer::Forever(
            "HTTP/1.1 200 X\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n".to_owned()
                + &"y".repeat(999),
        )
    })
    .await;
    let answer = get(server.tool().max_bytes(5_000).preview(10), &server.url("/"))
        .await
        .unwrap();
    assert_eq!(
        (answer.text.as_deref(), answer.bytes),
        (Some("yyyyyyyyyy…"), 5_000)
    );
    assert!(answer.truncated);
}

#[tokio::test]
async fn t11_statuses_that_are_failures() {
    let server = Server::start(|path| match path {
        "/401" => with(401, "", ""),
        "/403" => with(
            403,
            "content-type: application/json\r\n",
            r#"{"error": "not yours"}"#,
        ),
        "/404" => with(404, "content-type: text/plain\r\n", "nothing here"),
        "/429" => with(429, "retry-after: 7\r\n", ""),
        "/500" => with(500, "content-type: text/plain\r\n", "stack trace"),
        "/503" => with(503, "retry-after: Wed, 21 Oct 2015 07:28:00 GMT\r\n", ""),
        _ => with(200, "", ""),
    })
    .await;
    let fails = async |path: &str| get(server.tool(), &server.url(path)).await.unwrap_err();
    assert_eq!(fails("/401").await.code, Code::AuthRequired);
    let denied = fails("/403").await;
    assert_eq!(denied.code, Code::AuthRequired);
    assert_eq!(
        denied.message,
        r#"the server requires credentials, or refused those that were sent (403): {"error": "not yours"}"#
    );
    let often = fails("/429").await;
    assert_eq!(
        (often.code, often.retry_after_s),
        (Code::RateLimit, Some(7.0))
    );
    let broken = fails("/500").await;
    assert_eq!(
        (broken.code, broken.message.as_str()),
        (Code::ProviderError, "the server failed (500): stack trace")
    );
    let busy = fails("/503").await;
    assert_eq!(
        (busy.code, busy.retry_after_s),
        (Code::ProviderError, Some(0.0))
    );
    let missing = get(server.tool(), &server.url("/404")).await.unwrap();
    assert_eq!(
        (missing.status, missing.text.as_deref()),
        (404, Some("nothing here"))
    );
}

#[tokio::test]
async fn no_connection_and_no_answer() {
    let server = Server::start(|path| match path {
        "/silent" => Answer::Hang(String::new()),
        "/slow" => Answer::Hang("HTTP/1.1 200 X\r\ncontent-length: 9\r\n\r\nhalf".into()),
        _ => Answer::Bytes("HTTP/1.1 200 X\r\ncontent-length: 9\r\n\r\nhalf".into()),
    })
    .await;
    let hasty = || server.tool().timeout(Duration::from_millis(200));
    for path in ["/silent", "/slow"] {
        let error = get(hasty(), &server.url(path)).await.unwrap_err();
        assert_eq!(error.code, Code::Timeout, "{path}: {}", error.message);
    }
    let error = get(server.tool(), &server.url("/cut")).await.unwrap_err();
    assert_eq!(error.code, Code::NetworkError, "{}", error.message);
    // A port without a server.
    let gone = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap();
    let tool = server.tool().allow_private_host(&gone.to_string());
    let error = get(tool, &format!("http://{gone}/")).await.unwrap_err();
    assert_eq!(error.code, Code::NetworkError);
    assert!(
        error.message.starts_with("`127.0.0.1` cannot be reached:"),
        "{}",
        error.message
    );
}

#[tokio::test]
async fn other_methods_send_what_they_are_given() {
    let server = Server::start(|_| json(r#"{"made": 1}"#)).await;
    let tool = || server.tool().allow_method(Method::Post);
    call(
        tool(),
        json!({ "url": server.url("/json"), "method": "POST", "body": {"a": [1, 2]} }),
    )
    .await;
    call(
        tool(),
        json!({ "url": server.url("/text"), "method": "POST", "body": "plain" }),
    )
    .await;
    call(
        tool(),
        json!({ "url": server.url("/head"), "method": "HEAD" }),
    )
    .await;
    let asked = server.asked();
    assert!(
        asked[0].starts_with("POST /json") && asked[0].ends_with("\r\n\r\n{\"a\":[1,2]}"),
        "{}",
        asked[0]
    );
    assert!(
        asked[0].contains("content-type: application/json\r\n"),
        "{}",
        asked[0]
    );
    assert!(
        asked[1].ends_with("\r\n\r\nplain") && asked[1].contains("text/plain"),
        "{}",
        asked[1]
    );
    assert!(asked[2].starts_with("HEAD /head"), "{}", asked[2]);
}

#[tokio::test]
async fn a_secret_is_sent_to_its_host_and_masked_where_it_comes_back() {
    let server = Server::start(|_| json(r#"{"you sent": "Bearer the-key-of-the-crm"}"#)).await;
    let host = format!("127.0.0.1:{}", server.port);
    let tool = server
        .tool()
        .bearer(&host, "crm")
        .secret_header(&host, "X-Api-Key", "crm");
    let outcome = run(tool, json!({ "url": server.url("/") })).await;
    let asked = &server.asked()[0];
    assert!(
        asked.contains("authorization: Bearer the-key-of-the-crm\r\n"),
        "{asked}"
    );
    assert!(
        asked.contains("x-api-key: the-key-of-the-crm\r\n"),
        "{asked}"
    );
    let written = serde_json::to_string(&outcome.outputs).unwrap();
    assert!(!written.contains("the-key-of-the-crm"), "{written}");
    assert!(written.contains("Bearer [secret:crm]"), "{written}");
    let tool = server.tool().bearer(&host, "erp");
    let error = get(tool, &server.url("/")).await.unwrap_err();
    assert_eq!(error.code, Code::AuthRequired, "{}", error.message);
    assert_eq!(server.asked().len(), 1, "it is not even asked");
}
