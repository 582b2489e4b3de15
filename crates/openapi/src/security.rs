//! Security schemes: how a secret is sent.

use crate::{document::Document, wording};
use serde_json::Value;

/// Security scheme of the document: the form in which a request sends a secret.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scheme {
    Header(String),
    Query(String),
    Bearer,
    Basic,
}

/// Returns the alternative sets of security schemes of an operation, by name: one of the sets is enough. Without any
/// set, everybody may call the operation.
pub(crate) fn alternatives(document: &Document, operation: &Value) -> Vec<Vec<String>> {
    let own = operation.get("security");
    let security = own.unwrap_or(document.get("security"));
    let alternatives = security.as_array().into_iter().flatten();
    let names = alternatives.map(|one| {
        one.as_object()
            .into_iter()
            .flatten()
            .map(|(name, _)| name.clone())
    });
    names.map(Iterator::collect).collect()
}

impl Scheme {
    /// Reads the security scheme of this name from the document.
    pub(crate) fn read(document: &Document, name: &str) -> Result<Self, String> {
        let schemes = document.get("components").get("securitySchemes");
        let scheme = schemes.and_then(|schemes| schemes.get(name));
        let scheme = scheme.ok_or_else(|| wording::unknown_scheme(name))?;
        let scheme = document.resolve(scheme)?;
        let text = |key: &str| scheme[key].as_str().unwrap_or_default();
        match (
            text("type"),
            text("in"),
            text("scheme").to_ascii_lowercase().as_str(),
        ) {
            ("apiKey", "header", _) if is_header(text("name")) => {
                Ok(Scheme::Header(text("name").to_owned()))
            }
            ("apiKey", "query", _) => Ok(Scheme::Query(text("name").to_owned())),
            ("http", _, "bearer") | ("oauth2" | "openIdConnect", ..) => Ok(Scheme::Bearer),
            ("http", _, "basic") => Ok(Scheme::Basic),
            ("apiKey", place, _) => Err(wording::scheme_unfit(name, &wording::key_in(place))),
            (kind, _, scheme) => Err(wording::scheme_unfit(
                name,
                &wording::scheme_kind(kind, scheme),
            )),
        }
    }
}

fn is_header(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !name.is_empty() && name.chars().all(fits)
}
