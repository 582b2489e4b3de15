//! Open circuits.

use super::*;

pub(super) async fn a_circuit_opens_once_and_lets_one_request_through(store: Checked) {
    let short = Duration::from_millis(60);
    assert!(
        !store.probe_circuit("m", LONG).await.unwrap(),
        "it is closed"
    );
    assert!(store.open_circuit("m", short).await.unwrap());
    assert!(!store.open_circuit("m", short).await.unwrap());
    assert!(store.open_circuit("other", LONG).await.unwrap());
    assert_eq!(store.circuits().await.unwrap().len(), 2);
    assert!(
        !store.probe_circuit("other", LONG).await.unwrap(),
        "its time is not over"
    );
    tokio::time::sleep(short * 2).await;
    let mut tasks = Vec::new();
    for _ in 0..8 {
        let store = store.clone();
        tasks.push(tokio::spawn(async move {
            store.probe_circuit("m", LONG).await.unwrap()
        }));
    }
    let mut through = 0;
    for task in tasks {
        through += u32::from(task.await.unwrap());
    }
    assert_eq!(through, 1);
    assert!(store.close_circuit("m").await.unwrap());
    assert!(!store.close_circuit("m").await.unwrap());
    let left = store.circuits().await.unwrap();
    assert_eq!(left.len(), 1);
    assert!(left[0].1 > short && left[0].1 <= LONG);
}

/// Sends a request through the circuit `m`, and settles it as failed, as answered, or as neither.
async fn ends(store: &Checked, id: &str, failed: Option<bool>) {
    let hold = Hold {
        circuit: "m".to_owned(),
        ..hold_of(id, 1, 1_000)
    };
    store.hold(&hold).await.unwrap();
    let settlement = Settlement {
        failed,
        ..settlement(id, 1)
    };
    store.settle_hold(&settlement).await.unwrap();
}

pub(super) async fn failures_in_a_row_open_a_circuit(store: Checked) {
    let fail = async || store.fail_circuit("m", 3, LONG).await.unwrap();
    // A request that begins before the failures, and is answered after them.
    let slow = Hold {
        circuit: "m".to_owned(),
        ..hold_of("slow", 1, 1_000)
    };
    store.hold(&slow).await.unwrap();
    for (id, failed, opens) in [
        ("1", Some(true), false),
        ("2", Some(true), false),
        ("3", Some(false), false),
        ("4", Some(true), false),
        ("5", None, false),
        ("6", Some(true), false),
        ("7", Some(true), true),
        ("8", Some(true), false),
    ] {
        ends(&store, id, failed).await;
        if id == "6" {
            let answered = Settlement {
                failed: Some(false),
                ..settlement("slow", 1)
            };
            store.settle_hold(&answered).await.unwrap();
        }
        assert_eq!(fail().await, opens, "{id}");
    }
    assert!(!store.fail_circuit("other", 3, LONG).await.unwrap());
    let open = store.circuits().await.unwrap();
    assert_eq!(open.len(), 1);
    // A late failure does not keep it open for longer.
    assert!(!store.fail_circuit("m", 3, LONG * 2).await.unwrap());
    assert!(store.circuits().await.unwrap()[0].1 <= LONG);
    store.close_circuit("m").await.unwrap();
    ends(&store, "probe", Some(false)).await;
    ends(&store, "9", Some(true)).await;
    assert!(!fail().await, "the count has begun again");
}

pub(super) async fn of_many_failures_at_once_one_opens_a_circuit(store: Checked) {
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..16 {
        let store = store.clone();
        tasks.spawn(async move {
            ends(&store, &format!("{task}"), Some(true)).await;
            store.fail_circuit("m", 16, LONG).await.unwrap()
        });
    }
    let opened = tasks.join_all().await.into_iter().filter(|opened| *opened);
    assert_eq!(opened.count(), 1);
}
