//! Which models are asked: the profile that is active, and the clients of its models.

use crate::{Candidate, ResolvedProfile, Target, plane::Plane, resolve_active_profile, wording};
use agents_core::{
    PurposeKey,
    model::{Model, ModelError},
    tool::Scope,
};
use std::sync::Arc;

/// Returns the profile that is active for a purpose in a scope.
pub(super) fn profile(
    plane: &Plane,
    purpose: &PurposeKey,
    scope: &Scope,
) -> Result<ResolvedProfile, ModelError> {
    let domain = scope.domain_id.as_deref();
    let found = resolve_active_profile(&plane.active(), domain, scope.tenant_id(), purpose);
    found.ok_or_else(|| wording::no_profile(purpose, scope.tenant_id()))
}

impl Plane {
    /// Returns the client of a model.
    pub(super) fn client(&self, candidate: &Candidate) -> Result<Arc<dyn Model>, ModelError> {
        let Candidate { provider, model } = candidate;
        let target = Target { model, key: None };
        let client = self.providers.client(provider, &target);
        client.ok_or_else(|| wording::no_provider(provider))
    }
}
