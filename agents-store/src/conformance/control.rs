//! Promises of a store of a control plane.

use crate::{
    Budget, BudgetKey, ControlStore, CredentialAnswer, CredentialKey, CredentialLease, ErrorKind,
    Hold, HoldAnswer, NewProfile, ProfileAction, RateRule, Settlement, StoredCredential, UsageBy,
    UsageFilter,
};
use std::{sync::Arc, time::Duration};

type Checked = Arc<dyn ControlStore>;

const LONG: Duration = Duration::from_secs(600);

fn key(org: &str) -> BudgetKey {
    BudgetKey {
        org_id: org.to_owned(),
        domain_id: String::new(),
        purpose: "scoring".to_owned(),
    }
}

fn hold_of(id: &str, amount: u64, cap: u64) -> Hold {
    Hold {
        id: id.to_owned(),
        key: key("acme"),
        cap_nanos: Some(cap),
        amount_nanos: Some(amount),
        expires_in: LONG,
        provider: "google".to_owned(),
        model: "flash".to_owned(),
        run_id: "run".to_owned(),
        profile_version: 7,
        ..Hold::default()
    }
}

fn settlement(id: &str, cost: u64) -> Settlement {
    Settlement {
        id: id.to_owned(),
        cost_nanos: Some(cost),
        input_tokens: 10,
        output_tokens: 5,
        outcome: "answered".to_owned(),
        took_ms: 3,
        ..Settlement::default()
    }
}

fn profile(org: &str, text: &str) -> NewProfile {
    NewProfile {
        purpose: "scoring".to_owned(),
        org_id: org.to_owned(),
        profile: text.to_owned(),
        by: "ada".to_owned(),
        ..NewProfile::default()
    }
}

fn budget(spent_nanos: u64, held_nanos: u64) -> Budget {
    Budget {
        spent_nanos,
        held_nanos,
    }
}

const HELD: HoldAnswer = HoldAnswer::Held { warns: false };

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

pub(super) async fn holds_are_within_the_cap(store: Checked) {
    assert_eq!(store.hold(&hold_of("1", 60, 100)).await.unwrap(), HELD);
    let refused = store.hold(&hold_of("2", 41, 100)).await.unwrap();
    let reached = HoldAnswer::CapReached {
        budget: budget(0, 60),
    };
    assert_eq!(refused, reached);
    store.settle_hold(&settlement("1", 20)).await.unwrap();
    assert_eq!(store.budget(&key("acme")).await.unwrap(), budget(20, 0));
    let held = store.hold(&hold_of("3", 80, 100)).await.unwrap();
    assert_eq!(
        held,
        HoldAnswer::Held { warns: true },
        "all of the cap is spent or held"
    );
    let other = Hold {
        key: key("other"),
        ..hold_of("4", 100, 100)
    };
    assert!(matches!(
        store.hold(&other).await.unwrap(),
        HoldAnswer::Held { .. }
    ));
    let too_large = Hold {
        key: key("small"),
        ..hold_of("5", 101, 100)
    };
    let refused = store.hold(&too_large).await.unwrap();
    assert!(
        matches!(refused, HoldAnswer::CapReached { .. }),
        "{refused:?}"
    );
    let unpriced = Hold {
        key: key("unpriced"),
        amount_nanos: None,
        ..hold_of("6", 0, u64::MAX)
    };
    let refused = store.hold(&unpriced).await.unwrap();
    assert!(
        matches!(refused, HoldAnswer::CapReached { .. }),
        "unknown is never 0"
    );
}

pub(super) async fn many_tasks_never_exceed_the_cap(store: Checked) {
    const CAP: u64 = 1_000;
    let mut tasks = Vec::new();
    for task in 0..64 {
        let store = store.clone();
        tasks.push(tokio::spawn(async move {
            let mut spent = 0;
            for round in 0.. {
                let id = format!("{task}-{round}");
                match store.hold(&hold_of(&id, 10, CAP)).await.unwrap() {
                    HoldAnswer::Held { .. } => {
                        store.settle_hold(&settlement(&id, 7)).await.unwrap();
                        spent += 7;
                    }
                    HoldAnswer::CapReached { budget } if budget.held_nanos == 0 => break,
                    HoldAnswer::CapReached { .. } => tokio::task::yield_now().await,
                    HoldAnswer::TooOften { .. } => unreachable!("there is no rate"),
                }
            }
            spent
        }));
    }
    let mut spent = 0;
    for task in tasks {
        spent += task.await.unwrap();
    }
    assert!((950..=CAP).contains(&spent), "{spent}");
    assert_eq!(store.budget(&key("acme")).await.unwrap(), budget(spent, 0));
}

