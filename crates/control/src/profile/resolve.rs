//! The active profile of a scope: a pure function.

use super::{
    Candidate, CredentialSource, Degradation, ModelProfile, OverrideClass, RateLimit, Tier,
};
use agents_core::PurposeKey;
use serde::{Deserialize, Serialize};
use std::{collections::HashMap, sync::Arc};

/// Profiles that are active, with their versions, for [`resolve_active_profile`], which has an example.
#[derive(Clone, Debug, Default)]
pub struct ActiveProfiles(HashMap<PurposeKey, HashMap<Tier, Arc<Versioned>>>);

#[derive(Debug)]
struct Versioned {
    profile: ModelProfile,
    version: u64,
}

impl ActiveProfiles {
    /// Adds a profile, in the place of the one of the same tier and purpose.
    pub fn insert(&mut self, profile: ModelProfile, version: u64) {
        let tiers = self.0.entry(profile.purpose.clone()).or_default();
        let tier = profile.tier.clone();
        tiers.insert(tier, Arc::new(Versioned { profile, version }));
    }

    /// Removes the profile of a tier and purpose.
    pub fn remove(&mut self, tier: &Tier, purpose: &PurposeKey) {
        if let Some(tiers) = self.0.get_mut(purpose) {
            tiers.remove(tier);
        }
    }

    /// Returns the active global profile of a purpose; `None` if the purpose has none.
    pub fn global(&self, purpose: &PurposeKey) -> Option<&ModelProfile> {
        let found = self.0.get(purpose)?.get(&Tier::Global)?;
        Some(&found.profile)
    }
}

/// Result of resolving the profiles for a scope: the models to ask, and the limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ResolvedProfile {
    /// Purpose of the requests that the profile applies to.
    pub purpose: PurposeKey,
    /// Tier of the profile that applies.
    pub tier: Tier,
    /// Version of the model profile that applies.
    pub version: u64,
    /// Models, in the order in which they are asked.
    pub chain: Vec<Candidate>,
    /// Owner of the credential that is sent with requests to these models, as far as they are of the same provider as
    /// the first one.
    pub credential_source: CredentialSource,
    /// Name of the credential; `None` if the models are asked without a credential.
    pub credential_ref: Option<String>,
    /// Limit on how often models are asked; `None` for no limit.
    pub rate_limit: Option<RateLimit>,
    /// Billionths of a dollar that may be spent in a day, in UTC; `None` for no cap.
    pub daily_cap_nanos: Option<u64>,
    /// Largest number of tokens of a reply; `None` if no tier sets a number. A request under a cap then asks for 8,192
    /// at most.
    pub max_output_tokens: Option<u32>,
    /// Condition under which a run goes on with the models of another purpose; `None` if it never does.
    pub degradation: Option<Degradation>,
}

/// Returns the profile that is active for a workspace of an organisation and a purpose, or `None` if no profile
/// applies. Without `domain_id`, it is the profile for the organisation.
///
/// The profile of the workspace comes before that of the organisation, and both before the global one. The class of the
/// global profile decides whether an override applies: see [`OverrideClass`]. Limits that an override does not set are
/// those of the tier above. A rate and a cap of a profile with a credential of an organisation's own apply to the
/// provider of that profile alone: an override with models of other providers has the limits of the tier above that
/// profile.
///
/// ```
/// use agents_control::{ActiveProfiles, ModelProfile, PurposeKey::Scoring, resolve_active_profile};
///
/// let mut active = ActiveProfiles::default();
/// active.insert(ModelProfile::global(Scoring).model("google", "flash").approve("google", "lite"), 1);
/// active.insert(ModelProfile::org("acme", Scoring).model("google", "lite"), 2);
/// active.insert(ModelProfile::org("evil", Scoring).model("google", "ultra"), 3);
///
/// let model = |org| resolve_active_profile(&active, None, org, &Scoring).unwrap().chain[0].model.clone();
/// assert_eq!(model("acme"), "lite");
/// assert_eq!(model("evil"), "flash", "the model is not approved");
/// assert_eq!(model("other"), "flash");
/// ```
pub fn resolve_active_profile(
    active: &ActiveProfiles,
    domain_id: Option<&str>,
    org_id: &str,
    purpose: &PurposeKey,
) -> Option<ResolvedProfile> {
    let tiers = active.0.get(purpose)?;
    let global = tiers.get(&Tier::Global);
    let admits = |found: &&Arc<Versioned>| match global {
        None => OverrideClass::of(purpose) != OverrideClass::Locked,
        Some(global) => global.profile.admits(&found.profile),
    };
    let org = Tier::Org {
        org_id: org_id.to_owned(),
    };
    let org = tiers.get(&org).filter(admits);
    let domain = domain_id.and_then(|domain_id| {
        let (org_id, domain_id) = (org_id.to_owned(), domain_id.to_owned());
        tiers.get(&Tier::Domain { org_id, domain_id })
    });
    let domain = domain.filter(admits);
    let nearest = [domain, org, global];
    let found = nearest.into_iter().flatten().next()?;
    let profiles = || nearest.into_iter().flatten().map(|found| &found.profile);
    let profile = &found.profile;
    let chain = profile.chain();
    let is_its_provider = |above: &ModelProfile| {
        let mut models = chain.iter();
        models.all(|one| one.provider == above.provider)
    };
    // An organisation that pays itself may have raised its limits. They do not hold for models that the platform pays for.
    let limits = || {
        profiles().enumerate().filter(|(index, above)| {
            *index == 0
                || above.credential_source == CredentialSource::Managed
                || is_its_provider(above)
        })
    };
    // The credential of the tier above is for its provider, and is sent to no other.
    let credential = profiles()
        .find(|above| above.credential_ref.is_some() && above.provider == profile.provider);
    Some(ResolvedProfile {
        purpose: purpose.clone(),
        tier: profile.tier.clone(),
        version: found.version,
        credential_source: credential
            .map_or(CredentialSource::Managed, |found| found.credential_source),
        credential_ref: credential.and_then(|found| found.credential_ref.clone()),
        rate_limit: limits().find_map(|(_, profile)| profile.rate_limit),
        daily_cap_nanos: limits().find_map(|(_, profile)| profile.daily_cap_nanos),
        max_output_tokens: profiles().find_map(|profile| profile.max_output_tokens),
        degradation: profiles().find_map(|profile| profile.degradation.clone()),
        chain,
    })
}

impl ModelProfile {
    /// Returns the class of this global profile: who may override it.
    pub(crate) fn class(&self) -> OverrideClass {
        self.override_class
            .unwrap_or_else(|| OverrideClass::of(&self.purpose))
    }

    /// Returns `true` if this global profile may be overridden by the other one.
    pub(crate) fn admits(&self, other: &ModelProfile) -> bool {
        match self.class() {
            OverrideClass::Locked => false,
            OverrideClass::Open => true,
            OverrideClass::OperatorAllowed => {
                let own = self.chain();
                let is_known = |one: &Candidate| own.contains(one) || self.approved.contains(one);
                other.chain().iter().all(is_known)
            }
        }
    }
}
