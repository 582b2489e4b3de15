//! Profiles: which model answers for a purpose, and within which limits.

mod check;
mod resolve;
mod version;

pub use resolve::{ActiveProfiles, ResolvedProfile, resolve_active_profile};
pub use version::ProfileVersion;

use agents_core::{PurposeKey, run::Cost};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Tier that a profile applies to. In a scope, the profile of the nearest tier applies: workspace, organisation, all.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Every organisation: the profile applies where no nearer tier has one.
    Global,
    /// An organisation (tenant) with all its workspaces.
    Org {
        /// Id of the organisation that the profile applies to.
        org_id: String,
    },
    /// A workspace of an organisation (tenant).
    Domain {
        /// Id of the organisation that the workspace belongs to.
        org_id: String,
        /// Id of the workspace that the profile applies to.
        domain_id: String,
    },
}

impl Tier {
    /// Returns the id of the organisation to which the tier belongs; `None` for the global tier.
    pub fn org_id(&self) -> Option<&str> {
        match self {
            Tier::Global => None,
            Tier::Org { org_id } | Tier::Domain { org_id, .. } => Some(org_id),
        }
    }

    /// Returns the id of the workspace to which the tier belongs; `None` for other tiers.
    pub fn domain_id(&self) -> Option<&str> {
        match self {
            Tier::Domain { domain_id, .. } => Some(domain_id),
            _ => None,
        }
    }
}

/// Right to override the global profile of a purpose.
///
/// ```
/// use agents_control::{ModelProfile, OverrideClass, PurposeKey::{Detection, Reasoning}};
///
/// // Without a word of the global profile, the purpose decides.
/// assert_eq!(OverrideClass::of(&Detection), OverrideClass::Locked);
/// assert_eq!(OverrideClass::of(&Reasoning), OverrideClass::OperatorAllowed);
///
/// let open = ModelProfile::global(Reasoning).model("mine", "large").override_class(OverrideClass::Open);
/// assert_eq!(open.override_class, Some(OverrideClass::Open));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OverrideClass {
    /// The global profile of the purpose applies to all: no organisation or workspace may override it.
    Locked,
    /// Organisations and workspaces may override the global profile, with models that it names or approves. If there is
    /// no global profile, they may have profiles with any model.
    OperatorAllowed,
    /// Organisations and workspaces may override the global profile, with any model.
    Open,
}

impl OverrideClass {
    /// Returns the class of a purpose whose global profile names none.
    pub fn of(purpose: &PurposeKey) -> Self {
        match purpose {
            PurposeKey::Detection | PurposeKey::CustomerReplay => OverrideClass::Locked,
            _ => OverrideClass::OperatorAllowed,
        }
    }
}

/// Owner of the credential, such as an API key, that is sent to the provider of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CredentialSource {
    /// The platform owns the credential.
    #[default]
    Managed,
    /// The organisation brings its own credential.
    OrgByo,
    /// The workspace brings its own credential.
    DomainByo,
}

/// Model that a profile may ask, with the provider that serves it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Candidate {
    /// Name of the provider, as the control plane knows it.
    pub provider: String,
    /// Name of the model, as the provider knows it.
    pub model: String,
}

impl Candidate {
    /// Creates a candidate from the names of a provider and of a model.
    pub fn new(provider: impl Into<String>, model: impl Into<String>) -> Self {
        Candidate {
            provider: provider.into(),
            model: model.into(),
        }
    }
}

/// Limit on how often models are asked: a bucket that holds `calls` calls, and that fills up evenly within the time `per_ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RateLimit {
    /// Number of calls that the bucket of the rate limit holds when it is full.
    pub calls: u32,
    /// Time in which an empty bucket fills up, in milliseconds.
    pub per_ms: u64,
}

impl RateLimit {
    /// Creates a limit of this many calls in a time. A profile with a limit of 0 calls, or of less than a millisecond,
    /// is refused when it is activated.
    pub fn new(calls: u32, per: Duration) -> Self {
        let per_ms = u64::try_from(per.as_millis()).unwrap_or(u64::MAX);
        RateLimit { calls, per_ms }
    }
}

/// Creates a rate limit of this many calls a minute.
///
/// ```
/// use agents_control::{RateLimit, per_minute};
/// use std::time::Duration;
///
/// assert_eq!(per_minute(60), RateLimit::new(60, Duration::from_secs(60)));
/// ```
pub fn per_minute(calls: u32) -> RateLimit {
    RateLimit::new(calls, Duration::from_secs(60))
}

