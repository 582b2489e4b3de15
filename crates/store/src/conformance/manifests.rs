//! Promises of a store about manifests.

use super::Checked;
use crate::NewManifest;

fn manifest(agent: &str, contents: &str) -> NewManifest {
    NewManifest {
        agent: agent.to_owned(),
        contents: contents.as_bytes().to_vec(),
    }
}

/// Returns the names of the stored agents with their contents, in the order of the store.
async fn all(store: &Checked) -> Vec<(String, String)> {
    let stored = store.manifests().await.unwrap().into_iter();
    let text = |contents| String::from_utf8(contents).unwrap();
    stored.map(|one| (one.agent, text(one.contents))).collect()
}

pub(super) async fn a_manifest_is_kept_once_and_the_one_seen_last_comes_first(store: Checked) {
    assert_eq!(all(&store).await, []);
    let later = std::time::Duration::from_millis(5);
    for put in [
        vec![manifest("payer", "one"), manifest("clerk", "a")],
        vec![manifest("payer", "two")],
        vec![manifest("payer", "one")],
        vec![],
    ] {
        store.put_manifests(&put).await.unwrap();
        tokio::time::sleep(later).await;
    }
    let expected = [("clerk", "a"), ("payer", "one"), ("payer", "two")];
    let expected = expected.map(|(agent, contents)| (agent.to_owned(), contents.to_owned()));
    assert_eq!(all(&store).await, expected);
    let stored = store.manifests().await.unwrap();
    let again = &stored[1];
    assert!(again.first_seen_at < again.seen_at, "{again:?}");
    assert!(again.seen_at > stored[2].seen_at, "{stored:?}");
}

pub(super) async fn manifests_of_long_ago_are_forgotten(store: Checked) {
    store
        .put_manifests(&[manifest("clerk", "a")])
        .await
        .unwrap();
    for version in 1..=20 {
        let put = [manifest("payer", &version.to_string())];
        store.put_manifests(&put).await.unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    let kept = all(&store).await;
    assert_eq!(kept[0].0, "clerk", "those of other agents stay");
    let versions: Vec<_> = kept[1..].iter().map(|(_, version)| &**version).collect();
    assert_eq!(versions, ["20", "19", "18", "17", "16", "15", "14", "13"]);
}
