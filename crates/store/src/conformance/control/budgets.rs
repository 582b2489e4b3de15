//! Holds, settlements, rates and the sums of budgets.

use super::*;

const HELD: HoldAnswer = HoldAnswer::Held { warns: false };

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
