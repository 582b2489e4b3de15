//! Texts of the transport: reasons why a request cannot be sent.

use std::fmt::Display;

// ---- addresses ----

pub(crate) const NO_SCHEME: &str = "it begins with neither `http://` nor `https://`";
pub(crate) const OTHER_SCHEME: &str = "its scheme is neither `http` nor `https`";
pub(crate) const LOGIN_UNESCAPED: &str =
    "in a user name or a password, `/` is written `%2F`, `?` is `%3F` and `#` is `%23`";
pub(crate) const NO_HOST: &str = "there is no host in it";
pub(crate) const NO_PORT: &str = "invalid port number";

pub(crate) fn too_long(most: usize) -> String {
    format!("an address has at most {most} bytes")
}

pub(crate) fn no_path(path: &str, error: &impl Display) -> String {
    format!("`/{path}` is no path of a server ({error})")
}

// ---- settings ----

pub(crate) fn no_header(name: &str) -> String {
    format!(
        "the header `{name}` cannot be sent; give it a valid name, and a value without control characters, in `.header(..)`"
    )
}

pub(crate) fn proxy_of_another_kind(proxy: &impl Display) -> String {
    format!(
        "the proxy {proxy} is none that this client speaks to: name one with `http://`, or except the server with NO_PROXY"
    )
}

#[cfg(feature = "tls")]
pub(crate) fn no_tls(error: &impl Display) -> String {
    format!("HTTPS cannot be set up here: {error}")
}

pub(crate) fn built_without_tls(address: &impl Display) -> String {
    format!("{address} asks for HTTPS, which this build does not speak: enable the feature `tls`")
}

/// `by` is what sets the field.
pub(crate) fn own_field(name: &str, by: &str) -> String {
    format!("the field `{name}` of a request is set by {by}: leave out `.body(\"{name}\", ..)`")
}
