//! An agent at its desk: it works, and sees to the escalations that come to it meanwhile.

use super::{Agent, Data};
use crate::{
    Error, ErrorKind, Json,
    context::{Desk, Letter, Question, Reply, RunContext, Ticket},
    engine::{
        climb::{no_more_models, refuse},
        receipt::Leaving,
    },
    escalation::{Escalation, Refused, Resolution, Settlement, SharedHandler, What},
    panics::guarded,
    run::{Stop, Taken, To},
    tool::nearest,
};
use futures_util::future::BoxFuture;
use std::{borrow::Cow, sync::Arc};

/// How often an agent may begin anew because of an escalation.
const MOST_JOBS: u32 = 3;

/// An agent, as its desk knows it.
pub(crate) trait Occupant<I, O> {
    /// Its `on_escalation`.
    fn handler(&self) -> Option<&SharedHandler<'_, I, O>>;

    /// The skills that it could turn to.
    fn skills(&self) -> Vec<&str>;

    /// Whether it may leave its work to `other`; `Err` says why not.
    fn may_leave_to(
        &self,
        other: &dyn Agent<In = I, Out = O>,
        cx: &RunContext,
    ) -> Result<(), String>;
}

/// What an agent does with its input.
pub(crate) enum Job<I, O> {
    /// What it always does.
    Own,
    /// One of its skills does it, because of an escalation.
    Skill(Cow<'static, str>),
    /// Another agent does it, because of an escalation.
    Agent(Arc<dyn Agent<In = I, Out = O>>),
    /// It has been given up; this is what there is.
    Partial(O),
}

/// Why the work was left.
enum Left<I, O> {
    Done(Result<O, Error>),
    For(Job<I, O>),
}

/// Does an agent's work at `cx`, and answers the escalations that come up to it. `carry_out` does
/// one job; where an escalation takes the agent off it, it is dropped and the next one begins.
pub(crate) async fn attend<'a, I: Data, O: Data>(
    cx: &RunContext,
    desk: &Arc<Desk>,
    agent: &impl Occupant<I, O>,
    carry_out: impl Fn(Job<I, O>) -> BoxFuture<'a, Result<O, Error>>,
) -> Result<O, Error> {
    let _here = desk.attended();
    let mut job = resumed(cx, agent)?;
    loop {
        if let Job::Partial(value) = job {
            cx.node.mark_partial();
            return Ok(value);
        }
        let left = {
            let mut work = carry_out(job);
            loop {
                tokio::select! {
                    biased;
                    result = &mut work => break Left::Done(result),
                    letter = desk.letter() => match letter {
                        Letter::Leave(ticket, given_up) => {
                            if !cx.root.settle(&cx.node, ticket, &given_up, Settlement::Returned) {
                                continue;
                            }
                            let error = Error::of_escalation(given_up, true);
                            cx.node.leave(&format!("`{}` was left: {error}", cx.node.agent()));
                            break Left::Done(Err(error));
                        }
                        // Whoever asked has been dropped with the work that was left.
                        Letter::Question(asked) if asked.reply.is_closed() => {}
                        Letter::Question(asked) => if let Some(next) = Box::pin(judge(cx, agent, asked)).await {
                            cx.node.leave(&why_left(&cx.node.agent(), &next));
                            break Left::For(next);
                        }
                    },
                }
            }
        };
        // Here the work is dropped, and all that went on within it.
        match left {
            Left::Done(result) => return result,
            Left::For(next) => {
                // Closes what the agent itself has left.
                drop(Leaving::of(cx));
                cx.node.begin_anew();
                job = next;
            }
        }
    }
}

/// Why calls were left unsettled that the agent's work had made before.
fn why_left<I: Data, O: Data>(agent: &str, next: &Job<I, O>) -> String {
    let did = match next {
        Job::Own => "began anew".to_owned(),
        Job::Skill(skill) => format!("turned to its skill `{skill}`"),
        Job::Agent(other) => format!("left the work to `{}`", other.name()),
        Job::Partial(_) => "returned a partial result".to_owned(),
    };
    format!("`{agent}` {did} after an escalation")
}

