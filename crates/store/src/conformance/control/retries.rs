//! Retry budgets.

use super::*;

const MOST: u32 = 200;

fn change(earned: u32, taken: u32) -> RetryChange {
    RetryChange {
        earned,
        taken,
        most: MOST,
    }
}

pub(super) async fn retries_are_taken_until_none_are_left(store: Checked) {
    let changed = async |org: &str, earned, taken| {
        let change = change(earned, taken);
        store.change_retries(org, change).await.unwrap()
    };
    assert_eq!(changed("acme", 0, 150).await, Some(50));
    assert_eq!(changed("acme", 0, 60).await, None, "there are 50");
    assert_eq!(changed("acme", 10, 60).await, Some(0));
    assert_eq!(changed("acme", 9, 10).await, None);
    assert_eq!(changed("acme", 0, 0).await, Some(0), "nothing was earned");
    assert_eq!(changed("acme", 30, 10).await, Some(20));
    // There are never more than the most.
    assert_eq!(changed("acme", 1_000, 0).await, Some(MOST));
    assert_eq!(changed("acme", 1_000, 10).await, Some(MOST - 10));
    assert_eq!(changed("acme", 0, MOST + 1).await, None);
    assert_eq!(changed("other", 0, MOST + 1).await, None);
    assert_eq!(changed("other", 50, 10).await, Some(MOST - 10));
}

pub(super) async fn many_tasks_never_take_more_retries_than_are_left(store: Checked) {
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..32 {
        let store = store.clone();
        tasks.spawn(async move {
            let mut taken = 0;
            for _ in 0..3 {
                let left = store.change_retries("noisy", change(2, 10)).await.unwrap();
                taken += u32::from(left.is_some());
            }
            taken
        });
    }
    let taken: u32 = tasks.join_all().await.into_iter().sum();
    // A change that takes nothing adds nothing, and no retry is taken while all are left.
    let left = store.change_retries("noisy", change(0, 0)).await.unwrap();
    let left = left.unwrap();
    assert!(
        left < 8,
        "{left} tenths are left, and the last one was refused"
    );
    assert_eq!(MOST + 2 * (taken - 1), 10 * taken + left);
    let quiet = store.change_retries("quiet", change(0, 10)).await.unwrap();
    assert_eq!(quiet, Some(MOST - 10));
}
