//! Contents of notifications are encrypted.

use crate::{OrderShipped, Taken, Working, died, stores::Place, subscriber};
use agents_runtime::{DeliveryError, Notification, Told};
use serde::{Deserialize, Serialize};

/// Word that stands in no file.
const SECRET: &str = "canary-in-a-notification";

#[derive(Serialize, Deserialize)]
struct Said {
    text: String,
}

impl Notification for Said {
    const NAME: &'static str = "shop.said";
}

#[tokio::test(flavor = "multi_thread")]
async fn neither_payload_nor_error_nor_reason_is_in_the_file() {
    let place = Place::of_file();
    let runtime = place.runtime().await;
    let runtime = runtime
        .subscriber(subscriber(
            "invoices",
            &Taken::default(),
            |_: &OrderShipped, _: &Told| None,
        ))
        .subscriber(agents_runtime::Subscriber::new(
            "mails",
            async |said: Said, _: Told| Err(DeliveryError::permanent(said.text)),
        ));
    let text = SECRET.to_owned();
    runtime.publish(&Said { text }).scope("acme").await.unwrap();
    let working = Working::on(&runtime);
    let letter = died(runtime.as_client(), 1).await.remove(0);
    let letters = runtime.as_client().letters();
    let detail = letters
        .get(&letter.event_id, &crate::grace())
        .await
        .unwrap();
    assert_eq!(detail.failure_history[0].error, SECRET);
    letters
        .replay(&letter.event_id, SECRET, &crate::grace())
        .await
        .unwrap();
    let again = died(runtime.as_client(), 1).await.remove(0);
    assert_eq!(again.replays, 1);
    working.stop().await;
    let bytes = place.bytes();
    assert!(
        bytes.windows(9).any(|part| part == b"shop.said"),
        "the file is read"
    );
    assert!(
        !bytes
            .windows(SECRET.len())
            .any(|part| part == SECRET.as_bytes())
    );
}
