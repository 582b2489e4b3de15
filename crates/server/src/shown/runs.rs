//! Runs: in a list, and one with all that is known of it.

use super::escalations::{Climb, climbs};
use crate::{
    failure::Failure,
    room::{Room, Visitor},
    wording,
};
use agents_control::{UsageBy, UsageFilter};
use agents_core::{
    Error,
    agent::TextDelta,
    journal::Recorded,
    model::Usage,
    run::{Cost, Event, Timestamp},
};
use agents_runtime::{AuditKind, AuditRecord, Doubt, ExecutionRecord};
use agents_store::{
    ApprovalFilter, ApprovalStatus, AuditFilter, ExecutionFilter, HeldReason, Run, RunStatus,
};
use futures_util::TryStreamExt;
use serde::Serialize;
use serde_json::Value;
use std::{collections::BTreeMap, time::Duration};

/// Time within which a worker should have taken a run that is ready. After it, the page says that no worker takes it.
const PATIENCE: Duration = Duration::from_secs(15);
/// Number of the newest events in a run's audit trail in which the outcome of undos is looked for.
const NEWS: u32 = 1000;

/// Stored run, as a list shows it.
#[derive(Serialize)]
pub(crate) struct Summary {
    pub(crate) id: String,
    pub(crate) tenant_id: String,
    pub(crate) key: Option<String>,
    pub(crate) agent: String,
    pub(crate) conversation: Option<String>,
    pub(crate) started_by: Option<String>,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) status: &'static str,
    pub(crate) end: Option<&'static str>,
    pub(crate) held: Option<HeldReason>,
    pub(crate) wake_at: Option<Timestamp>,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
}

impl From<Run> for Summary {
    fn from(run: Run) -> Self {
        Summary {
            id: run.id,
            tenant_id: run.tenant,
            key: run.key,
            agent: run.agent,
            conversation: run.conversation,
            started_by: run.started_by,
            labels: run.labels,
            status: run.status.as_str(),
            end: run.end.map(agents_store::End::as_str),
            held: run.held,
            wake_at: run.wake_at,
            created_at: run.created_at,
            updated_at: run.updated_at,
        }
    }
}

/// Run with all that its page shows.
#[derive(Serialize)]
pub(crate) struct Whole {
    #[serde(flatten)]
    pub(crate) run: Summary,
    /// Reason why the run does not go on; missing if it goes on or is over.
    pub(crate) standstill: Option<Standstill>,
    /// Tokens and requests of the run so far; missing if the run has not begun, or its journal cannot be read.
    pub(crate) usage: Option<Usage>,
    /// Cost of the run so far, in billionths of a dollar; missing if it is not known.
    pub(crate) cost_nanos: Option<u64>,
    pub(crate) executions: Vec<Executed>,
    /// Contents of the run; missing if the visitor may not see them, and empty if they cannot be read.
    #[serde(flatten)]
    pub(crate) contents: Option<Contents>,
    /// Reason why the journal of the run cannot be read; missing if it can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unreadable: Option<String>,
}

/// Reason why a run does not go on, with what a person can do about it.
#[derive(Serialize)]
pub(crate) struct Standstill {
    pub(crate) why: String,
    pub(crate) to_do: String,
    /// Number of requests for approval that the run waits for.
    pub(crate) requests: usize,
}

/// Execution of a run, with the last event about its undo.
#[derive(Serialize)]
pub(crate) struct Executed {
    #[serde(flatten)]
    pub(crate) execution: ExecutionRecord,
    pub(crate) may_be_undone: bool,
    pub(crate) undo: Option<UndoNews>,
}

/// Last event of the audit trail about the undo of an execution.
#[derive(Serialize)]
pub(crate) struct UndoNews {
    pub(crate) kind: AuditKind,
    pub(crate) by: Option<String>,
    pub(crate) at: Timestamp,
    pub(crate) reason: Option<String>,
}

