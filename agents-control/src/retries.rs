//! Retry budgets: the repeated requests of one tenant are a fraction of its requests.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

/// Retries that a tenant may make at once, in tenths.
const MOST: u32 = 200;
/// Tenths of a retry that each first request adds.
const EACH: u32 = 2;
/// Tenths of a retry that a retry takes.
const RETRY: u32 = 10;

/// Retry budgets of the tenants of a process.
///
/// A fixed number of retries for each request multiplies the load of a provider that is down already. A budget bounds
/// the sum: in the long run, a tenant repeats every fifth request. A tenant that has used up its retries takes none of
/// those of another tenant.
#[derive(Debug, Default)]
pub(crate) struct RetryBudgets(Mutex<HashMap<String, u32>>);

impl RetryBudgets {
    /// Counts a request that is no retry.
    pub(crate) fn add(&self, tenant: &str) {
        self.change(tenant, |left| *left = (*left + EACH).min(MOST));
    }

    /// Takes a retry out of the tenant's budget; `false` if there is none left.
    pub(crate) fn take(&self, tenant: &str) -> bool {
        self.change(tenant, |left| {
            let is_enough = *left >= RETRY;
            if is_enough {
                *left -= RETRY;
            }
            is_enough
        })
    }

    fn change<T>(&self, tenant: &str, change: impl FnOnce(&mut u32) -> T) -> T {
        let mut budgets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match budgets.get_mut(tenant) {
            Some(left) => change(left),
            None => change(budgets.entry(tenant.to_owned()).or_insert(MOST)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l17_a_noisy_tenant_takes_no_retries_of_its_neighbour() {
        let budgets = RetryBudgets::default();
        let mut retries = 0;
        for _ in 0..1_000 {
            budgets.add("noisy");
            for _ in 0..3 {
                retries += u32::from(budgets.take("noisy"));
            }
        }
        assert_eq!(retries, 20 + 199, "the first ones, and every fifth request");
        assert!(budgets.take("quiet"));
    }
}
