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