/// Creates a rate limit of this many calls a second.
pub fn per_second(calls: u32) -> RateLimit {
    RateLimit::new(calls, Duration::from_secs(1))
}

/// Creates an amount of money from dollars.
///
/// ```
/// assert_eq!(agents_control::usd(0.5).nanos(), 500_000_000);
/// ```
pub fn usd(amount: impl Into<f64>) -> Cost {
    Cost::of(amount.into())
}

/// Profile of a purpose in a tier: the models that answer, and their limits.
///
/// ```
/// use agents_control::{ModelProfile, PurposeKey::{Reasoning, Scoring}, per_minute, usd};
///
/// let global = ModelProfile::global(Reasoning)
///     .model("anthropic", "claude-opus-5")
///     .fallback("anthropic", "claude-sonnet-5")
///     .daily_cap(usd(50))
///     .rate(per_minute(60));
/// let acme = ModelProfile::org("acme", Scoring).model("openai", "gpt-6-mini").credential("openai");
/// # let _ = (global, acme);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ModelProfile {
    /// Tier that the profile applies to.
    pub tier: Tier,
    /// Purpose of the requests that the profile chooses models for.
    pub purpose: PurposeKey,
    /// Name of the provider of the first model that is asked.
    pub provider: String,
    /// Name of the first model that is asked, as the provider knows it.
    pub model: String,
    /// Right to override this global profile; `None` for the class of its [purpose](OverrideClass::of). The profile of
    /// an organisation or a workspace has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub override_class: Option<OverrideClass>,
    /// Models that organisations and workspaces may choose besides the models of this global profile. The list applies
    /// only under the class [`OverrideClass::OperatorAllowed`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approved: Vec<Candidate>,
    /// Owner of the credential that is sent with requests to the models of the profile's own provider. A fallback of
    /// another provider is asked without a credential.
    #[serde(default)]
    pub credential_source: CredentialSource,
    /// Name of the credential with which the model is asked; `None` for the credential of the tier above, if that is
    /// for the same provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential_ref: Option<String>,
    /// Name of a variant of the profile; reserved for later versions, and `None` until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// Models that are asked in this order if the one before has failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallbacks: Vec<Candidate>,
    /// Is `true` if a fallback may be a model of another provider.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub crosses_providers: bool,
    /// Limit on how often models are asked, for each organisation, workspace and purpose; `None` for that of the tier
    /// above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_limit: Option<RateLimit>,
    /// Billionths of a dollar that may be spent in a day, for each organisation, workspace and purpose; `None` for the
    /// cap of the tier above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daily_cap_nanos: Option<u64>,
    /// Largest number of tokens of a reply, on which the largest cost of a call depends; `None` for that of the tier
    /// above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u32>,
    /// Condition under which a run goes on with the models of another purpose, because its answers do not fit; `None`
    /// for that of the tier above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degradation: Option<Degradation>,
}

/// Policy for answers that do not fit: no repair could mend them, or the model declined to give them. After `failures`
/// of them in a row, the run goes on with the models of another purpose. These are mostly more capable. Other runs keep
/// their models.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Degradation {
    /// Number of answers in a row, in one run, that have to be unfit before the run changes its models. Another process
    /// that goes on with the run begins to count anew.
    pub failures: u32,
    /// Time within which the unfit answers have to come, in milliseconds.
    pub within_ms: u64,
    /// Purpose whose models the run asks from then on, instead of those of its own purpose.
    pub upgrade_to: PurposeKey,
}

impl ModelProfile {
    fn new(tier: Tier, purpose: PurposeKey) -> Self {
        ModelProfile {
            tier,
            purpose,
            provider: String::new(),
            model: String::new(),
            override_class: None,
            approved: Vec::new(),
            credential_source: CredentialSource::Managed,
            credential_ref: None,
            variant: None,
            fallbacks: Vec::new(),
            crosses_providers: false,
            rate_limit: None,
            daily_cap_nanos: None,
            max_output_tokens: None,
            degradation: None,
        }
    }

    /// Creates the profile of all organisations, which names no model yet.
    #[must_use]
    pub fn global(purpose: PurposeKey) -> Self {
        Self::new(Tier::Global, purpose)
    }

    /// Creates the profile of an organisation, which names no model yet.
    #[must_use]
    pub fn org(org_id: impl Into<String>, purpose: PurposeKey) -> Self {
        let org_id = org_id.into();
        Self::new(Tier::Org { org_id }, purpose)
    }

