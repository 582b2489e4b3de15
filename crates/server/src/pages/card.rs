//! The card of one request: what would run, why somebody is asked, and the form of the decision.

use super::{ago, encoded, not_allowed, span};
use crate::{
    inert,
    room::Visitor,
    steering::{self, ARGUMENT, Field, Kind},
};
use agents_core::{
    run::Timestamp,
    tool::{AnswerForm, Risk},
};
use agents_runtime::{Readable, Request, RequestDetail};
use agents_store::ApprovalStatus;
use maud::{Markup, html};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Length of arguments, in bytes, up to which they can be edited on the page.
const EDITABLE: usize = 64 * 1024;

/// Returns the card of a request for approval. A card that `is_one_of_many` has a box to tick, if the request is
/// pending and the visitor may decide about it.
pub(super) fn card(
    visitor: &Visitor,
    readable: &Readable,
    now: Timestamp,
    is_one_of_many: bool,
) -> Markup {
    let Readable {
        request,
        detail,
        refusal,
        ..
    } = readable;
    let base = &visitor.base;
    let is_pending = request.status == ApprovalStatus::Pending;
    let heading = format!("heading-{}", request.id);
    let readable = detail.as_ref().and_then(|detail| detail.as_ref().ok());
    let args = readable.map(Args::of);
    // The exact request says more, such as why an equal call was denied.
    let reasons = readable.map_or(&request.reasons, |detail| &detail.request.reasons);
    html! {
        article.card
            id={ "request-" (request.id) }
            data-approval-id=(request.id)
            data-tool=(inert::text(&request.tool_name))
            data-correlation-id=(request.correlation_id)
            data-status=(request.status.as_str())
            aria-labelledby=(heading)
            tabindex="0"
        {
            header {
                h3 id=(heading) {
                    @if is_one_of_many && is_pending && refusal.is_none() {
                        input type="checkbox" form="bulk" name="id" value=(request.id) aria-label={ "Choose " (inert::text(&request.tool_name)) };
                        " "
                    }
                    a href={ (base) "/approvals/" (encoded(&request.id)) } { (inert::text(&request.tool_name)) }
                    " " small.version { (inert::text(&request.tool_version)) }
                }
                (badges(request, readable))
            }
            @if !request.effect_description.is_empty() {
                p.effect { (inert::text(&request.effect_description)) }
            }
            p.facts {
                b { (inert::text(&request.agent_name)) }
                @if let Some(user) = &request.user_id { " for " b { (inert::text(user)) } }
                @if !request.tenant_id.is_empty() { " at " b { (inert::text(&request.tenant_id)) } }
                " · " a href={ (base) "/runs/" (encoded(&request.run_id)) } { "run" }
                " · asked " time datetime=(request.requested_at) title=(request.requested_at) { (ago(request.requested_at, now)) }
                @if is_pending {
                    " · expires in " time datetime=(request.expires_at) title=(request.expires_at) { (span(request.expires_at.since(now))) }
                }
            }
            @if !reasons.is_empty() {
                ul.reasons aria-label="Why somebody is asked" {
                    @for reason in reasons { li { (inert::text(&reason.to_string())) } }
                }
            }
            @match detail {
                Some(Err(error)) => p.failure { "The exact arguments cannot be read: " (inert::text(&error.to_string())) "." },
                Some(Ok(detail)) => @if let Some(question) = &detail.request.question {
                    p.question { (inert::text(&question.text)) }
                } @else if let Some(args) = &args {
                    (arguments(args))
                    @if let Some(approved) = &detail.approved {
                        p.edited { "Approved with other arguments:" }
                        pre.exact tabindex="0" aria-label="Approved arguments" { bdi { (inert::json(approved)) } }
                    }
                },
                None => p.summary { (inert::text(&request.args_summary)) " " small { "(in short; the exact arguments are for others)" } },
            }
            p.digest { "digest " code { (request.args_digest) } }
            @match refusal {
                _ if !is_pending => (decided(request)),
                Some(why) => (not_allowed(&why.to_string())),
                None => @match readable.and_then(|detail| detail.request.question.as_deref()) {
                    Some(question) => (answering(visitor, request, &question.form)),
                    None => (form(visitor, request, args.as_ref())),
                },
            }
        }
    }
}

