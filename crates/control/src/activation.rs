//! Changes of profiles, and the rights to make them.

use crate::{
    ActiveProfiles, ControlError, ControlErrorKind, ControlPlane, CredentialSource, ModelProfile,
    OverrideClass, ProfileVersion, Tier, plane::Plane, wording,
};
use agents_runtime::{Action, Principal};
use agents_store::NewProfile;

/// Change of the profiles that is about to be made, prepared by [`activate`](crate::ControlPlane::activate),
/// [`rollback`](crate::ControlPlane::rollback) or [`deactivate`](crate::ControlPlane::deactivate). [`by`](Change::by)
/// makes it.
///
/// ```
/// use agents_control::{ControlErrorKind, ControlPlane, ModelProfile, Principal, PurposeKey::Scoring, SqliteStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let control = ControlPlane::open(&SqliteStore::in_memory().await?);
/// let profile = ModelProfile::global(Scoring).model("mine", "small");
///
/// // The global profile is the operator's to change.
/// let grace = Principal::new("grace", "acme");
/// let refused = control.activate(profile.clone()).by(&grace).await.unwrap_err();
/// assert_eq!(refused.kind(), ControlErrorKind::Forbidden);
///
/// let active = control.activate(profile).by(&Principal::operator()).await?;
/// control.deactivate(active.version).by(&Principal::operator()).await?;
/// assert!(control.resolve(&Scoring, "acme").await?.is_none());
/// # Ok(())
/// # }
/// ```
#[must_use = "a change is made by `.by(&principal).await`"]
#[derive(Debug)]
pub struct Change<'a> {
    plane: &'a Plane,
    what: What,
    replaces: Option<u64>,
}

#[derive(Debug)]
enum What {
    Activate(Box<ModelProfile>),
    Rollback(u64),
    Deactivate(u64),
}

impl ControlPlane {
    /// Prepares the activation of a profile in place of the active one of the same tier and purpose. All processes use
    /// the new profile within a second.
    pub fn activate(&self, profile: ModelProfile) -> Change<'_> {
        self.change(What::Activate(Box::new(profile)))
    }

    /// Prepares the activation of an earlier version of a profile, by its number in the store.
    pub fn rollback(&self, version: u64) -> Change<'_> {
        self.change(What::Rollback(version))
    }

    /// Prepares the deactivation of a version, so that the profile of the tier above applies, if there is one. A
    /// version that is not active stays as it is.
    pub fn deactivate(&self, version: u64) -> Change<'_> {
        self.change(What::Deactivate(version))
    }

    /// Returns why a principal may not activate a profile, because of who the principal is and of what the global
    /// profile permits; `None` if the principal may. The method changes nothing, and adds no refusal to the
    /// [changes](ControlPlane::changes): a page calls it before it shows a button.
    ///
    /// ```
    /// use agents_control::{ControlPlane, ModelProfile, Principal, PurposeKey::Scoring, SqliteStore};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let control = ControlPlane::open(&SqliteStore::in_memory().await?);
    /// let profile = ModelProfile::global(Scoring).model("mine", "small");
    /// let grace = Principal::new("grace", "acme");
    /// let why = control.refusal(&profile, &grace).await?;
    /// assert!(why.unwrap().contains("grace"));
    /// assert_eq!(control.refusal(&profile, &Principal::operator()).await?, None);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the store fails, or an active profile cannot be read.
    pub async fn refusal(
        &self,
        profile: &ModelProfile,
        principal: &Principal,
    ) -> Result<Option<String>, ControlError> {
        match self.plane.not_permitted(profile, principal) {
            Some(why) => Ok(Some(why)),
            None => Ok(refusal(&*self.plane.active().await?, profile, principal)),
        }
    }

    fn change(&self, what: What) -> Change<'_> {
        Change {
            plane: &self.plane,
            what,
            replaces: None,
        }
    }
}

