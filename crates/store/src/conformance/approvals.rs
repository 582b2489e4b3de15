//! Requests for approval: decided once, used once, for these arguments, in time.

use super::{
    Checked, ErrorKind, LONG, SHORT, claim, claimed, create, execution, refused, request, step,
};
use crate::{
    Answer, ApprovalFilter, ApprovalStatus, Commit, Decision, End, ExecutionFilter, Lease,
    NewApproval, Rest, RunStatus, Store,
};

fn decision(request: &str, answer: Answer) -> Decision {
    Decision {
        id: format!("approval-{request}"),
        tenant: Some("acme".to_owned()),
        by: "grace".to_owned(),
        answer,
        proof: b"proof".to_vec(),
    }
}

fn yes() -> Answer {
    Answer::Approve {
        edited: None,
        edited_digest: None,
        use_within: LONG,
    }
}

/// Stores a run that asks for approval of one call, whose arguments have the digest `d1`. Returns the lease on the run.
async fn asked(store: &Checked) -> Lease {
    create(store, "run-1").await;
    let lease = claimed(store, "w").await;
    let commit = Commit {
        asked: vec![request("r1", "d1")],
        ..step("a", 0, 1)
    };
    store.commit(&lease, &commit).await.unwrap();
    lease
}

/// Begins an execution for the request, with arguments of this digest.
async fn begin(
    store: &Checked,
    lease: &Lease,
    id: &str,
    needs: &str,
    digest: &str,
) -> Result<(), crate::StoreError> {
    let after = store.run(&lease.run.id).await.unwrap().unwrap().last_seq;
    let commit = Commit {
        began: vec![execution(id, Some(needs), digest)],
        ..step(id, after, after + 1)
    };
    store.commit(lease, &commit).await
}

async fn status(store: &Checked, request: &str) -> ApprovalStatus {
    let found = store.approval(&format!("approval-{request}")).await;
    found.unwrap().expect("the request is stored").status
}

pub(super) async fn a_request_is_stored_with_its_commit_and_once(store: Checked) {
    let lease = asked(&store).await;
    let found = store.approval("approval-r1").await.unwrap().unwrap();
    let new = request("r1", "d1");
    assert_eq!(
        (
            &found.request,
            &found.agent_name,
            &found.tool_name,
            &found.version,
            &found.args_summary
        ),
        (
            &new.request,
            &new.agent_name,
            &new.tool_name,
            &new.version,
            &new.args_summary
        )
    );
    assert_eq!(
        (
            &found.effect_description,
            found.risk_level,
            &found.user_id,
            &found.args_digest,
            &found.detail
        ),
        (
            &new.effect_description,
            new.risk_level,
            &new.user_id,
            &new.args_digest,
            &new.detail
        )
    );
    assert_eq!((&*found.run, &*found.tenant_id), ("run-1", "acme"));
    assert_eq!(
        (found.status, &found.correlation_id),
        (ApprovalStatus::Pending, &found.id)
    );
    assert_eq!(found.expires_at.since(found.requested_at), LONG);
    // The run goes on in another process, and asks the same.
    let again = Commit {
        asked: vec![NewApproval {
            id: "another".to_owned(),
            ..request("r1", "d1")
        }],
        ..step("b", 1, 2)
    };
    store.commit(&lease, &again).await.unwrap();
    let all = store.approvals(&ApprovalFilter::default()).await.unwrap();
    assert_eq!(all, [found]);
}

pub(super) async fn one_of_many_decisions_wins(store: Checked) {
    asked(&store).await;
    let deciders: Vec<_> = (0..16)
        .map(|n| {
            let store = store.clone();
            tokio::spawn(async move {
                let answer = match n % 2 {
                    0 => yes(),
                    _ => Answer::Deny(format!("no, says {n}")),
                };
                let decision = Decision {
                    by: format!("decider-{n}"),
                    ..decision("r1", answer)
                };
                store.decide(&decision).await
            })
        })
        .collect();
    let mut won = Vec::new();
    for decider in deciders {
        match decider.await.unwrap() {
            Ok(approval) => won.push(approval),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Settled, "{error}"),
        }
    }
    assert_eq!(won.len(), 1);
    let found = store.approval("approval-r1").await.unwrap().unwrap();
    assert_eq!(found, won[0]);
}