/// Exact arguments of a call, in the forms in which its card shows them.
struct Args<'a> {
    detail: &'a RequestDetail,
    /// All arguments of the call, as JSON.
    exact: String,
    /// Arguments of the call one by one, if they are an object.
    single: BTreeMap<String, Box<RawValue>>,
}

impl<'a> Args<'a> {
    fn of(detail: &'a RequestDetail) -> Self {
        Args {
            detail,
            exact: inert::json(&detail.request.args),
            single: steering::arguments(&detail.request.args),
        }
    }

    fn are_editable(&self) -> bool {
        self.exact.len() <= EDITABLE
    }
}

/// Returns the badge that shows a risk.
pub(super) fn risk(risk: Risk) -> Markup {
    let risk = match risk {
        Risk::Low => "low",
        Risk::Medium => "medium",
        Risk::High => "high",
    };
    html! { span.badge.{ "risk-" (risk) } { (risk) " risk" } }
}

fn badges(request: &Request, detail: Option<&RequestDetail>) -> Markup {
    html! {
        span.badges {
            (risk(request.risk_level))
            @if let Some(detail) = detail {
                @if detail.request.irreversible { span.badge.final { "cannot be undone" } }
                @if detail.request.external { span.badge { "leaves the organisation" } }
            }
        }
    }
}

/// Returns the part of a card about the arguments: the exact ones, the origins of known values, and the repairs that
/// led from the text of the model to them.
fn arguments(args: &Args<'_>) -> Markup {
    let Args {
        detail,
        exact,
        single,
    } = args;
    html! {
        @if !single.is_empty() && args.are_editable() {
            table.arguments {
                caption.unseen { "Arguments" }
                @for (name, value) in single {
                    tr {
                        th scope="row" { (inert::text(name)) }
                        td { bdi { (inert::text(value.get())) } }
                    }
                }
            }
        } @else {
            pre.exact tabindex="0" aria-label="Exact arguments" { bdi { (exact) } }
        }
        @if !detail.request.known.is_empty() {
            ul.known aria-label="Where values come from" {
                @for origin in &detail.request.known {
                    li { bdi { (inert::text(&origin.to_string())) } }
                }
            }
        }
        @if !detail.request.repairs.is_empty() {
            details.repairs {
                summary { "Changed since the model wrote them" }
                @if let Some(written) = &detail.written {
                    p { "The model wrote:" }
                    pre.written tabindex="0" aria-label="Arguments as the model wrote them" { bdi { (inert::text(written)) } }
                }
                ol {
                    @for step in detail.request.repairs.iter() {
                        li {
                            (inert::text(&step.to_string()))
                            @if let Some(before) = &step.was { " (was " code { bdi { (inert::text(before)) } } ")" }
                        }
                    }
                }
            }
        }
    }
}

fn form(visitor: &Visitor, request: &Request, args: Option<&Args<'_>>) -> Markup {
    let id = &request.id;
    html! {
        form.decision method="post" action={ (visitor.base) "/approvals/" (encoded(id)) } {
            input type="hidden" name="token" value=(visitor.token);
            @if let Some(args) = args {
                (editing(id, args))
            }
            label for={ "note-" (id) } { "Note " small { "for the agent: why not, or what to change" } }
            input id={ "note-" (id) } type="text" name="note" autocomplete="off" maxlength="2000";
            div.buttons {
                button.approve name="decision" value="approve" { "Approve" }
                button.revise name="decision" value="revise" { "Ask for a revision" }
                button.deny name="decision" value="deny" { "Deny" }
            }
        }
    }
}