/// Contents of a run, for visitors who may see them.
#[derive(Serialize)]
pub(crate) struct Contents {
    pub(crate) events: Vec<Event>,
    pub(crate) answer: Option<Value>,
    /// Is `true` if the answer of the run is incomplete.
    pub(crate) partial: bool,
    /// Error that ended the run.
    pub(crate) error: Option<String>,
    pub(crate) escalations: Vec<Climb>,
}

/// Reads a run with all that its page shows.
pub(crate) async fn whole(room: &Room, visitor: &Visitor, id: &str) -> Result<Whole, Failure> {
    let client = &room.client;
    let run = client.stored(id, &visitor.principal).await?;
    let (executions, recorded) = client.inspect(id, &visitor.principal).await?;
    let executions = with_news(room, id, executions).await?;
    let standstill = standstill(room, visitor, &run).await?;
    let may_see = client.may_see_contents_of(&run, &visitor.principal).await?;
    let (recorded, unreadable) = match recorded {
        Ok(recorded) => (recorded, None),
        Err(error) => (None, Some(error.to_string())),
    };
    let priced = priced(room, id).await?;
    let cost = recorded.as_ref().and_then(Recorded::cost);
    let contents = may_see.then(|| {
        let recorded = recorded.as_ref();
        let events = recorded.map_or_else(Vec::new, Recorded::events);
        let outcome = recorded.and_then(Recorded::outcome::<Value>);
        let partial = outcome.as_ref().is_some_and(|outcome| outcome.partial);
        let result =
            outcome.map(|outcome| outcome.result.map_err(|error: Error| error.to_string()));
        let (answer, error) = match result {
            Some(Ok(answer)) => (Some(answer), None),
            Some(Err(error)) => (None, Some(error)),
            None => (None, None),
        };
        Contents {
            escalations: climbs(&events),
            events,
            answer,
            partial,
            error,
        }
    });
    Ok(Whole {
        run: run.into(),
        standstill,
        usage: recorded.as_ref().map(Recorded::usage),
        cost_nanos: priced.or(cost.map(Cost::nanos)),
        executions,
        contents,
        unreadable,
    })
}

/// Execution in doubt, for the page of its run.
pub(crate) struct Doubtful {
    pub(crate) doubt: Doubt,
    /// Reason why the visitor may not settle the doubt; missing if the visitor may.
    pub(crate) refusal: Option<String>,
}

/// Returns the executions of a run that are in doubt.
pub(crate) async fn doubts(
    room: &Room,
    visitor: &Visitor,
    id: &str,
) -> Result<Vec<Doubtful>, Failure> {
    let in_doubt = ExecutionFilter {
        run: Some(id.to_owned()),
        limit: u32::MAX,
        ..ExecutionFilter::default()
    };
    let (doubts, by) = (room.client.doubts(), &visitor.principal);
    let mut found = Vec::new();
    for doubt in doubts.list(&in_doubt, by).await? {
        // Whoever has no keys of the run settles nothing.
        let refusal = match doubts.refusal(&doubt.execution_id, by).await {
            Ok(refusal) => refusal,
            Err(error) => Some(error),
        };
        let refusal = refusal.map(|error| error.to_string());
        found.push(Doubtful { doubt, refusal });
    }
    Ok(found)
}

/// Returns what the control plane has paid for a run; `None` if it knows of no request, or not of all prices, or if
/// there is no control plane.
async fn priced(room: &Room, run: &str) -> Result<Option<u64>, Failure> {
    let Some(control) = &room.control else {
        return Ok(None);
    };
    let filter = UsageFilter {
        run_id: Some(run.to_owned()),
        ..UsageFilter::default()
    };
    let sums = control.usage_sums(&filter, UsageBy::Run).await?;
    let sum = sums.first().filter(|sum| sum.unpriced == 0);
    Ok(sum.map(|sum| sum.cost_nanos))
}

