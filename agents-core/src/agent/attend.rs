//! An agent at its desk: it works, and sees to the escalations that come to it meanwhile.

use super::{Agent, Data};
use crate::{
    Error, ErrorKind, Json,
    escalation::{Escalation, Resolution, Settlement, SharedHandler, What},
    panics::guarded,
    run::{Cx, Desk, Letter, Raised, Reply, Stop, Taken, To, climb::settled},
    turn,
};
use futures_util::future::BoxFuture;
use std::{borrow::Cow, sync::Arc};

/// How often an agent may begin anew because of an escalation.
const MOST_JOBS: u32 = 3;

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
    cx: &Cx,
    desk: &Arc<Desk>,
    handler: Option<&SharedHandler<'_, I, O>>,
    knows: impl Fn(&str) -> bool,
    carry_out: impl Fn(Job<I, O>) -> BoxFuture<'a, Result<O, Error>>,
) -> Result<O, Error> {
    let _here = desk.attended();
    let mut job = resumed(cx, handler)?;
    loop {
        if let Job::Partial(value) = job {
            // What a repair agent could not complete is a matter of the repair, and not of the call.
            cx.node
                .mark_partial(cx.shield().map_or(0, |repair| repair.level() + 1));
            return Ok(value);
        }
        let left = {
            let mut work = carry_out(job);
            loop {
                tokio::select! {
                    biased;
                    result = &mut work => break Left::Done(result),
                    letter = desk.letter() => match letter {
                        Letter::Leave(error) => break Left::Done(Err(error)),
                        // Whoever asked has been dropped with the work that was left.
                        Letter::Raised(raised) if raised.reply.is_closed() => {}
                        Letter::Raised(raised) => if let Some(next) = Box::pin(judge(cx, handler, &knows, raised)).await {
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
                let why = "it was given up for another way after an escalation";
                turn::envelope::close_all(&cx.node, &cx.root.settings, why);
                cx.root.checkpoint();
                job = next;
            }
        }
    }
}

/// What the agent decides; `Some` if it takes over.
async fn judge<I: Data, O: Data>(
    cx: &Cx,
    handler: Option<&SharedHandler<'_, I, O>>,
    knows: &impl Fn(&str) -> bool,
    raised: Raised,
) -> Option<Job<I, O>> {
    let Raised {
        escalation,
        continues,
        reply,
    } = raised;
    let agent = cx.node.agent().to_string();
    let decided = handler.map(|handler| {
        let asked = escalation.clone();
        guarded(|| handler(asked))
    });
    let what = match decided {
        Some(Ok(Resolution(what))) => what,
        Some(Err(panic)) => {
            let panic = cx.masker().text(&panic);
            tracing::warn!(%agent, %panic, "`on_escalation` panicked; the escalation climbs on");
            What::Inherit
        }
        None => What::Inherit,
    };
    let count = cx.node.taken().map_or(0, |taken| taken.count);
    let climbs_on = |why: &str| tracing::warn!(%agent, "{why}; the escalation climbs on");
    // Whoever asked may be gone; then nobody needs the answer.
    let answer = |word| drop(reply.send(word));
    match what {
        What::Inherit => answer(Reply::Up(escalation)),
        What::Escalate { reason, severity } => answer(Reply::Up(Escalation {
            reason,
            severity,
            ..escalation
        })),
        What::Throw(reason) => {
            let source: Arc<str> = agent.as_str().into();
            let how = Settlement::Thrown {
                agent,
                reason: reason.clone(),
            };
            settled(cx, &escalation, how);
            match cx.stop(Stop::Thrown { source, reason }).await {}
        }
        What::Model(_) if !continues => {
            climbs_on("another model cannot help here");
            answer(Reply::Up(escalation));
        }
        What::Model(model) => answer(Reply::Model(model, escalation)),
        What::Skill(_) | What::Agent(_) if count >= MOST_JOBS => {
            climbs_on("the work was rerouted often enough");
            answer(Reply::Up(escalation));
        }
        What::Skill(name) if !knows(&name) => {
            climbs_on(&format!("there is no skill `{name}`"));
            answer(Reply::Up(escalation));
        }
        What::Skill(name) => {
            let to = To::Skill(name.to_string());
            return Some(take(cx, escalation, to, count, Job::Skill(name)));
        }
        What::Agent(other) => {
            let to = To::Agent(other.name().to_owned());
            return Some(take(cx, escalation, to, count, Job::Agent(other)));
        }
        What::Partial(value) => match Json::of(&value) {
            Ok(json) => {
                let to = To::Partial(json);
                return Some(take(cx, escalation, to, count, Job::Partial(value)));
            }
            Err(_) => {
                climbs_on("the partial result cannot be written as JSON");
                answer(Reply::Up(escalation));
            }
        },
    }
    None
}

/// Writes down that the agent is taken off its work.
fn take<I, O>(cx: &Cx, escalation: Escalation, to: To, count: u32, job: Job<I, O>) -> Job<I, O> {
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
    settled(cx, &escalation, how);
    cx.node.take(Taken {
        escalation,
        to,
        count: count + 1,
    });
    job
}

/// The job with which a stored run goes on. Another agent is no data: its handler is asked for it.
fn resumed<I: Data, O: Data>(
    cx: &Cx,
    handler: Option<&SharedHandler<'_, I, O>>,
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
        To::Agent(name) => match handler.map(|handler| guarded(|| handler(escalation).0)) {
            Some(Ok(What::Agent(agent))) if agent.name() == name => Ok(Job::Agent(agent)),
            _ => Err(stale(&format!("the agent `{name}`"))),
        },
    }
}
