//! Texts about credentials: those of a request, then those of a token that is refreshed.

use crate::Address;
use std::fmt::Display;

// ---- credentials of a request ----

pub(super) const NO_HEADER: &str =
    "the credential has characters that no header can have: store it again";

pub(super) fn not_looked_up(failed: &impl Display) -> String {
    format!("the credential could not be looked up: {failed}")
}

pub(super) fn store_fails(error: &impl Display) -> String {
    format!("the store of credentials cannot be asked: {error}")
}

/// Text for a store that has no tokens for the organisation; `org` is empty for a run without an organisation.
pub(super) fn no_credential(org: &str) -> String {
    match org {
        "" => {
            "there is no credential for a run without an organisation: set `.scope(..)`".to_owned()
        }
        org => format!("the organisation `{org}` has no credential for this model: sign in first"),
    }
}

// ---- tokens that are refreshed ----

pub(super) const NO_REFRESH_TOKEN: &str =
    "the access token has expired, and there is no refresh token: sign in again";

pub(super) fn no_token_url(why: &impl Display) -> String {
    format!("the token URL is no address: {why}")
}

pub(super) fn plain_token_url(address: &Address) -> String {
    format!(
        "the token URL {address} is plain HTTP, which would show the refresh token on the way: use HTTPS"
    )
}

pub(super) fn not_refreshed(error: &impl Display) -> String {
    format!("the access token could not be refreshed: {error}")
}
