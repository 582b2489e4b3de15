//! Promises of a store about conversations.

use super::{Checked, LONG, claim, claimed, new_run, refused};
use crate::{
    Claim, End, ErrorKind, HeldKind, HeldReason, Lease, NewRun, NewText, Rest, RunFilter, RunStatus,
};
use std::time::Duration;
use tokio::task::JoinSet;

fn message(id: &str, conversation: &str) -> NewRun {
    NewRun {
        conversation: Some(conversation.to_owned()),
        ..new_run(id)
    }
}

fn left(contents: &[u8]) -> Rest {
    Rest::Done {
        end: End::Answered,
        conversation: Some(contents.to_vec()),
    }
}

async fn says(store: &Checked, id: &str, conversation: &str) {
    let stored = store.create(&message(id, conversation)).await;
    let stored = stored.expect("a message is stored");
    assert_eq!(stored.conversation.as_deref(), Some(conversation));
}

/// Claims the next run, and checks that it is the one with this id.
async fn claims(store: &Checked, id: &str) -> Lease {
    let lease = claimed(store, "one").await;
    assert_eq!(lease.run.id, id);
    lease
}

async fn claims_nothing(store: &Checked, claim: &Claim) {
    let lease = store.claim(claim).await.expect("a claim works");
    assert_eq!(lease.map(|lease| lease.run.id), None);
}

pub(super) async fn a_conversation_is_there_with_its_first_run(store: Checked) {
    assert_eq!(store.conversation("acme", "talk").await.unwrap(), None);
    says(&store, "a", "talk").await;
    let found = store.conversation("acme", "talk").await.unwrap();
    let found = found.expect("the conversation is there");
    assert_eq!(
        (&*found.tenant, &*found.id, &*found.agent),
        ("acme", "talk", "payer")
    );
    assert_eq!((found.run, found.contents), (None, Vec::new()));
}

pub(super) async fn a_conversation_belongs_to_one_tenant_and_one_agent(store: Checked) {
    says(&store, "a", "talk").await;
    let of_another = NewRun {
        agent: "clerk".to_owned(),
        ..message("b", "talk")
    };
    refused(store.create(&of_another).await, ErrorKind::OtherAgent);
    assert_eq!(store.run("b").await.unwrap(), None, "nothing is stored");
    let elsewhere = NewRun {
        tenant: "other".to_owned(),
        agent: "clerk".to_owned(),
        ..message("c", "talk")
    };
    store.create(&elsewhere).await.expect("it is another one");
    let found = store.conversation("other", "talk").await.unwrap();
    assert_eq!(found.expect("it is there").agent, "clerk");
}

pub(super) async fn a_start_with_a_known_key_leaves_conversations_as_they_are(store: Checked) {
    let keyed = |id: &str, conversation: &str| NewRun {
        key: Some("october".to_owned()),
        ..message(id, conversation)
    };
    // Of many starts at once, one creates its conversation.
    let mut starts = JoinSet::new();
    for n in 0..8 {
        let (store, start) = (
            store.clone(),
            keyed(&format!("run-{n}"), &format!("talk-{n}")),
        );
        starts.spawn(async move { store.create(&start).await.unwrap() });
    }
    let first = starts.join_all().await.remove(0);
    let own = first.conversation.clone().unwrap();
    for n in 0..8 {
        let conversation = format!("talk-{n}");
        let found = store.conversation("acme", &conversation).await.unwrap();
        assert_eq!(found.is_some(), conversation == own, "{conversation}");
    }
    // A start with a known key is no message.
    let found = store.conversation("acme", &own).await.unwrap();
    tokio::time::sleep(Duration::from_millis(5)).await;
    let again = store.create(&keyed("again", &own)).await.unwrap();
    assert_eq!(again, first);
    assert_eq!(store.conversation("acme", &own).await.unwrap(), found);
    // The conversation of another agent is not looked at either.
    let of_another = NewRun {
        agent: "clerk".to_owned(),
        ..message("other", "of-another")
    };
    store.create(&of_another).await.unwrap();
    let again = store.create(&keyed("again", "of-another")).await.unwrap();
    assert_eq!(again, first);
}