    /// Creates the profile of a workspace of an organisation, which names no model yet.
    #[must_use]
    pub fn domain(
        org_id: impl Into<String>,
        domain_id: impl Into<String>,
        purpose: PurposeKey,
    ) -> Self {
        let (org_id, domain_id) = (org_id.into(), domain_id.into());
        Self::new(Tier::Domain { org_id, domain_id }, purpose)
    }

    /// Sets the model that is asked first. A profile without a model is refused when it is activated.
    #[must_use]
    pub fn model(mut self, provider: impl Into<String>, model: impl Into<String>) -> Self {
        (self.provider, self.model) = (provider.into(), model.into());
        self
    }

    /// Adds a model that is asked if all models before it have failed. It is served by the profile's provider, unless
    /// the profile goes [`across_providers`](Self::across_providers). A profile with more than seven fallbacks is
    /// refused when it is activated.
    #[must_use]
    pub fn fallback(mut self, provider: impl Into<String>, model: impl Into<String>) -> Self {
        self.fallbacks.push(Candidate::new(provider, model));
        self
    }

    /// Permits fallbacks to models of other providers. Prompts are sent to these providers then, and their prompt
    /// caches are cold.
    #[must_use]
    pub fn across_providers(mut self) -> Self {
        self.crosses_providers = true;
        self
    }

    /// Sets who may override this global profile; by default, that depends on its [purpose](OverrideClass::of).
    #[must_use]
    pub fn override_class(mut self, class: OverrideClass) -> Self {
        self.override_class = Some(class);
        self
    }

    /// Adds a model that organisations and workspaces may choose besides the models of this global profile. It applies
    /// only under the class [`OverrideClass::OperatorAllowed`].
    #[must_use]
    pub fn approve(mut self, provider: impl Into<String>, model: impl Into<String>) -> Self {
        self.approved.push(Candidate::new(provider, model));
        self
    }

    /// Sets the name of the credential with which the model is asked. Its owner follows from the profile's [`Tier`]:
    /// the platform, the organisation or the workspace. Without a name, the credential of the tier above applies if it
    /// is for the same provider; if there is none, the model is asked without a key.
    #[must_use]
    pub fn credential(mut self, name: impl Into<String>) -> Self {
        self.credential_ref = Some(name.into());
        self.credential_source = match self.tier {
            Tier::Global => CredentialSource::Managed,
            Tier::Org { .. } => CredentialSource::OrgByo,
            Tier::Domain { .. } => CredentialSource::DomainByo,
        };
        self
    }

    /// Sets how many calls there may be in a time, for each organisation, workspace and purpose: see [`per_minute`] and
    /// [`per_second`]. By default, the limit of the tier above applies, and a global profile has no limit.
    #[must_use]
    pub fn rate(mut self, limit: RateLimit) -> Self {
        self.rate_limit = Some(limit);
        self
    }

    /// Sets how much may be spent in a day, for each organisation, workspace and purpose: see [`usd`]. Days are counted
    /// in UTC. By default, the cap of the tier above applies, and a global profile has no cap.
    #[must_use]
    pub fn daily_cap(mut self, amount: Cost) -> Self {
        self.daily_cap_nanos = Some(amount.nanos());
        self
    }

    /// Sets how many tokens a reply may have; by default, as many as the tier above says. If no tier says anything,
    /// 8,192 where there is a cap, and otherwise as many as the model gives.
    #[must_use]
    pub fn max_output_tokens(mut self, tokens: u32) -> Self {
        self.max_output_tokens = Some(tokens);
        self
    }

    /// Has a run go on with the models of the purpose `to`, after `failures` answers in a row, within a time, that do
    /// not fit (see [`Degradation`]). By default, the policy of the tier above applies, if there is one.
    #[must_use]
    pub fn upgrade_after(mut self, failures: u32, within: Duration, to: PurposeKey) -> Self {
        self.degradation = Some(Degradation {
            failures,
            within_ms: u64::try_from(within.as_millis()).unwrap_or(u64::MAX),
            upgrade_to: to,
        });
        self
    }

    /// Returns the models in the order in which they are asked: the first one and its fallbacks.
    pub fn chain(&self) -> Vec<Candidate> {
        let first = Candidate::new(&*self.provider, &*self.model);
        std::iter::once(first)
            .chain(self.fallbacks.iter().cloned())
            .collect()
    }
}
