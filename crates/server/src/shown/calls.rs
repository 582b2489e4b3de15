//! Calls of a run: the one that a pinned handle refers to, and one as a program.

use crate::{
    failure::Failure,
    room::{Room, Visitor},
    wording,
};
use agents_core::{
    Json,
    journal::Recorded,
    run::{AgentOutputs, OnMissing, PinnedHandle, Selector, Strategy, ToolEnvelope},
    tool::Scope,
};
use agents_store::{Run, RunFilter};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{fmt::Write, sync::Arc};

/// Query that describes a pinned handle. A pinned handle is a name for the result of a tool's call in a run.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Pin {
    #[serde(default)]
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) tool: String,
    #[serde(default)]
    pub(crate) strategy: Strategy,
    #[serde(default)]
    pub(crate) call_id: String,
    #[serde(default)]
    pub(crate) on_missing: OnMissing,
}

/// Pinned handle, with the receipt of the call that the handle selects in a run.
#[derive(Serialize)]
pub(crate) struct Pinned {
    pub(crate) handle: PinnedHandle,
    /// Receipt of the selected call. If the run has no such call and the handle takes a stale value, the receipt of the
    /// tool's last success in the run before. `None` if there is no such receipt.
    pub(crate) receipt: Option<Arc<ToolEnvelope>>,
    /// Reason why there is no value, if the handle demands one; `None` otherwise.
    pub(crate) error: Option<String>,
}

impl Pin {
    /// Returns the handle. A handle without a name gets the name of its tool, followed by `_result`.
    pub(crate) fn handle(&self) -> Result<PinnedHandle, Failure> {
        if self.tool.is_empty() {
            return Err(Failure::invalid(wording::PIN_WITHOUT_TOOL));
        }
        let call_id = Some(self.call_id.trim()).filter(|id| !id.is_empty());
        if self.strategy == Strategy::ByCallId && call_id.is_none() {
            return Err(Failure::invalid(wording::PIN_WITHOUT_CALL));
        }
        Ok(PinnedHandle {
            name: match self.name.trim() {
                "" => format!("{}_result", self.tool),
                name => name.to_owned(),
            },
            selector: Selector {
                tool: self.tool.clone(),
                strategy: self.strategy,
                call_id: call_id.map(str::to_owned),
            },
            on_missing: self.on_missing,
        })
    }
}

/// Returns the handle that a query describes, with the receipt of the call that the handle selects in a run.
pub(crate) async fn pinned(
    room: &Room,
    visitor: &Visitor,
    run: &str,
    pin: &Pin,
) -> Result<Pinned, Failure> {
    let handle = pin.handle()?;
    let (run, recorded) = recorded(room, visitor, run).await?;
    let outputs = outputs(recorded.as_ref());
    let previous = match handle.on_missing {
        OnMissing::StaleLastSuccess => before(room, visitor, run).await?,
        OnMissing::Null | OnMissing::Error => None,
    };
    let (receipt, error) = match handle.resolve(&outputs, previous.as_ref()) {
        Ok(receipt) => (receipt, None),
        Err(error) => (None, Some(error.to_string())),
    };
    Ok(Pinned {
        handle,
        receipt,
        error,
    })
}

/// Returns the outputs of the run that came before this one, of the same agent and tenant; `None` if no run came
/// before.
async fn before(room: &Room, visitor: &Visitor, run: Run) -> Result<Option<AgentOutputs>, Failure> {
    let filter = RunFilter {
        tenant: Some(run.tenant),
        agent: Some(run.agent),
        before: Some(run.id),
        limit: 1,
        ..RunFilter::default()
    };
    let Some(before) = room.client.runs(&filter).await?.pop() else {
        return Ok(None);
    };
    let (_, recorded) = recorded(room, visitor, &before.id).await?;
    Ok(Some(outputs(recorded.as_ref())))
}

/// Returns the outputs that a run has so far, read from its journal.
fn outputs(recorded: Option<&Recorded>) -> AgentOutputs {
    let mut outputs = AgentOutputs::default();
    for receipt in recorded.map(Recorded::receipts).unwrap_or_default() {
        outputs.tool_order.push(receipt.call_id.clone());
        outputs.tools_by_id.insert(receipt.call_id.clone(), receipt);
    }
    outputs
}

/// Reads a run with its journal, if the visitor may see its contents.
async fn recorded(
    room: &Room,
    visitor: &Visitor,
    run: &str,
) -> Result<(Run, Option<Recorded>), Failure> {
    let run = room.client.stored(run, &visitor.principal).await?;
    let may_see = room.client.may_see_contents_of(&run, &visitor.principal);
    if !may_see.await? {
        return Err(Failure::contents_are_for_others());
    }
    let recorded = room.client.recorded(&run.id).await?;
    Ok((run, recorded))
}