pub(super) async fn the_runs_of_a_conversation_are_claimed_one_after_the_other(store: Checked) {
    for id in ["a", "b"] {
        says(&store, id, "talk").await;
    }
    // The order of a conversation comes before priorities.
    let urgent = NewRun {
        priority: 9,
        ..message("c", "talk")
    };
    store.create(&urgent).await.unwrap();
    says(&store, "d", "another").await;

    let first = claims(&store, "a").await;
    claims(&store, "d").await;
    let any = claim("two", LONG);
    claims_nothing(&store, &any).await;
    let this = Claim {
        run: Some("b".to_owned()),
        ..claim("two", LONG)
    };
    claims_nothing(&store, &this).await;
    // A run that waits, is held or is cancelled has not had its turn.
    let waits = Rest::Waiting {
        wake_at: None,
        messages: 0,
    };
    store.release(&first, &waits).await.unwrap();
    claims_nothing(&store, &any).await;
    store.cancel("a", "ada").await.unwrap();
    let first = claims(&store, "a").await;
    let held = Rest::Held(HeldReason::new(HeldKind::Incompatible, "it cannot go on"));
    store.release(&first, &held).await.unwrap();
    claims_nothing(&store, &any).await;
    store.unhold("a", "ada", None).await.unwrap();
    let first = claims(&store, "a").await;
    store
        .release(&first, &Rest::done(End::Cancelled))
        .await
        .unwrap();

    let second = claims(&store, "b").await;
    claims_nothing(&store, &any).await;
    store.release(&second, &left(b"b")).await.unwrap();
    claims(&store, "c").await;
}

pub(super) async fn of_many_messages_at_once_each_has_its_turn(store: Checked) {
    let ids: Vec<_> = (0..12).map(|n| format!("run-{n}")).collect();
    let mut says_all = JoinSet::new();
    for id in ids.clone() {
        let store = store.clone();
        says_all.spawn(async move { says(&store, &id, "talk").await });
    }
    says_all.join_all().await;
    let mut order = Vec::new();
    while order.len() < ids.len() {
        let mut claims = JoinSet::new();
        for worker in ["one", "two", "three", "four"] {
            let store = store.clone();
            claims.spawn(async move { store.claim(&claim(worker, LONG)).await });
        }
        let claims = claims.join_all().await;
        let leases: Vec<_> = claims.into_iter().filter_map(Result::unwrap).collect();
        let [lease] = &leases[..] else {
            panic!("one run of the conversation goes on at a time: {leases:?}")
        };
        store
            .release(lease, &left(lease.run.id.as_bytes()))
            .await
            .unwrap();
        order.push(lease.run.id.clone());
    }
    let filter = RunFilter {
        tenant: Some("acme".to_owned()),
        conversation: Some("talk".to_owned()),
        ..RunFilter::default()
    };
    let listed = store.runs(&filter).await.unwrap();
    let listed: Vec<_> = listed.into_iter().rev().map(|run| run.id).collect();
    assert_eq!(order, listed, "in the order in which they were stored");
}

pub(super) async fn a_run_leaves_its_conversation_with_its_end(store: Checked) {
    says(&store, "a", "talk").await;
    says(&store, "b", "talk").await;
    let first = claims(&store, "a").await;
    store.release(&first, &left(b"said")).await.unwrap();
    refused(
        store.release(&first, &left(b"again")).await,
        ErrorKind::LeaseLost,
    );
    let found = store.conversation("acme", "talk").await.unwrap().unwrap();
    assert_eq!(
        (found.run.as_deref(), &*found.contents),
        (Some("a"), &b"said"[..])
    );
    let second = claims(&store, "b").await;
    store
        .release(&second, &Rest::done(End::Failed))
        .await
        .unwrap();
    let found = store.conversation("acme", "talk").await.unwrap().unwrap();
    assert_eq!(found.contents, b"said", "it stays as it was");

    store.create(&new_run("c")).await.unwrap();
    let alone = claims(&store, "c").await;
    refused(
        store.release(&alone, &left(b"said")).await,
        ErrorKind::NotFound,
    );
    let run = store.run("c").await.unwrap().unwrap();
    assert_eq!(run.status, RunStatus::Running, "nothing is stored");
}

