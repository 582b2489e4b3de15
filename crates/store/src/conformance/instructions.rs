//! Instructions: people say something to the agent of a run that is not over.

use super::{Checked, ErrorKind, LONG, claim, claimed, create, refused};
use crate::{AuditFilter, AuditKind, End, Rest};

fn instructions() -> AuditFilter {
    AuditFilter {
        run: Some("run-1".to_owned()),
        kind: Some(AuditKind::Instructed),
        ..AuditFilter::default()
    }
}

pub(super) async fn an_instruction_is_an_event_that_the_worker_is_told_of(store: Checked) {
    create(&store, "run-1").await;
    let lease = claimed(&store, "w").await;
    for text in [b"one".as_slice(), b"two"] {
        let run = store.instruct("run-1", "ada", text).await.unwrap();
        assert!(run.messages > lease.run.messages, "the worker is told");
    }
    let events = store.audit(&instructions()).await.unwrap();
    let texts: Vec<_> = events.iter().map(|event| event.detail.as_deref()).collect();
    assert_eq!(texts, [Some(b"one".as_slice()), Some(b"two")]);
    assert!(
        events
            .iter()
            .all(|event| event.actor.as_deref() == Some("ada"))
    );
    let later = AuditFilter {
        after: events[0].number,
        ..instructions()
    };
    assert_eq!(store.audit(&later).await.unwrap().len(), 1);

    // A worker that gives the run back to wait has not seen the last instruction: the run does not wait.
    let waits = Rest::Waiting {
        wake_at: None,
        messages: lease.run.messages,
    };
    store.release(&lease, &waits).await.unwrap();
    assert!(store.claim(&claim("w", LONG)).await.unwrap().is_some());
}

pub(super) async fn a_run_that_is_over_takes_no_instruction(store: Checked) {
    create(&store, "run-1").await;
    let lease = claimed(&store, "w").await;
    let done = Rest::Done {
        end: End::Answered,
        conversation: None,
    };
    store.release(&lease, &done).await.unwrap();
    refused(
        store.instruct("run-1", "ada", b"more").await,
        ErrorKind::Over,
    );
    refused(
        store.instruct("run-2", "ada", b"more").await,
        ErrorKind::NotFound,
    );
    assert_eq!(store.audit(&instructions()).await.unwrap(), []);
}
