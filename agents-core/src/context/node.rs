//! Handle to a place in a run.

use super::{PassedLimit, Within, machine::Machine};
use crate::{
    Json,
    budget::{Cost, Paid},
    hex::hex,
    journal::{After, Fact, Frame, PlaceId, Taken},
    model::Model,
    run::{ApprovalDecision, Budget, Limit},
    shared::Shared,
};
use serde_json::Value;
use std::{
    fmt,
    sync::{Arc, OnceLock},
    time::Duration,
};

/// Place of an agent, a call or an answer in a run: a handle, whose data is in the state of the run.
pub(crate) struct Node {
    machine: Shared<Machine>,
    id: PlaceId,
    key: Box<str>,
    parent: Option<Arc<Node>>,
    /// Number of agents that this one is nested in.
    depth: u32,
    /// Number of places in the run above this one.
    level: u32,
    agent: OnceLock<Arc<str>>,
}

impl Node {
    /// Returns the handle to the root of a run: the place of its agent.
    pub(crate) fn root(machine: Shared<Machine>) -> Arc<Node> {
        let (key, agent) = machine.place(0, |place| (place.key.clone(), place.agent.clone()));
        Arc::new(Node {
            machine,
            id: 0,
            key,
            parent: None,
            depth: 0,
            level: 0,
            agent: OnceLock::from(agent),
        })
    }

    pub(crate) fn machine(&self) -> &Shared<Machine> {
        &self.machine
    }

    /// Adds a fact about the agent or the call at this place.
    pub(crate) fn add(&self, fact: Fact) -> After {
        self.machine.add(self.id, fact)
    }

    /// Returns the number of the offer that a model is given here: its tools and the format of its answer.
    pub(crate) fn offer(&self, tools: &str, format: Option<&Value>) -> u32 {
        self.machine.offer(self.id, tools, format)
    }

    /// Passes the state of the model-driven agent here to `f`; an empty state if there is none.
    pub(crate) fn frame<R>(&self, f: impl FnOnce(&Frame) -> R) -> R {
        self.machine.place(self.id, |place| match &place.frame {
            Some(frame) => f(frame),
            None => f(&Frame::default()),
        })
    }

    /// Returns the place of work within one call or one answer of this agent.
    ///
    /// Each round of a call and each answer has a place of its own. So an agent that runs again there, when a stored
    /// run goes on, is again the first one with its input.
    pub(crate) fn inside(self: &Arc<Self>, within: Within) -> Arc<Node> {
        self.child(&within.to_string(), self.depth, None)
    }

    /// Returns the place of work within one call or one answer of this agent, if it was opened before.
    pub(crate) fn known(self: &Arc<Self>, within: Within) -> Option<Arc<Node>> {
        // Mostly nothing has run there; then the key need not be written.
        let any = self
            .machine
            .place(self.id, |place| !place.children.is_empty());
        if !any {
            return None;
        }
        let key = within.to_string();
        let id = self.machine.child(self.id, &key)?;
        Some(self.handle(id, &key, self.depth, None))
    }

    /// Returns a place beside this one, for work that does not continue the work that went on here before.
    pub(crate) fn beside(self: &Arc<Self>, what: &str) -> Arc<Node> {
        let agent = self.agent();
        self.child(what, self.depth, Some(&agent))
    }

    /// Returns `true` if the agent that works here is the one of `other`: at its own place, or beside it after an
    /// escalation.
    pub(crate) fn continues(&self, other: &Node) -> bool {
        let is_beside = || {
            let above = self.parent.as_ref();
            above.is_some_and(|above| above.id == other.id) && self.depth == other.depth
        };
        self.id == other.id || is_beside() && !self.is_call()
    }

    fn child(self: &Arc<Self>, key: &str, depth: u32, agent: Option<&Arc<str>>) -> Arc<Node> {
        let id = self.machine.open(self.id, key, depth, agent);
        self.handle(id, key, depth, agent)
    }

    fn handle(
        self: &Arc<Self>,
        id: PlaceId,
        key: &str,
        depth: u32,
        agent: Option<&Arc<str>>,
    ) -> Arc<Node> {
        Arc::new(Node {
            machine: self.machine.clone(),
            id,
            key: key.into(),
            parent: Some(self.clone()),
            depth,
            level: self.level + 1,
            agent: agent.map_or_else(OnceLock::new, |agent| OnceLock::from(agent.clone())),
        })
    }

