//! Redirects: their targets are checked, and secrets are not sent to another server.

use super::server::{Answer, Server, call, get, json, with};
use crate::world::scripted_agent;
use agents::{
    Agent, AgentBuilder, Code,
    http::{HttpAnswer, HttpTool, Method},
    policy::confirm_tools,
    recovery::*,
    run::{Approval, ApprovalRequest},
    testing::{Script, ScriptedModel},
};
use serde_json::json;
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU32, Ordering::SeqCst},
};

const STATUSES: [u16; 5] = [301, 302, 303, 307, 308];

/// Starts a server that redirects `/302?http://elsewhere/` to that address with that status, and answers paths without
/// a question mark.
async fn redirecting() -> Server {
    Server::start(|path| match path.split_once('?') {
        Some((status, to)) => redirect(status[1..].parse().unwrap(), to),
        None => json("1"),
    })
    .await
}

fn redirect(status: u16, to: &str) -> Answer {
    with(
        status,
        &format!("content-type: text/plain\r\nlocation: {to}\r\n"),
        "it has moved",
    )
}

fn host(server: &Server) -> String {
    format!("127.0.0.1:{}", server.port)
}

/// Creates a tool that may ask both servers, with a bearer and another header for each.
fn with_secrets(first: &Server, second: &Server) -> HttpTool {
    [first, second]
        .into_iter()
        .fold(first.tool(), |tool, server| {
            tool.allow_private_host(&host(server))
                .bearer(&host(server), "crm")
                .secret_header(&host(server), "x-api-key", "crm")
        })
}

/// Returns, for each request of a server, `true` if it carried the secrets.
fn had_secrets(server: &Server) -> Vec<bool> {
    let asked = server.asked();
    let had = asked.iter().map(|asked| {
        let all = ["authorization: Bearer the-key", "x-api-key: the-key"];
        let none = !asked.to_lowercase().contains("authorization") && !asked.contains("the-key");
        let had = all.iter().all(|header| asked.contains(header));
        assert_ne!(had, none, "{asked}");
        had
    });
    had.collect()
}

#[tokio::test]
async fn the_server_that_a_redirect_leads_to_gets_no_secret_not_even_its_own() {
    for status in STATUSES {
        let (first, second) = (redirecting().await, redirecting().await);
        let tool = with_secrets(&first, &second);
        let url = first.url(&format!("/{status}?{}", second.url("/end")));
        let answer = get(tool, &url).await.unwrap();
        assert_eq!((answer.status, answer.url), (200, second.url("/end")));
        assert_eq!(had_secrets(&first), [true]);
        assert_eq!(had_secrets(&second), [false], "{status}");
    }
    // A direct request to the server carries the secret.
    let (first, second) = (redirecting().await, redirecting().await);
    let tool = with_secrets(&first, &second);
    get(tool, &second.url("/end")).await.unwrap();
    assert_eq!(had_secrets(&second), [true]);
}

#[tokio::test]
async fn a_secret_that_is_not_sent_after_a_redirect_is_not_asked_for() {
    let (first, second) = (redirecting().await, redirecting().await);
    let tool = first
        .tool()
        .allow_private_host(&host(&second))
        .bearer(&host(&second), "nobody has it");
    let url = first.url(&format!("/302?{}", second.url("/end")));
    assert_eq!(get(tool, &url).await.unwrap().status, 200);
}

#[tokio::test]
async fn a_chain_that_comes_back_to_where_it_began_has_no_secret_again() {
    let (first, second) = (redirecting().await, redirecting().await);
    let tool = with_secrets(&first, &second);
    // Redirects to another page of the second server, back, and to another page of the first.
    let back = first.url(&format!("/302?{}", first.url("/end")));
    let there = second.url(&format!("/307?{back}"));
    let on = second.url(&format!("/302?{there}"));
    let answer = get(tool, &first.url(&format!("/302?{on}"))).await.unwrap();
    assert_eq!((answer.status, answer.url), (200, first.url("/end")));
    assert_eq!(had_secrets(&first), [true, false, false]);
    assert_eq!(had_secrets(&second), [false, false]);
}

