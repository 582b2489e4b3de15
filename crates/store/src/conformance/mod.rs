//! Checks that every store has to pass, yours included.
//!
//! Each [`Case`] gets an empty store, and panics if the store does not keep its promise. Call [`check`] in a test:
//!
//! ```no_run
//! use agents_store::{SqliteStore, conformance};
//! use std::sync::Arc;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! conformance::check(async || Arc::new(SqliteStore::in_memory().await.unwrap())).await;
//! # }
//! ```
//!
//! The cases take real time, 100 ms to a second each where a lease or a request has to expire.

#![allow(clippy::unwrap_used, reason = "a promise that is not kept is a panic")]

mod approvals;
mod audit;
mod commits;
mod control;
mod conversations;
mod deliveries;
mod doubts;
mod instructions;
mod leases;
mod letters;
mod manifests;
mod metrics;
mod modes;
mod pauses;
mod runs;
mod texts;
mod triages;

pub use control::{CONTROL_CASES, ControlCase};

use crate::{
    Begin, Claim, Commit, ErrorKind, Lease, NewApproval, NewRun, Risk, Run, Store, StoreError,
};
use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

/// Store that a case of the conformance tests checks.
pub type Checked = Arc<dyn Store>;

/// Promise of a store, and the check of it.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Promise that the case checks, as the name of a function.
    pub name: &'static str,
    run: fn(Checked) -> Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Case {
    /// Checks an empty store.
    ///
    /// # Panics
    /// When the store does not keep the promise.
    pub async fn check(&self, store: Checked) {
        (self.run)(store).await;
    }
}

macro_rules! cases {
    ($($module:ident::{$($name:ident),+ $(,)?};)+) => {
        /// All cases that a [`Store`](crate::Store) has to pass.
        pub const CASES: &[Case] = &[$($(
            Case { name: stringify!($name), run: |store| Box::pin($module::$name(store)) },
        )+)+];
    };
}

cases! {
    runs::{
        a_run_is_returned_as_it_was_stored,
        a_key_stands_for_one_run_of_a_tenant_and_an_agent,
        one_of_many_starts_with_a_key_stores_a_run,
        runs_are_listed_the_newest_first_page_by_page,
        a_run_that_is_not_there_is_none,
        a_cancelled_run_is_ready_and_keeps_who_cancelled_it,
        a_held_run_is_not_claimed_until_it_is_released,
        the_key_of_a_run_is_wrapped_anew_once,
        runs_are_found_by_labels_key_and_time,
        runs_are_found_whose_contents_may_be_erased,
    };
    leases::{
        one_of_many_workers_gets_a_run,
        a_worker_gets_runs_of_its_agents_only,
        the_highest_priority_goes_first_then_the_oldest,
        a_run_whose_lease_has_ended_is_claimed_with_a_greater_fence,
        a_late_commit_of_an_earlier_worker_is_refused,
        a_renewed_lease_is_not_claimed,
        a_run_that_is_given_back_is_not_the_workers_any_more,
        a_waiting_run_goes_on_at_its_time,
        a_message_that_came_while_the_run_was_put_down_makes_it_ready,
        a_run_that_is_claimed_in_vain_is_held,
        a_tenant_has_no_more_runs_under_way_than_allowed,
        a_run_that_is_over_is_not_claimed,
        all_runs_that_are_not_over_can_be_held,
    };
    pauses::{
        a_run_that_nobody_has_is_held_as_paused,
        a_run_under_way_is_held_when_its_worker_gives_it_back,
        a_paused_run_whose_worker_is_gone_is_held,
        a_release_takes_a_pause_back,
        a_run_that_is_over_is_not_paused,
        a_paused_run_can_be_cancelled,
    };
    instructions::{
        an_instruction_is_an_event_that_the_worker_is_told_of,
        a_run_that_is_over_takes_no_instruction,
    };
    doubts::{
        an_execution_in_doubt_is_settled_once,
        a_verdict_makes_a_waiting_run_ready,
        an_execution_that_is_not_in_doubt_is_not_settled,
        an_execution_is_not_in_doubt_after_an_attempt_that_succeeded,
        an_erased_execution_is_not_in_doubt,
    };
    manifests::{
        a_manifest_is_kept_once_and_the_one_seen_last_comes_first,
        manifests_of_long_ago_are_forgotten,
    };
    metrics::{
        figures_tell_what_there_is_to_do,
    };
    deliveries::{
        a_webhook_is_told_of_events_that_come_after_it,
        a_delivery_is_made_by_one_worker_at_a_time,
        a_failed_delivery_is_made_again_until_it_is_given_up,
    };
    letters::{
        a_notification_goes_to_each_subscriber_of_its_name,
        a_notification_that_no_subscriber_was_known_for_waits_for_the_first,
        a_key_stands_for_one_notification_also_when_it_was_taken,
        a_letter_is_tried_by_one_worker_at_a_time,
        a_letter_whose_worker_is_gone_is_tried_again,
        the_end_of_an_earlier_try_changes_nothing_unless_it_was_taken,
        a_letter_that_is_given_up_is_dead_until_it_is_replayed,
        one_of_many_replays_wins,
        a_held_run_is_replayed_once,
        nobody_replays_what_belongs_to_another_tenant,
        dead_letters_are_found_by_subscriber_tenant_and_time,
        a_subscriber_that_is_removed_keeps_its_dead_letters,
        an_erased_tenant_has_no_letters,
    };
    triages::{
        the_status_of_a_cluster_is_set_and_changed_with_its_events,
    };
    commits::{
        commits_are_returned_in_order_and_from_a_number,
        a_commit_behind_another_entry_is_refused,
        a_commit_that_is_repeated_is_stored_once,
        a_refused_commit_leaves_nothing_behind,
        bytes_are_kept_as_they_are,
    };
    conversations::{
        a_conversation_is_there_with_its_first_run,
        a_conversation_belongs_to_one_tenant_and_one_agent,
        a_start_with_a_known_key_leaves_conversations_as_they_are,
        the_runs_of_a_conversation_are_claimed_one_after_the_other,
        of_many_messages_at_once_each_has_its_turn,
        a_run_leaves_its_conversation_with_its_end,
        runs_are_listed_by_conversation_and_by_who_started_them,
        runs_of_a_conversation_are_listed_the_oldest_first_page_by_page,
        what_an_erased_run_has_left_is_gone,
    };
    texts::{
        streamed_text_is_returned_in_order_and_from_a_number,
        streamed_text_of_an_earlier_worker_is_refused,
        streamed_text_is_gone_after_its_time,
        a_commit_stores_its_text_or_nothing,
    };
    approvals::{
        a_request_is_stored_with_its_commit_and_once,
        one_of_many_decisions_wins,
        a_decision_makes_a_waiting_run_ready,
        the_request_of_another_tenant_does_not_exist,
        a_request_expires_and_cannot_be_decided_then,
        an_execution_without_its_approval_is_refused,
        an_approval_covers_these_arguments_only,
        an_approval_that_was_not_used_in_time_is_refused,
        an_approval_that_was_not_used_in_time_expires,
        an_approval_is_used_once_and_by_each_attempt,
        edited_arguments_are_covered_and_the_first_ones_are_not,
        a_request_after_a_revision_has_its_correlation_id,
        the_requests_of_a_run_that_is_over_are_cancelled,
        requests_are_listed_the_oldest_first_page_by_page,
    };
    modes::{
        a_mode_is_set_changed_and_removed_with_its_events,
        a_request_is_approved_with_its_commit_by_the_mode_in_effect,
        a_mode_that_is_not_in_effect_approves_nothing,
        a_request_that_follows_another_has_its_correlation_id,
    };
    audit::{
        every_step_leaves_an_event,
        an_execution_within_one_step_leaves_one_event,
        refusals_doubts_and_expiries_leave_events,
        what_was_not_stored_leaves_no_event,
        an_execution_is_undone_once,
        events_are_listed_the_oldest_first_page_by_page,
        events_are_found_by_their_kind_their_actor_and_their_tool,
        a_store_belongs_to_one_audit_key,
        a_trail_that_has_begun_without_a_key_stays_without,
        an_erased_run_keeps_its_trail_without_names_and_texts,
        an_erased_tenant_leaves_no_names_in_what_belongs_to_no_run,
    };
}

