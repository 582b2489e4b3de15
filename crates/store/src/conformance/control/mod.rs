//! Promises of a store of a control plane.

mod budgets;
mod circuits;
mod credentials;
mod profiles;
mod retries;
mod usage;

use crate::{
    Budget, BudgetKey, ControlStore, CredentialAnswer, CredentialKey, CredentialLease, ErrorKind,
    Hold, HoldAnswer, NewProfile, ProfileAction, RateRule, RetryChange, Settlement,
    StoredCredential, UsageBy, UsageFilter,
};
use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

/// Store of a control plane that a case checks.
type Checked = Arc<dyn ControlStore>;

/// Promise of a [`ControlStore`](crate::ControlStore), and the check of it.
///
/// ```
/// use agents_store::{SqliteStore, conformance::CONTROL_CASES};
/// use std::sync::Arc;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// for case in CONTROL_CASES {
///     println!("{}", case.name);
///     case.check(Arc::new(SqliteStore::in_memory().await.unwrap())).await;
/// }
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ControlCase {
    /// Promise that the case checks, as the name of a function.
    pub name: &'static str,
    run: fn(Checked) -> Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl ControlCase {
    /// Checks an empty store.
    ///
    /// # Panics
    /// When the store does not keep the promise.
    pub async fn check(&self, store: Arc<dyn ControlStore>) {
        (self.run)(store).await;
    }
}

macro_rules! cases {
    ($($module:ident::{$($name:ident),+ $(,)?};)+) => {
        /// All cases that a [`ControlStore`](crate::ControlStore) has to pass.
        pub const CONTROL_CASES: &[ControlCase] = &[$($(
            ControlCase { name: stringify!($name), run: |store| Box::pin($module::$name(store)) },
        )+)+];
    };
}

cases! {
    profiles::{
        one_profile_of_a_tier_is_active,
        a_version_is_activated_again,
        a_change_names_the_version_that_it_replaces,
        of_two_operators_at_once_one_wins,
        a_refusal_changes_nothing_but_the_log,
    };
    circuits::{
        a_circuit_opens_once_and_lets_one_request_through,
        failures_in_a_row_open_a_circuit,
        of_many_failures_at_once_one_opens_a_circuit,
    };
    retries::{
        retries_are_taken_until_none_are_left,
        many_tasks_never_take_more_retries_than_are_left,
    };
    credentials::{
        a_credential_is_stored_replaced_and_removed,
        one_of_many_has_the_lease_on_a_credential,
        a_credential_is_renewed_if_it_is_the_one_that_was_read,
    };
    budgets::{
        holds_are_within_the_cap,
        many_tasks_never_exceed_the_cap,
        a_hold_is_settled_once,
        a_hold_that_nobody_settles_is_spent,
        calls_are_within_the_rate,
        a_warning_comes_once_a_day,
        sums_are_made_anew_from_the_log,
        requests_go_on_while_sums_are_made_anew,
    };
    usage::{
        usage_is_listed_and_summed,
        absurd_numbers_do_not_break_the_sums,
    };
}

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

fn budget(spent_nanos: u64, held_nanos: u64) -> Budget {
    Budget {
        spent_nanos,
        held_nanos,
    }
}