#[tokio::test]
async fn a_redirect_within_the_origin_keeps_the_secret() {
    for status in STATUSES {
        for method in ["GET", "HEAD"] {
            let server = redirecting().await;
            for to in ["/end".to_owned(), server.url("/end")] {
                let url = server.url(&format!("/{status}?{to}"));
                let receipt = call(
                    with_secrets(&server, &server),
                    json!({ "url": url, "method": method }),
                )
                .await;
                let answer: HttpAnswer = receipt.output.as_ref().unwrap().to().unwrap();
                assert_eq!((answer.status, answer.url), (200, server.url("/end")));
                assert!(server.asked().pop().unwrap().starts_with(method));
            }
            assert_eq!(had_secrets(&server), [true; 4], "{status} {method}");
        }
    }
}

#[tokio::test]
async fn a_server_under_another_name_is_another_origin() {
    let server = redirecting().await;
    let other = format!("localhost:{}", server.port);
    let tool = || {
        with_secrets(&server, &server)
            .allow_private_host(&other)
            .bearer(&other, "crm")
            .secret_header(&other, "x-api-key", "crm")
    };
    let url = server.url(&format!("/302?http://{other}/end"));
    let answer = get(tool(), &url).await.unwrap();
    assert_eq!(answer.url, format!("http://{other}/end"));
    assert_eq!(had_secrets(&server), [true, false]);
    // Another spelling of an address is the same origin.
    let url = server.url(&format!("/302?http://2130706433:{}/end", server.port));
    assert_eq!(get(tool(), &url).await.unwrap().url, server.url("/end"));
    assert_eq!(had_secrets(&server)[2..], [true, true]);
}

#[tokio::test]
async fn a_refusal_says_that_a_redirect_left_the_secret_behind() {
    let first = redirecting().await;
    let second = Server::start(|_| with(401, "", "who are you?")).await;
    let url = first.url(&format!("/302?{}", second.url("/end")));
    let error = get(with_secrets(&first, &second), &url).await.unwrap_err();
    assert_eq!(error.code, Code::AuthRequired);
    assert_eq!(
        error.message,
        format!(
            "the server requires credentials, or refused those that were sent (401); no secret was sent to `http://{}`, because a \
             redirect from another origin led there: who are you?",
            host(&second)
        )
    );
    // The error does not mention a missing secret if none had to be sent.
    let tool = first.tool().allow_private_host(&host(&second));
    let error = get(tool, &url).await.unwrap_err();
    assert!(!error.message.contains("secret"), "{}", error.message);
}

#[tokio::test]
async fn a_request_that_writes_is_not_redirected() {
    let (first, second) = (redirecting().await, redirecting().await);
    let methods = [Method::Post, Method::Put, Method::Patch, Method::Delete];
    let mut sent = 0;
    for to in [
        "/end".to_owned(),
        first.url("/end"),
        second.url("/end"),
        "http://not.allowed.example/".to_owned(),
        "http://[".to_owned(),
    ] {
        for (method, status) in methods
            .iter()
            .flat_map(|method| STATUSES.map(|status| (*method, status)))
        {
            let url = first.url(&format!("/{status}?{to}"));
            let tool = with_secrets(&first, &second).allow_method(method);
            let receipt = call(
                tool,
                json!({ "url": url, "method": method, "body": "order" }),
            )
            .await;
            let answer: HttpAnswer = receipt.output.as_ref().unwrap().to().unwrap();
            assert_eq!((answer.status, &answer.url), (status, &url), "{method}");
            assert_eq!(answer.headers["location"], to);
            assert_eq!(answer.text.as_deref(), Some("it has moved"));
            assert!(answer.by_way_of.is_empty());
            sent += 1;
            let asked = first.asked();
            assert_eq!(asked.len(), sent, "{method} {url}");
            assert!(asked[sent - 1].starts_with(&format!("{method} /{status}")));
            assert!(second.asked().is_empty());
        }
    }
}

