//! Settings from the environment, in a process of its own.

use crate::{HELLO, ask, replies};
use agents_http::testing::Answer;
use agents_openai::openai;
use std::{env, process::Command};

/// Runs in a process with an environment of its own, which the test below starts.
#[tokio::test]
#[ignore = "another test starts it"]
async fn asks_both_servers() {
    ask(&openai("m")).await.unwrap();
    let named = env::var("NAMED").unwrap();
    ask(&openai("m").base_url(&named)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_key_of_the_environment_goes_to_the_server_of_the_environment_alone() {
    let ours = replies(Answer::json(200, HELLO)).await;
    let named = replies(Answer::json(200, HELLO)).await;
    let mut child = Command::new(env::current_exe().unwrap());
    child
        .args(["--exact", "environment::asks_both_servers", "--ignored"])
        .env("OPENAI_API_KEY", "hunter2")
        .env("OPENAI_ORG_ID", "org-1")
        .env("OPENAI_BASE_URL", format!("{}/v1", ours.url))
        .env("NAMED", format!("{}/v1", named.url));
    let output = tokio::task::spawn_blocking(move || child.output().unwrap());
    let output = output.await.unwrap();
    assert!(output.status.success(), "{output:?}");
    let (ours, named) = (&ours.seen()[0].head, &named.seen()[0].head);
    assert!(ours.contains("authorization: Bearer hunter2"), "{ours}");
    assert!(ours.contains("openai-organization: org-1"), "{ours}");
    assert!(
        !named.contains("hunter2") && !named.contains("org-1"),
        "{named}"
    );
}