pub(super) async fn a_hold_is_settled_once(store: Checked) {
    store.hold(&hold_of("1", 60, 100)).await.unwrap();
    store.settle_hold(&settlement("1", 20)).await.unwrap();
    store.settle_hold(&settlement("1", 90)).await.unwrap();
    assert_eq!(store.budget(&key("acme")).await.unwrap(), budget(20, 0));
    let unknown = store.settle_hold(&settlement("2", 1)).await.unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::NotFound);
    // A cost that is not known counts as what was held.
    store.hold(&hold_of("3", 30, 100)).await.unwrap();
    let unknown = Settlement {
        cost_nanos: None,
        ..settlement("3", 0)
    };
    store.settle_hold(&unknown).await.unwrap();
    assert_eq!(store.budget(&key("acme")).await.unwrap(), budget(50, 0));
}

pub(super) async fn a_hold_that_nobody_settles_is_spent(store: Checked) {
    let short = Hold {
        expires_in: Duration::from_millis(1),
        ..hold_of("1", 60, 100)
    };
    store.hold(&short).await.unwrap();
    tokio::time::sleep(Duration::from_millis(20)).await;
    let refused = store.hold(&hold_of("2", 41, 100)).await.unwrap();
    let reached = HoldAnswer::CapReached {
        budget: budget(60, 0),
    };
    assert_eq!(refused, reached);
    let rows = store.usage(&UsageFilter::default()).await.unwrap();
    assert_eq!(
        (&*rows[0].outcome, rows[0].cost_nanos),
        ("unsettled", Some(60))
    );
    // The truth comes late.
    store.settle_hold(&settlement("1", 25)).await.unwrap();
    assert_eq!(store.budget(&key("acme")).await.unwrap(), budget(25, 0));
    let days = store.usage_daily(&UsageFilter::default()).await.unwrap();
    assert_eq!((days[0].call_count, days[0].cost_nanos), (1, 25));
}

pub(super) async fn calls_are_within_the_rate(store: Checked) {
    let rate = RateRule {
        calls: 3,
        per_ms: 300_000,
    };
    let call = |id: &str, org: &str| Hold {
        rate: Some(rate),
        cap_nanos: None,
        key: key(org),
        ..hold_of(id, 1, 0)
    };
    for id in ["1", "2", "3"] {
        assert_eq!(store.hold(&call(id, "acme")).await.unwrap(), HELD);
    }
    let HoldAnswer::TooOften { wait } = store.hold(&call("4", "acme")).await.unwrap() else {
        panic!("the bucket is empty");
    };
    assert!((90..=100).contains(&wait.as_secs()), "{wait:?}");
    assert_eq!(store.hold(&call("5", "other")).await.unwrap(), HELD);
}

pub(super) async fn a_warning_comes_once_a_day(store: Checked) {
    let mut warned = 0;
    for index in 0..10 {
        let id = index.to_string();
        let held = store.hold(&hold_of(&id, 10, 100)).await.unwrap();
        warned += u32::from(held == HoldAnswer::Held { warns: true });
        let settlement = Settlement {
            cap_nanos: Some(100),
            ..settlement(&id, 10)
        };
        warned += u32::from(store.settle_hold(&settlement).await.unwrap());
        assert_eq!(warned, u32::from(index >= 7), "{index}");
    }
}

pub(super) async fn sums_are_made_anew_from_the_log(store: Checked) {
    for (id, org, cost) in [("1", "acme", 20), ("2", "acme", 30), ("3", "other", 5)] {
        let hold = Hold {
            key: key(org),
            ..hold_of(id, 40, 1_000)
        };
        store.hold(&hold).await.unwrap();
        store.settle_hold(&settlement(id, cost)).await.unwrap();
    }
    store.hold(&hold_of("open", 40, 1_000)).await.unwrap();
    let all = UsageFilter::default();
    let before = (
        store.budget(&key("acme")).await.unwrap(),
        store.usage_daily(&all).await.unwrap(),
    );
    assert_eq!(before.0, budget(50, 40));
    store.rebuild_budgets().await.unwrap();
    let after = (
        store.budget(&key("acme")).await.unwrap(),
        store.usage_daily(&all).await.unwrap(),
    );
    assert_eq!(before, after);
    assert_eq!(after.1.len(), 2);
}

