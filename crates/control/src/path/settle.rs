//! Cost of a request: its row in the log of usage.

use super::{Call, hold::Holding, span, verdict};
use crate::{Candidate, ControlEvent};
use agents_core::model::{ModelError, ModelErrorKind, Reply};
use agents_store::Settlement;
use std::time::Duration;

impl Call<'_> {
    /// Ends the hold of a request with what became of the request. Returns its cost, or the amount that was held if the
    /// cost is not known; `None` if nothing was held either.
    pub(super) async fn settle(
        &self,
        holding: Holding,
        to: &Candidate,
        result: &Result<Reply, ModelError>,
        took: Duration,
    ) -> Option<u64> {
        let held = holding.amount;
        let (cost, outcome, failed) = match result {
            Ok(reply) => {
                let cost = self.cost(to, reply, held);
                (cost, "answered".to_owned(), Some(false))
            }
            Err(error) => {
                let failed = verdict::has_failed(error);
                (unbilled(error), kind(error.kind()), failed)
            }
        };
        let usage = result.as_ref().map(|reply| reply.usage).unwrap_or_default();
        let settlement = Settlement {
            cost_nanos: cost,
            input_tokens: usage.input_tokens,
            cached_tokens: usage.cached_tokens,
            cache_write_tokens: usage.cache_write_tokens,
            output_tokens: usage.output_tokens,
            outcome,
            failed,
            took_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            ..Settlement::default()
        };
        // The span and the row have the same numbers.
        let settlement = settlement.bounded();
        let cost = settlement.cost_nanos.or(held);
        span::settled(&holding.span, &settlement, cost);
        let warns = holding.settle(settlement).await;
        self.warn(warns);
        cost
    }

    /// Returns the cost of a reply. Returns `None` if it is not known: then the amount that was held is taken for the
    /// cost. A reply never costs more than that amount, whatever the provider reports.
    fn cost(&self, to: &Candidate, reply: &Reply, held: Option<u64>) -> Option<u64> {
        let usage = &reply.usage;
        if !is_reported(reply) {
            return None;
        }
        let cost = self
            .plane
            .prices
            .cost(&to.provider, &to.model, usage)?
            .nanos();
        match held {
            Some(held) if cost > held => {
                tracing::warn!(
                    provider = to.provider,
                    model = to.model,
                    input_tokens = usage.input_tokens,
                    output_tokens = usage.output_tokens,
                    "a provider reports more tokens than were held for the request"
                );
                Some(held)
            }
            _ => Some(cost),
        }
    }

    pub(super) fn warn(&self, warns: bool) {
        if warns {
            self.plane
                .circuits
                .subscribers
                .tell(&ControlEvent::BudgetWarning {
                    org_id: self.scope.org_id.clone(),
                    domain_id: self.scope.domain_id.clone(),
                    purpose: self.profile.purpose.clone(),
                    cap_nanos: self.profile.daily_cap_nanos.unwrap_or_default(),
                });
        }
    }
}

/// Returns `true` if the provider reports plausible numbers of tokens: at least one for the prompt, and at least one
/// for a reply that has content.
fn is_reported(reply: &Reply) -> bool {
    let says_nothing = reply.content.is_empty()
        && reply.thinking.is_none()
        && reply.calls.is_empty()
        && reply.refusal.is_none();
    reply.usage.input_tokens > 0 && (reply.usage.output_tokens > 0 || says_nothing)
}

/// Returns zero if a failed request is not billed, because the server has refused it or was not reached. Returns `None`
/// for any other failure, since the provider may bill the request.
fn unbilled(error: &ModelError) -> Option<u64> {
    use ModelErrorKind::{Filtered, NotFound, Overloaded, Setup, TooLong, Unreachable};
    let is_refused = error.status().is_some_and(|status| status != 408);
    let is_unsent = matches!(
        error.kind(),
        Setup | Unreachable | NotFound | Overloaded | TooLong | Filtered
    );
    (is_refused || is_unsent).then_some(0)
}

/// Returns the word for a kind of error in the log of usage.
fn kind(kind: ModelErrorKind) -> String {
    match serde_json::to_value(kind) {
        Ok(serde_json::Value::String(name)) => name,
        _ => "failed".to_owned(),
    }
}
