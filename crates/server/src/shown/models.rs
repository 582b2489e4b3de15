//! Models: which ones answer for which purpose, within which limits.

use crate::{
    failure::Failure,
    room::{Room, Visitor},
    wording,
};
use agents_control::{ControlPlane, ModelProfile, ProfileVersion, PurposeKey, RateLimit, Tier};
use agents_core::{run::Timestamp, tool::Scope};
use serde::Serialize;

/// Purposes of models, each with the profiles that are active for it.
#[derive(Serialize)]
pub(crate) struct Models {
    pub(crate) purposes: Vec<Purpose>,
}

#[derive(Serialize)]
pub(crate) struct Purpose {
    pub(crate) purpose: String,
    pub(crate) profiles: Vec<Profile>,
    pub(crate) budgets: Vec<Budget>,
}

/// Profile that is active in a tier, with the limits that apply there.
#[derive(Serialize)]
pub(crate) struct Profile {
    pub(crate) tier: &'static str,
    pub(crate) org_id: Option<String>,
    pub(crate) domain_id: Option<String>,
    pub(crate) version: u64,
    /// Principal who stored the profile; missing for a visitor of another tenant than the profile's.
    pub(crate) created_by: Option<String>,
    pub(crate) activated_at: Timestamp,
    /// Is `false` if the global profile does not permit this override, so that it does not apply.
    pub(crate) applies: bool,
    pub(crate) models: Vec<Circuit>,
    /// Name of the credential with which the models are asked; missing for a visitor of another tenant than the
    /// profile's.
    pub(crate) credential: Option<String>,
    pub(crate) rate_limit: Option<RateLimit>,
    pub(crate) daily_cap_nanos: Option<u64>,
    pub(crate) max_output_tokens: Option<u32>,
}

/// Model of a profile, with the state of its circuit breaker.
#[derive(Serialize)]
pub(crate) struct Circuit {
    pub(crate) provider: String,
    pub(crate) model: String,
    /// Word for the state of the circuit: `open` while the model gets no requests, else `closed`. It is `closed` for a
    /// profile that does not apply.
    pub(crate) circuit: &'static str,
    /// Time until a request may test whether the model answers again, in milliseconds; missing if the circuit is
    /// closed.
    pub(crate) open_for_ms: Option<u64>,
}

/// Amounts that were spent today or are reserved, and the cap on both.
#[derive(Serialize)]
pub(crate) struct Budget {
    pub(crate) org_id: String,
    pub(crate) domain_id: String,
    pub(crate) spent_nanos: u64,
    pub(crate) held_nanos: u64,
    pub(crate) cap_nanos: Option<u64>,
    pub(crate) rate_limit: Option<RateLimit>,
}

/// Versions of the profiles of a purpose, with their changes.
#[derive(Serialize)]
pub(crate) struct Versions {
    pub(crate) purpose: String,
    pub(crate) versions: Vec<Version>,
    pub(crate) changes: Vec<Change>,
}

#[derive(Serialize)]
pub(crate) struct Version {
    pub(crate) version: u64,
    pub(crate) created_by: String,
    pub(crate) activated_at: Timestamp,
    /// Time at which the version was deactivated; missing for a version that is active.
    pub(crate) deactivated_at: Option<Timestamp>,
    /// Number of the version that is active in the same tier now; missing if none is.
    pub(crate) active: Option<u64>,
    /// Reason why the visitor may not activate the version again; missing if the visitor may.
    pub(crate) refusal: Option<String>,
    pub(crate) profile: ModelProfile,
}

/// Change of a profile that was made or refused, from the log of changes.
#[derive(Serialize)]
pub(crate) struct Change {
    pub(crate) number: u64,
    pub(crate) at: Timestamp,
    pub(crate) action: &'static str,
    /// Version that the change is about; 0 for a refusal.
    pub(crate) version: u64,
    pub(crate) org_id: String,
    pub(crate) domain_id: String,
    pub(crate) by: String,
    /// Reason why the change was refused; missing if the change was made.
    pub(crate) reason: Option<String>,
}