/// Returns the form in which a question is answered.
fn answering(visitor: &Visitor, request: &Request, form: &AnswerForm) -> Markup {
    let id = &request.id;
    let (schema, is_object) = steering::answer_schema(form);
    let default = form.default.as_ref();
    let default = default.map(|default| steering::answer_fields(default, is_object));
    let fields = steering::fields(&schema, &default.unwrap_or_default());
    html! {
        form.decision method="post" action={ (visitor.base) "/approvals/" (encoded(id)) } {
            input type="hidden" name="token" value=(visitor.token);
            @for field in &fields { (self::field(id, field)) }
            @if form.default.is_some() {
                p.note { "If nobody answers in time, the agent goes on with what the fields show now." }
            }
            label for={ "note-" (id) } { "Note " small { "for the agent: why there is no answer, or what to ask instead" } }
            input id={ "note-" (id) } type="text" name="note" autocomplete="off" maxlength="2000";
            div.buttons {
                button.approve name="decision" value="answer" { "Answer" }
                button.revise name="decision" value="revise" { "Ask for another question" }
                button.deny name="decision" value="deny" { "Do not answer" }
            }
        }
    }
}

/// Returns the fields in which the arguments are edited: one for each, and one for all.
fn editing(id: &str, args: &Args<'_>) -> Markup {
    if !args.are_editable() {
        return html! { p.note { "The arguments are too long to be edited here." } };
    }
    let Args {
        detail,
        exact,
        single,
    } = args;
    let fields = match &detail.schema {
        Some(schema) => steering::fields(schema, single),
        None => Vec::new(),
    };
    html! {
        details.editing {
            summary { "Edit the arguments" }
            @for field in &fields {
                (self::field(id, field))
            }
            label for={ "arguments-" (id) } { "All arguments as JSON" }
            textarea id={ "arguments-" (id) } name="arguments" spellcheck="false" rows="4" { (exact) }
        }
    }
}

/// Returns the form field of one argument, with its label.
pub(super) fn field(id: &str, field: &Field<'_>) -> Markup {
    let own = format!("{id}-{}", field.name);
    let name = format!("{ARGUMENT}{}", field.name);
    let text = field.text.as_deref();
    html! {
        label for=(own) {
            (inert::text(field.name))
            @if let Some(description) = field.description { " " small { (inert::text(description)) } }
            @if !field.is_required { " " small { "(may be left out)" } }
        }
        @match &field.kind {
            Kind::OneOf(values) => (choice(&own, &name, text, values.iter().copied(), field.is_required)),
            Kind::Bool => (choice(&own, &name, text, ["true", "false"].into_iter(), field.is_required)),
            Kind::Number | Kind::Integer => {
                input id=(own) name=(name) type="text" inputmode="decimal" value=[text] autocomplete="off";
            }
            Kind::Text if text.is_none_or(|text| !text.contains('\n') && inert::text(text) == text) => {
                input id=(own) name=(name) type="text" value=[text] autocomplete="off";
            }
            Kind::Text | Kind::Json => {
                textarea id=(own) name=(name) rows="3" spellcheck="false" { "\n" (text.unwrap_or_default()) }
            }
        }
    }
}

fn choice<'a>(
    id: &str,
    name: &str,
    chosen: Option<&str>,
    values: impl Iterator<Item = &'a str>,
    is_required: bool,
) -> Markup {
    html! {
        select id=(id) name=(name) {
            @if chosen.is_none() || !is_required { option value="" { "–" } }
            @for value in values {
                option value=(value) selected[chosen == Some(value)] { (inert::text(value)) }
            }
        }
    }
}

fn decided(request: &Request) -> Markup {
    let status = request.status.as_str().replace('_', " ");
    html! {
        p.decided {
            b { (status) }
            @if let Some(by) = &request.decided_by { " by " (inert::text(by)) }
            @if let Some(note) = &request.note { ": " (inert::text(note)) }
        }
    }
}
