//! The span of a request, with the attributes of the log of usage.

use super::Call;
use crate::Candidate;
use agents_store::Settlement;
use tracing::{Span, field::Empty, info_span};

/// Word for the end of a request that was cut off, in spans and in the log of usage.
pub(super) const CUT_OFF: &str = "cut_off";

impl Call<'_> {
    /// Begins the `tracing` span of a request to a model; `id` is that of its row in the log of usage.
    pub(super) fn span(&self, to: &Candidate, id: &str) -> Span {
        let span = info_span!(
            "llm.send",
            "agents.usage_id" = id,
            "gen_ai.provider.name" = to.provider,
            "gen_ai.request.model" = to.model,
            "gen_ai.usage.input_tokens" = Empty,
            "gen_ai.usage.output_tokens" = Empty,
            "agents.purpose" = self.profile.purpose.as_str(),
            "agents.org_id" = self.scope.org_id,
            "agents.domain_id" = Empty,
            "agents.bc" = Empty,
            "agents.run_id" = Empty,
            "agents.turn_id" = Empty,
            "agents.profile_version" = int(self.profile.version),
            "agents.outcome" = Empty,
            "agents.cost_nanos" = Empty,
        );
        if span.is_disabled() {
            return span;
        }
        if let Some(domain_id) = &self.scope.domain_id {
            span.record("agents.domain_id", &**domain_id);
        }
        if let Some(bc) = &self.scope.bc {
            span.record("agents.bc", &**bc);
        }
        if let Some(run) = self.request.run_id() {
            span.record("agents.run_id", run);
            span.record("agents.turn_id", &*self.request.place());
        }
        span
    }
}

/// Adds to the span what became of the request.
pub(super) fn settled(span: &Span, settlement: &Settlement, cost: Option<u64>) {
    span.record("gen_ai.usage.input_tokens", int(settlement.input_tokens));
    span.record("gen_ai.usage.output_tokens", int(settlement.output_tokens));
    span.record("agents.outcome", &*settlement.outcome);
    if let Some(cost) = cost {
        span.record("agents.cost_nanos", int(cost));
    }
}

/// Adds to the span that the request was cut off: what was held counts as spent.
pub(super) fn cut_off(span: &Span, held: Option<u64>) {
    let settlement = Settlement {
        outcome: CUT_OFF.to_owned(),
        ..Settlement::default()
    };
    settled(span, &settlement, held);
}

/// Returns a count in the form for OpenTelemetry, whose exporters write an unsigned number as a text.
fn int(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