/// Returns the control plane; in a control room without one, the failure that says so.
pub(crate) fn plane(room: &Room) -> Result<&ControlPlane, Failure> {
    room.control.as_ref().ok_or_else(Failure::no_control)
}

fn purpose_of(control: &ControlPlane, word: &str) -> Result<PurposeKey, Failure> {
    let mut purposes = control.purposes().into_iter();
    let found = purposes.find(|purpose| purpose.as_str() == word);
    found.ok_or_else(Failure::not_found)
}

impl Visitor {
    /// Returns `true` if the tier belongs to the visitor's tenant. The operator has all tiers.
    fn owns(&self, tier: &Tier) -> bool {
        match self.tenant() {
            None => true,
            Some(own) => tier.org_id() == Some(&own),
        }
    }
}

/// Reads the purposes of models, with the profiles that are active for the visitor.
pub(crate) async fn models(room: &Room, visitor: &Visitor) -> Result<Models, Failure> {
    let control = plane(room)?;
    let active = control.active().await?;
    let tenant = visitor.tenant();
    let spent = control.budgets(tenant.as_deref()).await?;
    let mut purposes = Vec::new();
    for purpose in control.purposes() {
        let mut profiles = Vec::new();
        for version in active.iter().filter(|one| one.profile.purpose == purpose) {
            if let Some(profile) = profile(control, visitor, version).await? {
                profiles.push(profile);
            }
        }
        let mut budgets = Vec::new();
        for (key, budget) in spent
            .iter()
            .filter(|(key, _)| key.purpose == purpose.as_str())
        {
            let scope = scope(
                &key.org_id,
                Some(&*key.domain_id).filter(|id| !id.is_empty()),
            );
            let limits = control.resolve(&purpose, scope).await?;
            budgets.push(Budget {
                org_id: key.org_id.clone(),
                domain_id: key.domain_id.clone(),
                spent_nanos: budget.spent_nanos,
                held_nanos: budget.held_nanos,
                cap_nanos: limits.as_ref().and_then(|limits| limits.daily_cap_nanos),
                rate_limit: limits.and_then(|limits| limits.rate_limit),
            });
        }
        purposes.push(Purpose {
            purpose: purpose.to_string(),
            profiles,
            budgets,
        });
    }
    Ok(Models { purposes })
}

fn scope(org_id: &str, domain_id: Option<&str>) -> Scope {
    match domain_id {
        Some(domain_id) => Scope::from(org_id).domain(domain_id),
        None => Scope::from(org_id),
    }
}

