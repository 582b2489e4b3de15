//! The audit trail.

use super::{answer, query};
use crate::{
    failure::Failure,
    room::{Room, Visitor},
};
use agents_runtime::AuditRecord;
use agents_store::AuditFilter;
use axum::{
    Extension,
    extract::{Query, State, rejection::QueryRejection},
    response::Response,
};
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
pub(crate) struct Choice {
    run: Option<String>,
    #[serde(default)]
    after: u64,
    #[serde(default)]
    limit: u32,
}

#[derive(Serialize)]
struct Page {
    events: Vec<AuditRecord>,
}

pub(crate) async fn list(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    choice: Result<Query<Choice>, QueryRejection>,
) -> Response {
    let page = async {
        let choice = query(choice)?;
        let filter = AuditFilter {
            tenant: visitor.tenant(),
            run: choice.run,
            after: choice.after,
            limit: choice.limit,
            ..AuditFilter::default()
        };
        let events = room.client.audit().events(&filter).await?;
        Ok::<_, Failure>(Page { events })
    };
    answer(page.await)
}
