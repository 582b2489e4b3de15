//! Terms of a stored run, compared with the settings given now.

use super::{Settings, wording};
use crate::{Error, ErrorKind, journal::Terms, tool::Scope};
use std::sync::Arc;

impl Terms {
    pub(crate) fn of(settings: &Settings, answer: Option<Arc<str>>) -> Terms {
        let executor = &settings.executor;
        Terms {
            scope: settings.scope.clone(),
            budget: settings.budget.clone(),
            strict: settings.strict,
            confirms_repeats: settings.confirms_repeats,
            refuses_denied: settings.refuses_denied,
            policies: executor.policies.names(),
            limited: executor.limiter.is_some(),
            answer,
            max_output_bytes: settings.max_output_bytes,
        }
    }

    /// Applies the terms of the stored run to the settings with which it goes on. Of two bounds, the tighter one
    /// applies. Another scope than the stored one is an error.
    pub(crate) fn take_over(&self, settings: &mut Settings) -> Result<(), Error> {
        if settings.scope == Scope::default() {
            settings.scope = self.scope.clone();
        }
        if settings.scope != self.scope {
            return Err(refused(wording::OTHER_SCOPE));
        }
        settings.budget = match (settings.budget.take(), &self.budget) {
            (Some(said), Some(stored)) => Some(said.tighter(stored)),
            (said, stored) => said.or_else(|| stored.clone()),
        };
        settings.strict |= self.strict;
        settings.confirms_repeats |= self.confirms_repeats;
        settings.refuses_denied |= self.refuses_denied;
        Ok(())
    }

    /// Checks that the agent's answer still has the type with which the run was stored.
    pub(crate) fn fits(&self, agent: &str, answer: Option<&Arc<str>>) -> Result<(), Error> {
        match &self.answer {
            Some(stored) if Some(stored) != answer => {
                Err(refused(wording::other_answer_type(agent)))
            }
            _ => Ok(()),
        }
    }

    /// Checks that each policy has a name of its own, so that a stored run can ask for it again.
    pub(crate) fn can_be_kept(settings: &Settings) -> Result<(), Error> {
        match settings.executor.policies.are_named() {
            true => Ok(()),
            false => Err(refused(wording::POLICY_WITHOUT_NAME)),
        }
    }

    /// Checks that the run goes on with the policies that it had, and with a rate limiter if it had one. They are code
    /// and cannot be stored.
    pub(crate) fn check(&self, settings: &Settings) -> Result<(), Error> {
        self.has_policies(settings)?;
        match self.limited && settings.executor.limiter.is_none() {
            true => Err(refused(wording::RATE_LIMITS_MISSING)),
            false => Ok(()),
        }
    }

    /// Checks that the policies of the stored run are given again.
    pub(crate) fn has_policies(&self, settings: &Settings) -> Result<(), Error> {
        let mut given = settings.executor.policies.names();
        for name in &self.policies {
            match given.iter().position(|given| given == name) {
                Some(at) => given.swap_remove(at),
                None => return Err(refused(wording::policy_missing(name))),
            };
        }
        Ok(())
    }
}

fn refused(why: impl Into<String>) -> Error {
    Error::new(ErrorKind::Build, why.into())
}