pub(super) async fn runs_are_listed_by_conversation_and_by_who_started_them(store: Checked) {
    for (id, by) in [("a", "ada"), ("b", "bob"), ("c", "ada")] {
        let run = NewRun {
            started_by: Some(by.to_owned()),
            ..message(id, "talk")
        };
        store.create(&run).await.unwrap();
    }
    says(&store, "d", "another").await;
    let listed = async |by: Option<&str>| {
        let filter = RunFilter {
            conversation: Some("talk".to_owned()),
            started_by: by.map(str::to_owned),
            ..RunFilter::default()
        };
        let runs = store.runs(&filter).await.unwrap();
        runs.into_iter().map(|run| run.id).collect::<Vec<_>>()
    };
    assert_eq!(listed(None).await, ["c", "b", "a"]);
    assert_eq!(listed(Some("ada")).await, ["c", "a"]);
    assert_eq!(listed(Some("grace")).await, Vec::<String>::new());
}

pub(super) async fn runs_of_a_conversation_are_listed_the_oldest_first_page_by_page(
    store: Checked,
) {
    says(&store, "other", "another").await;
    for n in 1..=5 {
        says(&store, &format!("run-{n}"), "talk").await;
        says(&store, &format!("other-{n}"), "another").await;
    }
    let page = |after: Option<&str>, oldest_first| RunFilter {
        tenant: Some("acme".to_owned()),
        conversation: Some("talk".to_owned()),
        after: after.map(str::to_owned),
        oldest_first,
        limit: 2,
        ..RunFilter::default()
    };
    let listed = async |filter: RunFilter| {
        let runs = store.runs(&filter).await.unwrap();
        runs.into_iter().map(|run| run.id).collect::<Vec<_>>()
    };
    assert_eq!(listed(page(None, true)).await, ["run-1", "run-2"]);
    assert_eq!(listed(page(Some("run-2"), true)).await, ["run-3", "run-4"]);
    assert_eq!(listed(page(Some("run-4"), true)).await, ["run-5"]);
    assert_eq!(listed(page(Some("run-5"), true)).await, [""; 0]);
    assert_eq!(listed(page(Some("run-2"), false)).await, ["run-5", "run-4"]);
    let between = RunFilter {
        before: Some("run-4".to_owned()),
        ..page(Some("run-2"), true)
    };
    assert_eq!(listed(between).await, ["run-3"]);
    let behind_nothing = store.runs(&page(Some("run-9"), true)).await;
    refused(behind_nothing, ErrorKind::NotFound);
}

pub(super) async fn what_an_erased_run_has_left_is_gone(store: Checked) {
    for id in ["a", "b"] {
        says(&store, id, "talk").await;
        let lease = claims(&store, id).await;
        let text = NewText {
            number: 1,
            contents: b"text".to_vec(),
            keep: LONG,
        };
        store.add_texts(&lease, &[text]).await.unwrap();
        store.release(&lease, &left(id.as_bytes())).await.unwrap();
    }
    let contents = async || {
        let found = store.conversation("acme", "talk").await.unwrap().unwrap();
        (found.run, found.contents)
    };
    store.erase("a", "operator").await.unwrap();
    assert_eq!(contents().await, (Some("b".to_owned()), b"b".to_vec()));
    store.erase("b", "operator").await.unwrap();
    assert_eq!(contents().await, (None, Vec::new()));
    for id in ["a", "b"] {
        assert_eq!(store.texts(id, 0).await.unwrap(), []);
    }
}