/// Checks all [`CASES`], each with a store of its own. The [`CONTROL_CASES`] are not among them.
///
/// # Panics
/// When a store does not keep a promise; the name of the case is printed before.
pub async fn check<S: Store>(open: impl AsyncFn() -> Arc<S>) {
    for case in CASES {
        println!("{}", case.name);
        case.check(open().await).await;
    }
}

/// Length of a lease or a request that is to end within a case.
const SHORT: Duration = Duration::from_millis(80);
/// Length of a lease that ends within a case, and is not to have ended before: long enough for a machine that is busy.
const WHILE: Duration = Duration::from_secs(1);
/// Length of a lease or a request that is not to end within a case.
const LONG: Duration = Duration::from_secs(60);

fn new_run(id: &str) -> NewRun {
    NewRun {
        id: id.to_owned(),
        tenant: "acme".to_owned(),
        agent: "payer".to_owned(),
        data: b"input".to_vec(),
        data_key: b"key".to_vec(),
        ..NewRun::default()
    }
}

async fn create(store: &Checked, id: &str) -> Run {
    store.create(&new_run(id)).await.expect("a run is stored")
}

fn claim(worker: &str, time: Duration) -> Claim {
    Claim {
        worker: worker.to_owned(),
        agents: vec!["payer".to_owned()],
        run: None,
        time,
        per_tenant: 0,
        most_claims: 3,
        alone: true,
    }
}

async fn claimed(store: &Checked, worker: &str) -> Lease {
    let lease = store.claim(&claim(worker, LONG)).await;
    lease
        .expect("a claim works")
        .expect("there is a run to claim")
}

fn step(id: &str, after: u64, last: u64) -> Commit {
    Commit {
        id: id.to_owned(),
        after,
        last,
        entries: format!("entries {after} to {last}").into_bytes(),
        ..Commit::default()
    }
}

fn request(request: &str, digest: &str) -> NewApproval {
    NewApproval {
        id: format!("approval-{request}"),
        request: request.to_owned(),
        place: "payer".to_owned(),
        agent_name: "payer".to_owned(),
        tool_name: "pay".to_owned(),
        version: "1.0.0".to_owned(),
        args_summary: "cents 100".to_owned(),
        effect_description: "Pays.".to_owned(),
        risk_level: Risk::High,
        user_id: Some("ada".to_owned()),
        args_digest: digest.to_owned(),
        expires_after: LONG,
        detail: b"detail".to_vec(),
        reasons: Some(r#"["policy"]"#.to_owned()),
        follows: None,
        by_mode: None,
    }
}

fn execution(id: &str, needs: Option<&str>, digest: &str) -> Begin {
    Begin {
        id: id.to_owned(),
        call_id: "call-1".to_owned(),
        attempt: 1,
        agent_name: "payer".to_owned(),
        tool_name: "pay".to_owned(),
        version: "1.0.0".to_owned(),
        input: b"args".to_vec(),
        args_digest: digest.to_owned(),
        risk_level: Risk::High,
        needs: needs.map(str::to_owned),
    }
}

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, StoreError>, kind: ErrorKind) {
    let error = result.expect_err("this has to be refused");
    assert_eq!(error.kind(), kind, "{error}");
}