#[tokio::test]
async fn what_a_redirect_leads_to_is_approved_by_itself() {
    let (first, second) = (redirecting().await, redirecting().await);
    let url = first.url(&format!("/302?{}", second.url("/end")));
    let post = |url: &str| json!({ "url": url, "method": "POST", "body": "order" }).to_string();
    let (model, handle) = ScriptedModel::new([
        Script::call("http_request", post(&url)),
        Script::call("http_request", post(&second.url("/end"))),
        Script::text("done"),
    ]);
    let asked = Arc::new(Mutex::new(Vec::new()));
    let kept = asked.clone();
    AgentBuilder::<String, String>::new("clerk")
        .tool(with_secrets(&first, &second).allow_method(Method::Post))
        .model(model)
        .build()
        .run("go")
        .secret("crm", "the-key-of-the-crm".to_owned())
        .approver(move |request: ApprovalRequest| {
            let args = request.args.to_value().unwrap();
            kept.lock().unwrap().push(args["url"].clone());
            async { Approval::Approve }
        })
        .outcome()
        .await
        .unwrap();
    assert_eq!(
        *asked.lock().unwrap(),
        [json!(url), json!(second.url("/end"))]
    );
    // The model got the target of the redirect.
    let requests = handle.requests();
    let (_, told) = &requests[1].results()[0];
    assert!(
        told.contains("302") && told.contains(&second.url("/end")),
        "{told}"
    );
    // A second call sent the order and the secret.
    assert_eq!(had_secrets(&second), [true]);
    assert!(second.asked()[0].starts_with("POST /end") && second.asked()[0].ends_with("order"));
}

#[tokio::test]
async fn a_redirect_of_a_request_that_only_reads_and_was_approved_is_the_answer() {
    let server = redirecting().await;
    let url = server.url(&format!("/302?{}", server.url("/end")));
    let get = json!({ "url": url }).to_string();
    let (model, handle) =
        ScriptedModel::new([Script::call("http_request", get), Script::text("done")]);
    AgentBuilder::<String, String>::new("clerk")
        .tool(with_secrets(&server, &server))
        .model(model)
        .build()
        .run("go")
        .policy(confirm_tools("http_request"))
        .secret("crm", "the-key-of-the-crm".to_owned())
        .approver(|_: ApprovalRequest| async { Approval::Approve })
        .outcome()
        .await
        .unwrap();
    assert_eq!(server.asked().len(), 1);
    let requests = handle.requests();
    let (_, told) = &requests[1].results()[0];
    assert!(
        told.contains("302") && told.contains(&server.url("/end")),
        "{told}"
    );
}

#[tokio::test]
async fn a_redirect_is_the_answer_of_each_attempt_that_was_approved() {
    let asked = AtomicU32::new(0);
    let server = Server::start(move |_| match asked.fetch_add(1, SeqCst) {
        0 => with(503, "", ""),
        1 => redirect(302, "/end"),
        _ => json("1"),
    })
    .await;
    let get = json!({ "url": server.url("/moved") }).to_string();
    let script = [Script::call("http_request", get), Script::text("done")];
    let outcome = scripted_agent("clerk", script)
        .tool(server.tool())
        .on_error(|error, _| match error {
            CallError::Execution(_) => Some(retry::<Execution>().backoff(none()).into()),
            _ => None,
        })
        .build()
        .run("go")
        .policy(confirm_tools("http_request"))
        .approver(|_: ApprovalRequest| async { Approval::Approve })
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.outputs.receipts().next().unwrap().attempts.len(), 2);
    assert_eq!(
        server.asked().len(),
        2,
        "nobody has approved where it leads"
    );
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
        .allow_private_host(&format!("127.0.0.1:{}", other.port));
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