    /// Returns a handle to another place of the same run.
    pub(crate) fn at(self: &Arc<Self>, id: PlaceId) -> Arc<Node> {
        if id == self.id {
            return self.clone();
        }
        let (key, parent, depth) = self
            .machine
            .place(id, |place| (place.key.clone(), place.parent, place.depth));
        match parent {
            Some(parent) => self.at(parent).handle(id, &key, depth, None),
            None => Node::root(self.machine.clone()),
        }
    }

    /// Returns the place for the next run of `agent` with this input. Its key tells the agent and the input and not the
    /// time, so that the same place is found if runs begin in another order.
    pub(crate) fn agent_child(self: &Arc<Self>, agent: &str, input: &str) -> Arc<Node> {
        let digest = hmac_sha256::Hash::hash(input.as_bytes());
        let key = format!("{agent}#{}", hex(&digest[..4]));
        let nth = self.machine.nth(self.id, &key);
        let key = format!("{key}.{nth:02}");
        self.child(&key, self.depth.saturating_add(1), Some(&agent.into()))
    }

    pub(crate) fn result(&self) -> Option<Json> {
        self.machine.place(self.id, |place| place.result.clone())
    }

    /// Returns the places directly below this one in the tree of the run.
    pub(crate) fn children(self: &Arc<Self>) -> Vec<Arc<Node>> {
        let below = self.machine.look(|state| {
            let below = state.place(self.id).children.values();
            let below = below.map(|id| (*id, state.place(*id)));
            let below = below.map(|(id, place)| (id, place.key.clone(), place.depth));
            below.collect::<Vec<_>>()
        });
        let below = below.into_iter();
        below
            .map(|(id, key, depth)| self.handle(id, &key, depth, None))
            .collect()
    }

    /// Returns the name of the agent that works here.
    pub(crate) fn agent(&self) -> Arc<str> {
        let agent = || self.machine.place(self.id, |place| place.agent.clone());
        self.agent.get_or_init(agent).clone()
    }

    /// Returns the decision of a person whether code may run the agent here; `None` if nobody was asked.
    pub(crate) fn confirmed(&self) -> Option<ApprovalDecision> {
        self.machine.place(self.id, |place| place.confirmed.clone())
    }

    /// Returns the decision that replaced the agent's own work here after an escalation, if there is one.
    pub(crate) fn taken(&self) -> Option<Taken> {
        self.machine
            .place(self.id, |place| place.taken.as_deref().cloned())
    }

    /// Returns the model that a handler gave to the agent here after an escalation, if one did.
    pub(crate) fn given(&self) -> Option<Arc<dyn Model>> {
        self.machine.given(self.id)
    }

    pub(crate) fn give(&self, model: Arc<dyn Model>) {
        self.machine.give(self.id, model);
    }

    /// Records that the result of the agent here is only a part of what was asked for.
    pub(crate) fn mark_partial(&self) {
        if !self.is_partial() {
            self.add(Fact::Partial);
        }
    }

    /// Marks the result of the caller of the agent here as partial too, if the result of this agent is partial.
    ///
    /// The caller has this result, and its own result rests on it unless it looks closer. The marking ends at a call,
    /// whose model is told of the partial result, and never goes above the level `top`.
    pub(crate) fn hand_up_partial(&self, top: u32) {
        if !self.is_partial() || self.is_call() {
            return;
        }
        let above = self.parent.as_ref();
        let Some(above) = above.filter(|above| above.level >= top) else {
            return;
        };
        above.mark_partial();
        // An agent gives what it did beside its own place from its own place.
        let agent = above.parent.as_ref();
        if agent.is_some_and(|agent| above.continues(agent)) {
            above.hand_up_partial(top);
        }
    }

    /// Sets the reason for which the work here, and all work within it, is about to be dropped.
    pub(crate) fn abandon(&self, why: &str) {
        self.machine.abandon(self.id, Some(why));
    }

    /// Returns the reason for which the work here, or work around it, is being dropped, if one was set.
    pub(crate) fn reason_abandoned(&self) -> Option<Arc<str>> {
        self.machine.reason_abandoned(self.id)
    }

    /// Lets other work begin at this place, after earlier work was dropped: the reason that [`abandon`](Node::abandon)
    /// has set is forgotten.
    pub(crate) fn begin_other_work(&self) {
        self.machine.abandon(self.id, None);
    }

    /// Lets the work at this place begin anew, so that its result is not partial because an earlier one was.
    pub(crate) fn begin_anew(&self) {
        self.begin_other_work();
        if self.is_partial() {
            self.add(Fact::Anew);
        }
    }

    pub(crate) fn is_partial(&self) -> bool {
        self.machine.place(self.id, |place| place.partial)
    }

