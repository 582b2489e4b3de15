//! `agents show`: one run.

use super::{
    approvals::{pending, print_requests},
    runs::{RunObject, state},
    seconds,
};
use crate::{args::ShowArgs, failure::Failure, out::Out, session::Session, table::Table};
use agents_core::{
    Json,
    error::{Code, ErrorRecord},
    journal::{OpenCall, Recorded},
    run::{Timestamp, ToolEnvelope},
};
use agents_runtime::Request;
use agents_store::{Run, RunStatus};
use serde::Serialize;
use serde_json::Value;
use std::{collections::BTreeSet, sync::Arc};

/// Run as JSON, which programs read, with its calls and requests.
#[derive(Serialize)]
struct ShownRun<'a> {
    #[serde(flatten)]
    run: RunObject<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<Json>,
    calls: Vec<ShownCall<'a>>,
    requests: &'a [Request],
}

/// Call of a run as JSON. Contents are in it only if they were asked for.
#[derive(Serialize)]
struct ShownCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    call_id: Option<&'a str>,
    tool: &'a str,
    version: &'a str,
    /// Word for the result of the call: `ok`, `failed` or `open`.
    result: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<Code>,
    attempts: usize,
    /// Is `true` if a delegate carried the call out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    delegate: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    partial: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    effect_unknown: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    approved_by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a ErrorRecord>,
}

impl<'a> ShownCall<'a> {
    fn of(receipt: &'a ToolEnvelope, delegated: &BTreeSet<&str>, exact: bool) -> Self {
        let last = receipt.attempts.last();
        ShownCall {
            call_id: Some(&receipt.call_id),
            tool: &receipt.name,
            version: &receipt.version,
            result: if receipt.is_ok() { "ok" } else { "failed" },
            code: receipt.error.as_ref().map(|error| error.code),
            attempts: receipt.attempts.len(),
            delegate: delegated.contains(&*receipt.call_id),
            partial: receipt.is_partial(),
            effect_unknown: receipt.attempts.iter().any(|one| one.effect_unknown),
            approved_by: last.and_then(|last| last.approved_by.as_deref()),
            started_at: Some(receipt.t_start),
            duration_ms: Some(receipt.duration().as_millis()),
            input: exact.then_some(&receipt.input),
            output: receipt.output.as_ref().filter(|_| exact),
            error: receipt.error.as_deref().filter(|_| exact),
        }
    }

    fn open(call: &'a OpenCall) -> Self {
        ShownCall {
            call_id: None,
            tool: &call.tool,
            version: call.version.as_deref().unwrap_or_default(),
            result: "open",
            code: None,
            attempts: 0,
            delegate: false,
            partial: false,
            effect_unknown: false,
            approved_by: None,
            started_at: None,
            duration_ms: None,
            input: None,
            output: None,
            error: None,
        }
    }

    fn result_in_words(&self) -> String {
        let code = self.code.and_then(|code| match serde_json::to_value(code) {
            Ok(Value::String(code)) => Some(format!(" ({code})")),
            _ => None,
        });
        let partial = if self.partial { ", partial" } else { "" };
        let doubt = match self.effect_unknown {
            false => "",
            // The calls of the delegate have receipts of their own, which say what is in doubt.
            true if self.delegate => ", cut off",
            true => ", in doubt",
        };
        let code = code.unwrap_or_default();
        format!("{}{code}{partial}{doubt}", self.result)
    }
}

