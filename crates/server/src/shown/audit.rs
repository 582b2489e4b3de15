//! The audit trail: what a visitor looks for in it.

use crate::{failure::Failure, room::Visitor, wording};
use agents_store::{AuditFilter, AuditKind};
use serde::Deserialize;

/// Search of a visitor in the audit trail. An empty field finds all events.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Search {
    #[serde(default)]
    pub(crate) run: String,
    /// Word for the kind of event that is looked for.
    #[serde(default)]
    pub(crate) kind: String,
    /// Name of the principal who has caused the event.
    #[serde(default)]
    pub(crate) by: String,
    /// Name of the tool that the event is about.
    #[serde(default)]
    pub(crate) tool: String,
}

/// Returns the words for all kinds of events.
pub(crate) fn kinds() -> Vec<&'static str> {
    AuditKind::ALL.iter().map(|kind| kind.as_str()).collect()
}

impl Search {
    /// Returns the filter that finds the events of the visitor's tenant that the search is for.
    pub(crate) fn filter(&self, visitor: &Visitor) -> Result<AuditFilter, Failure> {
        let given = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        Ok(AuditFilter {
            tenant: visitor.tenant(),
            run: given(&self.run),
            kind: self.kind()?,
            actor: given(&self.by),
            tool_name: given(&self.tool),
            ..AuditFilter::default()
        })
    }

    fn kind(&self) -> Result<Option<AuditKind>, Failure> {
        let kinds = kinds();
        match (&*self.kind, AuditKind::read(&self.kind)) {
            ("", _) => Ok(None),
            (_, Some(kind)) => Ok(Some(kind)),
            (word, None) => Err(Failure::invalid(wording::unknown_word(
                "kind", word, &kinds,
            ))),
        }
    }
}
