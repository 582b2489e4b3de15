//! All texts of the control plane.

use crate::{Candidate, PurposeKey};
use agents_core::model::{ModelError, ModelErrorKind};
use std::time::Duration;

pub(crate) fn no_profile(purpose: &PurposeKey, tenant: &str) -> ModelError {
    ModelError::new(
        ModelErrorKind::Setup,
        format!("no profile is active for the purpose `{purpose}` of `{tenant}`: activate one"),
    )
}

pub(crate) fn no_provider(provider: &str) -> ModelError {
    ModelError::new(
        ModelErrorKind::Setup,
        format!(
            "this process has no provider `{provider}`: add it with `.provider(\"{provider}\", ..)`"
        ),
    )
}

pub(crate) fn open_circuit(candidate: &Candidate, wait: Duration) -> ModelError {
    let Candidate { provider, model } = candidate;
    ModelError::new(
        ModelErrorKind::Overloaded,
        format!(
            "the model `{model}` of `{provider}` has failed again and again, and is not asked for {wait:.1?}: ask again \
             later, or give its profile a fallback"
        ),
    )
    .with_retry_after(wait)
}

/// Adds to an error what happened before it.
pub(crate) fn after(error: &ModelError, before: Option<(&str, &ModelError)>) -> ModelError {
    let Some((model, before)) = before else {
        return error.clone();
    };
    let mut after = ModelError::new(
        error.kind(),
        format!("{error}; `{model}` before it: {before}"),
    );
    if let Some(status) = error.status() {
        after = after.with_status(status);
    }
    match error.retry_after() {
        Some(wait) => after.with_retry_after(wait),
        None => after,
    }
}

pub(crate) fn unnamed_model(of: &str) -> String {
    format!("{of} names no model: set `.model(provider, model)`, and name both in each fallback")
}

pub(crate) fn too_many_models(of: &str, count: usize, most: usize) -> String {
    format!(
        "{of} has {count} models in its chain: leave out some, so that there are {most} at most"
    )
}

pub(crate) fn circle(of: &str, twice: &Candidate) -> String {
    let Candidate { provider, model } = twice;
    format!("{of} names the model `{model}` of `{provider}` twice in its chain: leave one out")
}

pub(crate) fn other_provider(of: &str, other: &Candidate, provider: &str) -> String {
    format!(
        "{of} falls back from `{provider}` to `{}`: name a model of the same provider, or permit others with \
         `.across_providers()`",
        other.provider
    )
}

pub(crate) fn no_rate(of: &str) -> String {
    format!("the rate of {of} permits no call: set at least one call in a time above zero")
}

pub(crate) fn no_cap(of: &str) -> String {
    format!("the daily cap of {of} is not a valid amount: set one above zero, such as `usd(50)`")
}

pub(crate) fn class_of_override(of: &str) -> String {
    format!(
        "{of} is an override, so it decides about no overrides: set the class and the approved models in the global profile"
    )
}

pub(crate) fn unregistered(purpose: &PurposeKey) -> String {
    format!(
        "the purpose `{purpose}` is not registered: add `.purpose(\"{purpose}\")` to the control plane, or correct the name"
    )
}
