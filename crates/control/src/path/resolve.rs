//! Models that are asked: the profile that is active, and the clients of its models.

use super::Call;
use crate::{
    Candidate, ResolvedProfile,
    owner::{named, owner},
    plane::Plane,
    provider::ClientKey,
    resolve_active_profile, wording,
};
use agents_core::{
    PurposeKey,
    model::{Model, ModelError},
    secret::SecretValue,
    tool::Scope,
};
use std::sync::Arc;

/// Largest number of tokens of a reply under a cap, if the profile sets none: without it, the cost would have no bound.
const MAX_TOKENS: u32 = 8_192;

/// Returns the profile that is active for a purpose in a scope. A degraded run gets the profile of the purpose that its
/// policy upgrades to. If the store cannot be asked, or one of its profiles cannot be read, no model is asked.
pub(super) async fn profile(
    plane: &Plane,
    purpose: &PurposeKey,
    scope: &Scope,
    run: Option<&str>,
) -> Result<ResolvedProfile, ModelError> {
    let active = plane.active().await;
    let active = active.map_err(|error| wording::not_active(&error))?;
    let domain = scope.domain_id.as_deref();
    let resolve = |purpose: &PurposeKey| {
        let found = resolve_active_profile(&active, domain, scope.tenant_id(), purpose);
        found.ok_or_else(|| wording::no_profile(purpose, scope.tenant_id()))
    };
    let found = resolve(purpose)?;
    let policy = found.degradation.as_ref().zip(run);
    match policy.filter(|(policy, run)| plane.failures.is_degraded(run, purpose, policy)) {
        Some((policy, _)) => resolve(&policy.upgrade_to),
        None => Ok(found),
    }
}

impl ResolvedProfile {
    /// Returns the largest number of tokens that a reply may have; `None` if there is no bound.
    pub(super) fn max_tokens(&self) -> Option<u32> {
        let by_cap = self.daily_cap_nanos.map(|_| MAX_TOKENS);
        self.max_output_tokens.or(by_cap)
    }
}

impl Call<'_> {
    /// Returns the client with which the model is asked, with the credential that the profile names.
    pub(super) async fn client(&self, candidate: &Candidate) -> Result<Arc<dyn Model>, ModelError> {
        let Candidate { provider, model } = candidate;
        let credential = self.credential(candidate).await?;
        let (named, value) = match credential {
            Some((named, value)) => (Some(named), Some(value)),
            None => (None, None),
        };
        let of = ClientKey {
            provider: provider.clone(),
            model: model.clone(),
            credential: named.unwrap_or_default(),
            max_tokens: self.profile.max_tokens(),
        };
        let key = value.as_ref().map(SecretValue::text);
        let client = self.plane.providers.client(&of, key);
        client.ok_or_else(|| wording::no_provider(provider))
    }

    /// Looks up the credential for a model, at each request. So a change or a removal takes effect with the next
    /// request.
    async fn credential(
        &self,
        candidate: &Candidate,
    ) -> Result<Option<(String, SecretValue)>, ModelError> {
        let Some((owner, name)) = owner(self.profile, self.scope, candidate) else {
            return Ok(None);
        };
        let Some(secrets) = &self.plane.secrets else {
            return Err(wording::no_secrets(name));
        };
        let found = secrets.find(&owner, name).await;
        let found = found.map_err(|error| wording::no_credential(&error.to_string()))?;
        let value = found.ok_or_else(|| wording::missing_credential(name))?;
        Ok(Some((named(&owner, name), value)))
    }
}
