//! The inbox: what waits for a decision.

use super::{
    card::card,
    encoded,
    frame::{Live, Tab, page},
};
use crate::{
    failure::Failure,
    guard::check_token,
    query::Query,
    room::{Room, Visitor},
    steering::{self, Form},
    wording,
};
use agents_core::run::Timestamp;
use agents_store::{ApprovalFilter, ApprovalStatus};
use axum::{
    Extension,
    extract::{Form as Body, Path, State},
    http::{HeaderMap, header},
    response::{IntoResponse, Redirect, Response},
};
use maud::{Markup, html};
use serde::Deserialize;

/// Number of requests, each on a card, that a page of the inbox shows.
const CARDS: u32 = 50;

#[derive(Deserialize)]
pub(crate) struct Choice {
    status: Option<String>,
    after: Option<String>,
    /// Number of requests that the visitor has just decided, of which the page tells.
    decided: Option<u32>,
    /// Word for the decision that the visitor has just taken.
    how: Option<String>,
}

pub(crate) async fn list(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Query(choice): Query<Choice>,
) -> Response {
    match cards(&room, &visitor, &choice).await {
        Ok(body) => page(&visitor, "Approvals", Tab::Approvals, Live::All, &body).into_response(),
        Err(failure) => failure.page(&visitor),
    }
}

async fn cards(room: &Room, visitor: &Visitor, choice: &Choice) -> Result<Markup, Failure> {
    let status = steering::state(choice.status.as_deref())?.unwrap_or(ApprovalStatus::Pending);
    let filter = ApprovalFilter {
        status: Some(status),
        after: choice.after.clone(),
        limit: CARDS,
        ..ApprovalFilter::default()
    };
    let approvals = room.client.approvals();
    let shown = approvals.list_readable(&filter, &visitor.principal).await?;
    let (now, base) = (Timestamp::now(), &visitor.base);
    let is_pending = status == ApprovalStatus::Pending;
    let next = shown.last().filter(|_| shown.len() >= CARDS as usize);
    let decidable = shown.iter().filter(|one| one.refusal.is_none()).count();
    Ok(html! {
        @if let (Some(count), Some(how)) = (choice.decided, &choice.how) {
            p.done { (told(count, how)) }
        }
        (states(base, status))
        @if is_pending && decidable > 1 { (bulk(visitor)) }
        div #list.cards data-list="" {
            @if shown.is_empty() {
                p.empty { (match is_pending {
                    true => "Nothing waits for a decision.",
                    false => "There are none in this state.",
                }) }
            }
            @for run in shown.chunk_by(|a, b| a.request.run_id == b.request.run_id) {
                @let id = &run[0].request.run_id;
                section.run data-run=(id) aria-label={ "Requests of run " (id) } {
                    @for one in run { (card(visitor, one, now, decidable > 1)) }
                }
            }
        }
        @if let Some(last) = next {
            p { a rel="next" href={ (base) "/approvals?status=" (status) "&after=" (encoded(&last.request.id)) } { "Later requests" } }
        }
        p.keys { kbd { "j" } " " kbd { "k" } " next, previous · " kbd { "a" } " approve · " kbd { "d" } " deny · " kbd { "r" } " note · " kbd { "e" } " edit" }
    })
}

fn told(count: u32, how: &str) -> String {
    let did = match how {
        "approve" => "approved",
        "deny" => "denied",
        "revise" => "sent back for a revision",
        _ => "decided",
    };
    match count {
        1 => format!("One request was {did}."),
        count => format!("{count} requests were {did}."),
    }
}

fn states(base: &str, chosen: ApprovalStatus) -> Markup {
    let states = [
        (ApprovalStatus::Pending, "Pending"),
        (ApprovalStatus::Approved, "Approved"),
        (ApprovalStatus::Consumed, "Run"),
        (ApprovalStatus::Denied, "Denied"),
        (ApprovalStatus::RevisionRequested, "Sent back"),
        (ApprovalStatus::Expired, "Expired"),
        (ApprovalStatus::Cancelled, "Withdrawn"),
    ];
    html! {
        nav.states aria-label="States" {
            @for (status, name) in states {
                a href={ (base) "/approvals?status=" (status) } aria-current=[(status == chosen).then_some("true")] { (name) }
            }
        }
    }
}

