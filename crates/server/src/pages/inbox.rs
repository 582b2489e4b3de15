//! The inbox: what waits for a decision.

use super::{
    card::card,
    encoded,
    form::{answer, asks_first, form_of_id},
    frame::{Live, Tab, page},
};
use crate::{
    failure::Failure,
    posted::{Posted, Slip},
    query::Query,
    room::{Room, Visitor},
    steering::{self, Form},
    wording,
};
use agents_core::run::Timestamp;
use agents_store::{ApprovalFilter, ApprovalStatus};
use axum::{
    Extension,
    extract::{Path, State},
    http::{HeaderMap, header},
    response::{Html, IntoResponse, Redirect, Response},
};
use maud::{Markup, html};
use serde::Deserialize;

/// Number of requests, each on a card, that a page of the inbox shows.
const CARDS: u32 = 50;

#[derive(Default, Deserialize)]
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
    answer(&visitor, None, inbox(&room, &visitor, &choice, None).await)
}

/// Returns the page of the inbox. `slip` is what the visitor has got wrong in the form for those that are ticked.
async fn inbox(
    room: &Room,
    visitor: &Visitor,
    choice: &Choice,
    slip: Option<&Slip>,
) -> Result<Html<String>, Failure> {
    let body = cards(room, visitor, choice, slip).await?;
    let live = Live::All.or_failed(slip);
    Ok(page(visitor, "Approvals", Tab::Approvals, live, &body))
}

async fn cards(
    room: &Room,
    visitor: &Visitor,
    choice: &Choice,
    slip: Option<&Slip>,
) -> Result<Markup, Failure> {
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
        @if is_pending && (decidable > 1 || slip.is_some()) { (bulk(visitor, choice, slip)) }
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
                    @for one in run {
                        @let is_ticked = slip.is_some_and(|slip| slip.has("id", &one.request.id));
                        (card(visitor, one, now, (decidable > 1).then_some(is_ticked), None))
                    }
                }
            }
        }
        @if let Some(last) = next {
            p { a rel="next" href={ (base) "/approvals?status=" (status) "&after=" (encoded(&last.request.id)) } { "Later requests" } }
        }
        p.keys { kbd { "Ctrl" } " " kbd { "Enter" } " decide what you are writing about · " kbd { "j" } " " kbd { "k" } " next, previous · " kbd { "a" } " approve · " kbd { "d" } " deny · " kbd { "r" } " note · " kbd { "e" } " edit" }
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
fn bulk(visitor: &Visitor, choice: &Choice, slip: Option<&Slip>) -> Markup {
    let what = html! { p { b { "All that are ticked are approved, as they are asked for." } " " span #ticked {} } };
    let approve = html! { button.approve name="decision" value="approve" { "Approve them" } };
    let contents = html! {
        @if let Some(after) = &choice.after { input type="hidden" name="after" value=(after); }
        span { "Those that are ticked:" }
        label.unseen for="bulk-note" { "Note" }
        input #bulk-note type="text" name="note" value=[slip.and_then(|slip| slip.typed("note"))] placeholder="Note" autocomplete="off" maxlength="2000";
        (asks_first("Approve", "approve", &what, &approve))
        button.deny name="decision" value="deny" { "Deny" }
    };
    let action = format!("{}/approvals", visitor.base);
    form_of_id(visitor, Some("bulk"), "bulk", &action, &contents)
}

pub(crate) async fn one(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
) -> Response {
    answer(&visitor, None, request(&room, &visitor, &id, None).await)
}

/// Returns the page of a request.
async fn request(
    room: &Room,
    visitor: &Visitor,
    id: &str,
    slip: Option<&Slip>,
) -> Result<Html<String>, Failure> {
    let approvals = room.client.approvals();
    let found = approvals.get_readable(id, &visitor.principal).await?;
    let card = card(visitor, &found, Timestamp::now(), None, slip);
    let body = html! { div #list data-list="" { (card) } };
    let live = Live::All.or_failed(slip);
    Ok(page(visitor, "Request", Tab::Approvals, live, &body))
}

pub(crate) async fn decide(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
    headers: HeaderMap,
    posted: Posted,
) -> Response {
    let form = Form::read(&posted);
    let decided = async {
        let approvals = room.client.approvals();
        let found = approvals.get_readable(&id, &visitor.principal).await?;
        let detail = found.detail.transpose()?;
        let approval = form.approval(detail.as_ref())?;
        let decided = approvals.decide(&id, approval, &visitor.principal).await;
        let before = detail.as_ref().map(|detail| &detail.request.args);
        decided.map_err(|error| form.placed(error.into(), before))
    };
    let failure = match decided.await {
        Ok(_) => {
            return match chat_of(&headers, &visitor) {
                Some(chat) => Redirect::to(&chat).into_response(),
                None => back(&visitor, 1, form.decision()),
            };
        }
        Err(failure) => failure,
    };
    match Slip::of(posted, failure) {
        Ok(slip) => {
            let page = request(&room, &visitor, &id, Some(&slip)).await;
            answer(&visitor, Some(&slip), page)
        }
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
    posted: Posted,
) -> Response {
    let form = Form::read(&posted);
    let decided = async {
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
    let failure = match decided.await {
        Ok(count) => return back(&visitor, count, form.decision()),
        Err(failure) => failure,
    };
    match Slip::of(posted, failure) {
        Ok(slip) => {
            let choice = Choice {
                after: slip.typed("after").map(str::to_owned),
                ..Choice::default()
            };
            let page = inbox(&room, &visitor, &choice, Some(&slip)).await;
            answer(&visitor, Some(&slip), page)
        }
        Err(failure) => failure.page(&visitor),
    }
}

/// Redirects to the inbox, which then says how many requests were decided, and how.
fn back(visitor: &Visitor, count: u32, how: &str) -> Response {
    let address = format!("{}/approvals?decided={count}&how={how}", visitor.base);
    Redirect::to(&address).into_response()
}
