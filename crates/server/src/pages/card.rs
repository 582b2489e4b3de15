//! The card of one request: what would run, why somebody is asked, and the form of the decision.

use super::{
    encoded,
    form::{Text, Wrong, asks_first, form},
    not_allowed, sentence, since, span,
};
use crate::{
    inert,
    posted::Slip,
    room::Visitor,
    steering::{self, ARGUMENT, ARGUMENTS, Field, Kind},
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

/// Returns the card of a request for approval. `is_ticked` is there for a card that is one of many: it has a box to tick,
/// if the request is pending and the visitor may decide about it. `slip` is what the visitor has got wrong in its form.
pub(super) fn card(
    visitor: &Visitor,
    readable: &Readable,
    now: Timestamp,
    is_ticked: Option<bool>,
    slip: Option<&Slip>,
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
                    @if let Some(is_ticked) = is_ticked.filter(|_| is_pending && refusal.is_none()) {
                        input type="checkbox" form="bulk" name="id" value=(request.id) checked[is_ticked] aria-label={ "Choose " (inert::text(&request.tool_name)) };
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
                " · asked " (since(request.requested_at, now))
                @if is_pending {
                    " · expires in " time datetime=(request.expires_at) title=(request.expires_at) data-goes="left" { (span(request.expires_at.since(now))) }
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
                    Some(question) => (answering(visitor, request, &question.form, slip)),
                    None => (deciding(visitor, request, args.as_ref(), slip)),
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

/// Returns `true` if the call of a request is asked about once more before it is approved: because of its risk, or because
/// its effect leaves the organisation or cannot be undone. Of a request that the visitor does not see, all of this may be
/// true.
fn is_grave(request: &Request, args: Option<&Args<'_>>) -> bool {
    let exact = args.map(|args| &args.detail.request);
    request.risk_level == Risk::High
        || exact.is_none_or(|exact| exact.external || exact.irreversible)
}

/// Returns what would happen if a request were approved, in a sentence.
fn effect(request: &Request) -> String {
    match &*request.effect_description {
        "" => format!("{} {}", request.tool_name, request.args_summary),
        effect => sentence(effect.trim_end_matches('.')),
    }
}

/// Returns the button that approves a request. For a grave one, it asks first.
fn approving(request: &Request, args: Option<&Args<'_>>) -> Markup {
    let approve = |name: &str| html! { button.approve name="decision" value="approve" { (name) } };
    if !is_grave(request, args) {
        return approve("Approve");
    }
    let what = html! {
        p {
            b { (inert::text(&effect(request))) }
            @if args.is_some_and(Args::are_editable) { " " span.edited { "If you have edited the arguments, it is your arguments that count." } }
        }
    };
    let name = format!("Approve {}", inert::text(&request.tool_name));
    asks_first("Approve", "approve", &what, &approve(&name))
}

/// Returns the form in which a request is decided.
fn deciding(
    visitor: &Visitor,
    request: &Request,
    args: Option<&Args<'_>>,
    slip: Option<&Slip>,
) -> Markup {
    let id = &request.id;
    let contents = html! {
        @if let Some(args) = args { (editing(id, args, slip)) }
        (note(id, "for the agent: why not, or what to change", slip))
        div.buttons {
            (approving(request, args))
            button.revise name="decision" value="revise" { "Ask for a revision" }
            button.deny name="decision" value="deny" { "Deny" }
        }
    };
    form(visitor, "decision", &address(visitor, id), &contents)
}

/// Returns the address of a request's page, to which its decision is sent.
fn address(visitor: &Visitor, id: &str) -> String {
    format!("{}/approvals/{}", visitor.base, encoded(id))
}

/// Returns the field for a note to the agent.
pub(super) fn note(id: &str, hint: &str, slip: Option<&Slip>) -> Markup {
    let note = Text {
        id: &format!("note-{id}"),
        name: "note",
        label: "Note",
        hint,
        is_required: false,
        most: Some(2_000),
    };
    note.line(slip)
}

/// Returns the form in which a question is answered.
fn answering(
    visitor: &Visitor,
    request: &Request,
    form: &AnswerForm,
    slip: Option<&Slip>,
) -> Markup {
    let id = &request.id;
    let (schema, is_object) = steering::answer_schema(form);
    let default = form.default.as_ref();
    let default = default.map(|default| steering::answer_fields(default, is_object));
    let fields = steering::fields(&schema, &default.unwrap_or_default());
    let contents = html! {
        @for field in &fields { (self::field(id, field, slip)) }
        @if form.default.is_some() {
            p.note { "If nobody answers in time, the agent goes on with what the fields show now." }
        }
        (note(id, "for the agent: why there is no answer, or what to ask instead", slip))
        div.buttons {
            button.approve name="decision" value="answer" { "Answer" }
            button.revise name="decision" value="revise" { "Ask for another question" }
            button.deny name="decision" value="deny" { "Do not answer" }
        }
    };
    super::form::form(visitor, "decision", &address(visitor, id), &contents)
}

/// Returns the fields in which the arguments are edited: one for each, and one for all.
fn editing(id: &str, args: &Args<'_>, slip: Option<&Slip>) -> Markup {
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
    let all = Text {
        id: &format!("arguments-{id}"),
        name: ARGUMENTS,
        label: "All arguments as JSON",
        hint: "",
        is_required: false,
        most: None,
    };
    html! {
        details.editing open[slip.is_some()] {
            summary { "Edit the arguments" }
            @for field in &fields {
                (self::field(id, field, slip))
            }
            (all.lines(4, exact, slip))
        }
    }
}

/// Returns the form field of one argument, with its label. After a `slip` it has what was typed.
pub(super) fn field(id: &str, field: &Field<'_>, slip: Option<&Slip>) -> Markup {
    let own = format!("{id}-{}", field.name);
    let name = format!("{ARGUMENT}{}", field.name);
    let typed = slip.and_then(|slip| slip.typed(&name));
    let text = typed.or(field.text.as_deref());
    let wrong = Wrong::at(slip, &own, &name);
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
                input id=(own) name=(name) type="text" inputmode="decimal" value=[text] autocomplete="off"
                    aria-invalid=[wrong.is_wrong()] aria-describedby=[wrong.id()] autofocus[wrong.is_some()];
            }
            Kind::Text if text.is_none_or(|text| !text.contains('\n') && inert::text(text) == text) => {
                input id=(own) name=(name) type="text" value=[text] autocomplete="off"
                    aria-invalid=[wrong.is_wrong()] aria-describedby=[wrong.id()] autofocus[wrong.is_some()];
            }
            Kind::Text | Kind::Json => {
                textarea id=(own) name=(name) rows="3" spellcheck="false"
                    aria-invalid=[wrong.is_wrong()] aria-describedby=[wrong.id()] autofocus[wrong.is_some()]
                    { "\n" (text.unwrap_or_default()) }
            }
        }
        (wrong.told())
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
            @if chosen.is_none_or(str::is_empty) || !is_required { option value="" { "–" } }
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
