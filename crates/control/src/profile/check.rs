//! Defects of a profile, found before it is active.

use super::{ModelProfile, Tier};
use crate::{ControlError, ControlErrorKind, wording};

/// Maximum number of models in a profile: the first one and its fallbacks.
pub(crate) const MOST: usize = 8;

impl ModelProfile {
    /// Checks that the profile names its organisation and its models, that its chain is bounded, without circles and
    /// with permitted providers only, that its limits permit something, and that an override sets nothing that is for
    /// the global profile.
    pub(crate) fn check(&self) -> Result<(), ControlError> {
        match self.defect() {
            None => Ok(()),
            Some(defect) => Err(ControlError::new(ControlErrorKind::Invalid, defect)),
        }
    }

    fn defect(&self) -> Option<String> {
        let of = format!("the profile of `{}`", self.purpose);
        // In the store, an empty id stands for all.
        if self.tier.org_id() == Some("") || self.tier.domain_id() == Some("") {
            return Some(wording::no_id(&of));
        }
        let chain = self.chain();
        if chain
            .iter()
            .any(|one| one.provider.is_empty() || one.model.is_empty())
        {
            return Some(wording::unnamed_model(&of));
        }
        if chain.len() > MOST {
            return Some(wording::too_many_models(&of, chain.len(), MOST));
        }
        for (index, one) in chain.iter().enumerate() {
            if chain[..index].contains(one) {
                return Some(wording::circle(&of, one));
            }
        }
        let other = chain.iter().find(|one| one.provider != self.provider);
        if let (Some(other), false) = (other, self.crosses_providers) {
            return Some(wording::other_provider(&of, other, &self.provider));
        }
        if let Some(limit) = self.rate_limit
            && (limit.calls == 0 || limit.per_ms == 0)
        {
            return Some(wording::no_rate(&of));
        }
        if matches!(self.daily_cap_nanos, Some(0 | u64::MAX)) {
            return Some(wording::no_cap(&of));
        }
        if let Some(policy) = &self.degradation
            && (policy.failures == 0 || policy.upgrade_to == self.purpose)
        {
            return Some(wording::no_upgrade(&of));
        }
        let is_override = self.tier != Tier::Global;
        if is_override && (self.override_class.is_some() || !self.approved.is_empty()) {
            return Some(wording::class_of_override(&of));
        }
        None
    }
}
