//! Events and rows of executions, which follow from the journal.

use crate::office::*;
use agents::{journal::Follower, run::EventKind, testing::Script};
use agents_runtime::Approval;
use futures_util::StreamExt;

#[tokio::test]
async fn events_come_from_the_store_in_order_and_from_a_number() {
    let office = office([pays(900), Script::text("Paid.")]).await;
    let run = office.start().await;
    let following = tokio::spawn(run.events().stream().collect::<Vec<_>>());
    let _worker = Worker::start(&office.runtime);
    let request = waiting(&run).await.remove(0);
    office.decide(&request, Approval::Approve).await.unwrap();
    done(&run).await;
    let events: Vec<_> = following.await.unwrap();
    let events: Vec<_> = events.into_iter().map(Result::unwrap).collect();
    assert!(events.is_sorted_by_key(|event| event.seq));
    assert!(matches!(events[0].kind, EventKind::RunStarted { .. }));
    assert!(matches!(
        events.last().unwrap().kind,
        EventKind::RunEnded { ok: true, .. }
    ));
    let middle = events[events.len() / 2].seq;
    let rest = run
        .events()
        .after(middle)
        .stream()
        .collect::<Vec<_>>()
        .await;
    let expected = events.iter().filter(|event| event.seq > middle).count();
    assert_eq!(rest.len(), expected);
}

/// The journal of a run says what its tables say.
#[tokio::test]
async fn u1_executions_are_stored_with_their_ends() {
    let files = Files::new("executions");
    let (office, run, request) = stored(&files).await;
    office.decide(&request, Approval::Approve).await.unwrap();
    let _worker = Worker::start(&office.runtime);
    done(&run).await.result.unwrap();
    let db = rusqlite::Connection::open(files.db()).unwrap();
    let row = db
        .query_row(
            "SELECT tenant_id, agent_name, tool_name, approved, approved_by, risk_level, error, duration_ms IS NOT NULL,
                    output IS NOT NULL FROM agent_tool_executions",
            [],
            |row| {
                Ok((
                    row.get::<_, String>(0)?,
                    row.get::<_, String>(1)?,
                    row.get::<_, String>(2)?,
                    (row.get::<_, bool>(3)?, row.get::<_, String>(4)?),
                    row.get::<_, String>(5)?,
                    row.get::<_, Option<String>>(6)?,
                    (row.get::<_, bool>(7)?, row.get::<_, bool>(8)?),
                ))
            },
        )
        .unwrap();
    assert_eq!(
        row,
        (
            "acme".to_owned(),
            "payer".to_owned(),
            "pay".to_owned(),
            (true, "grace".to_owned()),
            "high".to_owned(),
            None,
            (true, true)
        )
    );
    let recorded = office.runtime.as_client().recorded(run.id()).await.unwrap();
    let mut follower = Follower::new();
    for entry in recorded.unwrap().entries() {
        follower.on(entry).unwrap();
    }
    assert_eq!(follower.run_id(), run.id());
}
