//! What is not allowed, and is not done.

use super::server::{Server, call, get, json, with};
use agents::{
    Agent, AgentBuilder, Code, Effects, Tool,
    http::{HttpTool, Method},
    testing::{Script, ScriptedModel},
};
use serde_json::json;

#[tokio::test]
async fn everything_is_closed_by_default() {
    let server = Server::start(|_| json("1")).await;
    let url = server.url("/");
    let error = get(HttpTool::new().allow_private(), &url)
        .await
        .unwrap_err();
    assert_eq!(error.code, Code::PolicyDenied);
    assert_eq!(
        error.message,
        format!(
            "the host `127.0.0.1:{}` is not allowed; no host is",
            server.port
        )
    );
    let tool = HttpTool::new().allow_private().allow_host("example.com");
    let error = get(tool, &url).await.unwrap_err();
    assert!(
        error
            .message
            .ends_with("is not allowed; allowed are `example.com`"),
        "{}",
        error.message
    );
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn private_addresses_are_closed_whatever_they_are_called() {
    let server = Server::start(|_| json("1")).await;
    let port = server.port;
    for host in [
        "127.0.0.1",
        "localhost",
        "0x7f.1",
        "2130706433",
        "127.1",
        "0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "169.254.169.254",
        "10.0.0.1",
        "[fd00::1]",
        "[64:ff9b::7f00:1]",
    ] {
        let tool = HttpTool::new().allow_host(&format!("{host}:{port}"));
        let error = get(tool, &format!("http://{host}:{port}/"))
            .await
            .unwrap_err();
        assert_eq!(error.code, Code::PolicyDenied, "{host}: {}", error.message);
        assert!(
            error.message.contains("leads to a private address"),
            "{host}: {}",
            error.message
        );
    }
    assert!(server.asked().is_empty());
    let tool = HttpTool::new()
        .allow_host(&format!("localhost:{port}"))
        .allow_private();
    get(tool, &format!("http://localhost:{port}/"))
        .await
        .unwrap();
}

#[tokio::test]
async fn what_is_no_url_for_it() {
    let server = Server::start(|_| json("1")).await;
    for url in [
        "file:///etc/passwd".to_owned(),
        "ftp://127.0.0.1/".to_owned(),
        "/relative".to_owned(),
        "data:text/plain,hello".to_owned(),
        format!("http://user:pass@127.0.0.1:{}/", server.port),
        format!("http://user@127.0.0.1:{}/", server.port),
    ] {
        let error = get(server.tool(), &url).await.unwrap_err();
        assert_eq!(
            error.code,
            Code::ValidationError,
            "{url}: {}",
            error.message
        );
    }
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn redirects_stay_within_what_is_allowed() {
    let other = Server::start(|_| json(r#""secret of another""#)).await;
    let elsewhere = other.url("/elsewhere");
    let server = Server::start(move |path| match path {
        "/a" => with(302, "location: b/c\r\n", ""),
        "/b/c" => with(308, "location: /end\r\n", ""),
        "/end" => json("7"),
        "/away" => with(302, &format!("location: {elsewhere}\r\n"), ""),
        "/file" => with(302, "location: file:///etc/passwd\r\n", ""),
        "/inside" => with(
            302,
            "location: http://169.254.169.254/latest/meta-data\r\n",
            "",
        ),
        "/nowhere" => with(302, "", "no location"),
        _ => with(302, "location: /loop\r\n", ""),
    })
    .await;
    let answer = get(server.tool(), &server.url("/a")).await.unwrap();
    assert_eq!(answer.json.unwrap().as_str(), "7");
    assert_eq!(answer.url, server.url("/end"));
    assert_eq!(answer.by_way_of, [server.url("/a"), server.url("/b/c")]);
    for (path, code) in [
        ("/away", Code::PolicyDenied),
        ("/inside", Code::PolicyDenied),
        ("/file", Code::PolicyDenied),
        ("/loop", Code::ProviderError),
    ] {
        let error = get(server.tool(), &server.url(path)).await.unwrap_err();
        assert_eq!(error.code, code, "{path}: {}", error.message);
    }
    assert!(other.asked().is_empty());
    assert_eq!(
        server
            .asked()
            .iter()
            .filter(|asked| asked.contains("/loop"))
            .count(),
        6
    );
    assert_eq!(
        get(server.tool(), &server.url("/nowhere"))
            .await
            .unwrap()
            .status,
        302
    );
}

#[tokio::test]
async fn a_redirect_takes_no_secret_along() {
    let other = Server::start(|_| json("1")).await;
    let elsewhere = other.url("/");
    let server = Server::start(move |_| with(302, &format!("location: {elsewhere}\r\n"), "")).await;
    let tool = server
        .tool()
        .bearer(&format!("127.0.0.1:{}", server.port), "crm")
        .allow_host(&format!("127.0.0.1:{}", other.port));
    get(tool, &server.url("/")).await.unwrap();
    assert!(server.asked()[0].contains("authorization: Bearer the-key"));
    assert!(
        !other.asked()[0].to_lowercase().contains("authorization"),
        "{}",
        other.asked()[0]
    );
    assert!(
        !other.asked()[0].to_lowercase().contains("referer"),
        "{}",
        other.asked()[0]
    );
}

#[tokio::test]
async fn only_reading_unless_somebody_says_otherwise() {
    let server = Server::start(|path| match path {
        "/moved" => with(302, "location: /there\r\n", ""),
        "/kept" => with(307, "location: /there\r\n", ""),
        _ => json("1"),
    })
    .await;
    let reading = server.tool();
    assert_eq!(reading.spec().effects, Effects::Reads);
    let denied = call(reading, json!({ "url": server.url("/"), "method": "POST" })).await;
    let error = denied.error.as_ref().unwrap();
    assert_eq!(error.code, Code::PolicyDenied);
    assert_eq!(
        error.message,
        "the method `POST` is not allowed; allowed are GET, HEAD"
    );
    assert!(server.asked().is_empty());

    let writing = || server.tool().allow_method(Method::Post);
    assert_eq!(writing().spec().effects, Effects::Writes);
    // With nobody to ask the answer is no; reading needs nobody.
    let (model, _) = ScriptedModel::new([
        Script::calls([
            (
                "http_request",
                json!({ "url": server.url("/get") }).to_string(),
            ),
            (
                "http_request",
                json!({ "url": server.url("/post"), "method": "POST" }).to_string(),
            ),
        ]),
        Script::text("done"),
    ]);
    let agent = AgentBuilder::<String, String>::new("clerk")
        .tool(writing())
        .model(model)
        .build();
    let outcome = agent.run("go").outcome().await.unwrap();
    let codes: Vec<_> = outcome
        .outputs
        .receipts()
        .map(|receipt| receipt.error.as_ref().map(|e| e.code))
        .collect();
    assert_eq!(codes, [None, Some(Code::PolicyDenied)]);
    assert_eq!(server.asked().len(), 1);

    for (path, second) in [("/moved", "GET /there"), ("/kept", "POST /there")] {
        call(
            writing(),
            json!({ "url": server.url(path), "method": "POST", "body": {"a": 1} }),
        )
        .await;
        let asked = server.asked().pop().unwrap();
        assert!(asked.starts_with(second), "{asked}");
        assert_eq!(
            asked.ends_with(r#"{"a":1}"#),
            second.starts_with("POST"),
            "{asked}"
        );
    }
}