/// What the agent decides; `Some` if it takes over.
async fn judge<I: Data, O: Data>(
    cx: &RunContext,
    agent: &impl Occupant<I, O>,
    asked: Question,
) -> Option<Job<I, O>> {
    let Question {
        mut escalation,
        ticket,
        continues,
        reply,
    } = asked;
    let name = cx.node.agent().to_string();
    let decided = agent.handler().map(|handler| {
        let asked = escalation.clone();
        guarded(|| handler(asked))
    });
    let count = cx.node.taken().map_or(0, |taken| taken.count);
    let refused = |wanted: String, why: String| Refused {
        agent: name.clone(),
        wanted,
        why,
    };
    let refused = match decided {
        None | Some(Ok(Resolution(What::Inherit))) => None,
        Some(Ok(Resolution(What::Escalate { reason, severity }))) => {
            escalation.pass_on(&name, reason, severity);
            None
        }
        Some(Ok(Resolution(What::Model(model)))) if continues => {
            // Whoever asked may be gone; then nobody needs the answer.
            drop(reply.send(Reply::Model(model, escalation)));
            return None;
        }
        Some(Ok(Resolution(What::Model(model)))) => Some(no_more_models(&name, &*model)),
        // It was settled before the run was stored, and then by a model.
        Some(Ok(_)) if ticket.is_none() => None,
        Some(Ok(Resolution(What::Throw(reason)))) => {
            let source: Arc<str> = name.as_str().into();
            let how = Settlement::Thrown {
                agent: name,
                reason: reason.clone(),
            };
            // What has ended already is not ended by this.
            if cx.root.stopped().is_none() {
                settle(cx, ticket, &escalation, how);
            }
            match cx.stop(Stop::Thrown { source, reason }).await {}
        }
        Some(Ok(Resolution(What::Skill(_) | What::Agent(_)))) if count >= MOST_JOBS => {
            Some(refused(
                "begin anew".to_owned(),
                format!("it has done so {count} times"),
            ))
        }
        Some(Ok(Resolution(What::Skill(skill)))) => match unknown(&skill, &agent.skills()) {
            None => {
                let to = To::Skill(skill.to_string());
                return take(cx, ticket, escalation, to, count, Job::Skill(skill));
            }
            Some(why) => Some(refused(format!("turn to its skill `{skill}`"), why)),
        },
        Some(Ok(Resolution(What::Agent(other)))) => match agent.may_leave_to(&*other, cx) {
            Ok(()) => {
                let to = To::Agent(other.name().to_owned());
                return take(cx, ticket, escalation, to, count, Job::Agent(other));
            }
            Err(why) => Some(refused(
                format!("leave its work to `{}`", other.name()),
                why,
            )),
        },
        Some(Ok(Resolution(What::Partial(value)))) => match Json::of(&value) {
            Ok(json) => {
                let to = To::Partial(json);
                return take(cx, ticket, escalation, to, count, Job::Partial(value));
            }
            Err(error) => Some(refused(
                "end with a partial result".to_owned(),
                format!("it cannot be written as JSON: {error}"),
            )),
        },
        Some(Err(panic)) => Some(refused(
            "decide".to_owned(),
            format!("its `on_escalation` panicked: {}", cx.masker().text(&panic)),
        )),
    };
    if let Some(refused) = refused {
        refuse(cx, &mut escalation, refused);
    }
    drop(reply.send(Reply::Up(escalation)));
    None
}

/// Why an agent that has these skills cannot turn to one of this name.
fn unknown(skill: &str, skills: &[&str]) -> Option<String> {
    if skills.contains(&skill) {
        return None;
    }
    let known: Vec<_> = skills.iter().map(|skill| format!("`{skill}`")).collect();
    let meant = nearest(skill, skills.iter().copied());
    Some(match (&known[..], meant) {
        ([], _) => "it has no skills".to_owned(),
        (known, None) => format!("it has none of that name; it has {}", known.join(", ")),
        (known, Some(meant)) => {
            let known = known.join(", ");
            format!("it has none of that name; it has {known}; did you mean `{meant}`?")
        }
    })
}

/// Writes down that the agent is taken off its work; `None` if whoever asked for that is gone.
fn take<I, O>(
    cx: &RunContext,
    ticket: Option<Ticket>,
    escalation: Escalation,
    to: To,
    count: u32,
    job: Job<I, O>,
) -> Option<Job<I, O>> {
    let agent = cx.node.agent().to_string();
    let how = match &to {
        To::Skill(skill) => Settlement::ReroutedToSkill {
            agent,
            skill: skill.clone(),
        },
        To::Agent(delegate) => Settlement::ReroutedTo {
            agent,
            delegate: delegate.clone(),
        },
        To::Partial(_) => Settlement::PartialResult { agent },
    };
    let taken = Taken {
        escalation: escalation.clone(),
        to,
        count: count.saturating_add(1),
    };
    let ticket = ticket?;
    let is_open = cx
        .root
        .settle_by(&cx.node, ticket, &escalation, how, Some(taken));
    if !is_open {
        return None;
    }
    Some(job)
}

/// Writes down what became of an escalation; `false` if it was dropped with the work that it came from.
fn settle(
    cx: &RunContext,
    ticket: Option<Ticket>,
    escalation: &Escalation,
    how: Settlement,
) -> bool {
    ticket.is_some_and(|ticket| cx.root.settle(&cx.node, ticket, escalation, how))
}

/// The job with which a stored run goes on. Another agent is no data: its handler is asked for it.
fn resumed<I: Data, O: Data>(
    cx: &RunContext,
    agent: &impl Occupant<I, O>,
) -> Result<Job<I, O>, Error> {
    let Some(Taken { escalation, to, .. }) = cx.node.taken() else {
        return Ok(Job::Own);
    };
    let stale = |what: &str| {
        let agent = cx.node.agent();
        let message = format!(
            "the stored run of `{agent}` went on with {what} after an escalation, which is not there now"
        );
        Error::new(ErrorKind::Replay, message)
    };
    match to {
        To::Skill(name) => Ok(Job::Skill(name.into())),
        To::Partial(value) => value
            .to()
            .map(Job::Partial)
            .map_err(|_| stale("a partial result")),
        To::Agent(name) => {
            let decided = agent
                .handler()
                .map(|handler| guarded(|| handler(escalation).0));
            match decided {
                Some(Ok(What::Agent(other)))
                    if other.name() == name && agent.may_leave_to(&*other, cx).is_ok() =>
                {
                    Ok(Job::Agent(other))
                }
                _ => Err(stale(&format!("the agent `{name}`"))),
            }
        }
    }
}
