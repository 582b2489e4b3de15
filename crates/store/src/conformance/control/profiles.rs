//! Profiles and their versions.

use super::*;

fn profile(org: &str, text: &str) -> NewProfile {
    NewProfile {
        purpose: "scoring".to_owned(),
        org_id: org.to_owned(),
        profile: text.to_owned(),
        by: "ada".to_owned(),
        ..NewProfile::default()
    }
}

pub(super) async fn one_profile_of_a_tier_is_active(store: Checked) {
    let first = store.activate_profile(&profile("", "one")).await.unwrap();
    let acme = store
        .activate_profile(&profile("acme", "own"))
        .await
        .unwrap();
    let second = store.activate_profile(&profile("", "two")).await.unwrap();
    let (number, active) = store.active_profiles().await.unwrap();
    assert_eq!(number, store.profiles_changed().await.unwrap());
    let mut texts: Vec<_> = active.iter().map(|row| &*row.profile).collect();
    texts.sort_unstable();
    assert_eq!(texts, ["own", "two"]);
    let versions = store.profile_versions("scoring").await.unwrap();
    let versions: Vec<_> = versions.iter().map(|row| row.version).collect();
    assert_eq!(versions, [first.version, acme.version, second.version]);
    let ended = store.profile(first.version).await.unwrap().unwrap();
    assert!(ended.deactivated_at.is_some());
    assert_eq!(store.profile(9_999).await.unwrap(), None);
}

pub(super) async fn a_version_is_activated_again(store: Checked) {
    let first = store.activate_profile(&profile("", "one")).await.unwrap();
    let second = store.activate_profile(&profile("", "two")).await.unwrap();
    let back = store.reactivate_profile(first.version, "eve", None).await;
    assert_eq!(back.unwrap().profile, "one");
    let (_, active) = store.active_profiles().await.unwrap();
    assert_eq!(active.len(), 1);
    assert_eq!(active[0].version, first.version);
    store
        .deactivate_profile(first.version, "eve", None)
        .await
        .unwrap();
    store
        .deactivate_profile(first.version, "eve", None)
        .await
        .unwrap();
    assert_eq!(store.active_profiles().await.unwrap().1, []);
    let changes = store.profile_changes(0).await.unwrap();
    let told: Vec<_> = changes
        .iter()
        .map(|change| (change.action, change.version, &*change.by))
        .collect();
    assert_eq!(
        told,
        [
            (ProfileAction::Activated, first.version, "ada"),
            (ProfileAction::Activated, second.version, "ada"),
            (ProfileAction::RolledBack, first.version, "eve"),
            (ProfileAction::Deactivated, first.version, "eve"),
        ]
    );
    let later = store.profile_changes(changes[2].number).await.unwrap();
    assert_eq!(later, changes[3..]);
    let unknown = store.reactivate_profile(9_999, "eve", None).await;
    assert_eq!(unknown.unwrap_err().kind(), ErrorKind::NotFound);
}

pub(super) async fn a_change_names_the_version_that_it_replaces(store: Checked) {
    let first = store.activate_profile(&profile("", "one")).await.unwrap();
    let second = store.activate_profile(&profile("", "two")).await.unwrap();
    let (first, second) = (first.version, second.version);
    let changes = store.profile_changes(0).await.unwrap();
    // The first version is not active any more, so whoever believes that it is comes too late.
    for refused in [
        store.reactivate_profile(first, "eve", Some(first)).await,
        store.deactivate_profile(first, "eve", Some(first)).await,
        store.deactivate_profile(second, "eve", Some(first)).await,
    ] {
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::Conflict);
    }
    let (_, active) = store.active_profiles().await.unwrap();
    assert_eq!((active.len(), active[0].version), (1, second));
    assert_eq!(store.profile_changes(0).await.unwrap(), changes);
    let back = store.reactivate_profile(first, "eve", Some(second)).await;
    assert_eq!(back.unwrap().version, first);
    let ended = store.deactivate_profile(first, "eve", Some(first)).await;
    assert!(ended.unwrap().deactivated_at.is_some());
    let refused = store.reactivate_profile(second, "eve", Some(first)).await;
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(store.active_profiles().await.unwrap().1, []);
}

pub(super) async fn of_two_operators_at_once_one_wins(store: Checked) {
    let first = store.activate_profile(&profile("", "one")).await.unwrap();
    let mut tasks = Vec::new();
    for index in 0..8 {
        let store = store.clone();
        let new = NewProfile {
            replaces: Some(first.version),
            ..profile("", &index.to_string())
        };
        tasks.push(tokio::spawn(
            async move { store.activate_profile(&new).await },
        ));
    }
    let mut won = 0;
    for task in tasks {
        match task.await.unwrap() {
            Ok(_) => won += 1,
            Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict, "{error}"),
        }
    }
    assert_eq!(won, 1);
    assert_eq!(store.active_profiles().await.unwrap().1.len(), 1);
}

pub(super) async fn a_refusal_changes_nothing_but_the_log(store: Checked) {
    let before = store.profiles_changed().await.unwrap();
    let new = profile("evil", "mine");
    store.refuse_profile(&new, "it is locked").await.unwrap();
    assert_eq!(store.profiles_changed().await.unwrap(), before);
    let changes = store.profile_changes(0).await.unwrap();
    assert_eq!(changes[0].action, ProfileAction::Refused);
    assert_eq!(
        (&*changes[0].detail, &*changes[0].org_id),
        ("it is locked", "evil")
    );
}
