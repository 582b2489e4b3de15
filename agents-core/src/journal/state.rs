//! State of a run: a fold of its facts.
//!
//! ```text
//! facts, in order ── State::fold ──► State ── next ──► what comes next
//! ```
//!
//! No code here waits, reads a clock or calls user code.

use super::{Call, Doubt, Executions, Finished, Frame, Kept, Offer, Raiser};
use crate::{
    Json,
    budget::Paid,
    deep::deep,
    escalation::{Escalation, EscalationReceipt},
    model::Usage,
    run::{ApprovalDecision, Instruction, Stop, Timestamp, ToolEnvelope},
};
use std::{collections::BTreeMap, sync::Arc, time::Duration};

/// Index of a place in the state of its run.
pub(crate) type PlaceId = u32;

/// State of one run, as the facts of its journal determine it.
#[derive(Clone, Debug, Default)]
#[cfg_attr(any(test, feature = "testing"), derive(serde::Serialize))]
pub(crate) struct State {
    /// Id of the run; `None` until it has started.
    pub(super) run_id: Option<Arc<str>>,
    /// Number of facts that were applied so far.
    pub(crate) seq: u64,
    /// Places of the run, in the order in which they were opened. The first is that of the agent that is run.
    pub(crate) places: Vec<Place>,
    pub(crate) usage: Usage,
    /// Stop of the run; `None` while nothing has stopped it.
    pub(crate) stop: Option<Stop>,
    /// Number of escalations that were raised so far, settled or not; it is also the number of the newest.
    pub(super) raised: u64,
    /// Escalations on their way up the tree of agents, which are not settled.
    pub(crate) open: Vec<Open>,
    /// Receipts of the escalations of the run that are settled: how each ended, such as by the decision of an agent
    /// above.
    pub(crate) settled: Vec<EscalationReceipt>,
    /// End of the run; `None` while it goes on.
    pub(crate) finished: Option<Finished>,
    /// Calls that have ended without knowledge of their effect, each with the place of its agent. A call is taken off
    /// once its effect is known.
    pub(crate) doubts: Vec<(PlaceId, Doubt)>,
    /// Executions so far of tools that write and are not idempotent, so that an equal call is noticed.
    pub(crate) executions: Executions,
    /// Time that the run has worked, without waiting for people, in milliseconds.
    pub(crate) worked: u64,
    /// Is `true` if the run has gone on in another process.
    pub(super) resumed: bool,
    /// Is `true` if the run was put down (stopped to go on later), and has not gone on since.
    pub(super) put_down: bool,
    /// Time of the last fact that was applied, as the fact was stored with it.
    pub(super) last: Timestamp,
    /// Time at which the run began, or went on in this process.
    pub(super) since: Timestamp,
    /// Number of requests for approval on whose decisions the run waits.
    pub(super) asked: u32,
    /// Instructions of people that agents of the run were told, each once, in their order.
    pub(crate) instructions: Vec<Instruction>,
    /// Is `true` if the run is over.
    pub(crate) over: bool,
    /// Tools and answer formats that were offered to models, each kept once.
    pub(crate) offers: Vec<Offer>,
    /// Steps of the run's trace, in the order in which they ended.
    pub(crate) steps: Vec<Kept>,
}

/// Place in a run: the place of an agent, or of the work within one call or answer.
#[derive(Clone, Debug, Default)]
#[cfg_attr(any(test, feature = "testing"), derive(serde::Serialize))]
pub(crate) struct Place {
    pub(crate) key: Box<str>,
    pub(crate) parent: Option<PlaceId>,
    /// Number of agents that the agent here is nested in.
    pub(crate) depth: u32,
    /// Number of places in the run above this one.
    pub(crate) level: u32,
    /// Name of the agent that works at this place.
    pub(crate) agent: Arc<str>,
    pub(crate) frame: Option<Box<Frame>>,
    pub(crate) result: Option<Json>,
    /// Receipts of the agent's calls, each with the number of its call, in the order of these numbers.
    pub(crate) receipts: Vec<(u32, Arc<ToolEnvelope>)>,
    pub(crate) children: BTreeMap<Box<str>, PlaceId>,
    /// Decision about an escalation that put other work in place of the agent's own.
    pub(crate) taken: Option<Box<Taken>>,
    /// Decision of a person whether code may run the agent; `None` if nobody was asked.
    pub(crate) confirmed: Option<ApprovalDecision>,
    /// Is `true` if the agent's result is partial: incomplete, and marked so.
    pub(crate) partial: bool,
    /// Is `true` if a tool that writes has run here or below.
    pub(crate) wrote: bool,
    /// Is `true` if an agent here or below has ended the whole run.
    pub(crate) ended_run: bool,
    /// Working time of the run at which the agent here began, in milliseconds.
    pub(crate) began: u64,
    /// Number of model turns and rounds of calls, at this place and below.
    pub(crate) steps: u32,
    /// Number of tokens that models used at this place and below.
    pub(crate) tokens: u64,
    /// Costs of the models that were asked at this place and below.
    pub(crate) paid: Paid,
}

