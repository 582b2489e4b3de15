//! `approve`, `deny`, `revise`, `cancel` and `release`.

use crate::desk::{ARGS, Desk};
use agents::{ErrorKind, tool::Risk};
use std::fs;

#[tokio::test]
async fn an_approved_call_runs_once_and_is_decided_once() {
    let desk = Desk::new("approve").await;
    let (run, request) = desk.waiting("acme", "one").await;
    let printed = desk.printed(&["approve", &request]);
    assert_eq!(
        printed,
        format!("{request} approved: pay {{cents: 1200, to: [email]}}\n")
    );
    assert!(desk.paid.lock().unwrap().is_empty(), "nobody works");
    assert_eq!(
        desk.printed(&["approve", &request]),
        printed,
        "it is the first one"
    );
    desk.agents(&["deny", &request, "--reason", "no"])
        .fails(1, "is approved by operator already");
    assert_eq!(desk.answer(&run).await.unwrap(), "Done: paid");
    desk.agents(&["deny", &request, "--reason", "no"])
        .fails(1, "consumed by operator already");
    assert_eq!(desk.paid.lock().unwrap().len(), 1);
    desk.agents(&["approve", "never"])
        .fails(1, "there is no request `never`");
    desk.agents(&["approve"]).fails(2, "required");
}

#[tokio::test]
async fn a_denial_has_a_reason_and_a_revision_a_note() {
    let desk = Desk::new("deny").await;
    let (run, request) = desk.waiting("acme", "one").await;
    desk.agents(&["deny", &request]).fails(2, "--reason");
    desk.agents(&["revise", &request]).fails(2, "--note");
    let denied = desk.printed(&["deny", &request, "--reason", "not to her"]);
    assert!(denied.contains(" denied: pay "), "{denied}");
    assert!(desk.answer(&run).await.unwrap().contains("not to her"));
    assert!(desk.paid.lock().unwrap().is_empty());

    let (run, request) = desk.waiting("acme", "two").await;
    let revised = desk.agents(&["revise", &request, "--note", "at most 100", "--json"]);
    assert_eq!(
        revised.succeeds().objects()[0]["status"],
        "revision_requested"
    );
    assert!(desk.answer(&run).await.unwrap().contains("at most 100"));
}