    /// Returns the ids of the calls of this run that are in doubt: they may have taken effect, and nobody has found
    /// out.
    pub(crate) fn calls_in_doubt(&self) -> Vec<Box<str>> {
        self.machine.look(|state| {
            let doubts = state.doubts.iter();
            doubts.map(|(_, doubt)| (*doubt.call).into()).collect()
        })
    }

    pub(crate) fn depth(&self) -> u32 {
        self.depth
    }

    pub(crate) fn level(&self) -> u32 {
        self.level
    }

    /// Returns `true` if this is the place of a tool call, and not that of an agent.
    fn is_call(&self) -> bool {
        self.machine.place(self.id, |place| place.call().is_some())
    }

    /// Sets the budget of the agent that works here, unless it is set already.
    pub(crate) fn bound(&self, budget: &Budget) {
        self.machine.bound(self.id, budget);
    }

    /// Sets the budget of the whole run that begins here: it bounds everything here and below.
    pub(crate) fn bound_run(&self, budget: &Budget) {
        self.machine.bound_run(self.id, budget);
    }

    /// Adds the bounds that the agent here, and everything below it, has by a place in a team.
    pub(crate) fn bound_place(&self, budget: &Budget) {
        self.machine.bound_place(self.id, budget);
    }

    /// Describes a bound of the agent here that was passed, for the error.
    pub(crate) fn passed(&self, limit: Limit) -> PassedLimit {
        PassedLimit {
            agent: self.agent(),
            limit,
            level: self.level,
        }
    }

    /// Returns the bound on turns and rounds of calls that another turn of a model would pass, with the agent whose
    /// bound it is; `None` if it would pass no bound.
    pub(crate) fn one_more_step(&self) -> Option<PassedLimit> {
        self.machine.one_more_step(self.id)
    }

    /// Returns the bound on turns and rounds of calls that is passed, with the agent whose bound it is; `None` if none
    /// is.
    pub(crate) fn stepped_over(&self) -> Option<PassedLimit> {
        self.machine.stepped_over(self.id)
    }

    /// Returns the number of tokens that models used here and below.
    pub(crate) fn spent(&self) -> u64 {
        self.machine.place(self.id, |place| place.tokens)
    }

    /// Returns the number of tokens that models used within the call `seq` of the agent here.
    pub(crate) fn spent_within(&self, seq: u32) -> u64 {
        self.machine.look(|state| state.tokens_within(self.id, seq))
    }

    /// Returns the amount paid within the call `seq` of the agent here; `None` if a model that was asked there has no
    /// price.
    pub(crate) fn paid_within(&self, seq: u32) -> Option<Cost> {
        self.machine
            .look(|state| state.paid_within(self.id, seq))
            .total()
    }

    /// Returns the costs of the models asked here and below.
    pub(crate) fn paid(&self) -> Paid {
        self.machine.place(self.id, |place| place.paid)
    }

    /// Returns `true` if a bound on cost applies here, of this place or of one above it.
    pub(crate) fn has_cost_bound(&self) -> bool {
        self.machine.has_cost_bound(self.id)
    }

    /// Returns the bound on tokens or cost that is used up, with the agent whose bound it is; `None` if none is.
    pub(crate) fn overspent(&self) -> Option<PassedLimit> {
        self.machine.overspent(self.id)
    }

    /// Returns the bound on depth that an agent here passes, with the agent whose bound it is; `None` if it passes
    /// none.
    pub(crate) fn too_deep(&self) -> Option<PassedLimit> {
        self.machine.too_deep(self.id)
    }

    /// Returns the part of `time` that is left to the agent here. The time for which it worked in an earlier process
    /// is taken off.
    pub(crate) fn left_of(&self, time: Duration) -> Duration {
        let worked = self.machine.look(|state| state.worked_before(self.id));
        time.saturating_sub(worked)
    }

    /// Returns the index of the place in the state of the run.
    pub(crate) fn id(&self) -> PlaceId {
        self.id
    }

    /// Returns the path of the place, for digests and records. At the root it is empty or, in a nested run, the path of
    /// that run's place in the outer run.
    pub(crate) fn path(&self) -> Path<'_> {
        Path(self)
    }
}

/// Path of a place in the run, which is only put together when it is formatted.
pub(crate) struct Path<'a>(&'a Node);

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // From above, without recursion: runs may be deep.
        for up in (0..=self.0.level).rev() {
            let above = (0..up).fold(self.0, |node, _| node.parent.as_deref().unwrap_or(node));
            if above.parent.is_some() {
                f.write_str("/")?;
            }
            f.write_str(&above.key)?;
        }
        Ok(())
    }
}