pub(crate) async fn show(
    session: &Session,
    asked: &ShowArgs,
    out: &mut Out,
) -> Result<(), Failure> {
    let run = session.run(&asked.run).await?;
    let requests = pending(session, Some(&run.id)).await?;
    // What needs no keys is shown in any case.
    let recorded = match session.with_keys() {
        Ok(client) => client.recorded(&run.id).await.map_err(Failure::from),
        Err(failure) => Err(failure),
    };
    let (recorded, failed) = match recorded {
        Ok(recorded) => (recorded, None),
        Err(failure) => (None, Some(failure)),
    };
    let (mut receipts, mut open): (Vec<Arc<ToolEnvelope>>, _) = (Vec::new(), Vec::new());
    if let Some(recorded) = &recorded {
        (receipts, open) = (recorded.receipts(), recorded.open_calls());
    }
    let delegated = recorded.as_ref().map(Recorded::delegated);
    let delegated = delegated.unwrap_or_default();
    let settled = receipts
        .iter()
        .map(|one| ShownCall::of(one, &delegated, asked.exact));
    let calls: Vec<_> = settled.chain(open.iter().map(ShownCall::open)).collect();
    let exact = recorded.as_ref().filter(|_| asked.exact);
    let input = exact.and_then(|recorded| recorded.input().ok());
    let answer = exact.and_then(answer);
    if out.is_json() {
        out.object(&ShownRun {
            run: (&run).into(),
            input,
            answer,
            calls,
            requests: &requests,
        })?;
    } else {
        print(&run, &calls, &requests, out)?;
        if asked.exact {
            print_exact(&calls, input, answer, out)?;
        }
    }
    failed.map_or(Ok(()), Err)
}

fn answer(recorded: &Recorded) -> Option<Json> {
    recorded.outcome::<Json>()?.result.ok()
}

fn print(
    run: &Run,
    calls: &[ShownCall<'_>],
    requests: &[Request],
    out: &mut Out,
) -> Result<(), Failure> {
    let mut field = |name: &str, value: &str| match value {
        "" => Ok(()),
        value => out.line(&format!("{name:<10} {value}")),
    };
    let by = |by: &Option<String>| by.iter().map(|by| format!(" by {by}")).collect::<String>();
    field("run", &run.id)?;
    field("agent", &run.agent)?;
    field("state", &state(run))?;
    field("tenant", &run.tenant)?;
    field("key", run.key.as_deref().unwrap_or_default())?;
    let started = seconds(run.created_at) + &by(&run.started_by);
    field("started", &started)?;
    field("changed", &seconds(run.updated_at))?;
    if let Some(cancelled) = &run.cancelled_by {
        field("cancelled", &format!("by {cancelled}"))?;
    }
    if run.status == RunStatus::Held {
        field("held", run.held.as_ref().map_or("", |held| &held.why))?;
        field("", &crate::wording::way_out_of_a_hold(&run.id))?;
    }
    let mut table = Table::new(&[
        "CALL",
        "VERSION",
        "RESULT",
        "ATTEMPTS",
        "TOOK",
        "APPROVED BY",
    ]);
    for call in calls {
        let took = call.duration_ms.map(|took| match took {
            ..1_000 => format!("{took} ms"),
            _ => format!("{} s", took / 1_000),
        });
        table.row([
            call.tool,
            call.version,
            &call.result_in_words(),
            &call.attempts.to_string(),
            &took.unwrap_or_default(),
            call.approved_by.unwrap_or_default(),
        ]);
    }
    if !calls.is_empty() {
        out.line("")?;
        table.print(out)?;
    }
    if !requests.is_empty() {
        out.line("")?;
        print_requests(requests, out)?;
    }
    Ok(())
}

fn print_exact(
    calls: &[ShownCall<'_>],
    input: Option<Json>,
    answer: Option<Json>,
    out: &mut Out,
) -> Result<(), Failure> {
    let mut part = |heading: &str, value: Option<&Json>| match value {
        None => Ok(()),
        Some(value) => {
            out.line("")?;
            out.line(heading)?;
            out.exact(value)
        }
    };
    part("input", input.as_ref())?;
    for call in calls {
        part(&format!("arguments of {}", call.tool), call.input)?;
        part(&format!("output of {}", call.tool), call.output)?;
        let error = call.error.and_then(|error| Json::of(error).ok());
        part(&format!("error of {}", call.tool), error.as_ref())?;
    }
    part("answer", answer.as_ref())
}
