//! Where a run stands: a tree of nodes that can be written down.

mod bounds;
mod calls;
mod path;

pub(super) use path::Path;

use super::{Budget, Frame, Taken, ToolEnvelope, Within, kept::Worker};
use crate::{Json, budget::Paid, hex::hex, model::Model};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed},
    },
};

/// One agent's place in a run, or one call's.
#[derive(Default)]
pub(crate) struct Node {
    key: Box<str>,
    parent: Weak<Node>,
    /// How many agents are around this one.
    depth: u32,
    /// How many nodes are above this one.
    level: u32,
    /// The agent that works here.
    agent: OnceLock<Arc<str>>,
    /// The same in words, once there was a step.
    worker: OnceLock<Arc<Worker>>,
    /// How much it may use; set when a model begins to drive it.
    budget: OnceLock<Budget>,
    /// How much the whole run may use; at the root only.
    run_budget: OnceLock<Budget>,
    /// How much the places in teams allow that this agent has.
    places: Mutex<Vec<Budget>>,
    /// What ended the run was here or below.
    ended_run: AtomicBool,
    steps: AtomicU32,
    tokens: AtomicU64,
    paid: Mutex<Paid>,
    state: Mutex<State>,
}

/// What is stored of a node: data alone.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) frame: Option<Frame>,
    result: Option<Json>,
    receipts: Vec<Arc<ToolEnvelope>>,
    children: BTreeMap<Box<str>, Arc<Node>>,
    /// How the agent here was taken off its work.
    taken: Option<Box<Taken>>,
    /// The result is not all that was asked for.
    partial: bool,
    /// The model that the agent here was given because it failed.
    given: Option<Arc<dyn Model>>,
    /// Why the work here is being dropped, while it is.
    left: Option<Arc<str>>,
    /// How often each agent was run here with each input.
    seen: BTreeMap<Box<str>, u32>,
}

/// A node, written down.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct StoredNode {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    frame: Option<Frame>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    result: Option<Json>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    receipts: Vec<Arc<ToolEnvelope>>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    children: BTreeMap<Box<str>, StoredNode>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    taken: Option<Box<Taken>>,
    #[serde(default)]
    partial: bool,
    #[serde(default)]
    depth: u32,
    #[serde(default)]
    steps: u32,
    #[serde(default)]
    tokens: u64,
    #[serde(default)]
    paid: Paid,
}

impl Node {
    /// The root of a run; of one within another run, named by its place there.
    pub(crate) fn root(place: String) -> Arc<Node> {
        Arc::new(Node {
            key: place.into(),
            ..Node::default()
        })
    }

    pub(crate) fn load(stored: StoredNode) -> Arc<Node> {
        Self::load_at(stored, "".into(), Weak::new(), 0)
    }

    fn load_at(stored: StoredNode, key: Box<str>, parent: Weak<Node>, level: u32) -> Arc<Node> {
        let StoredNode {
            frame,
            result,
            receipts,
            children,
            taken,
            partial,
            depth,
            steps,
            tokens,
            paid,
        } = stored;
        Arc::new_cyclic(|me: &Weak<Node>| {
            let children = children
                .into_iter()
                .map(|(key, child)| {
                    (
                        key.clone(),
                        Self::load_at(child, key, me.clone(), level + 1),
                    )
                })
                .collect();
            Node {
                key,
                parent,
                depth,
                level,
                agent: OnceLock::new(),
                worker: OnceLock::new(),
                budget: OnceLock::new(),
                run_budget: OnceLock::new(),
                places: Mutex::default(),
                ended_run: AtomicBool::new(false),
                steps: AtomicU32::new(steps),
                tokens: AtomicU64::new(tokens),
                paid: Mutex::new(paid),
                state: Mutex::new(State {
                    frame,
                    result,
                    receipts,
                    children,
                    taken,
                    partial,
                    given: None,
                    left: None,
                    seen: BTreeMap::new(),
                }),
            }
        })
    }

