//! Rows of usage, and sums of them.

use super::*;

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