/// Escalation on its way up the tree of agents, which is not settled.
#[derive(Clone, Debug)]
#[cfg_attr(any(test, feature = "testing"), derive(serde::Serialize))]
pub(crate) struct Open {
    pub(crate) number: u64,
    /// Place in the run where the escalation was raised.
    pub(crate) place: PlaceId,
    /// Subject of the escalation: a call or the answer of the agent at that place.
    pub(crate) of: Raiser,
    /// Escalation as it was raised, before agents on its way changed it.
    pub(crate) raised: Box<Escalation>,
    /// Escalation as it is now, with the words of the agents on its way.
    pub(crate) escalation: Escalation,
}

/// Decision about an escalation that replaced an agent's own work: by a skill, another agent or a partial result.
#[derive(Clone, Debug)]
#[cfg_attr(any(test, feature = "testing"), derive(serde::Serialize))]
pub(crate) struct Taken {
    /// Receipt of the escalation, which names the skill or the agent that does the work.
    pub(crate) receipt: EscalationReceipt,
    /// Partial result with which the agent ends; `None` if others do the work.
    pub(crate) partial: Option<Json>,
    /// Number of decisions that have replaced the agent's work, this one included.
    pub(crate) count: u32,
}

impl State {
    /// Creates the state of a run of this agent; `key` is the key of the agent's place.
    pub(crate) fn of(key: String, agent: &str) -> Self {
        let place = Place {
            key: key.into(),
            agent: agent.into(),
            ..Place::default()
        };
        State {
            places: vec![place],
            ..State::default()
        }
    }

    pub(crate) fn place(&self, id: PlaceId) -> &Place {
        &self.places[id as usize]
    }

    pub(crate) fn place_mut(&mut self, id: PlaceId) -> &mut Place {
        &mut self.places[id as usize]
    }

    /// Returns the call of this number of the agent at this place; `None` once its model has the result.
    pub(crate) fn call_at(&self, id: PlaceId, seq: u32) -> Option<&Call> {
        let frame = self.place(id).frame.iter();
        let mut calls = frame.flat_map(|frame| frame.under_way());
        calls.find(|call| call.seq == seq)
    }

    /// Returns the schema of a tool's arguments, as it was last offered to a model of the run; `None` if the tool was
    /// not offered.
    #[cfg(feature = "recordings")]
    pub(crate) fn schema_of(&self, tool: &str) -> Option<serde_json::Value> {
        self.offers.iter().rev().find_map(|offer| {
            let tools = offer.tools.to_value().ok()?;
            let mut declared = tools.as_array()?.iter().map(|tool| &tool["function"]);
            let declared = declared.find(|declared| declared["name"] == tool)?;
            Some(declared["parameters"].clone())
        })
    }

    /// Applies `f` to the place and to all places above it.
    pub(super) fn each_up(&mut self, id: PlaceId, mut f: impl FnMut(&mut Place)) {
        let mut at = Some(id);
        while let Some(id) = at {
            let place = self.place_mut(id);
            f(place);
            at = place.parent;
        }
    }

    /// Returns the receipts of the agent at this place and of the agents below it. Each call's receipt is followed by
    /// the receipts of the agents that ran within it. Last come the receipts of agents that ran beside its calls.
    ///
    /// The receipts of one reply are missing until each of its calls is settled or in the background.
    pub(crate) fn receipts(&self, id: PlaceId) -> Vec<Arc<ToolEnvelope>> {
        self.receipts_and(id, false)
    }

    /// Returns the receipts in the order of [`receipts`](Self::receipts), and among them those of a reply of which other
    /// calls are open.
    #[cfg(feature = "recordings")]
    pub(crate) fn receipts_so_far(&self, id: PlaceId) -> Vec<Arc<ToolEnvelope>> {
        self.receipts_and(id, true)
    }

