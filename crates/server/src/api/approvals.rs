//! Requests for approval.

use super::{answer, body};
use crate::{
    failure::Failure,
    query::Query,
    room::{Room, Visitor},
    steering::{self, Form},
    wording,
};
use agents_core::Json as Text;
use agents_runtime::{Request, RequestDetail};
use agents_store::{ApprovalFilter, ApprovalStatus};
use axum::{
    Extension, Json,
    extract::{Path, State, rejection::JsonRejection},
    response::Response,
};
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
pub(crate) struct Choice {
    status: Option<String>,
    run: Option<String>,
    after: Option<String>,
    limit: Option<u32>,
}

/// Page of the list of requests for approval.
#[derive(Serialize)]
struct Page {
    approvals: Vec<Request>,
    /// Id of the request behind which the next page begins; `None` if this page is not full, so that it is the last.
    next: Option<String>,
}

/// Request for approval with its exact arguments, for a visitor who may see them. Any other visitor gets a failure.
#[derive(Serialize)]
struct Whole {
    #[serde(flatten)]
    request: Request,
    #[serde(flatten)]
    detail: RequestDetail,
}

#[derive(Deserialize)]
pub(crate) struct Decision {
    decision: String,
    #[serde(default)]
    note: String,
    arguments: Option<Text>,
    answer: Option<Text>,
}

pub(crate) async fn list(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Query(choice): Query<Choice>,
) -> Response {
    answer(page(&room, &visitor, choice).await)
}

async fn page(room: &Room, visitor: &Visitor, choice: Choice) -> Result<Page, Failure> {
    let limit = choice.limit.unwrap_or(0);
    let filter = ApprovalFilter {
        tenant: None,
        run: choice.run,
        status: steering::state(choice.status.as_deref())?.or(Some(ApprovalStatus::Pending)),
        after: choice.after,
        limit,
    };
    let approvals = room
        .client
        .approvals()
        .list(&filter, &visitor.principal)
        .await?;
    let is_full = approvals.len() >= steering::size(limit);
    let next = approvals
        .last()
        .filter(|_| is_full)
        .map(|last| last.id.clone());
    Ok(Page { approvals, next })
}

pub(crate) async fn one(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
) -> Response {
    let whole = async {
        let approvals = room.client.approvals();
        let detail = approvals.detail(&id, &visitor.principal).await?;
        let request = approvals.get(&id, &visitor.principal).await?;
        Ok(Whole { request, detail })
    };
    answer(whole.await)
}

pub(crate) async fn decide(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
    given: Result<Json<Decision>, JsonRejection>,
) -> Response {
    let decided = async {
        let Decision {
            decision,
            note,
            arguments,
            answer,
        } = body(given)?;
        let approval = match (&*decision, arguments, answer) {
            ("answer", None, Some(answer)) => agents_runtime::Approval::Answer { answer },
            ("answer", _, None) => return Err(Failure::invalid(wording::NO_ANSWER)),
            (_, _, Some(_)) => return Err(Failure::invalid(wording::ANSWER_IN_VAIN)),
            ("approve", Some(args), None) => agents_runtime::Approval::ApproveWith { args },
            (_, Some(_), None) => return Err(Failure::invalid(wording::EDITED_IN_VAIN)),
            _ => Form::new(&decision, &note).approval(None)?,
        };
        let approvals = room.client.approvals();
        Ok(approvals.decide(&id, approval, &visitor.principal).await?)
    };
    answer(decided.await)
}