pub(super) async fn a_decision_makes_a_waiting_run_ready(store: Checked) {
    let lease = asked(&store).await;
    let waits = Rest::Waiting {
        wake_at: None,
        messages: 0,
    };
    store.release(&lease, &waits).await.unwrap();
    assert_eq!(store.claim(&claim("w", LONG)).await.unwrap(), None);
    let decided = store
        .decide(&decision("r1", Answer::Deny("too dear".to_owned())))
        .await
        .unwrap();
    assert_eq!(
        (
            decided.status,
            decided.decided_by.as_deref(),
            decided.note.as_deref()
        ),
        (ApprovalStatus::Denied, Some("grace"), Some("too dear"))
    );
    assert!(decided.decided_at.is_some());
    assert_eq!(decided.proof.as_deref(), Some(&b"proof"[..]));
    let run = store.run("run-1").await.unwrap().unwrap();
    assert_eq!((run.status, run.messages), (RunStatus::Ready, 1));
    claimed(&store, "w").await;
}

pub(super) async fn the_request_of_another_tenant_does_not_exist(store: Checked) {
    asked(&store).await;
    let foreign = Decision {
        tenant: Some("other".to_owned()),
        ..decision("r1", yes())
    };
    refused(store.decide(&foreign).await, ErrorKind::NotFound);
    refused(
        store.decide(&decision("r9", yes())).await,
        ErrorKind::NotFound,
    );
    assert_eq!(status(&store, "r1").await, ApprovalStatus::Pending);
    let of_other = ApprovalFilter {
        tenant: Some("other".to_owned()),
        ..ApprovalFilter::default()
    };
    assert!(store.approvals(&of_other).await.unwrap().is_empty());
    let operator = Decision {
        tenant: None,
        ..decision("r1", yes())
    };
    store.decide(&operator).await.unwrap();
}

pub(super) async fn a_request_expires_and_cannot_be_decided_then(store: Checked) {
    create(&store, "run-1").await;
    let lease = claimed(&store, "w").await;
    let commit = Commit {
        asked: vec![NewApproval {
            expires_after: SHORT,
            ..request("r1", "d1")
        }],
        ..step("a", 0, 1)
    };
    store.commit(&lease, &commit).await.unwrap();
    let waits = Rest::Waiting {
        wake_at: None,
        messages: 0,
    };
    store.release(&lease, &waits).await.unwrap();
    tokio::time::sleep(SHORT * 2).await;
    refused(
        store.decide(&decision("r1", yes())).await,
        ErrorKind::Settled,
    );
    assert_eq!(status(&store, "r1").await, ApprovalStatus::Expired);
    let run = store.run("run-1").await.unwrap().unwrap();
    assert_eq!(run.status, RunStatus::Ready, "the run is told");
}

pub(super) async fn an_execution_without_its_approval_is_refused(store: Checked) {
    let lease = asked(&store).await;
    refused(
        begin(&store, &lease, "e1", "r1", "d1").await,
        ErrorKind::NotApproved,
    );
    refused(
        begin(&store, &lease, "e2", "r2", "d1").await,
        ErrorKind::NotApproved,
    );
    store
        .decide(&decision("r1", Answer::Revise("less".to_owned())))
        .await
        .unwrap();
    refused(
        begin(&store, &lease, "e3", "r1", "d1").await,
        ErrorKind::NotApproved,
    );
    assert_eq!(
        status(&store, "r1").await,
        ApprovalStatus::RevisionRequested
    );
}

pub(super) async fn an_approval_covers_these_arguments_only(store: Checked) {
    let lease = asked(&store).await;
    store.decide(&decision("r1", yes())).await.unwrap();
    refused(
        begin(&store, &lease, "e1", "r1", "d2").await,
        ErrorKind::NotApproved,
    );
    begin(&store, &lease, "e2", "r1", "d1").await.unwrap();
}

pub(super) async fn an_approval_that_was_not_used_in_time_is_refused(store: Checked) {
    let lease = asked(&store).await;
    let soon = Answer::Approve {
        edited: None,
        edited_digest: None,
        use_within: SHORT,
    };
    store.decide(&decision("r1", soon)).await.unwrap();
    tokio::time::sleep(SHORT * 2).await;
    refused(
        begin(&store, &lease, "e1", "r1", "d1").await,
        ErrorKind::NotApproved,
    );
}

pub(super) async fn an_approval_is_used_once_and_by_each_attempt(store: Checked) {
    let lease = asked(&store).await;
    store.decide(&decision("r1", yes())).await.unwrap();
    begin(&store, &lease, "e1", "r1", "d1").await.unwrap();
    assert_eq!(status(&store, "r1").await, ApprovalStatus::Consumed);
    // The same call with the same arguments, tried again.
    begin(&store, &lease, "e2", "r1", "d1").await.unwrap();
    refused(
        begin(&store, &lease, "e3", "r1", "d2").await,
        ErrorKind::NotApproved,
    );
    refused(
        store.decide(&decision("r1", yes())).await,
        ErrorKind::Settled,
    );
}

