//! A plain chat with an agent: what was said, what waits for somebody, and a form. It works without JavaScript, and
//! streams the answer with it.

use super::{
    card::card,
    encoded,
    form::{Text, answer, form},
    frame::{Live, Tab, page},
    once,
};
use crate::{
    failure::Failure,
    inert,
    posted::{Posted, Slip},
    query::Query,
    room::{Room, Visitor, hex, random},
    shown::{
        conversations::{self as shown, Sent},
        runs::Summary,
    },
    steering::once_of,
    wording,
};
use agents_core::run::Timestamp;
use agents_store::{ApprovalFilter, ApprovalStatus, RunStatus};
use axum::{
    Extension,
    extract::{Path, State},
    response::{Html, IntoResponse, Redirect, Response},
};
use maud::{Markup, html};
use serde::Deserialize;
use std::time::{Duration, Instant};

/// Longest time that a browser without JavaScript waits for the answer.
const LONGEST: Duration = Duration::from_secs(20);
/// Time between two looks whether the answer is there.
const PAUSE: Duration = Duration::from_millis(100);

/// Choice of a conversation.
#[derive(Deserialize)]
pub(crate) struct Choice {
    #[serde(default)]
    conversation: String,
    #[serde(default)]
    tenant: String,
}

pub(crate) async fn list(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
) -> Response {
    let body = html! {
        @if room.agents.is_empty() { p.empty { (wording::NO_CHATS) } }
        ul.agents {
            @for agent in room.agents.iter() {
                li { a href={ (visitor.base) "/chat/" (encoded(agent)) } { (inert::text(agent)) } }
            }
        }
    };
    page(&visitor, "Chat", Tab::Chat, Live::None, &body).into_response()
}

pub(crate) async fn show(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(agent): Path<String>,
    Query(choice): Query<Choice>,
) -> Response {
    answer(
        &visitor,
        None,
        whole_page(&room, &visitor, &agent, choice, None).await,
    )
}

/// Returns the page of a chat. `slip` is what the visitor has got wrong in the form of the message.
async fn whole_page(
    room: &Room,
    visitor: &Visitor,
    agent: &str,
    choice: Choice,
    slip: Option<&Slip>,
) -> Result<Html<String>, Failure> {
    let title = format!("Chat with {}", inert::text(agent));
    let body = talk(room, visitor, agent, choice, slip).await?;
    let live = Live::All.or_failed(slip);
    Ok(page(visitor, &title, Tab::Chat, live, &body))
}

async fn talk(
    room: &Room,
    visitor: &Visitor,
    agent: &str,
    choice: Choice,
    slip: Option<&Slip>,
) -> Result<Markup, Failure> {
    shown::check_agent(room, agent)?;
    let Choice {
        conversation,
        tenant,
    } = choice;
    let conversation = match &*conversation {
        "" => hex(&random()[..16]),
        _ => conversation,
    };
    let named = Some(tenant.clone()).filter(|tenant| !tenant.is_empty());
    let open = shown::open_any(room, visitor, &conversation, named).await?;
    let said = match open.has_begun() {
        true => {
            let whole = shown::whole(room, visitor, open, None).await?;
            if whole.agent != agent {
                return Err(Failure {
                    message: wording::other_agent(agent),
                    ..Failure::not_found()
                });
            }
            whole_talk(room, visitor, &whole).await?
        }
        false => html! { p.empty { "Nothing was said yet." } },
    };
    Ok(html! {
        div #list data-list="" { (said) }
        (saying(visitor, agent, &conversation, &tenant, slip))
    })
}