/// Returns a run with the receipt of one of its calls, if the visitor may see its contents.
pub(crate) async fn receipt(
    room: &Room,
    visitor: &Visitor,
    run: &str,
    call: &str,
) -> Result<(Run, Arc<ToolEnvelope>), Failure> {
    let (run, recorded) = recorded(room, visitor, run).await?;
    let mut receipts = recorded.iter().flat_map(Recorded::receipts);
    let receipt = receipts.find(|receipt| *receipt.call_id == *call);
    let receipt = receipt.filter(|receipt| !receipt.version.is_empty());
    Ok((run, receipt.ok_or_else(Failure::not_found)?))
}

/// Call of a run, as its page shows it.
#[derive(Serialize)]
pub(crate) struct Call {
    pub(crate) receipt: Arc<ToolEnvelope>,
    /// Rust program that makes the call again: with the arguments of the call, the version of the tool and the scope of
    /// the run. `None` if the arguments of the call are no JSON object.
    pub(crate) rust: Option<String>,
    /// Is `true` if the run can be tried with another result of the call.
    pub(crate) may_be_varied: bool,
}

/// Returns a call of a run, by the id of its receipt.
pub(crate) async fn call(
    room: &Room,
    visitor: &Visitor,
    run: &str,
    call: &str,
) -> Result<Call, Failure> {
    let (stored, receipt) = receipt(room, visitor, run, call).await?;
    // Arguments that are no object were never read: there is no call to make again.
    let args: Value = receipt.input.to().unwrap_or_default();
    let rust = match args.is_object() {
        true => {
            let scope = room.client.scope(run, &visitor.principal).await?;
            Some(written(&stored.agent, &receipt, &scope, &stored.id))
        }
        false => None,
    };
    let may_be_varied = room.client.may_be_varied(run, &visitor.principal).await?;
    Ok(Call {
        receipt,
        rust,
        may_be_varied,
    })
}

/// Returns the Rust program that makes a call of this run again.
fn written(agent: &str, receipt: &ToolEnvelope, scope: &Scope, run: &str) -> String {
    let mut of_scope = format!("Scope::from({:?})", scope.org_id);
    for (method, id) in [("domain", &scope.domain_id), ("user", &scope.user_id)] {
        if let Some(id) = id {
            let _ = write!(of_scope, ".{method}({id:?})");
        }
    }
    let (tool, version) = (&receipt.name, &receipt.version);
    let args = raw(&receipt.input);
    format!(
        "\
//! Calls {tool:?} {version:?} once, as the run {run} has done.
//!
//! Add `agents`, `typed-agents-runtime`, and `tokio` with `macros` and `rt-multi-thread`. Then: `cargo run -- agents.db`.

use agents::{{Json, tool::Scope}};
use agents_runtime::{{Principal, Progress, Runtime, SqliteStore}};
use std::time::Duration;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {{
    let file = std::env::args().nth(1);
    let file = file.ok_or(\"name the file of the store\")?;
    let client = Runtime::client(SqliteStore::open(&file).await?);
    let args = Json::parse({args})?;
    let call = client.call({agent:?}, {tool:?}, {version:?}, args);
    let call = call.scope({of_scope});
    let run = call.by(&Principal::operator()).await?;
    // A worker that has the agent makes the call; one that writes asks for approval first.
    match run.wait(Duration::from_secs(600)).await? {{
        Progress::Done(outcome) => println!(\"{{}}\", outcome.result?),
        other => println!(\"{{other:?}}\"),
    }}
    Ok(())
}}
"
    )
}

/// Returns a JSON text as a string literal of Rust.
fn raw(json: &Json) -> String {
    let text = json.as_str();
    // A raw literal takes neither a lone carriage return nor what a page shows by its number.
    if text
        .chars()
        .any(|c| c == '\r' || crate::inert::is_unseen(c))
    {
        return format!("{text:?}");
    }
    let mut signs = "#".to_owned();
    while text.contains(&format!("\"{signs}")) {
        signs.push('#');
    }
    format!("r{signs}\"{text}\"{signs}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_json_text_is_a_literal_whatever_it_holds() {
        let json = |text: &str| Json::parse(text).unwrap();
        assert_eq!(raw(&json(r#"{"a":1}"#)), r###"r#"{"a":1}"#"###);
        assert_eq!(raw(&json(r##"{"a":"#"}"##)), r####"r##"{"a":"#"}"##"####);
        let hidden = Json::of(&"a\u{202e}b").unwrap();
        assert_eq!(raw(&hidden), r#""\"a\u{202e}b\"""#);
    }
}
