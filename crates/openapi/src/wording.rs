//! Texts of this crate: errors of documents, and errors of calls.

use std::fmt::Display;

// ---- documents ----

pub(super) const NO_VERSION: &str = "`openapi` is missing: this is not an OpenAPI document";
pub(super) const NO_PATHS: &str = "`paths` is missing, so there are no operations";

pub(super) fn not_json(error: &impl Display) -> String {
    format!("the document is not JSON: {error}")
}

#[cfg(not(feature = "yaml"))]
pub(super) const YAML_IS_OFF: &str = "; YAML needs the feature `yaml`";

#[cfg(feature = "yaml")]
pub(super) fn not_yaml(error: &impl Display) -> String {
    format!("the document is neither JSON nor YAML: {error}")
}

pub(super) fn other_version(version: &str) -> String {
    format!("`openapi` is `{version}`; documents of the versions 3.0 and 3.1 are read")
}

pub(super) fn not_an_object(place: &str) -> String {
    format!("`{place}` is not an object")
}

pub(super) fn ref_outside(reference: &str) -> String {
    format!("`$ref` leads to `{reference}`, which is in another document; only `#/..` is followed")
}

pub(super) fn ref_nowhere(reference: &str) -> String {
    format!("`$ref` leads to `{reference}`, which is not there")
}

pub(super) fn ref_circle(reference: &str) -> String {
    format!("`$ref` leads to `{reference}` in a circle")
}

// ---- operations ----

/// Reason why an operation cannot be a tool; `what` says what is wrong at the place.
pub(super) fn unfit(operation: &str, place: &str, what: &str) -> String {
    format!("operation `{operation}`, `{place}`: {what}")
}

pub(super) fn unfit_all(unfit: &[String]) -> String {
    let lines = unfit.join("\n- ");
    format!(
        "these operations cannot be tools; mend the document, or leave them out with `.without(..)` or `.skip_unfit()`:\n- {lines}"
    )
}

pub(super) fn same_name(name: &str, other: &str) -> String {
    format!("the name `{name}` is taken by {other}")
}

pub(super) fn nothing_matches(pattern: &str) -> String {
    format!("`.only(\"{pattern}\")` matches no operation of the document")
}

pub(super) const NO_NAME: &str = "it has no name";
pub(super) const UNKNOWN_PLACE: &str = "it is not `path`, `query`, `header` or `cookie`";
pub(super) const COOKIE_NEEDED: &str = "a required cookie cannot be sent";
pub(super) const NO_SCHEMA: &str = "it has neither `schema` nor `content`";
pub(super) const PATH_NOT_DECLARED: &str =
    "the path names it, and there is no parameter of that name in the path";
pub(super) const PATH_NOT_NAMED: &str =
    "it is in the path by its `in`, and the path does not name it";

pub(super) fn media_types(types: &[&String]) -> String {
    let types: Vec<_> = types.iter().map(|kind| format!("`{kind}`")).collect();
    format!(
        "it is {}; JSON, forms (`application/x-www-form-urlencoded`) and `text/plain` can be sent",
        types.join(" or ")
    )
}

pub(super) fn too_large(bytes: usize, most: usize) -> String {
    format!(
        "the schemas of its arguments have {bytes} bytes, and at most {most} are shown to a model"
    )
}

pub(super) fn no_server() -> &'static str {
    "the document names no server by an absolute URL; name it with `.server(\"https://..\")`"
}

pub(super) fn not_a_server(url: &str) -> String {
    format!(
        "`{url}` is not the URL of a server: it begins with `https://` or `http://` and has a host, without a query"
    )
}

pub(super) fn plain_http(url: &str) -> String {
    format!(
        "`{url}` would be asked over plain HTTP; use `https://`, or `.private_server(..)` if it is in your own network"
    )
}

pub(super) fn needs_secret(schemes: &[String]) -> String {
    let named: Vec<_> = schemes.iter().map(|scheme| format!("`{scheme}`")).collect();
    format!(
        "it needs {}; name the secret with `.secret(\"{}\", \"name of the secret\")`",
        named.join(" or "),
        schemes.first().map_or("scheme", String::as_str),
    )
}

pub(super) fn unknown_scheme(scheme: &str) -> String {
    format!("`components.securitySchemes` has no `{scheme}`")
}

pub(super) fn key_in(place: &str) -> String {
    format!("an API key in the {place}")
}

pub(super) fn scheme_kind(kind: &str, scheme: &str) -> String {
    format!("`{kind} {scheme}`")
}

pub(super) fn scheme_unfit(scheme: &str, what: &str) -> String {
    format!(
        "the security scheme `{scheme}` is {what}, which cannot be sent; an API key in a header or the query, `http` with `bearer` or `basic`, OAuth and OpenID Connect can"
    )
}

// ---- calls ----

pub(super) fn unsafe_path(name: &str) -> String {
    format!("`{name}` is a part of the path, and may neither be empty nor `.` or `..`")
}

pub(super) fn not_a_header(name: &str) -> String {
    format!("`{name}` cannot be sent in a header: it has control characters")
}

pub(super) fn answered(status: u16, said: &str) -> String {
    match said.trim() {
        "" => format!("the server answered {status}"),
        said => format!("the server answered {status}: {said}"),
    }
}