    fn receipts_and(&self, id: PlaceId, of_open_replies: bool) -> Vec<Arc<ToolEnvelope>> {
        let place = self.place(id);
        let frame = place.frame.iter().filter(|_| of_open_replies);
        let calls = frame.flat_map(|frame| &frame.calls);
        let waiting = calls.filter_map(|call| Some((call.seq, call.receipt.as_ref()?)));
        let answered = place.receipts.iter().map(|(seq, receipt)| (*seq, receipt));
        let mut own: Vec<_> = answered.chain(waiting).collect();
        // A call in the background may have been made before, and end later.
        own.sort_by_key(|(seq, _)| *seq);
        let mut all = Vec::with_capacity(own.len());
        let mut below: Vec<_> = place.children.values().copied().collect();
        // Within one call, the order of the keys is that of its rounds.
        below.sort_by_key(|child| self.place(*child).call().unwrap_or(u32::MAX));
        let mut below = below.into_iter().peekable();
        let within = |child| deep(|| self.receipts_and(child, of_open_replies));
        for (seq, receipt) in own {
            all.push(receipt.clone());
            while let Some(child) =
                below.next_if(|child| self.place(*child).call().is_some_and(|of| of <= seq))
            {
                all.extend(within(child));
            }
        }
        all.extend(below.flat_map(within));
        all
    }

    /// Returns the places of the work within this call, one for each of its rounds.
    fn within(&self, id: PlaceId, seq: u32) -> impl Iterator<Item = PlaceId> {
        let call = format!("call{seq:04}.");
        let children = self.place(id).children.iter();
        let within = children.filter(move |(key, _)| key.starts_with(&call));
        within.map(|(_, child)| *child)
    }

    /// Returns the number of calls that the agents within this call have made, settled or not.
    pub(crate) fn calls_within(&self, id: PlaceId, seq: u32) -> usize {
        self.within(id, seq).map(|child| self.calls(child)).sum()
    }

    /// Returns `true` if an agent within this call has ended the whole run.
    pub(crate) fn ended_within(&self, id: PlaceId, seq: u32) -> bool {
        self.within(id, seq)
            .any(|child| self.place(child).ended_run)
    }

    /// Returns the number of tokens that were used within this call.
    pub(crate) fn tokens_within(&self, id: PlaceId, seq: u32) -> u64 {
        self.within(id, seq)
            .map(|child| self.place(child).tokens)
            .sum()
    }

    /// Returns the costs of the models that were asked within this call.
    pub(crate) fn paid_within(&self, id: PlaceId, seq: u32) -> Paid {
        let mut paid = Paid::default();
        self.within(id, seq)
            .for_each(|child| paid.join(self.place(child).paid));
        paid
    }

    /// Returns the number of calls that the agents here and below have made.
    fn calls(&self, id: PlaceId) -> usize {
        let place = self.place(id);
        let open = place.frame.iter().flat_map(|frame| frame.under_way());
        let below = place.children.values();
        let below = below.map(|child| deep(|| self.calls(*child)));
        place.receipts.len() + open.count() + below.sum::<usize>()
    }

    /// Returns the time that the agent here had worked when the run last went on in another process. The time is zero
    /// if the run has had one process only, whose stopwatches measure the time.
    pub(crate) fn worked_before(&self, id: PlaceId) -> Duration {
        let worked = self.worked.saturating_sub(self.place(id).began);
        Duration::from_millis(if self.resumed { worked } else { 0 })
    }

    /// Returns the path of a place, from the root of the run.
    pub(crate) fn path(&self, id: PlaceId) -> Path<'_> {
        Path(self, id)
    }

    /// Returns `true` if an agent of the run was told an instruction with the id of this one; `false` if it has no id.
    pub(crate) fn knows(&self, instruction: &Instruction) -> bool {
        let mut told = self.instructions.iter();
        instruction.id.is_some() && told.any(|one| one.id == instruction.id)
    }
}

impl Place {
    /// Returns the number of the call if this is the place of the work within a call; else `None`. The key of an
    /// agent's place is told apart by the `#` before its digest.
    pub(crate) fn call(&self) -> Option<u32> {
        let (call, attempt) = self.key.strip_prefix("call")?.split_once('.')?;
        (!attempt.contains('#')).then(|| call.parse().ok())?
    }

    /// Returns `true` if the place is that of the work on an answer.
    #[cfg(feature = "recordings")]
    pub(crate) fn is_of_an_answer(&self) -> bool {
        self.key.starts_with("turn") && !self.key.contains('#')
    }
}

/// Path of a place in the state, which is only put together when it is formatted.
pub(crate) struct Path<'a>(&'a State, PlaceId);

impl std::fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Path(state, id) = *self;
        let place = state.place(id);
        // From above, without recursion: runs may be deep.
        for up in (0..=place.level).rev() {
            let above = (0..up).fold(place, |place, _| match place.parent {
                Some(parent) => state.place(parent),
                None => place,
            });
            if above.parent.is_some() {
                f.write_str("/")?;
            }
            f.write_str(&above.key)?;
        }
        Ok(())
    }
}