pub(super) async fn edited_arguments_are_covered_and_the_first_ones_are_not(store: Checked) {
    let lease = asked(&store).await;
    let edited = Answer::Approve {
        edited: Some(b"less".to_vec()),
        edited_digest: Some("d2".to_owned()),
        use_within: LONG,
    };
    let decided = store.decide(&decision("r1", edited)).await.unwrap();
    assert_eq!(decided.edited.as_deref(), Some(&b"less"[..]));
    refused(
        begin(&store, &lease, "e1", "r1", "d1").await,
        ErrorKind::NotApproved,
    );
    // With other arguments, the call has another id in its run.
    begin(&store, &lease, "e2", "r1-edited", "d2")
        .await
        .unwrap();
    assert_eq!(status(&store, "r1").await, ApprovalStatus::Consumed);
}

pub(super) async fn a_request_after_a_revision_has_its_correlation_id(store: Checked) {
    let lease = asked(&store).await;
    store
        .decide(&decision("r1", Answer::Revise("less".to_owned())))
        .await
        .unwrap();
    let elsewhere = NewApproval {
        place: "other".to_owned(),
        ..request("r3", "d3")
    };
    let commit = Commit {
        asked: vec![request("r2", "d2"), elsewhere],
        ..step("b", 1, 2)
    };
    store.commit(&lease, &commit).await.unwrap();
    let of = async |request: &str| {
        let found = store.approval(&format!("approval-{request}")).await;
        found.unwrap().unwrap().correlation_id
    };
    assert_eq!(of("r2").await, of("r1").await);
    assert_eq!(of("r3").await, "approval-r3");
}

pub(super) async fn the_requests_of_a_run_that_is_over_are_cancelled(store: Checked) {
    let lease = asked(&store).await;
    store
        .release(&lease, &Rest::done(End::Cancelled))
        .await
        .unwrap();
    assert_eq!(status(&store, "r1").await, ApprovalStatus::Cancelled);
    refused(
        store.decide(&decision("r1", yes())).await,
        ErrorKind::Settled,
    );
}

pub(super) async fn requests_are_listed_the_oldest_first_page_by_page(store: Checked) {
    create(&store, "run-1").await;
    let lease = claimed(&store, "w").await;
    let commit = Commit {
        asked: (1..=5).map(|n| request(&format!("r{n}"), "d")).collect(),
        ..step("a", 0, 1)
    };
    store.commit(&lease, &commit).await.unwrap();
    store.decide(&decision("r3", yes())).await.unwrap();
    let mut seen = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let page = ApprovalFilter {
            tenant: Some("acme".to_owned()),
            run: Some("run-1".to_owned()),
            status: Some(ApprovalStatus::Pending),
            after: after.clone(),
            limit: 2,
        };
        let found = Store::approvals(&store, &page).await.unwrap();
        let Some(last) = found.last() else { break };
        after = Some(last.id.clone());
        seen.extend(found.into_iter().map(|one| one.request));
    }
    assert_eq!(seen, ["r1", "r2", "r4", "r5"]);
    let unknown = Some("r9".to_owned());
    let behind_nothing = ApprovalFilter {
        after: unknown.clone(),
        ..ApprovalFilter::default()
    };
    let found = Store::approvals(&store, &behind_nothing).await;
    refused(found, ErrorKind::NotFound);
    let behind_nothing = ExecutionFilter {
        after: unknown,
        ..ExecutionFilter::default()
    };
    let found = store.executions(&behind_nothing).await;
    refused(found, ErrorKind::NotFound);
}

pub(super) async fn an_approval_that_was_not_used_in_time_expires(store: Checked) {
    let lease = asked(&store).await;
    let brief = Answer::Approve {
        edited: None,
        edited_digest: None,
        use_within: SHORT,
    };
    store.decide(&decision("r1", brief)).await.unwrap();
    let seen = store.run("run-1").await.unwrap().unwrap().messages;
    tokio::time::sleep(SHORT * 2).await;
    store.approvals(&ApprovalFilter::default()).await.unwrap();
    assert_eq!(status(&store, "r1").await, ApprovalStatus::Expired);
    assert!(store.run("run-1").await.unwrap().unwrap().messages > seen);
    refused(
        begin(&store, &lease, "e1", "r1", "d1").await,
        ErrorKind::NotApproved,
    );
}