/// Returns the executions of a run, each with the last event about its undo.
pub(crate) async fn executions(
    room: &Room,
    visitor: &Visitor,
    run: &str,
) -> Result<Vec<Executed>, Failure> {
    let found = room.client.executions(run, &visitor.principal).await?;
    with_news(room, run, found).await
}

/// Adds the last events about their undos to the executions of a run.
async fn with_news(
    room: &Room,
    run: &str,
    found: Vec<ExecutionRecord>,
) -> Result<Vec<Executed>, Failure> {
    let filter = AuditFilter {
        run: Some(run.to_owned()),
        before: Some(u64::MAX),
        limit: NEWS,
        ..AuditFilter::default()
    };
    let trail = match found.is_empty() {
        true => Vec::new(),
        false => room.client.audit().events(&filter).await?,
    };
    let is_about_undo = |event: &&AuditRecord| {
        matches!(
            event.kind,
            AuditKind::UndoAsked | AuditKind::Undone | AuditKind::NotUndone
        )
    };
    let executed = |execution: ExecutionRecord| {
        let id = Some(&execution.execution_id);
        let mut news = trail.iter().filter(is_about_undo);
        let news = news.find(|event| event.subject.as_ref() == id);
        Executed {
            may_be_undone: execution.may_be_undone(),
            undo: news.map(|event| UndoNews {
                kind: event.kind,
                by: event.actor.clone(),
                at: event.at,
                reason: event.reason.clone(),
            }),
            execution,
        }
    };
    Ok(found.into_iter().map(executed).collect())
}

/// Returns one execution of a run; a failure if the run has none with this id.
pub(crate) async fn execution(
    room: &Room,
    visitor: &Visitor,
    run: &str,
    id: &str,
) -> Result<Executed, Failure> {
    let all = executions(room, visitor, run).await?;
    let found = all.into_iter().find(|one| one.execution.execution_id == id);
    found.ok_or_else(Failure::not_found)
}

/// Returns why a run does not go on; `None` if it goes on or is over.
async fn standstill(
    room: &Room,
    visitor: &Visitor,
    run: &Run,
) -> Result<Option<Standstill>, Failure> {
    let stands = |why: String, to_do: String| Standstill {
        why,
        to_do,
        requests: 0,
    };
    Ok(match (run.status, &run.held) {
        (RunStatus::Held, Some(held)) => {
            let to_do = wording::what_to_do(held.kind).to_owned();
            Some(stands(held.why.clone(), to_do))
        }
        (RunStatus::Waiting, _) => {
            let filter = ApprovalFilter {
                run: Some(run.id.clone()),
                status: Some(ApprovalStatus::Pending),
                limit: u32::MAX,
                ..ApprovalFilter::default()
            };
            let approvals = room.client.approvals();
            let requests = approvals.list(&filter, &visitor.principal).await?.len();
            let (why, to_do) = wording::waits(requests, run.wake_at);
            Some(Standstill {
                why,
                to_do,
                requests,
            })
        }
        (RunStatus::Running, _) => {
            let by = run.paused_by.as_deref();
            by.map(|by| stands(wording::paused_by(by), wording::PUT_DOWN.to_owned()))
        }
        (RunStatus::Ready, _) if Timestamp::now().since(run.updated_at) > PATIENCE => Some(stands(
            wording::NO_WORKER.to_owned(),
            wording::start_a_worker(&run.agent, run.conversation.as_deref()),
        )),
        _ => None,
    })
}

/// Returns the answer of the run as far as it is written; empty if the run is not streamed.
pub(crate) async fn written_so_far(room: &Room, run: &str) -> Result<String, Failure> {
    let text = room.client.events(run).so_far().text();
    let written = text.try_fold(String::new(), async |mut written, delta| {
        match delta {
            TextDelta::Piece(piece) => written.push_str(&piece),
            TextDelta::Reset => written.clear(),
        }
        Ok(written)
    });
    Ok(written.await?)
}
