//! HTTP requests that are not allowed are not sent.

use super::server::{Server, call, get, json, with};
use crate::world::scripted_agent;
use agents::{
    Agent, AgentBuilder, Code, Effects, Tool,
    http::{HttpArgs, HttpTool, Method},
    testing::{Script, ScriptedModel},
    tool::FnTool,
};
use serde_json::json;
use std::sync::Arc;

#[tokio::test]
async fn everything_is_closed_by_default() {
    let server = Server::start(|_| json("1")).await;
    let url = server.url("/");
    let error = get(HttpTool::new(), &url).await.unwrap_err();
    assert_eq!(error.code, Code::PolicyDenied);
    assert_eq!(
        error.message,
        format!(
            "the host `127.0.0.1:{}` is not allowed; no host is",
            server.port
        )
    );
    let tool = HttpTool::new().allow_host("example.com");
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
        let tool = HttpTool::new().allow_host(&format!("http://{host}:{port}"));
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
    let tool = HttpTool::new().allow_private_host(&format!("localhost:{port}"));
    get(tool, &format!("http://localhost:{port}/"))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_private_host_opens_itself_alone() {
    let (server, other) = (
        Server::start(|_| json("1")).await,
        Server::start(|_| json("2")).await,
    );
    let tool = || {
        HttpTool::new()
            .allow_private_host(&format!("localhost:{}", server.port))
            .allow_host(&format!("http://localhost:{}", other.port))
            .allow_host("http://*.localhost")
            .allow_any_host()
    };
    let url = |port| format!("http://localhost:{port}/");
    assert!(get(tool(), &url(server.port)).await.is_ok());
    for url in [url(other.port), "https://10.0.0.1/".into()] {
        let error = get(tool(), &url).await.unwrap_err();
        assert_eq!(error.code, Code::PolicyDenied, "{url}");
        let private = "leads to a private address, which is not allowed";
        assert!(error.message.ends_with(private), "{}", error.message);
    }
    assert!(other.asked().is_empty());
}

#[tokio::test]
async fn in_the_clear_only_where_that_was_said() {
    let server = Server::start(|_| json("1")).await;
    let tool = || {
        HttpTool::new()
            .allow_host("example.com")
            .allow_host("example.com:8080")
            .allow_any_host()
    };
    for url in [
        "http://example.com/",
        "http://example.com:8080/",
        "http://example.org/",
    ] {
        let error = get(tool(), url).await.unwrap_err();
        assert_eq!(error.code, Code::PolicyDenied, "{url}: {}", error.message);
        let clear = "may not be asked over plain HTTP; ask it over `https://`";
        assert!(error.message.ends_with(clear), "{}", error.message);
    }
    let down = Server::start(|_| with(302, "location: http://example.com/\r\n", "")).await;
    let error = get(down.tool().allow_host("example.com"), &down.url("/")).await;
    assert_eq!(
        error.unwrap_err().message,
        "the server redirects to `example.com` over plain HTTP, which is not allowed"
    );
    // If plain HTTP is allowed for a host, its address is still checked.
    let tool = HttpTool::new().allow_host(&format!("http://127.0.0.1:{}", server.port));
    let error = get(tool, &server.url("/")).await.unwrap_err();
    assert!(
        error.message.contains("private address"),
        "{}",
        error.message
    );
}

#[test]
#[should_panic(expected = "a secret is never sent over plain HTTP: leave out the `http://`")]
fn a_secret_for_a_host_in_the_clear() {
    let _ = HttpTool::new().bearer("http://example.com", "crm");
}

#[tokio::test]
async fn another_tool_asks_by_way_of_it() {
    let server = Server::start(|_| json(r#"{"name": "Ada"}"#)).await;
    let (http, url) = (Arc::new(server.tool()), server.url("/7"));
    let schema = json!({ "type": "object" });
    let look = FnTool::new("look", "Looks.", Effects::Reads, schema, move |_, cx| {
        let (http, args) = (http.clone(), HttpArgs::get(&url));
        async move { http.call(args, &cx).await.map(|answer| answer.json) }
    });
    let (model, _) = ScriptedModel::new([Script::call("look", "{}"), Script::text("done")]);
    let agent = AgentBuilder::<String, String>::new("clerk").tool(look);
    let outcome = agent
        .model(model)
        .build()
        .run("go")
        .outcome()
        .await
        .unwrap();
    let output = outcome.outputs.last_tool.as_ref().unwrap().output.as_ref();
    assert_eq!(output.unwrap().as_str(), r#"{"name": "Ada"}"#);
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
async fn only_reading_unless_somebody_says_otherwise() {
    let server = Server::start(|_| json("1")).await;
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
    // Without an approver, writing is denied; reading needs no approval.
    let script = [
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
    ];
    let agent = scripted_agent("clerk", script).tool(writing()).build();
    let outcome = agent.run("go").outcome().await.unwrap();
    let codes: Vec<_> = outcome
        .outputs
        .receipts()
        .map(|receipt| receipt.error.as_ref().map(|e| e.code))
        .collect();
    assert_eq!(codes, [None, Some(Code::PolicyDenied)]);
    assert_eq!(server.asked().len(), 1);
}
