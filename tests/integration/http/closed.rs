//! What is not allowed, and is not done.

use super::server::{Server, call, get, json, with};
use agents::{
    Agent, AgentBuilder, Code, Effects, Tool,
    http::{HttpAnswer, HttpArgs, HttpTool, Method},
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
        let clear = "may not be asked in the clear; ask it over `https://`";
        assert!(error.message.ends_with(clear), "{}", error.message);
    }
    let down = Server::start(|_| with(302, "location: http://example.com/\r\n", "")).await;
    let error = get(down.tool().allow_host("example.com"), &down.url("/")).await;
    assert_eq!(
        error.unwrap_err().message,
        "the server redirects to `example.com` in the clear, which is not allowed"
    );
    // Said so, it is another question where the name leads.
    let tool = HttpTool::new().allow_host(&format!("http://127.0.0.1:{}", server.port));
    let error = get(tool, &server.url("/")).await.unwrap_err();
    assert!(
        error.message.contains("private address"),
        "{}",
        error.message
    );
}

#[test]
#[should_panic(expected = "a secret goes nowhere in the clear: leave out the `http://`")]
fn a_secret_for_a_host_in_the_clear() {
    let _ = HttpTool::new().bearer("http://example.com", "crm");
}

#[tokio::test]
async fn what_was_approved_for_one_server_is_sent_to_no_other() {
    let other = Server::start(|_| json("1")).await;
    let elsewhere = other.url("/take");
    let server = Server::start(move |path| match path {
        "/307" => with(307, &format!("location: {elsewhere}\r\n"), "go there"),
        "/308" => with(308, &format!("location: {elsewhere}\r\n"), "go there"),
        "/302" => with(302, &format!("location: {elsewhere}\r\n"), ""),
        _ => json("2"),
    })
    .await;
    let tool = || {
        server
            .tool()
            .allow_private_host(&format!("127.0.0.1:{}", other.port))
            .allow_method(Method::Post)
    };
    let post = |path: &str| json!({ "url": server.url(path), "method": "POST", "body": "order" });
    for (path, status) in [("/307", 307), ("/308", 308)] {
        let receipt = call(tool(), post(path)).await;
        let answer: HttpAnswer = receipt.output.as_ref().unwrap().to().unwrap();
        assert_eq!((answer.status, answer.url), (status, server.url(path)));
        assert_eq!(answer.headers["location"], other.url("/take"));
        assert!(other.asked().is_empty());
    }
    // What no longer writes goes where it is allowed to.
    call(tool(), post("/302")).await;
    assert!(other.asked()[0].starts_with("GET /take"));
    assert!(!other.asked()[0].contains("order"));
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
