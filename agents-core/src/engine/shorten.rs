//! Conversations that are shortened before a request, so that they fit into the model's window.

use super::wording;
use crate::{
    Error, ErrorKind,
    context::RunContext,
    definition::{AgentDefinition, ContextPolicy},
    journal::{Fact, Frame},
    model::{Message, Model, ModelError, check_results},
};

/// Shortens the conversation if the request of this turn would pass the agent's share of the window. `offered` is the
/// size of the tools in bytes.
pub(super) async fn before_request(
    definition: &AgentDefinition<'_>,
    cx: &RunContext,
    model: &dyn Model,
    turn: u32,
    offered: usize,
) -> Result<(), Error> {
    let Some(policy) = policy(definition) else {
        return Ok(());
    };
    let window = window(definition, policy, model)?;
    let tokens = cx.node.frame(|frame| match frame.turns {
        // The model has counted the tools at its first reply.
        0 => frame.tokens().saturating_add(offered.div_ceil(4) as u64),
        _ => frame.tokens(),
    });
    if tokens > policy.bound(window) {
        shorten(policy, cx, turn, tokens, window).await?;
    }
    Ok(())
}

/// Shortens the conversation after the model has refused it for its length. Returns `false` if the agent has no policy
/// for that, the model failed for another reason, nothing can be left out, or a part of the reply has been streamed
/// already.
pub(super) async fn after_overflow(
    definition: &AgentDefinition<'_>,
    cx: &RunContext,
    model: &dyn Model,
    turn: u32,
    error: &ModelError,
) -> Result<bool, Error> {
    let overflow = error.overflow();
    let (Some(policy), Some(overflow)) = (policy(definition), overflow) else {
        return Ok(false);
    };
    if overflow.read.is_some() && !cx.root.settings.subscribers.is_empty() {
        return Ok(false);
    }
    let window = window(definition, policy, model)?;
    let tokens = overflow
        .sent
        .unwrap_or_else(|| cx.node.frame(Frame::tokens));
    shorten(policy, cx, turn, tokens, window).await
}

/// Returns the agent's policy for shortening its conversation; `None` if there is no policy, or a skill is being
/// chosen: the conversation about that choice stays as it is.
fn policy<'a>(definition: &'a AgentDefinition<'_>) -> Option<&'a ContextPolicy> {
    let policy = definition.context.as_ref();
    policy.filter(|_| definition.open.is_empty())
}

fn window(
    definition: &AgentDefinition<'_>,
    policy: &ContextPolicy,
    model: &dyn Model,
) -> Result<u32, Error> {
    let known = policy.own_window().or(model.capabilities().window);
    known.ok_or_else(|| {
        Error::new(ErrorKind::Build, wording::no_window(model.id()))
            .context(wording::of_agent(&definition.name))
    })
}

/// Has the policy shorten the conversation. Returns `false` if the policy leaves nothing out.
async fn shorten(
    policy: &ContextPolicy,
    cx: &RunContext,
    turn: u32,
    tokens: u64,
    window: u32,
) -> Result<bool, Error> {
    let history = cx.node.frame(|frame| frame.history.clone());
    // The prompt stays the agent's own.
    let (first, messages) = match history.messages() {
        [Message::System { .. }, messages @ ..] => (1, messages),
        messages => (0, messages),
    };
    // An agent that sums up works at the place of the turn, where a stored run finds its answer again.
    let work = policy.policy().shorten(messages);
    let Some(kept) = Box::pin(cx.in_answer(turn).enter(work)).await? else {
        return Ok(false);
    };
    check_results(&kept).map_err(|problem| Error::new(ErrorKind::Build, problem))?;
    let same = |(one, other): &(&Message, &Message)| one == other;
    let before = messages.iter().zip(&kept).take_while(same).count();
    let rest = (&messages[before..], &kept[before..]);
    let after = rest.0.iter().rev().zip(rest.1.iter().rev());
    let after = after.take_while(same).count();
    let left_out = messages.len() - before - after;
    if left_out == 0 {
        return Ok(false);
    }
    cx.node.add(Fact::Shortened {
        from: first + before,
        left_out,
        put: kept[before..kept.len() - after].to_vec(),
        tokens,
        window,
    });
    Ok(true)
}
