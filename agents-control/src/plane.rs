//! The control plane: providers, and the profiles that are active.

use crate::{
    ActiveProfiles, ControlError, ControlErrorKind, ControlEvent, Controlled, ModelProfile, Target,
    circuit::Circuits, provider::Providers, retries::RetryBudgets, wording,
};
use agents_core::{Model, PurposeKey, tool::Scope};
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

/// Control plane: see the [crate's page](crate). Clones share their state.
#[derive(Clone, Debug)]
pub struct ControlPlane {
    plane: Arc<Plane>,
}

/// What the clones of a control plane share.
#[derive(Debug, Default)]
pub(crate) struct Plane {
    pub(crate) providers: Providers,
    pub(crate) circuits: Arc<Circuits>,
    pub(crate) retries: RetryBudgets,
    extras: BTreeSet<PurposeKey>,
    active: Mutex<Active>,
}

#[derive(Debug, Default)]
struct Active {
    profiles: Arc<ActiveProfiles>,
    version: u64,
}

impl ControlPlane {
    /// Creates a control plane whose profiles are gone with the process.
    pub fn in_memory() -> Self {
        ControlPlane {
            plane: Arc::default(),
        }
    }

    /// Changes the plane while it is set up.
    fn set(mut self, set: impl FnOnce(&mut Plane)) -> Self {
        let plane = Arc::get_mut(&mut self.plane);
        set(plane.expect("a control plane is set up before it is cloned or used"));
        self
    }

    /// Adds a provider: code that makes the client of a model.
    ///
    /// # Panics
    /// When the control plane was cloned or used before.
    #[must_use]
    pub fn provider<M: Model>(
        self,
        name: impl Into<String>,
        make: impl Fn(&Target<'_>) -> M + Send + Sync + 'static,
    ) -> Self {
        self.set(|plane| plane.providers.add(name.into(), make))
    }

    /// Registers a purpose of the application, beside [`PurposeKey::ALL`].
    ///
    /// # Panics
    /// When the control plane was cloned or used before.
    #[must_use]
    pub fn purpose(self, purpose: impl Into<PurposeKey>) -> Self {
        self.set(|plane| {
            plane.extras.insert(purpose.into());
        })
    }

    /// Adds a subscriber for events.
    ///
    /// # Panics
    /// When the control plane was cloned or used before.
    #[must_use]
    pub fn on_event(self, subscriber: impl Fn(&ControlEvent) + Send + Sync + 'static) -> Self {
        self.set(|plane| {
            let circuits = Arc::get_mut(&mut plane.circuits).expect("no request is under way");
            circuits.subscribers.add(subscriber);
        })
    }

    /// Activates a profile, in the place of the one of the same tier and purpose. Returns its version.
    ///
    /// # Errors
    /// When the profile is not valid.
    pub fn activate(&self, profile: ModelProfile) -> Result<u64, ControlError> {
        self.plane.is_registered(&profile.purpose)?;
        profile.check()?;
        let mut active = self
            .plane
            .active
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        active.version += 1;
        let version = active.version;
        Arc::make_mut(&mut active.profiles).insert(profile, version);
        Ok(version)
    }

    /// Returns the model that stands for a purpose in a scope.
    pub fn model(&self, purpose: impl Into<PurposeKey>, scope: impl Into<Scope>) -> Controlled {
        let purpose = purpose.into();
        Controlled {
            plane: self.plane.clone(),
            id: format!("purpose/{purpose}"),
            purpose,
            scope: scope.into(),
        }
    }
}

impl Plane {
    /// Returns the profiles that are active now.
    pub(crate) fn active(&self) -> Arc<ActiveProfiles> {
        let active = self.active.lock().unwrap_or_else(PoisonError::into_inner);
        active.profiles.clone()
    }

    fn is_registered(&self, purpose: &PurposeKey) -> Result<(), ControlError> {
        let is_known = PurposeKey::ALL.contains(purpose) || self.extras.contains(purpose);
        match is_known {
            true => Ok(()),
            false => Err(ControlError::new(
                ControlErrorKind::Invalid,
                wording::unregistered(purpose),
            )),
        }
    }
}
