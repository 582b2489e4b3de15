//! Retry budgets: the repeated requests of one tenant are a fraction of its requests.

use agents_store::{ControlStore, RetryChange};
use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

/// Largest number of retries that a tenant (an organisation) can save up and then make in a row. Counted in tenths of a
/// retry: 200 are 20 retries.
const MOST: u32 = 200;
/// Tenths of a retry that a tenant earns with each request that is no retry.
const EACH: u32 = 2;
/// Tenths of a retry that one retry takes out of the budget of its tenant.
const RETRY: u32 = 10;

/// Retry budgets of the tenants, in the store, so that the retries of all processes are one sum.
///
/// A fixed number of retries for each request multiplies the load of a provider that is down already. A budget bounds
/// the sum: in the long run, a tenant has at most one retry for every five requests. A tenant that has used up its
/// retries takes none of those of another tenant.
///
/// A request of a tenant that has all of its retries earns nothing, and costs no statement. Only a process that has
/// asked for a retry counts what requests earn. It tells the store so with its next retry, and at the latest when a
/// whole retry is earned, until the tenant has all of its retries again.
pub(crate) struct RetryBudgets {
    store: Arc<dyn ControlStore>,
    /// Tenths of a retry that tenants have earned and the store does not know of yet. It has only tenants that may lack
    /// retries.
    earned: Mutex<HashMap<String, u32>>,
}

impl RetryBudgets {
    pub(crate) fn new(store: Arc<dyn ControlStore>) -> Self {
        RetryBudgets {
            store,
            earned: Mutex::default(),
        }
    }

    /// Counts a request of this tenant that is no retry, so that the tenant earns a part of one.
    pub(crate) async fn add(&self, tenant: &str) {
        let earned = {
            let mut all = self.earned.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(earned) = all.get_mut(tenant) else {
                return;
            };
            *earned = (*earned + EACH).min(MOST);
            if *earned < RETRY {
                return;
            }
            std::mem::take(earned)
        };
        self.change(tenant, earned, 0).await;
    }

    /// Takes a retry out of the tenant's budget. Returns `false` if there is none left, or if the store does not answer: a store
    /// that is down refuses retries, as it refuses requests.
    pub(crate) async fn take(&self, tenant: &str) -> bool {
        let earned = {
            let mut all = self.earned.lock().unwrap_or_else(PoisonError::into_inner);
            all.remove(tenant).unwrap_or(0)
        };
        self.change(tenant, earned, RETRY).await
    }

    /// Changes the retries that a tenant has left in the store. Returns `false` if nothing was changed: then, what was
    /// earned is added later.
    async fn change(&self, tenant: &str, earned: u32, taken: u32) -> bool {
        let change = RetryChange {
            earned,
            taken,
            most: MOST,
        };
        let left = self.store.change_retries(tenant, change).await;
        if let Err(error) = &left {
            tracing::warn!(%error, tenant, "the retries of a tenant are not known");
        }
        let left = left.ok().flatten();
        let mut all = self.earned.lock().unwrap_or_else(PoisonError::into_inner);
        if left == Some(MOST) {
            all.remove(tenant);
        } else {
            let back = if left.is_some() { 0 } else { earned };
            let counted = all.entry(tenant.to_owned()).or_default();
            *counted = (*counted + back).min(MOST);
        }
        left.is_some()
    }
}

impl fmt::Debug for RetryBudgets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RetryBudgets")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agents_store::SqliteStore;

    #[tokio::test]
    async fn l17_a_noisy_tenant_takes_no_retries_of_its_neighbour() {
        let store = Arc::new(SqliteStore::in_memory().await.unwrap());
        let processes = [0, 1].map(|_| RetryBudgets::new(store.clone()));
        let mut retries = 0;
        for request in 0..1_000 {
            let process = &processes[request % 2];
            process.add("noisy").await;
            for _ in 0..3 {
                retries += u32::from(process.take("noisy").await);
            }
        }
        // The first ones, and every fifth request. Each process may have earned a part of a retry that it has not taken.
        assert!((216..=219).contains(&retries), "{retries}");
        for process in &processes {
            assert!(process.take("quiet").await);
        }
    }

    #[tokio::test]
    async fn a_tenant_that_fails_no_more_has_all_of_its_retries_again() {
        let store = Arc::new(SqliteStore::in_memory().await.unwrap());
        let budgets = RetryBudgets::new(store.clone());
        let nothing = RetryChange {
            earned: 0,
            taken: 0,
            most: MOST,
        };
        for _ in 0..2 {
            while budgets.take("acme").await {}
            let left = store.change_retries("acme", nothing).await.unwrap();
            assert_eq!(left, Some(0));
            for _ in 0..MOST / EACH {
                budgets.add("acme").await;
            }
            let left = store.change_retries("acme", nothing).await.unwrap();
            assert_eq!(left, Some(MOST));
            // From then on, nothing is counted, and nothing is told.
            assert!(budgets.earned.lock().unwrap().is_empty());
        }
    }
}