pub(super) async fn requests_go_on_while_sums_are_made_anew(store: Checked) {
    const TASKS: u64 = 16;
    const ROUNDS: u64 = 20;
    let mut tasks = Vec::new();
    for task in 0..TASKS {
        let store = store.clone();
        tasks.push(tokio::spawn(async move {
            for round in 0..ROUNDS {
                let id = format!("{task}-{round}");
                let hold = Hold {
                    // Of some holds the time is over before they are settled, so that others settle them as well.
                    expires_in: Duration::from_millis(round % 2 * 600_000 + 1),
                    rate: (task % 2 == 0).then_some(RateRule {
                        calls: 100_000,
                        per_ms: 1,
                    }),
                    ..hold_of(&id, 10, 1_000_000)
                };
                assert_eq!(store.hold(&hold).await.unwrap(), HELD);
                store.settle_hold(&settlement(&id, 7)).await.unwrap();
            }
        }));
    }
    while !tasks.iter().all(tokio::task::JoinHandle::is_finished) {
        store.rebuild_budgets().await.unwrap();
    }
    for task in tasks {
        task.await.unwrap();
    }
    let spent = budget(7 * TASKS * ROUNDS, 0);
    assert_eq!(store.budget(&key("acme")).await.unwrap(), spent);
}

pub(super) async fn usage_is_listed_and_summed(store: Checked) {
    for (id, org, cost) in [("1", "acme", 20), ("2", "acme", 30), ("3", "other", 5)] {
        let hold = Hold {
            key: key(org),
            run_id: format!("run-{org}"),
            ..hold_of(id, 40, 1_000)
        };
        store.hold(&hold).await.unwrap();
        store.settle_hold(&settlement(id, cost)).await.unwrap();
    }
    let acme = UsageFilter {
        org_id: Some("acme".to_owned()),
        ..UsageFilter::default()
    };
    let rows = store.usage(&acme).await.unwrap();
    let ids: Vec<_> = rows.iter().map(|row| &*row.id).collect();
    assert_eq!(ids, ["2", "1"]);
    assert_eq!(rows[0].profile_version, 7);
    assert_eq!((rows[0].input_tokens, rows[0].output_tokens), (10, 5));
    let all = UsageFilter::default();
    let sums = store.usage_sums(&all, UsageBy::Org).await.unwrap();
    let told: Vec<_> = sums
        .iter()
        .map(|sum| (&*sum.of, sum.call_count, sum.cost_nanos))
        .collect();
    assert_eq!(told, [("acme", 2, 50), ("other", 1, 5)]);
    let runs = store.usage_sums(&all, UsageBy::Run).await.unwrap();
    assert_eq!(runs[0].of, "run-acme");
    let days = store.usage_sums(&all, UsageBy::Day).await.unwrap();
    assert_eq!((&*days[0].of, days[0].call_count), (&*rows[0].date, 3));
    // The runs of these requests are not in the store.
    let agents = store.usage_sums(&all, UsageBy::Agent).await.unwrap();
    assert_eq!((&*agents[0].of, agents[0].call_count), ("", 3));
    let budgets = store.budgets(None).await.unwrap();
    let spent = |org: &str, nanos| (key(org), budget(nanos, 0));
    assert_eq!(budgets, [spent("acme", 50), spent("other", 5)]);
    let own = store.budgets(Some("other")).await.unwrap();
    assert_eq!(own, [spent("other", 5)]);
    let days = store.usage_daily(&acme).await.unwrap();
    assert_eq!(days.len(), 1);
    assert_eq!((days[0].call_count, days[0].input_tokens), (2, 20));
    assert_eq!(
        days[0].cost_nanos,
        rows.iter().filter_map(|row| row.cost_nanos).sum::<u64>()
    );
}

pub(super) async fn absurd_numbers_do_not_break_the_sums(store: Checked) {
    for id in ["1", "2", "3"] {
        let hold = Hold {
            cap_nanos: None,
            ..hold_of(id, u64::MAX, 0)
        };
        store.hold(&hold).await.unwrap();
        let absurd = Settlement {
            cost_nanos: Some(u64::MAX),
            input_tokens: u64::MAX,
            output_tokens: u64::MAX,
            took_ms: u64::MAX,
            ..settlement(id, 0)
        };
        store.settle_hold(&absurd).await.unwrap();
    }
    store.rebuild_budgets().await.unwrap();
    let all = UsageFilter::default();
    let sums = store.usage_sums(&all, UsageBy::Purpose).await.unwrap();
    assert_eq!(sums[0].call_count, 3);
    assert!(matches!(
        store.hold(&hold_of("4", 1, 100)).await.unwrap(),
        HoldAnswer::CapReached { .. }
    ));
}

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
            matches!(answer, Taken { wait } if *wait <= LONG),
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
