//! All texts of the control plane.

use crate::{Candidate, ControlError, ControlErrorKind, Cost, PurposeKey};
use agents_core::model::{ModelError, ModelErrorKind};
use agents_store::Budget;
use std::{fmt, time::Duration};

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

/// Returns the error with the failure of the model before it added to its text.
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

pub(crate) fn no_id(of: &str) -> String {
    format!(
        "{of} is for an organisation or a workspace with an empty id: name it, or set the profile of all with \
         `ModelProfile::global(..)` and that of an organisation with `ModelProfile::org(..)`"
    )
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

pub(crate) fn no_store(error: &ControlError) -> ModelError {
    ModelError::new(
        ModelErrorKind::Unreachable,
        format!(
            "the store of the control plane does not answer, so no model is asked ({error}): ask again later"
        ),
    )
}

/// Returns the error of a request whose profile cannot be found out. No model is asked then.
pub(crate) fn not_active(error: &ControlError) -> ModelError {
    match error.kind() {
        ControlErrorKind::Store => no_store(error),
        _ => ModelError::new(
            ModelErrorKind::Setup,
            format!(
                "the profiles of the control plane are not valid, so no model is asked: {error}"
            ),
        ),
    }
}

pub(crate) fn no_secrets(name: &str) -> ModelError {
    ModelError::new(
        ModelErrorKind::Setup,
        format!(
            "the profile names the credential `{name}`, and the control plane has no source of credentials: add `.secrets(..)`"
        ),
    )
}

pub(crate) fn no_credential(why: &str) -> ModelError {
    ModelError::new(
        ModelErrorKind::Setup,
        format!("the credential of the profile is not at hand: {why}"),
    )
}

pub(crate) fn missing_credential(name: &str) -> ModelError {
    ModelError::new(
        ModelErrorKind::Setup,
        format!(
            "there is no credential `{name}` any more: store it again, or name another one in the profile"
        ),
    )
}

pub(crate) fn credential_of_user(name: &str) -> String {
    format!(
        "the credential `{name}` is one of a user: store it for an organisation or a workspace, or use a source of secrets"
    )
}

pub(crate) fn later_credential(error: &dyn fmt::Display) -> String {
    format!(
        "it cannot be read, perhaps because a later program stored it ({error}): use that program, or store it again"
    )
}

pub(crate) fn refresh_failed(error: &dyn fmt::Display) -> String {
    format!("the refresh of its token has ended too early ({error}): ask again")
}

pub(crate) fn token_unsaved() -> String {
    "its refreshed token has expired, and the store does not take it: mend the store".to_owned()
}

pub(crate) fn refresh_elsewhere() -> String {
    "another process refreshes its token, and is not done: ask again later".to_owned()
}

pub(crate) fn no_price(candidate: &Candidate) -> ModelError {
    let Candidate { provider, model } = candidate;
    ModelError::new(
        ModelErrorKind::Setup,
        format!(
            "the model `{model}` of `{provider}` has no price, so its cap cannot be kept: set one with \
             `Prices::model(\"{provider}/{model}\", input, output)`"
        ),
    )
}

pub(crate) fn too_often(purpose: &PurposeKey, wait: Duration) -> ModelError {
    ModelError::new(
        ModelErrorKind::Overloaded,
        format!(
            "the rate of `{purpose}` is used up for {wait:.1?}: ask again then, or raise the rate"
        ),
    )
    .with_retry_after(wait)
}

pub(crate) fn over_cap(
    purpose: &PurposeKey,
    cap: u64,
    amount: Option<u64>,
    budget: Budget,
) -> ModelError {
    let dollars = |nanos| Cost::of_nanos(nanos);
    let (spent, held) = (dollars(budget.spent_nanos), dollars(budget.held_nanos));
    let (cap, amount) = (dollars(cap), dollars(amount.unwrap_or_default()));
    ModelError::new(
        ModelErrorKind::OverBudget,
        format!(
            "the daily cap of `{purpose}` is ${cap}: ${spent} are spent and ${held} are held, and this request may cost \
             ${amount}; wait for the next day, or raise the cap"
        ),
    )
}

pub(crate) fn not_your_tier(purpose: &PurposeKey, who: &str) -> String {
    format!(
        "`{who}` may not change this profile of `{purpose}`: it belongs to the platform, or to another organisation"
    )
}

pub(crate) fn locked(purpose: &PurposeKey) -> String {
    format!(
        "the purpose `{purpose}` is locked: only its global profile counts, which the operator of the platform changes"
    )
}

pub(crate) fn not_approved(purpose: &PurposeKey) -> String {
    format!(
        "the global profile of `{purpose}` does not approve all of these models: name one that it approves, or have the \
         operator approve it"
    )
}

pub(crate) fn managed_credential(purpose: &PurposeKey) -> String {
    format!(
        "a profile of `{purpose}` may not name a credential of the platform: name one of your own, or none"
    )
}

pub(crate) fn raised(purpose: &PurposeKey, what: &str) -> String {
    format!(
        "the {what} of `{purpose}` may be lowered, and not raised: have the operator do it, or use a credential of your own \
         for all of its models"
    )
}

pub(crate) fn no_version(version: u64) -> ControlError {
    let why = format!("there is no version {version} of a profile: look at the list of versions");
    ControlError::new(ControlErrorKind::NotFound, why)
}

pub(crate) fn unreadable(version: u64, purpose: &str, why: &dyn fmt::Display) -> ControlError {
    let why = format!(
        "version {version} of the profiles, for `{purpose}`, cannot be read, perhaps because a later program stored it \
         ({why}): use that program, or a later one"
    );
    ControlError::new(ControlErrorKind::Invalid, why)
}

pub(crate) fn no_upgrade(of: &str) -> String {
    format!(
        "{of} upgrades to itself, or after no failure: name another purpose, and at least one failure"
    )
}
