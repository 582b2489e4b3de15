//! Agent at work, and the escalations that reach it meanwhile.

use super::{Agent, Data, wording};
use crate::{
    Error, ErrorKind, Json,
    context::RunContext,
    engine::{
        climb::{decide, refuse},
        receipt::Leaving,
    },
    escalation::{
        Asked, Escalation, Inbox, Instead, Letter, RefusedResolution, Reply, Resolution,
        Settlement, SharedHandler, Verb,
    },
    journal::MOST_MODELS,
    panics::guarded,
    run::Stop,
    shared::Shared,
    tool::nearest,
};
use futures_util::future::BoxFuture;
use std::sync::Arc;

/// Maximum number of times that an agent may begin its work anew because of escalations. A resolution that asks for
/// one more is refused.
const MOST_RESTARTS: u32 = 3;

/// Agent that may have a handler for escalations of the agents below it.
pub(crate) trait HandlingAgent<I, O> {
    /// Returns the agent's handler for escalations, `on_escalation`, if it has one.
    fn handler(&self) -> Option<&SharedHandler<'_, I, O>>;

    /// Returns the names of the agent's skills.
    fn skills(&self) -> Vec<&str>;

    /// Checks that the agent may hand its work to `other`; `Err` says why not.
    fn may_leave_to(
        &self,
        other: &dyn Agent<In = I, Out = O>,
        cx: &RunContext,
    ) -> Result<(), String>;
}

/// Reason why an agent's work has ended: it has a result, or a handler has put something else in its place.
enum Left<I, O> {
    Done(Result<O, Error>),
    For(Instead<I, O>),
}

/// Does an agent's work at `cx`, and answers the escalations that arrive from below meanwhile.
///
/// `carry_out` does the agent's own work or its replacement. If an escalation takes the agent off its work, that work
/// is dropped and the replacement begins.
pub(crate) async fn attend<'a, I: Data, O: Data>(
    cx: &RunContext,
    inbox: &Shared<Inbox>,
    agent: &impl HandlingAgent<I, O>,
    carry_out: impl Fn(Option<Instead<I, O>>) -> BoxFuture<'a, Result<O, Error>>,
) -> Result<O, Error> {
    let _open = inbox.attended();
    let mut instead = resumed(cx, agent)?;
    loop {
        let left = {
            let mut work = carry_out(instead);
            loop {
                tokio::select! {
                    biased;
                    result = &mut work => break Left::Done(result),
                    letter = inbox.letter() => match letter {
                        Letter::Leave(number, given_up) => {
                            if !decide(&cx.node, number, &given_up, Settlement::Returned, None) {
                                continue;
                            }
                            let error = Error::of_escalation(given_up, true);
                            cx.node.abandon(&format!("`{}` was left: {error}", cx.node.agent()));
                            break Left::Done(Err(error));
                        }
                        // The agent that asked has been dropped with the work that was left.
                        Letter::Asked(asked) if asked.reply.is_closed() => {}
                        Letter::Asked(asked) => if let Some(next) = Box::pin(judge(cx, agent, asked)).await {
                            cx.node.abandon(&why_left(&cx.node.agent(), &next));
                            break Left::For(next);
                        }
                    },
                }
            }
        };
        // At this point the work is dropped, and all that went on within it.
        match left {
            Left::Done(result) => return result,
            Left::For(next) => {
                // Closes the calls that the agent itself has left.
                drop(Leaving::of(cx));
                cx.node.begin_anew();
                instead = Some(next);
            }
        }
    }
}

/// Returns the reason that the receipts give for calls which ended because the agent left its work: it says what the
/// agent does instead.
fn why_left<I: Data, O: Data>(agent: &str, next: &Instead<I, O>) -> String {
    let did = match next {
        Instead::Skill(skill) => wording::left::for_a_skill(skill),
        Instead::Agent(other) => wording::left::for_an_agent(other.name()),
        Instead::Partial(_) => wording::left::FOR_A_PARTIAL_RESULT.to_owned(),
    };
    wording::left::after_an_escalation(agent, &did)
}

