//! Types at the two edges of an agent.

use super::asserts;
use crate::model::Agent;
use proc_macro2::TokenStream;

/// The input and output types of an agent, and their bounds.
pub(super) struct Edges {
    pub(super) input: TokenStream,
    pub(super) output: TokenStream,
    pub(super) bounds: Vec<TokenStream>,
}

pub(super) fn edges(agent: &Agent) -> Edges {
    let output = asserts::value(&agent.output);
    let bound = agent.output_bound();
    let mut bounds = vec![asserts::bound(&agent.input, "AgentData")];
    let given = asserts::bound(&output, bound);
    if given.to_string() != bounds[0].to_string() {
        bounds.push(given);
    }
    let faults = agent.returned().into_iter().filter_map(asserts::fault);
    bounds.extend(faults.map(|fault| asserts::bound(&fault, "AgentFault")));
    Edges {
        input: asserts::through(&agent.input, "AgentData"),
        bounds,
        output: asserts::through(&output, bound),
    }
}
