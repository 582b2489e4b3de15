use super::{AgentOutputs, ToolEnvelope};
use crate::{Error, ErrorKind};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, sync::Arc};

/// Named, stable reference to the receipt of one call, for wiring an agent's outputs to something else.
///
/// The handle stays valid when its tool is taken away. `on_missing` then says what the handle yields.
///
/// ```
/// # use agents_core as agents;
/// use agents::run::{OnMissing, PinnedHandle};
///
/// let pin = PinnedHandle::latest("weather_report", "http_request");
/// assert_eq!(pin.on_missing, OnMissing::Null);
/// let same: PinnedHandle = serde_json::from_str(
///     r#"{"name": "weather_report", "selector": {"tool": "http_request"}}"#,
/// ).unwrap();
/// assert_eq!(pin, same);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinnedHandle {
    /// Name of the handle, under which [`AgentOutputs::pinned`](super::AgentOutputs::pinned) returns its result.
    pub name: String,
    /// Selector of the call to whose receipt the handle leads.
    pub selector: Selector,
    /// Rule for the result of the handle if no call is selected.
    #[serde(default)]
    pub on_missing: OnMissing,
}

/// Selector of one call of a tool.
///
/// ```
/// # use agents_core as agents;
/// use agents::run::{OnMissing, PinnedHandle, Selector, Strategy};
///
/// // The first search that found something, whatever was searched for after that.
/// let pin = PinnedHandle {
///     name: "sources".into(),
///     selector: Selector { tool: "search".into(), strategy: Strategy::FirstSuccess, call_id: None },
///     on_missing: OnMissing::Error,
/// };
/// # let _ = pin;
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selector {
    /// Own name of the tool, as receipts have it, among whose calls one is selected.
    pub tool: String,
    /// Rule by which one of the tool's calls is selected.
    #[serde(default)]
    pub strategy: Strategy,
    /// Id of the receipt to select with [`Strategy::ByCallId`]; `None` for the other strategies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
}

/// Rule by which a [`Selector`] selects one of a tool's calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// Selects the last call in the order of [`tool_order`](AgentOutputs::tool_order), successful or not.
    #[default]
    Latest,
    /// Selects the first call in the order of [`tool_order`](AgentOutputs::tool_order) that succeeded.
    FirstSuccess,
    /// Selects the call whose receipt has the given id.
    ByCallId,
}

/// Result of a [`PinnedHandle`] if there is no matching call.
///
/// ```
/// # use agents_core as agents;
/// use agents::run::{AgentOutputs, OnMissing, PinnedHandle};
///
/// let outputs = AgentOutputs::default(); // of a run without calls
/// let mut pin = PinnedHandle::latest("report", "http_request");
/// assert_eq!(pin.resolve(&outputs, None).unwrap(), None);
/// pin.on_missing = OnMissing::Error;
/// assert!(pin.resolve(&outputs, None).is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnMissing {
    /// The value of the handle is `None` if no call is found.
    #[default]
    Null,
    /// Resolving the handle fails with an error if no call is found.
    Error,
    /// The result is the tool's last success in the previous run, or `None` if there was none.
    StaleLastSuccess,
}

impl PinnedHandle {
    /// Creates a handle to the last call of this tool, which yields `None` if the tool was not called.
    pub fn latest(name: impl Into<String>, tool: impl Into<String>) -> Self {
        PinnedHandle {
            name: name.into(),
            selector: Selector {
                tool: tool.into(),
                strategy: Strategy::Latest,
                call_id: None,
            },
            on_missing: OnMissing::Null,
        }
    }

    /// Finds the receipt of the selected call in the outputs of a run; `previous` holds the outputs of the run before.
    /// If no call is selected, `on_missing` decides about the result.
    ///
    /// # Errors
    /// When there was no such call, and `on_missing` is [`OnMissing::Error`].
    pub fn resolve(
        &self,
        outputs: &AgentOutputs,
        previous: Option<&AgentOutputs>,
    ) -> Result<Option<Arc<ToolEnvelope>>, Error> {
        let selected = self.selector.select(outputs);
        match (selected, self.on_missing) {
            (Some(receipt), _) => Ok(Some(receipt.clone())),
            (None, OnMissing::Null) => Ok(None),
            (None, OnMissing::StaleLastSuccess) => {
                let before = previous.and_then(|outputs| {
                    let mut calls = calls_of(outputs, &self.selector.tool);
                    calls.rfind(|receipt| receipt.is_ok())
                });
                Ok(before.cloned())
            }
            (None, OnMissing::Error) => {
                let PinnedHandle { name, selector, .. } = self;
                let which = match (selector.strategy, &selector.call_id) {
                    (Strategy::Latest, _) => "was not called".to_owned(),
                    (Strategy::FirstSuccess, _) => "did not succeed".to_owned(),
                    (Strategy::ByCallId, Some(id)) => format!("has no call `{id}`"),
                    (Strategy::ByCallId, None) => {
                        "is asked for by `call_id`, and none is given".to_owned()
                    }
                };
                let message = format!("handle `{name}`: `{}` {which}", selector.tool);
                Err(Error::new(ErrorKind::Failed, message))
            }
        }
    }
}

impl Selector {
    fn select<'o>(&self, outputs: &'o AgentOutputs) -> Option<&'o Arc<ToolEnvelope>> {
        let mut calls = calls_of(outputs, &self.tool);
        match self.strategy {
            Strategy::Latest => calls.next_back(),
            Strategy::FirstSuccess => calls.find(|receipt| receipt.is_ok()),
            Strategy::ByCallId => {
                let id = self.call_id.as_deref()?;
                calls.find(|receipt| &*receipt.call_id == id)
            }
        }
    }
}

/// Returns the receipts of this tool's calls, in the order of [`tool_order`](AgentOutputs::tool_order). Calls made
/// while the agent did not have the tool are left out.
fn calls_of<'o>(
    outputs: &'o AgentOutputs,
    tool: &str,
) -> impl DoubleEndedIterator<Item = &'o Arc<ToolEnvelope>> {
    outputs
        .tool_order
        .iter()
        .filter_map(|id| outputs.tools_by_id.get(id))
        .filter(move |receipt| receipt.name == tool && !receipt.version.is_empty())
}

impl AgentOutputs {
    /// Resolves several pinned handles, by their names; see [`PinnedHandle::resolve`].
    ///
    /// # Errors
    /// With the first handle that finds no call, although its `on_missing` is [`OnMissing::Error`].
    pub fn pinned(
        &self,
        pins: &[PinnedHandle],
        previous: Option<&AgentOutputs>,
    ) -> Result<BTreeMap<String, Option<Arc<ToolEnvelope>>>, Error> {
        let mut found = BTreeMap::new();
        for pin in pins {
            found.insert(pin.name.clone(), pin.resolve(self, previous)?);
        }
        Ok(found)
    }
}