/// Asks the agent's handler about an escalation. Returns the replacement of the handling agent's own work, if the
/// handler chose one that is possible; otherwise replies to the agent that raised the escalation. If the handler
/// throws, the function does not return.
async fn judge<I: Data, O: Data>(
    cx: &RunContext,
    agent: &impl HandlingAgent<I, O>,
    asked: Asked,
) -> Option<Instead<I, O>> {
    let Asked {
        mut escalation,
        number,
        continues,
        reply,
    } = asked;
    let name = cx.node.agent().to_string();
    let chosen = agent.handler().map(|handler| {
        let asked = escalation.clone();
        guarded(|| handler(asked))
    });
    let refused = match chosen {
        None | Some(Ok(Resolution(Verb::Inherit))) => None,
        Some(Ok(Resolution(Verb::Escalate { reason, severity }))) => {
            escalation.pass_on(&name, reason, severity);
            None
        }
        Some(Ok(Resolution(Verb::Model(model)))) if continues => {
            let model = Some(model);
            // If the agent that asked is gone, the answer is not needed.
            drop(reply.send(Reply { escalation, model }));
            return None;
        }
        Some(Ok(Resolution(Verb::Model(model)))) => {
            Some(wording::refused::model(model.id(), MOST_MODELS))
        }
        // The escalation was decided before the run was stored, and then by a model.
        Some(Ok(_)) if number.is_none() => None,
        Some(Ok(Resolution(Verb::Throw(reason)))) => {
            let source: Arc<str> = name.as_str().into();
            // An escalation that is settled already is not settled again.
            if let (Some(number), None) = (number, cx.root.stopped()) {
                let (agent, reason) = (name, reason.clone());
                let settled = Settlement::Thrown { agent, reason };
                decide(&cx.node, number, &escalation, settled, None);
            }
            match cx.stop(Stop::Thrown { source, reason }).await {}
        }
        Some(Ok(Resolution(Verb::Instead(instead)))) => match settlement(cx, agent, &instead) {
            Ok((settled, partial)) => {
                let is_open = decide(&cx.node, number?, &escalation, settled, partial);
                return is_open.then_some(instead);
            }
            Err(refused) => Some(refused),
        },
        Some(Err(panic)) => Some(wording::refused::panicked(&cx.masker().text(&panic))),
    };
    if let Some((wanted, why)) = refused {
        let agent = name;
        refuse(
            cx,
            &mut escalation,
            RefusedResolution { agent, wanted, why },
        );
    }
    drop(reply.send(escalation.into()));
    None
}

/// Returns the record of a decision by which the agent's own work is replaced, and the partial result if that is the
/// replacement.
///
/// # Errors
/// When the replacement is not possible: the error is the refused resolution, and the reason.
fn settlement<I: Data, O: Data>(
    cx: &RunContext,
    agent: &impl HandlingAgent<I, O>,
    instead: &Instead<I, O>,
) -> Result<(Settlement, Option<Json>), (String, String)> {
    let name = cx.node.agent().to_string();
    let count = cx.node.taken().map_or(0, |taken| taken.count);
    match instead {
        Instead::Skill(_) | Instead::Agent(_) if count >= MOST_RESTARTS => {
            Err(wording::refused::restart(count))
        }
        Instead::Skill(skill) => match unknown(skill, &agent.skills()) {
            None => Ok((
                Settlement::ReroutedToSkill {
                    agent: name,
                    skill: skill.to_string(),
                },
                None,
            )),
            Some(why) => Err(wording::refused::skill(skill, why)),
        },
        Instead::Agent(other) => match agent.may_leave_to(&**other, cx) {
            Ok(()) => Ok((
                Settlement::ReroutedTo {
                    agent: name,
                    delegate: other.name().to_owned(),
                },
                None,
            )),
            Err(why) => Err(wording::refused::agent(other.name(), why)),
        },
        Instead::Partial(value) => match Json::of(value) {
            Ok(json) => Ok((Settlement::PartialResult { agent: name }, Some(json))),
            Err(error) => Err(wording::refused::partial_result(&error)),
        },
    }
}

/// Returns the reason for which an agent with these skills cannot turn to the skill `skill`; `None` if it has that
/// skill.
fn unknown(skill: &str, skills: &[&str]) -> Option<String> {
    if skills.contains(&skill) {
        return None;
    }
    let meant = nearest(skill, skills.iter().copied());
    Some(wording::refused::no_such_skill(skills, meant))
}

/// Returns the replacement of the agent's own work with which a stored run goes on; `None` if there was no
/// replacement.
///
/// Agents are not stored, so the handler is asked for its agent again.
///
/// # Errors
/// When the handler does not give the same agent again, or the stored partial result cannot be read.
fn resumed<I: Data, O: Data>(
    cx: &RunContext,
    agent: &impl HandlingAgent<I, O>,
) -> Result<Option<Instead<I, O>>, Error> {
    let Some(taken) = cx.node.taken() else {
        return Ok(None);
    };
    let stale = |what: &str| {
        let message = wording::stale_replacement(&cx.node.agent(), what);
        Error::new(ErrorKind::Replay, message)
    };
    let escalation: Escalation = taken.receipt.escalation;
    match taken.receipt.settled {
        Settlement::ReroutedToSkill { skill, .. } => Ok(Some(Instead::Skill(skill.into()))),
        Settlement::ReroutedTo { delegate, .. } => {
            let chosen = agent
                .handler()
                .map(|handler| guarded(|| handler(escalation).0));
            match chosen {
                Some(Ok(Verb::Instead(Instead::Agent(other))))
                    if other.name() == delegate && agent.may_leave_to(&*other, cx).is_ok() =>
                {
                    Ok(Some(Instead::Agent(other)))
                }
                _ => Err(stale(&format!("the agent `{delegate}`"))),
            }
        }
        _ => match taken.partial.map(|value| value.to()) {
            Some(Ok(value)) => Ok(Some(Instead::Partial(value))),
            Some(Err(_)) | None => Err(stale("a partial result")),
        },
    }
}
