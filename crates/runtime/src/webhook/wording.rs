//! Errors of webhooks, in words.

use crate::error::{RuntimeError, RuntimeErrorKind};
use std::fmt::Display;

// ---- addresses ----

pub(super) fn address_unreadable() -> RuntimeError {
    invalid("the address of the webhook cannot be read; expected `http://HOST/PATH`")
}

pub(super) fn needs_tls() -> RuntimeError {
    invalid("the webhook has an address of HTTPS; build with the feature `webhooks-tls`")
}

pub(super) fn not_http() -> RuntimeError {
    invalid("the address of the webhook is none of HTTP")
}

pub(super) fn address_with_user() -> RuntimeError {
    invalid(
        "the address of the webhook has a user name or a password; messages are signed with the secret instead",
    )
}

pub(super) fn no_client(error: &impl Display) -> RuntimeError {
    invalid(&format!("HTTP cannot be spoken: {error}"))
}

// ---- secrets and signatures ----

pub(super) fn no_secret() -> RuntimeError {
    invalid("this is no secret of a webhook; expected `whsec_` and 24 to 64 bytes in base64")
}

pub(super) fn wrong_timestamp() -> RuntimeError {
    sealed("the timestamp of the message is no number of seconds")
}

pub(super) fn wrong_signature() -> RuntimeError {
    sealed("the signature of the message is not one of this secret")
}

pub(super) fn too_old() -> RuntimeError {
    sealed("the message is too old, or one of the clocks is wrong")
}

// ---- deliveries ----

pub(super) const NO_ANSWER: &str = "the other system has not answered";
pub(super) const GONE: &str = "the answer was 410 Gone";

pub(super) fn answered(status: &impl Display) -> String {
    format!("the answer was {status}")
}

fn invalid(why: &str) -> RuntimeError {
    RuntimeError::new(RuntimeErrorKind::Invalid, why)
}

fn sealed(why: &str) -> RuntimeError {
    RuntimeError::new(RuntimeErrorKind::Sealed, why)
}
