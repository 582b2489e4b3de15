//! The terms of a stored run: it goes on under no looser ones.

use crate::{run::Budget, tool::Scope};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Terms as they are stored. Data is taken over; of code it is known that it was there.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Terms {
    pub(crate) scope: Scope,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) budget: Option<Budget>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) strict: bool,
    /// Names of the policies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) policies: Vec<String>,
    /// Tools could run only so often. How often is code: what is known later is that there has to be a limit.
    pub(crate) limited: bool,
    /// What tells the type of the answer apart from any other, where a model gives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<Arc<str>>,
    /// Outputs beyond so many bytes were cut on receipts.
    pub(crate) max_output_bytes: usize,
}
