//! Credentials and the leases on them.

use super::*;

fn credential_of(domain: &str) -> CredentialKey {
    CredentialKey {
        org_id: "acme".to_owned(),
        domain_id: domain.to_owned(),
        name: "openai".to_owned(),
    }
}

fn sealed(version: &str) -> StoredCredential {
    StoredCredential {
        version: version.to_owned(),
        data_key: vec![0, 1, 255],
        contents: format!("contents of {version}").into_bytes(),
    }
}

fn lease(version: &str, holder: &str, time: Duration) -> CredentialLease {
    CredentialLease {
        version: version.to_owned(),
        holder: holder.to_owned(),
        time,
    }
}

pub(super) async fn a_credential_is_stored_replaced_and_removed(store: Checked) {
    let (org, domain) = (credential_of(""), credential_of("shop"));
    assert_eq!(store.credential(&org).await.unwrap(), None);
    store.put_credential(&org, &sealed("1")).await.unwrap();
    store.put_credential(&domain, &sealed("2")).await.unwrap();
    assert_eq!(store.credential(&org).await.unwrap(), Some(sealed("1")));
    store.put_credential(&org, &sealed("3")).await.unwrap();
    assert_eq!(store.credential(&org).await.unwrap(), Some(sealed("3")));
    assert!(store.remove_credential(&org).await.unwrap());
    assert!(!store.remove_credential(&org).await.unwrap());
    assert_eq!(store.credential(&org).await.unwrap(), None);
    assert_eq!(store.credential(&domain).await.unwrap(), Some(sealed("2")));
}

pub(super) async fn one_of_many_has_the_lease_on_a_credential(store: Checked) {
    use CredentialAnswer::{Changed, Leased, Taken};
    let key = credential_of("");
    let ask = async |version: &str, holder: &str, time| {
        let lease = lease(version, holder, time);
        store.lease_credential(&key, &lease).await.unwrap()
    };
    assert_eq!(ask("1", "nobody", LONG).await, Changed);
    store.put_credential(&key, &sealed("1")).await.unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for holder in 0..8 {
        let (store, key) = (store.clone(), key.clone());
        tasks.spawn(async move {
            let lease = lease("1", &format!("holder {holder}"), LONG);
            (holder, store.lease_credential(&key, &lease).await.unwrap())
        });
    }
    let answers = tasks.join_all().await;
    let leased: Vec<_> = answers.iter().filter(|(_, one)| *one == Leased).collect();
    assert_eq!(leased.len(), 1, "{answers:?}");
    let (holder, _) = leased[0];
    for (_, answer) in answers.iter().filter(|(other, _)| other != holder) {
        assert!(
            // An asker may have read the clock shortly before the lease began.
            matches!(answer, Taken { wait } if *wait <= LONG + Duration::from_secs(1)),
            "{answer:?}"
        );
    }
    // Nobody else ends the lease.
    store.release_credential(&key, "somebody").await.unwrap();
    assert!(matches!(ask("1", "other", LONG).await, Taken { .. }));
    let holder = format!("holder {holder}");
    store.release_credential(&key, &holder).await.unwrap();
    assert_eq!(ask("1", "other", Duration::from_millis(1)).await, Leased);
    // A lease whose time is over holds nobody up.
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(ask("1", "third", LONG).await, Leased);
    // Contents that were put in its place have no lease.
    store.put_credential(&key, &sealed("2")).await.unwrap();
    assert_eq!(ask("1", "fourth", LONG).await, Changed);
    assert_eq!(ask("2", "fourth", LONG).await, Leased);
}

pub(super) async fn a_credential_is_renewed_if_it_is_the_one_that_was_read(store: Checked) {
    let key = credential_of("shop");
    store.put_credential(&key, &sealed("1")).await.unwrap();
    let leased = lease("1", "holder", LONG);
    store.lease_credential(&key, &leased).await.unwrap();
    let renew = async |before: &str, version: &str| {
        let new = sealed(version);
        store.renew_credential(&key, before, &new).await.unwrap()
    };
    assert!(renew("1", "2").await);
    assert!(!renew("1", "3").await, "it was renewed before");
    assert_eq!(store.credential(&key).await.unwrap(), Some(sealed("2")));
    // The lease has ended with it.
    let next = lease("2", "other", LONG);
    let answer = store.lease_credential(&key, &next).await.unwrap();
    assert_eq!(answer, CredentialAnswer::Leased);
    store.remove_credential(&key).await.unwrap();
    assert!(!renew("2", "4").await);
    assert_eq!(store.credential(&key).await.unwrap(), None);
}
