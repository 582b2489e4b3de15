//! Terms of a stored run, which may be tightened and not loosened when the run goes on.

use crate::{run::Budget, tool::Scope};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Terms of a run as its journal stores them: the settings to which the run is held when it goes on. Settings that are
/// data are stored as a whole; of a setting that is code, only its presence is stored.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Terms {
    pub(crate) scope: Scope,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) budget: Option<Budget>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) strict: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) confirms_repeats: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) refuses_denied: bool,
    /// Names of the policies that the run was started with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) policies: Vec<String>,
    /// Is `true` if a rate limiter was set. Its limits are code and are not recorded. A run that goes on later is only
    /// checked to have a limiter again.
    pub(crate) limited: bool,
    /// Digest of the answer's type, which tells it apart from any other type; `None` if no model gives the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<Arc<str>>,
    /// Maximum size of an output on a receipt, in bytes; longer outputs were cut.
    pub(crate) max_output_bytes: usize,
}