    pub(crate) fn save(&self) -> StoredNode {
        let state = self.state();
        StoredNode {
            frame: state.frame.clone(),
            result: state.result.clone(),
            receipts: state.receipts.clone(),
            children: state
                .children
                .iter()
                .map(|(key, child)| (key.clone(), child.save()))
                .collect(),
            taken: state.taken.clone(),
            partial: state.partial,
            depth: self.depth,
            steps: self.steps.load(Relaxed),
            tokens: self.tokens.load(Relaxed),
            paid: self.paid(),
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        // A panic cannot leave a state half changed: every change is one assignment.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the frame of a model-driven agent.
    pub(crate) fn with_frame<R>(&self, f: impl FnOnce(&mut Frame) -> R) -> R {
        f(self.state().frame.get_or_insert_default())
    }

    /// The place of what runs within something that this agent does. Each has its own, so that an agent
    /// that is run again there, when a stored run goes on, is the first of its input again.
    pub(crate) fn inside(self: &Arc<Self>, within: Within) -> Arc<Node> {
        self.child(&within.to_string(), self.depth)
    }

    /// The same, if anything has run there.
    pub(crate) fn known(&self, within: Within) -> Option<Arc<Node>> {
        let state = self.state();
        // Mostly nothing has; then the key need not be written.
        (!state.children.is_empty())
            .then(|| state.children.get(within.to_string().as_str()).cloned())
            .flatten()
    }

    /// The place of what goes on here beside what went on before.
    pub(crate) fn beside(self: &Arc<Self>, what: &str) -> Arc<Node> {
        let child = self.child(what, self.depth);
        child.name(&self.agent());
        child
    }

    /// Whether the agent of `other` works here: at its own place, or beside it after an escalation.
    pub(crate) fn continues(self: &Arc<Self>, other: &Arc<Node>) -> bool {
        let beside = || {
            let above = self.parent.upgrade();
            above.is_some_and(|above| Arc::ptr_eq(&above, other)) && self.depth == other.depth
        };
        Arc::ptr_eq(self, other) || beside() && !self.is_call()
    }

    fn child(self: &Arc<Self>, key: &str, depth: u32) -> Arc<Node> {
        let mut state = self.state();
        if let Some(child) = state.children.get(key) {
            return child.clone();
        }
        let parent = Arc::downgrade(self);
        let child = Arc::new(Node {
            key: key.into(),
            parent,
            depth,
            level: self.level + 1,
            ..Node::default()
        });
        state.children.insert(key.into(), child.clone());
        child
    }

    /// The child for the next run of `agent` with this input: who and what, not when, so that a
    /// replay in another order finds the same one.
    pub(crate) fn agent_child(self: &Arc<Self>, agent: &str, input: &str) -> Arc<Node> {
        let digest = hmac_sha256::Hash::hash(input.as_bytes());
        let key = format!("{agent}#{}", hex(&digest[..4]));
        let nth = {
            let mut state = self.state();
            let seen = state.seen.entry(key.as_str().into()).or_default();
            *seen += 1;
            *seen
        };
        let child = self.child(&format!("{key}.{nth:02}"), self.depth + 1);
        child.name(agent);
        child
    }

    pub(crate) fn result(&self) -> Option<Json> {
        self.state().result.clone()
    }

    /// The agent is done: its answer and its receipts stay, the way to them goes.
    pub(crate) fn finish(&self, result: Json) {
        let receipts = self.receipts();
        let mut state = self.state();
        *state = State {
            result: Some(result),
            receipts,
            partial: state.partial,
            ..State::default()
        };
    }

    pub(crate) fn add_receipt(&self, receipt: Arc<ToolEnvelope>) {
        self.state().receipts.push(receipt);
    }

    pub(crate) fn children(&self) -> Vec<Arc<Node>> {
        self.state().children.values().cloned().collect()
    }

    /// The receipts of this agent and of those below: each call's, then those of the agents that ran
    /// within it, then the next call's; and then those of agents that ran beside its calls.
    pub(crate) fn receipts(&self) -> Vec<Arc<ToolEnvelope>> {
        let state = self.state();
        let mut all = Vec::with_capacity(state.receipts.len());
        let mut below: Vec<_> = state.children.values().collect();
        // Of one call's, the order of the keys is that of its attempts.
        below.sort_by_key(|child| child.call().unwrap_or(u32::MAX));
        let mut below = below.into_iter().peekable();
        for (seq, receipt) in (0..).zip(&state.receipts) {
            all.push(receipt.clone());
            while let Some(child) = below.next_if(|child| child.call() == Some(seq)) {
                all.extend(child.receipts());
            }
        }
        all.extend(below.flat_map(|child| child.receipts()));
        all
    }

    /// Says who works here; the first word counts.
    pub(crate) fn name(&self, agent: &str) {
        self.agent.get_or_init(|| agent.into());
    }

    pub(crate) fn agent(&self) -> Arc<str> {
        self.agent.get().cloned().unwrap_or_default()
    }

    /// Who works here, and where that is.
    pub(crate) fn worker(&self) -> Arc<Worker> {
        let worker = self.worker.get_or_init(|| {
            Arc::new(Worker {
                place: self.path().to_string(),
                agent: self.agent(),
                depth: self.depth,
            })
        });
        worker.clone()
    }

    /// How the agent here was taken off its work, if it was.
    pub(crate) fn taken(&self) -> Option<Taken> {
        self.state().taken.as_deref().cloned()
    }

    pub(crate) fn take(&self, taken: Taken) {
        self.state().taken = Some(Box::new(taken));
    }

    /// The model that the agent here was given because it failed.
    pub(crate) fn given(&self) -> Option<Arc<dyn Model>> {
        self.state().given.clone()
    }

    pub(crate) fn give(&self, model: Arc<dyn Model>) {
        self.state().given = Some(model);
    }

    /// What the agent here gives is not all that was asked for.
    pub(crate) fn mark_partial(&self) {
        self.state().partial = true;
    }

    /// Whoever ran the agent here has what it gives: if that is partial, so is what is made of it by those
    /// who look no closer. A call's model is told, so it ends there; and never above the level `top`.
    pub(crate) fn hand_up_partial(&self, top: u32) {
        if !self.is_partial() || self.is_call() {
            return;
        }
        let above = self.parent.upgrade();
        let Some(above) = above.filter(|above| above.level >= top) else {
            return;
        };
        above.mark_partial();
        // What an agent does beside its own place it gives from there.
        let agent = above.parent.upgrade();
        if agent.is_some_and(|agent| above.continues(&agent)) {
            above.hand_up_partial(top);
        }
    }

    /// Why the work here, and all within it, is about to be dropped.
    pub(crate) fn leave(&self, why: &str) {
        self.state().left = Some(why.into());
    }

    /// Why the work here or around it is being dropped, if somebody has said so.
    pub(crate) fn why_left(&self) -> Option<Arc<str>> {
        let here = self.state().left.clone();
        here.or_else(|| self.parent.upgrade()?.why_left())
    }

    /// What was left is gone; other work may begin here.
    pub(crate) fn stay(&self) {
        self.state().left = None;
    }

    /// What was given before counts no longer.
    pub(crate) fn begin_anew(&self) {
        self.stay();
        self.state().partial = false;
    }

    pub(crate) fn is_partial(&self) -> bool {
        self.state().partial
    }

    pub(crate) fn depth(&self) -> u32 {
        self.depth
    }

    pub(crate) fn level(&self) -> u32 {
        self.level
    }

    /// The place in the tree, for digests and clock readings; empty at the root.
    pub(crate) fn path(&self) -> Path<'_> {
        Path::of(self)
    }
}