/// Returns what was said, and what becomes of the messages that are not over.
async fn whole_talk(
    room: &Room,
    visitor: &Visitor,
    whole: &shown::Whole,
) -> Result<Markup, Failure> {
    let is_open = |run: &&Summary| run.status != RunStatus::Done.as_str();
    let open: Vec<&Summary> = whole.runs.iter().filter(is_open).collect();
    let unanswered = shown::unanswered(room, visitor, whole).await?;
    let now = Timestamp::now();
    let cards = match open.first() {
        Some(run) => {
            let filter = ApprovalFilter {
                run: Some(run.id.clone()),
                status: Some(ApprovalStatus::Pending),
                ..ApprovalFilter::default()
            };
            let approvals = room.client.approvals();
            approvals.list_readable(&filter, &visitor.principal).await?
        }
        None => Vec::new(),
    };
    let failed = whole.runs.last().filter(|last| {
        let end = last.end;
        end.is_some_and(|end| end != agents_store::End::Answered.as_str())
    });
    Ok(html! {
        ol.talk aria-label="What was said" {
            @for said in &whole.messages { (line(said.role, &said.text)) }
            @for text in &unanswered { (line("user", text)) }
        }
        @if let Some(run) = open.first() {
            section #writing hidden data-text={ (visitor.base) "/api/runs/" (encoded(&run.id)) "/text" } {
                pre.answer tabindex="0" aria-label="Answer, as it is written" aria-busy="true" { bdi {} }
            }
            p.note {
                @match &run.held {
                    Some(held) => { "The run is held: " (inert::text(&held.to_string())) "." },
                    None if cards.is_empty() => { "The agent is at work. Without JavaScript, load the page again." },
                    None => { "The agent waits for somebody." },
                }
                " " a href={ (visitor.base) "/runs/" (encoded(&run.id)) } { "Its run" }
            }
            @for one in &cards { (card(visitor, one, now, None, None)) }
        }
        @if let Some(run) = failed {
            p.failure {
                "The last message has no answer. "
                a href={ (visitor.base) "/runs/" (encoded(&run.id)) } { "Its run says why" }
            }
        }
    })
}

fn line(role: &str, text: &str) -> Markup {
    let who = match role {
        "user" => "You",
        _ => "Agent",
    };
    html! { li class=(role) { b { (who) } " " bdi { (inert::text(text)) } } }
}

/// Returns the form in which the visitor writes a message.
fn saying(
    visitor: &Visitor,
    agent: &str,
    conversation: &str,
    tenant: &str,
    slip: Option<&Slip>,
) -> Markup {
    let here = format!("{}/chat/{}", visitor.base, encoded(agent));
    let text = Text {
        id: "say",
        name: "text",
        label: "Message",
        hint: "",
        is_required: true,
        most: None,
    };
    let contents = html! {
        input type="hidden" name="conversation" value=(conversation);
        input type="hidden" name="tenant" value=(tenant);
        input type="hidden" name="once" value=(once());
        // A browser without JavaScript gets the response after the answer.
        noscript { input type="hidden" name="wait" value="yes"; }
        (text.lines(3, "", slip))
        div.buttons { button.approve { "Send" } }
    };
    html! {
        (form(visitor, "say editing", &here, &contents))
        p { a href=(here) { "Begin another conversation" } }
    }
}

pub(crate) async fn say(
    State(room): State<Room>,
    Extension(visitor): Extension<Visitor>,
    Path(agent): Path<String>,
    posted: Posted,
) -> Response {
    let [conversation, tenant, once] =
        ["conversation", "tenant", "once"].map(|name| posted.text(name));
    let sent = async {
        let text = posted.text("text").replace("\r\n", "\n");
        if text.trim().is_empty() {
            return Err(Failure::invalid(wording::NO_WORDS).at("text"));
        }
        if conversation.is_empty() {
            return Err(Failure::invalid(wording::NO_CONVERSATION_ID));
        }
        let key = (!once.is_empty()).then(|| once_of(once, &[conversation, &text]));
        let named = (!tenant.is_empty()).then(|| tenant.to_owned());
        let sent = Sent::text(&agent, &text, key);
        let run = shown::send(&room, &visitor, conversation, named, sent).await?;
        if posted.get("wait").is_some() {
            answered(&room, &visitor, &run.id).await?;
        }
        Ok(())
    };
    let failure = match sent.await {
        Ok(()) => {
            let tenant = match tenant {
                "" => String::new(),
                tenant => format!("&tenant={}", encoded(tenant)),
            };
            let (base, conversation) = (&visitor.base, encoded(conversation));
            let agent = encoded(&agent);
            let address = format!("{base}/chat/{agent}?conversation={conversation}{tenant}");
            return Redirect::to(&address).into_response();
        }
        Err(failure) => failure,
    };
    let choice = Choice {
        conversation: conversation.to_owned(),
        tenant: tenant.to_owned(),
    };
    match Slip::of(posted, failure) {
        Ok(slip) => {
            let page = whole_page(&room, &visitor, &agent, choice, Some(&slip)).await;
            answer(&visitor, Some(&slip), page)
        }
        Err(failure) => failure.page(&visitor),
    }
}

/// Waits until a run is over or waits for somebody, but not for long.
async fn answered(room: &Room, visitor: &Visitor, run: &str) -> Result<(), Failure> {
    let began = Instant::now();
    while began.elapsed() < LONGEST {
        let stored = room.client.stored(run, &visitor.principal).await?;
        if !matches!(stored.status, RunStatus::Ready | RunStatus::Running) {
            break;
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(())
}