#[tokio::test]
async fn changed_arguments_have_to_fit() {
    let desk = Desk::new("args").await;
    let (run, request) = desk.waiting("acme", "one").await;
    desk.agents(&["approve", &request, "--args", "{"])
        .fails(2, "no JSON");
    desk.agents(&["approve", &request, "x", "--args", "{}"])
        .fails(2, "one request");
    desk.agents(&["approve", &request, "--args", "{}"])
        .fails(1, "do not fit `pay`");
    desk.agents(&["approve", &request, "--args-file", "/nowhere/x"])
        .fails(1, "cannot be read");
    let file = desk.folder.0.join("args.json");
    fs::write(&file, r#"{"cents": 90}"#).unwrap();
    let printed = desk.printed(&["approve", &request, "--args-file", file.to_str().unwrap()]);
    assert!(
        printed.contains(r#"approved: pay with {"cents": 90}"#),
        "{printed}"
    );
    desk.answer(&run).await.unwrap();
    assert_eq!(
        *desk.paid.lock().unwrap(),
        [serde_json::json!({"cents": 90})]
    );
    // Later both are shown: what was asked for, and what was approved.
    let shown = desk.printed(&["approval", &request]);
    let both = format!("arguments\n{ARGS}\napproved with\n{{\"cents\": 90}}\n");
    assert!(shown.ends_with(&both), "{shown}");
    let shown = desk.agents(&["approval", &request, "--json"]).succeeds();
    let detail = &shown.objects()[0]["detail"];
    assert_eq!(detail["request"]["args"]["cents"], 1200);
    assert_eq!(detail["approved"], serde_json::json!({"cents": 90}));
    let trail = desk.printed(&["audit", "--run", run.id()]);
    let marked = format!("{request} (with edited arguments)");
    assert_eq!(trail.matches(&marked).count(), 1, "{trail}");
    let trail = desk.agents(&["audit", "--json", "--run", run.id()]);
    let events = trail.succeeds().objects();
    let approved = events.iter().find(|event| event["kind"] == "approved");
    let reason = &approved.unwrap()["reason"];
    assert_eq!(
        reason,
        "approved with {cents: 90} in place of {cents: 1200, to: [email]}"
    );
}

#[tokio::test]
async fn each_request_of_a_batch_has_its_own_outcome() {
    let desk = Desk::new("batch").await;
    let (_, one) = desk.waiting("acme", "one").await;
    let (_, two) = desk.waiting("acme", "two").await;
    let ran = desk.agents(&["approve", &one, "never", &two]);
    ran.fails(1, "`never`");
    let lines: Vec<_> = ran.out.lines().collect();
    assert!(
        lines.len() == 2 && lines[0].starts_with(&one) && lines[1].starts_with(&two),
        "{ran:?}"
    );
    let again = desk.agents(&["--json", "deny", &one, "--reason", "late"]);
    again.fails(1, "already");
    assert_eq!(again.objects()[0]["id"], *one);
    assert!(
        again.objects()[0]["error"]
            .as_str()
            .unwrap()
            .contains("already")
    );
}

#[tokio::test]
async fn all_requests_of_a_tool_are_approved_up_to_a_risk() {
    let desk = Desk::new("all").await;
    let (_, one) = desk.waiting("acme", "one").await;
    let (_, two) = desk.waiting("other", "two").await;
    let all = |more: &[&str]| desk.agents(&[&["approve", "--all"], more].concat());
    all(&[]).fails(2, "--tool");
    all(&["--tool", "pay"]).fails(2, "--max-risk");
    all(&["--tool", "pay", "--max-risk", "high"]).fails(2, "high");
    all(&["--tool", "pay", "--max-risk", "low"]).fails(1, "no open request is about `pay`");
    all(&["--tool", "eat", "--max-risk", "medium"]).fails(1, "`eat`");
    let own = all(&["--tool", "pay", "--max-risk", "medium", "--tenant", "acme"])
        .succeeds()
        .out;
    assert!(own.contains(&one) && !own.contains(&two), "{own}");
    assert!(
        all(&["--tool", "pay", "--max-risk", "medium"])
            .succeeds()
            .out
            .contains(&two)
    );
}

#[tokio::test]
async fn the_runs_of_another_tenant_do_not_exist() {
    let desk = Desk::new("tenants").await;
    let (run, request) = desk.waiting("acme", "one").await;
    let eve = ["--as", "eve", "--tenant", "other"];
    let ran = |args: &[&str]| desk.agents(&[&eve[..], args].concat());
    for args in [&["approve", &request][..], &["approval", &request]] {
        ran(args).fails(1, "there is no request");
    }
    for args in [
        &["show", run.id()][..],
        &["cancel", run.id()],
        &["release", run.id()],
        &["events", run.id(), "--no-follow"],
        &["approvals", "--run", run.id()],
        &["runs", "--before", run.id()],
    ] {
        ran(args).fails(1, "there is no run");
    }
    assert_eq!(ran(&["runs"]).succeeds().out, "");
    assert_eq!(ran(&["approvals"]).succeeds().out, "");
    // Somebody without a tenant is none of `acme` either.
    desk.agents(&["--as", "eve", "approve", &request])
        .fails(1, "there is no request");
    // The operator sees one tenant if asked to.
    desk.agents(&["--tenant", "other", "approve", &request])
        .fails(1, "there is no request");
    let grace = desk.printed(&[
        "--as", "grace", "--tenant", "acme", "--json", "approve", &request,
    ]);
    assert!(grace.contains(r#""decided_by":"grace""#), "{grace}");
}

#[tokio::test]
async fn nobody_decides_about_a_run_of_their_own_or_without_the_role() {
    let desk = Desk::with("own", ARGS, Risk::High).await;
    let (_, request) = desk.waiting("acme", "one").await;
    let acme = |args: &[&str]| desk.agents(&[&["--tenant", "acme"], args].concat());
    let own = acme(&["--as", "ada", "approve", &request]);
    own.fails(1, "`ada` started the run, and may not decide");
    assert!(own.said.contains("another person has to decide"), "{own:?}");
    let rule = ["--role-for", "high=treasurer", "--as", "grace"];
    let lacks = acme(&[&rule[..], &["approve", &request]].concat());
    lacks.fails(1, "need the role `treasurer`");
    acme(&["--role", "treasurer", "approve", &request]).fails(2, "--as");
    acme(&["--role-for", "treasurer", "approve", &request]).fails(2, "high=treasurer");
    let has = acme(&[&rule[..], &["--role", "treasurer", "approve", &request]].concat());
    has.succeeds();
}

#[tokio::test]
async fn an_expired_request_is_not_decided() {
    let desk = Desk::slow("expired").await;
    let (_, request) = desk.waiting("acme", "one").await;
    desk.agents(&["approve", &request])
        .fails(1, "is expired already");
    assert_eq!(desk.printed(&["approvals"]), "");
    assert!(
        desk.printed(&["approval", &request])
            .contains("state       expired")
    );
}

#[tokio::test]
async fn a_run_is_cancelled_once() {
    let desk = Desk::new("cancel").await;
    let (run, request) = desk.waiting("acme", "one").await;
    let printed = desk.printed(&["cancel", run.id()]);
    assert_eq!(
        printed,
        format!("{} cancelled; a worker ends it\n", run.id())
    );
    let error = desk.answer(&run).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    desk.agents(&["cancel", run.id()])
        .fails(1, "is over already: done (cancelled)");
    desk.agents(&["approve", &request])
        .fails(1, "is cancelled already");
    let shown = desk.printed(&["show", run.id()]);
    assert!(shown.contains("cancelled  by operator"), "{shown}");
}

#[tokio::test]
async fn a_held_run_is_released() {
    let desk = Desk::new("release").await;
    let (run, request) = desk.waiting("acme", "one").await;
    desk.agents(&["release", run.id()])
        .fails(1, "is not held: it is waiting");
    desk.printed(&["approve", &request]);
    desk.by_hand("UPDATE agent_runs SET status = 'held', held = 'the tool is gone'");
    let released = desk
        .agents(&["release", run.id(), "--json"])
        .succeeds()
        .objects();
    assert_eq!(released[0]["status"], "ready");
    assert_eq!(desk.answer(&run).await.unwrap(), "Done: paid");
    desk.agents(&["release", "never"])
        .fails(1, "there is no run `never`");
}

#[tokio::test]
async fn a_question_is_shown_and_answered_and_an_agent_told_something() {
    let desk = Desk::new("answer").await;
    let (run, request) = desk.asking().await;
    let shown = desk.printed(&["approval", &request]);
    for line in [
        "because     it asks a question",
        "question    Where to?",
        "answer      one of `Rome`, `Paris`",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    desk.agents(&["answer", &request, "London"])
        .fails(2, "answer one of `Rome`, `Paris`");
    desk.agents(&["approve", &request])
        .fails(1, "asks a question");
    let said = desk.printed(&["say", run.id(), "Be quick."]);
    assert!(said.contains("is told before its next request"), "{said}");
    desk.agents(&["say", run.id(), " "]).fails(1, "is empty");
    let answered = desk.printed(&["answer", &request, "paris"]);
    assert!(answered.contains(" approved: ask_user "), "{answered}");
    assert_eq!(desk.answer(&run).await.unwrap(), "Paris, and: Be quick.");

    let (_, request) = desk.waiting("acme", "pays").await;
    desk.agents(&["answer", &request, "Rome"])
        .fails(2, "asks no question");
}
