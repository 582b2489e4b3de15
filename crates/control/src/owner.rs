//! Owners of the credentials with which models are asked, and the circuits that follow from them.

use crate::{Candidate, CredentialSource, ResolvedProfile, circuit::CircuitKey};
use agents_core::{secret::SecretOwner, tool::Scope};

/// Returns the owner and the name of the credential with which a model is asked in a scope; `None` if the model is
/// asked without a credential.
pub(crate) fn owner<'a>(
    profile: &'a ResolvedProfile,
    scope: &Scope,
    candidate: &Candidate,
) -> Option<(SecretOwner, &'a str)> {
    // A credential is for one provider, and is sent to no other.
    let is_its_own = profile.chain[0].provider == candidate.provider;
    let name = profile.credential_ref.as_deref().filter(|_| is_its_own)?;
    let owner = match (profile.credential_source, &scope.domain_id) {
        (CredentialSource::Managed, _) => SecretOwner::Org {
            org_id: String::new(),
        },
        (CredentialSource::DomainByo, Some(domain_id)) => SecretOwner::Workspace {
            org_id: scope.org_id.clone(),
            domain_id: domain_id.clone(),
        },
        _ => SecretOwner::Org {
            org_id: scope.org_id.clone(),
        },
    };
    Some((owner, name))
}

/// Returns the name of a credential together with its owner, so that no other credential has the same text.
pub(crate) fn named(owner: &SecretOwner, name: &str) -> String {
    format!("{owner:?} {name}")
}

/// Returns the key of the circuit for a model of a profile in a scope.
pub(crate) fn circuit_of(
    profile: &ResolvedProfile,
    scope: &Scope,
    candidate: &Candidate,
) -> CircuitKey {
    let owner = owner(profile, scope, candidate);
    CircuitKey {
        provider: candidate.provider.clone(),
        model: candidate.model.clone(),
        credential: owner.map(|(owner, name)| named(&owner, name)),
    }
}