/// Returns an active profile, as a visitor sees it; `None` if the visitor may not see it. A tenant sees the global
/// profile where that applies.
async fn profile(
    control: &ControlPlane,
    visitor: &Visitor,
    active: &ProfileVersion,
) -> Result<Option<Profile>, Failure> {
    let ModelProfile { tier, purpose, .. } = &active.profile;
    let owns = visitor.owns(tier);
    let tenant = visitor.tenant();
    // The scope in which the profile is looked at: its own, or that of the tenant whom the global one applies to.
    let scope = match tier {
        Tier::Global => scope(tenant.as_deref().unwrap_or_default(), None),
        _ => scope(tier.org_id().unwrap_or_default(), tier.domain_id()),
    };
    let resolved = control.resolve(purpose, scope.clone()).await?;
    let applies = resolved
        .as_ref()
        .is_some_and(|one| one.version == active.version);
    let is_shared = *tier == Tier::Global && applies;
    if !owns && !is_shared {
        return Ok(None);
    }
    let circuits = match &resolved {
        Some(resolved) if applies => control.circuits(resolved, scope).await?,
        _ => Vec::new(),
    };
    let models = active.profile.chain().into_iter().map(|candidate| {
        let mut known = circuits.iter();
        let is_it = |one: &&agents_control::ModelCircuit| {
            one.provider == candidate.provider && one.model == candidate.model
        };
        let open_for = known.find(is_it).and_then(|one| one.open_for);
        Circuit {
            circuit: if open_for.is_some() { "open" } else { "closed" },
            open_for_ms: open_for.map(|left| u64::try_from(left.as_millis()).unwrap_or(u64::MAX)),
            provider: candidate.provider,
            model: candidate.model,
        }
    });
    let limits = resolved.filter(|_| applies);
    let own = &active.profile;
    Ok(Some(Profile {
        tier: match tier {
            Tier::Global => "global",
            Tier::Org { .. } => "org",
            Tier::Domain { .. } => "domain",
        },
        org_id: tier.org_id().map(str::to_owned),
        domain_id: tier.domain_id().map(str::to_owned),
        version: active.version,
        created_by: owns.then(|| active.created_by.clone()),
        activated_at: active.activated_at,
        applies,
        models: models.collect(),
        credential: own.credential_ref.clone().filter(|_| owns),
        rate_limit: limits
            .as_ref()
            .map_or(own.rate_limit, |limits| limits.rate_limit),
        daily_cap_nanos: limits
            .as_ref()
            .map_or(own.daily_cap_nanos, |limits| limits.daily_cap_nanos),
        max_output_tokens: limits
            .as_ref()
            .map_or(own.max_output_tokens, |limits| limits.max_output_tokens),
    }))
}

/// Reads the versions of the profiles of a purpose, the newest first: those of the visitor's tenant, or all for the
/// operator.
pub(crate) async fn versions(
    room: &Room,
    visitor: &Visitor,
    purpose: &str,
) -> Result<Versions, Failure> {
    let control = plane(room)?;
    let purpose = purpose_of(control, purpose)?;
    let all = control.versions(&purpose).await?;
    let active = |tier: &Tier| {
        let mut active = all.iter().filter(|one| one.deactivated_at.is_none());
        let found = active.find(|one| one.profile.tier == *tier);
        found.map(|one| one.version)
    };
    let own = all
        .iter()
        .rev()
        .filter(|one| visitor.owns(&one.profile.tier));
    let mut versions = Vec::new();
    for one in own {
        versions.push(Version {
            version: one.version,
            created_by: one.created_by.clone(),
            activated_at: one.activated_at,
            deactivated_at: one.deactivated_at,
            active: active(&one.profile.tier),
            refusal: control.refusal(&one.profile, &visitor.principal).await?,
            profile: one.profile.clone(),
        });
    }
    let tenant = visitor.tenant();
    let changes = control.changes(0).await?.into_iter().rev();
    let changes = changes.filter(|change| {
        change.purpose == purpose.as_str()
            && tenant
                .as_ref()
                .is_none_or(|own| *own == change.org_id && !own.is_empty())
    });
    let changes = changes.map(|change| {
        let is_refused = change.action == agents_control::ProfileAction::Refused;
        Change {
            number: change.number,
            at: change.at,
            action: change.action.as_str(),
            version: change.version,
            org_id: change.org_id,
            domain_id: change.domain_id,
            by: change.by,
            reason: Some(change.detail).filter(|_| is_refused),
        }
    });
    Ok(Versions {
        versions,
        changes: changes.collect(),
        purpose: purpose.to_string(),
    })
}

/// Activates an earlier version of a purpose's profile again. `replaces` is the version that was active when the
/// visitor looked.
pub(crate) async fn roll_back(
    room: &Room,
    visitor: &Visitor,
    purpose: &str,
    version: u64,
    replaces: Option<u64>,
) -> Result<(), Failure> {
    let seen = versions(room, visitor, purpose).await?;
    if !seen.versions.iter().any(|one| one.version == version) {
        return Err(Failure::invalid(wording::no_version(version, purpose)));
    }
    let change = plane(room)?.rollback(version);
    let change = match replaces {
        Some(replaces) => change.replacing(replaces),
        None => change,
    };
    change.by(&visitor.principal).await?;
    Ok(())
}