/// Returns the form that decides about all requests that are ticked in the inbox.
fn bulk(visitor: &Visitor) -> Markup {
    html! {
        form #bulk.bulk method="post" action={ (visitor.base) "/approvals" } {
            input type="hidden" name="token" value=(visitor.token);
            span { "Those that are ticked:" }
            label.unseen for="bulk-note" { "Note" }
            input #bulk-note type="text" name="note" placeholder="Note" autocomplete="off" maxlength="2000";
            button.approve name="decision" value="approve" { "Approve" }
            button.deny name="decision" value="deny" { "Deny" }
        }
    }
}

pub(crate) async fn one(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
) -> Response {
    let approvals = room.client.approvals();
    match approvals.get_readable(&id, &visitor.principal).await {
        Ok(found) => {
            let card = card(&visitor, &found, Timestamp::now(), false);
            let body = html! { div #list data-list="" { (card) } };
            page(&visitor, "Request", Tab::Approvals, Live::All, &body).into_response()
        }
        Err(error) => Failure::from(error).page(&visitor),
    }
}

pub(crate) async fn decide(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Body(pairs): Body<Vec<(String, String)>>,
) -> Response {
    let form = Form::read(pairs);
    let decided = async {
        check_token(form.token.as_deref(), &visitor)?;
        let approvals = room.client.approvals();
        let found = approvals.get_readable(&id, &visitor.principal).await?;
        let approval = form.approval(found.detail.transpose()?.as_ref())?;
        approvals.decide(&id, approval, &visitor.principal).await?;
        Ok::<_, Failure>(())
    };
    match decided.await {
        Ok(()) => match chat_of(&headers, &visitor) {
            Some(chat) => Redirect::to(&chat).into_response(),
            None => back(&visitor, 1, form.decision()),
        },
        Err(failure) => failure.page(&visitor),
    }
}

/// Returns the path of the chat on whose page a form was, if it was on one.
fn chat_of(headers: &HeaderMap, visitor: &Visitor) -> Option<String> {
    let page = headers.get(header::REFERER)?.to_str().ok()?;
    let (_, page) = page.split_once("://")?;
    let path = &page[page.find('/')?..];
    let is_chat = path.starts_with(&format!("{}/chat/", visitor.base));
    is_chat.then(|| path.to_owned())
}

pub(crate) async fn decide_all(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Body(pairs): Body<Vec<(String, String)>>,
) -> Response {
    let form = Form::read(pairs);
    let decided = async {
        check_token(form.token.as_deref(), &visitor)?;
        if form.ids.is_empty() {
            return Err(Failure::invalid(wording::NOTHING_CHOSEN));
        }
        let approval = form.approval(None)?;
        let approvals = room.client.approvals();
        let results = approvals
            .decide_all(&form.ids, &approval, &visitor.principal)
            .await;
        let (mut count, mut failed) = (0, None);
        for result in results {
            match result {
                Ok(_) => count += 1,
                Err(error) => failed = failed.or(Some(Failure::from(error))),
            }
        }
        match failed {
            None => Ok(count),
            Some(failure) => Err(Failure {
                message: wording::not_all(count, &failure.message),
                ..failure
            }),
        }
    };
    match decided.await {
        Ok(count) => back(&visitor, count, form.decision()),
        Err(failure) => failure.page(&visitor),
    }
}

/// Redirects to the inbox, which then says how many requests were decided, and how.
fn back(visitor: &Visitor, count: u32, how: &str) -> Response {
    let address = format!("{}/approvals?decided={count}&how={how}", visitor.base);
    Redirect::to(&address).into_response()
}
