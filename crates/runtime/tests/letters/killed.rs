//! Workers that are killed in the middle of a try.

use crate::{
    OrderShipped, Working, dead, died, grace, shipped,
    stores::{self, Place, each},
    until,
};
use agents_runtime::{DeliveryError, FileKeyring, Runtime, Subscriber, Told};
use agents_store::{LetterFilter, Store};
use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

/// Variable with the store, the keyring and the ledger of the process that is killed.
const KILLED: &str = "AGENTS_LETTERS_KILLED";

fn write(ledger: &Path, line: &str) {
    let mut options = fs::OpenOptions::new();
    let mut file = options.append(true).create(true).open(ledger).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

fn lines(ledger: &Path) -> Vec<String> {
    let text = fs::read_to_string(ledger).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Creates a subscriber that writes `begun ID` and, if it may end, `ended ID`.
fn invoices(ledger: PathBuf, may_end: bool, retries: usize) -> Subscriber {
    let take = move |_: OrderShipped, told: Told| {
        let ledger = ledger.clone();
        async move {
            write(&ledger, &format!("begun {}", told.id()));
            if !may_end {
                std::future::pending::<()>().await;
            }
            write(&ledger, &format!("ended {}", told.id()));
            Ok::<(), DeliveryError>(())
        }
    };
    Subscriber::new("invoices", take)
        .retry_after(vec![Duration::from_millis(1); retries])
        .time_limit(Duration::from_millis(700))
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "the process that other tests kill"]
async fn a_worker_that_is_killed() {
    let Ok(given) = std::env::var(KILLED) else {
        return;
    };
    let given: Vec<_> = given.split('\n').collect();
    let keys = FileKeyring::open(given[1]).unwrap();
    let runtime = Runtime::open(stores::open(given[0]).await).keyring(keys);
    let runtime =
        runtime.subscriber(invoices(given[2].into(), false, 5).time_limit(Duration::from_secs(1)));
    runtime.work(Default::default()).await;
}

fn start(place: &Place, ledger: &Path) -> Child {
    let given = [
        place.address(),
        place.keys().display().to_string(),
        ledger.display().to_string(),
    ];
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed::a_worker_that_is_killed", "--ignored"])
        .env(KILLED, given.join("\n"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Kills a worker when its subscriber has begun for the time with this number.
async fn kill(place: &Place, ledger: &Path, begun: usize) {
    let mut child = start(place, ledger);
    until(async || lines(ledger).len() >= begun).await;
    child.kill().unwrap();
    child.wait().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn d4_a_letter_of_a_killed_worker_is_brought_again_with_the_same_id() {
    each(async |place| {
        let ledger = place.file("ledger");
        let client = place.client().await;
        let id = client.publish(&shipped(7)).scope("acme").await.unwrap();
        kill(place, &ledger, 1).await;
        let runtime = place.runtime().await;
        let runtime = runtime.subscriber(invoices(ledger.clone(), true, 5));
        let working = Working::on(&runtime);
        until(async || lines(&ledger).iter().any(|line| line.starts_with("ended"))).await;
        let store = place.store().await;
        let none = async || {
            store
                .letters(&LetterFilter::default())
                .await
                .unwrap()
                .is_empty()
        };
        until(none).await;
        working.stop().await;
        let begun = format!("begun {id}");
        let lines = lines(&ledger);
        assert!(lines.len() >= 3, "{lines:?}");
        let (ended, begins) = lines.split_last().unwrap();
        assert!(begins.iter().all(|line| *line == begun), "{lines:?}");
        assert_eq!(*ended, format!("ended {id}"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_letter_that_ends_its_worker_each_time_is_dead_without_one_more_try() {
    each(async |place| {
        let ledger = place.file("ledger");
        let client = place.client().await;
        client.publish(&shipped(7)).scope("acme").await.unwrap();
        kill(place, &ledger, 1).await;
        // One try is all that this worker makes, and it was made.
        let runtime = place.runtime().await;
        let runtime = runtime.subscriber(invoices(ledger.clone(), true, 0));
        let working = Working::on(&runtime);
        let letter = died(&client, 1).await.remove(0);
        working.stop().await;
        assert_eq!(&*letter.failure, "interrupted");
        let lines = lines(&ledger);
        assert!(
            lines.iter().all(|line| line.starts_with("begun")),
            "{lines:?}"
        );
        let detail = client.letters().get(&letter.event_id, &grace()).await;
        let history = detail.unwrap().failure_history;
        assert!(
            history[0].error.contains("has not come back"),
            "{history:?}"
        );
        assert_eq!(dead(&client).await.len(), 1);
    })
    .await;
}