impl Change<'_> {
    /// Makes the change only if this version is the active one of the tier and purpose at that time. If another one or
    /// none is active, for instance because another operator was faster, the error of [`by`](Change::by) is
    /// [`Conflict`](ControlErrorKind::Conflict). By default, the change is made whatever version is active.
    ///
    /// ```
    /// use agents_control::{ControlErrorKind, ControlPlane, ModelProfile, Principal, PurposeKey::Scoring, SqliteStore};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let control = ControlPlane::open(&SqliteStore::in_memory().await?);
    /// let (small, large) = (
    ///     ModelProfile::global(Scoring).model("mine", "small"),
    ///     ModelProfile::global(Scoring).model("mine", "large"),
    /// );
    /// let first = control.activate(small.clone()).by(&Principal::operator()).await?;
    /// control.activate(large).replacing(first.version).by(&Principal::operator()).await?;
    ///
    /// // Somebody else has seen the first version alone.
    /// let late = control.activate(small).replacing(first.version).by(&Principal::operator()).await;
    /// assert_eq!(late.unwrap_err().kind(), ControlErrorKind::Conflict);
    /// # Ok(())
    /// # }
    /// ```
    pub fn replacing(mut self, version: u64) -> Self {
        self.replaces = Some(version);
        self
    }

    /// Makes the change in the name of a principal. Returns the version that is active now; for a deactivation, the
    /// version that is not active any more.
    ///
    /// Nobody may override the global profile of a purpose that is [locked](OverrideClass::Locked), or override it with
    /// a model that it does not admit. Apart from that, the operator of the platform may change every profile. Anybody
    /// else may change the profiles of their own organisation, with the role for [`Action::Profiles`] if the control
    /// plane [demands a role](crate::ControlPlane::roles), and without a credential of the platform. They may set lower
    /// rates and caps than the global profile. They may set higher ones only if all models of the profile are asked
    /// with a credential of their own. A refusal is a row of the [changes](crate::ControlPlane::changes).
    ///
    /// # Errors
    /// When the profile is not valid, its purpose is not registered, or the version does not exist. When the version to
    /// [replace](Change::replacing) is not the active one, the principal may not make the change, or the store fails.
    pub async fn by(self, principal: &Principal) -> Result<ProfileVersion, ControlError> {
        let plane = self.plane;
        let stored = match self.what {
            What::Activate(profile) => {
                plane.is_registered(&profile.purpose)?;
                profile.check()?;
                let new = row(&profile, principal, self.replaces)?;
                plane.permit(&profile, principal, &new).await?;
                plane.store.activate_profile(&new).await
            }
            What::Rollback(version) => {
                let profile = plane.version(version).await?;
                profile.check()?;
                let new = row(&profile, principal, None)?;
                plane.permit(&profile, principal, &new).await?;
                plane
                    .store
                    .reactivate_profile(version, principal.id(), self.replaces)
                    .await
            }
            What::Deactivate(version) => {
                let profile = plane.version(version).await?;
                let new = row(&profile, principal, None)?;
                plane.permit_for(&profile, principal, &new).await?;
                plane
                    .store
                    .deactivate_profile(version, principal.id(), self.replaces)
                    .await
            }
        };
        let stored = ProfileVersion::of(stored?)?;
        plane.forget().await;
        Ok(stored)
    }
}

fn row(
    profile: &ModelProfile,
    principal: &Principal,
    replaces: Option<u64>,
) -> Result<NewProfile, ControlError> {
    let text = serde_json::to_string(profile)
        .map_err(|error| ControlError::new(ControlErrorKind::Invalid, error.to_string()))?;
    Ok(NewProfile {
        purpose: profile.purpose.to_string(),
        org_id: profile.tier.org_id().unwrap_or_default().to_owned(),
        domain_id: profile.tier.domain_id().unwrap_or_default().to_owned(),
        profile: text,
        by: principal.id().to_owned(),
        replaces,
    })
}

