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

#[cfg(feature = "proxy")]
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

/// Text for a field that a program may not set; `by` is what sets it.
pub(crate) fn own_field(path: &str, by: &str) -> String {
    let remedy = match path.split_once('.') {
        Some((name, _)) => format!("leave it out of `.body(\"{name}\", ..)`"),
        None => format!("leave out `.body(\"{path}\", ..)`"),
    };
    format!("the field `{path}` of a request is set by {by}: {remedy}")
}

/// Text for a field that has to be an object, because a client writes into it too; `by` is what sets its field
/// `within`.
pub(crate) fn no_object(path: &str, within: &str, by: &str) -> String {
    let name = path.split('.').next().unwrap_or(path);
    format!(
        "the field `{path}` of a request is an object, whose field `{within}` is set by {by}: give an object with its \
         other fields in `.body(\"{name}\", ..)`"
    )
}

pub(crate) const NO_LIST_OF_TOOLS: &str = "the field `tools` of a request takes the tools that the server runs itself: \
     give a list of them, `.body(\"tools\", json!([..]))`";