impl Plane {
    async fn version(&self, version: u64) -> Result<ModelProfile, ControlError> {
        let found = self.store.profile(version).await?;
        let found = found.ok_or_else(|| wording::no_version(version))?;
        Ok(ProfileVersion::of(found)?.profile)
    }

    /// Checks that the principal may activate a profile. If not, the refusal is stored, and is the error.
    async fn permit(
        &self,
        profile: &ModelProfile,
        principal: &Principal,
        new: &NewProfile,
    ) -> Result<(), ControlError> {
        self.permit_for(profile, principal, new).await?;
        self.forget().await;
        let active = self.active().await?;
        match refusal(&active, profile, principal) {
            None => Ok(()),
            Some(why) => self.refuse(new, why).await,
        }
    }

    /// Checks that a tier is the principal's to change, and that the principal has the role for it. If not, the refusal
    /// is stored, and is the error.
    async fn permit_for(
        &self,
        profile: &ModelProfile,
        principal: &Principal,
        new: &NewProfile,
    ) -> Result<(), ControlError> {
        match self.not_permitted(profile, principal) {
            None => Ok(()),
            Some(why) => self.refuse(new, why).await,
        }
    }

    /// Returns the reason why the principal may not change this tier; `None` if the principal may.
    fn not_permitted(&self, profile: &ModelProfile, principal: &Principal) -> Option<String> {
        let is_own = principal.tenant().is_some() && principal.tenant() == profile.tier.org_id();
        if !principal.is_operator() && !is_own {
            return Some(wording::not_your_tier(&profile.purpose, principal.id()));
        }
        let allowed = self.roles.allow(Action::Profiles, principal);
        allowed.err().map(|why| why.to_string())
    }

    async fn refuse(&self, new: &NewProfile, why: String) -> Result<(), ControlError> {
        self.store.refuse_profile(new, &why).await?;
        Err(ControlError::new(ControlErrorKind::Forbidden, why))
    }
}

/// Returns the reason why the principal may not override the global profile with this one; `None` if the principal may,
/// or if this is a global profile.
fn refusal(
    active: &ActiveProfiles,
    profile: &ModelProfile,
    principal: &Principal,
) -> Option<String> {
    if profile.tier == Tier::Global {
        return None;
    }
    let global = active.global(&profile.purpose);
    let class = global.map_or_else(|| OverrideClass::of(&profile.purpose), ModelProfile::class);
    if class == OverrideClass::Locked {
        return Some(wording::locked(&profile.purpose));
    }
    if let Some(global) = global
        && !global.admits(profile)
    {
        return Some(wording::not_approved(&profile.purpose));
    }
    if principal.is_operator() {
        return None;
    }
    let is_managed = profile.credential_source == CredentialSource::Managed;
    if is_managed && profile.credential_ref.is_some() {
        return Some(wording::managed_credential(&profile.purpose));
    }
    let global = global?;
    // Whoever pays for every model of the chain may raise limits. A fallback of another provider is asked without the
    // credential of the profile, so the platform pays for it.
    let pays = !is_managed
        && profile.credential_ref.is_some()
        && profile
            .fallbacks
            .iter()
            .all(|one| one.provider == profile.provider);
    let is_raised = |own: Option<u64>, above: Option<u64>| {
        own.zip(above).is_some_and(|(own, above)| own > above)
    };
    if !pays && is_raised(profile.daily_cap_nanos, global.daily_cap_nanos) {
        return Some(wording::raised(&profile.purpose, "daily cap"));
    }
    let faster = profile.rate_limit.zip(global.rate_limit);
    let is_faster = faster.is_some_and(|(own, above)| {
        let rate = |limit: crate::RateLimit, per: u64| u128::from(limit.calls) * u128::from(per);
        rate(own, above.per_ms) > rate(above, own.per_ms) || own.calls > above.calls
    });
    (!pays && is_faster).then(|| wording::raised(&profile.purpose, "rate"))
}
