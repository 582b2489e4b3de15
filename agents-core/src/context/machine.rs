//! State machine of a run: the run's one state and one journal, behind one lock.
//!
//! Every change of the state is a fact, as [`Machine::add`] takes it: the fact is folded into the state and, in a run
//! with a journal, is stored unless it changes nothing.

use super::{Audience, PassedLimit, Past, Writer, wording};
use crate::{
    Json,
    budget::Cost,
    journal::{After, Fact, JournalError, Offer, Place, PlaceId, Projection, State},
    model::Model,
    run::{Budget, Clock, Event, Limit, Stop},
    shared::Shared,
};
use serde_json::Value;
use std::{
    borrow::Cow,
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::Notify;

/// State of a run that goes on in this process, behind a lock. Facts are added here, and change the state.
pub(crate) struct Machine {
    inner: Mutex<Inner>,
    pub(super) audience: Audience,
}

struct Inner {
    state: State,
    /// Data of each place that belongs to this process, by the index of the place.
    live: Vec<Live>,
    projection: Projection,
    clock: Arc<dyn Clock>,
    /// Wakes the task that polls the run once the run is stopped.
    notify: Arc<Notify>,
    past: Arc<Past>,
    /// Writer that stores the facts, and the number of the run in its journal; `None` without a journal.
    writer: Option<(Arc<Writer>, u32)>,
    /// Copy of the facts, for a check that they lead to the same state again.
    #[cfg(any(test, feature = "testing"))]
    kept: Option<Kept>,
}

/// State with which a run began in this process, and its facts since, for a check in tests.
#[cfg(any(test, feature = "testing"))]
struct Kept {
    before: State,
    facts: Vec<(PlaceId, crate::run::Timestamp, String)>,
}

/// Data of a place in the run that belongs to this process and is not stored.
#[derive(Default)]
struct Live {
    /// Model that a handler gave to the agent here because it had failed.
    given: Option<Arc<dyn Model>>,
    /// Reason for which the work here is being dropped, while it is.
    abandoned: Option<Arc<str>>,
    /// Bounds of the agent that works here.
    budget: Option<Budget>,
    /// Bounds of the whole run; at the root only.
    run_budget: Option<Budget>,
    /// Bounds that the agent has through its places in teams.
    places: Vec<Budget>,
    /// Number of runs that each agent had below this place with each input, by a key of both.
    seen: BTreeMap<Box<str>, u32>,
}

impl Machine {
    pub(crate) fn new(
        state: State,
        projection: Projection,
        clock: Arc<dyn Clock>,
        notify: Arc<Notify>,
        past: Arc<Past>,
        writer: Option<(Arc<Writer>, u32)>,
        audience: Audience,
    ) -> Shared<Machine> {
        Shared::new(Machine {
            audience,
            inner: Mutex::new(Inner {
                #[cfg(any(test, feature = "testing"))]
                kept: crate::checks::checks_runs().then(|| Kept {
                    before: state.clone(),
                    facts: Vec::new(),
                }),
                state,
                live: Vec::new(),
                projection,
                clock,
                notify,
                past,
                writer,
            }),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a fact about the agent, the call or the answer at this place.
    pub(crate) fn add(&self, place: PlaceId, fact: Fact) -> After {
        let audience = Some(&self.audience).filter(|audience| audience.listens());
        let mut events = Vec::new();
        let told = audience.map(|audience| (audience, &mut events));
        let after = self.lock().add_and_tell(place, fact, told);
        // Subscribers are user code: they are told without the lock.
        for event in &events {
            self.audience.tell(event);
        }
        after
    }

    /// Waits until all facts so far are stored; does nothing without a journal.
    pub(crate) async fn store(&self) -> Result<(), JournalError> {
        let writer = self.lock().writer.clone();
        match writer {
            Some((writer, _)) => writer.store().await,
            None => Ok(()),
        }
    }

    /// Puts the run down: it stops in this process and can go on later. Later facts are ignored. Returns when all facts
    /// so far are stored.
    pub(crate) async fn put_down(&self) -> Result<(), JournalError> {
        let stored = {
            let mut inner = self.lock();
            inner.add(0, Fact::PutDown);
            let writer = inner.writer.clone();
            writer.map(|(writer, _)| writer.put_down())
        };
        match stored {
            Some(stored) => stored.await,
            None => Ok(()),
        }
    }

    /// Stops storing facts, for this reason. The facts so far are stored, and later facts are not.
    pub(crate) fn refuse(&self, why: JournalError) {
        if let Some((writer, _)) = &self.lock().writer {
            writer.refuse(why);
        }
    }

    /// Has all facts so far stored, without waiting for it.
    pub(crate) fn flush(&self) {
        let writer = self.lock().writer.clone();
        if let Some((writer, _)) = writer {
            writer.flush();
        }
    }

    /// Stops the run from outside of its tree, unless it is stopped already.
    pub(crate) fn stop(&self, stop: Stop) {
        let mut inner = self.lock();
        if inner.state.stop.is_none() {
            inner.add(0, Fact::StoppedFromOutside(stop));
        }
    }

    /// Passes the state of the run to `f`, under its lock.
    pub(crate) fn look<R>(&self, f: impl FnOnce(&State) -> R) -> R {
        f(&self.lock().state)
    }

    /// Passes the data of the place with this id to `f`.
    pub(crate) fn place<R>(&self, id: PlaceId, f: impl FnOnce(&Place) -> R) -> R {
        f(self.lock().state.place(id))
    }

    /// Returns the place below `above` with this key, if there is one.
    pub(crate) fn child(&self, above: PlaceId, key: &str) -> Option<PlaceId> {
        self.place(above, |place| place.children.get(key).copied())
    }

    /// Returns the place below `above` with this key, which is opened if there is none. In a run that was dropped, no
    /// place is opened, and `above` is returned.
    pub(crate) fn open(
        &self,
        above: PlaceId,
        key: &str,
        depth: u32,
        agent: Option<&Arc<str>>,
    ) -> PlaceId {
        let mut inner = self.lock();
        if let Some(known) = inner.state.place(above).children.get(key) {
            return *known;
        }
        let fact = Fact::Opened {
            key: key.into(),
            depth,
            agent: agent.cloned(),
        };
        inner.add(above, fact).opened.unwrap_or(above)
    }

    /// Returns the number of an offer to a model (its tools and the format of its answer), which is recorded the first
    /// time.
    pub(crate) fn offer(&self, place: PlaceId, tools: &str, format: Option<&Value>) -> u32 {
        let mut inner = self.lock();
        let offers = &inner.state.offers;
        let known = offers
            .iter()
            .position(|offer| offer.format.as_deref() == format && offer.tools.as_str() == tools);
        let number = known.unwrap_or(offers.len());
        if known.is_none() {
            let offer = Offer {
                tools: Json::parse(tools).unwrap_or_else(|_| Json::null()),
                format: format.cloned().map(Box::new),
            };
            inner.add(place, Fact::Offered(offer));
        }
        u32::try_from(number).unwrap_or(u32::MAX)
    }

    /// Counts one more run below this place with the key `agent`, which is made of the agent's name and its input.
    /// Returns the number of runs with this key so far, this run included.
    pub(crate) fn nth(&self, place: PlaceId, agent: &str) -> u32 {
        let mut inner = self.lock();
        let seen = inner.live(place).seen.entry(agent.into()).or_default();
        *seen += 1;
        *seen
    }

    pub(crate) fn given(&self, place: PlaceId) -> Option<Arc<dyn Model>> {
        self.lock().live(place).given.clone()
    }

    pub(crate) fn give(&self, place: PlaceId, model: Arc<dyn Model>) {
        self.lock().live(place).given = Some(model);
    }

    /// Sets the reason for which the work at this place, and all within it, is about to be dropped; `None` if other
    /// work may begin.
    pub(crate) fn abandon(&self, place: PlaceId, why: Option<&str>) {
        self.lock().live(place).abandoned = why.map(Arc::from);
    }

    /// Returns the reason for which the work at this place or around it is being dropped, if one was given.
    pub(crate) fn reason_abandoned(&self, place: PlaceId) -> Option<Arc<str>> {
        let mut inner = self.lock();
        let mut at = Some(place);
        while let Some(id) = at {
            if let Some(why) = &inner.live(id).abandoned {
                return Some(why.clone());
            }
            at = inner.state.place(id).parent;
        }
        None
    }

    /// Sets the bounds of the agent that works here, unless they are set already.
    pub(crate) fn bound(&self, place: PlaceId, budget: &Budget) {
        let mut inner = self.lock();
        inner
            .live(place)
            .budget
            .get_or_insert_with(|| budget.clone());
    }

    /// Sets the bounds of the whole run that begins at this place.
    pub(crate) fn bound_run(&self, place: PlaceId, budget: &Budget) {
        self.lock().live(place).run_budget = Some(budget.clone());
    }

    /// Adds bounds from a place in a team, for the agent that works here and all below it.
    pub(crate) fn bound_place(&self, place: PlaceId, budget: &Budget) {
        self.lock().live(place).places.push(budget.clone());
    }

    /// Returns the bound on steps (turns and rounds of calls) that one more step would pass, with the agent whose
    /// bound it is; `None` if one more step would pass no bound.
    pub(crate) fn one_more_step(&self, place: PlaceId) -> Option<PassedLimit> {
        self.steps(place, |steps, bound| steps >= bound)
    }

    /// Returns the bound on steps (turns and rounds of calls) that is passed, with the agent whose bound it is; `None`
    /// if none is.
    pub(crate) fn stepped_over(&self, place: PlaceId) -> Option<PassedLimit> {
        self.steps(place, |steps, bound| steps > bound)
    }

    /// Returns the outermost bound on steps (turns and rounds of calls) for which `is_passed` returns `true`, given
    /// the number of steps and the bound.
    fn steps(&self, place: PlaceId, is_passed: impl Fn(u32, u32) -> bool) -> Option<PassedLimit> {
        self.lock().passed(place, |_, place, live| {
            let own = live.budget.as_ref().map(Budget::recursion);
            let bound = own.or_else(|| live.places.iter().filter_map(Budget::own_recursion).min());
            let passed = bound.filter(|bound| is_passed(place.steps, *bound));
            passed.map(Limit::Recursion)
        })
    }

    /// Returns the bound on tokens or cost that is used up, with the agent whose bound it is; `None` if none is.
    pub(crate) fn overspent(&self, place: PlaceId) -> Option<PassedLimit> {
        self.lock().passed(place, |_, place, live| {
            let paid = place.paid.known();
            let cost = live.shared(|budget| budget.cost);
            let cost = cost.filter(|bound: &Cost| paid >= *bound);
            let tokens = live.shared(|budget| budget.tokens);
            let tokens = tokens.filter(|bound| place.tokens >= *bound);
            cost.map(Limit::Cost).or(tokens.map(Limit::Tokens))
        })
    }

    /// Returns the bound on depth that an agent at this place passes, with the agent whose bound it is; `None` if it
    /// passes none.
    pub(crate) fn too_deep(&self, place: PlaceId) -> Option<PassedLimit> {
        let depth = self.place(place, |place| place.depth);
        self.lock().passed(place, |_, place, live| {
            let bound = live.shared(|budget| budget.depth);
            let passed = bound.filter(|bound| depth.saturating_sub(place.depth) > *bound);
            passed.map(Limit::Depth)
        })
    }

    /// Returns `true` if a bound on cost applies here, of this place or of one above it.
    pub(crate) fn has_cost_bound(&self, place: PlaceId) -> bool {
        let mut inner = self.lock();
        let mut at = Some(place);
        while let Some(id) = at {
            if inner.live(id).shared(|budget| budget.cost).is_some() {
                return true;
            }
            at = inner.state.place(id).parent;
        }
        false
    }

    /// Folds the facts again that were added since the run began in this process, and panics if they lead to another
    /// state. Does nothing unless tests keep the facts.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn check(&self) {
        let inner = self.lock();
        let Some(Kept { before, facts }) = &inner.kept else {
            return;
        };
        let mut state = before.clone();
        for (place, at, fact) in facts {
            let fact = serde_json::from_str(fact)
                .unwrap_or_else(|error| panic!("the fact {fact} cannot be read: {error}"));
            state.fold(*place, fact, *at, &inner.projection);
        }
        let (live, again) = (written(&inner.state), written(&state));
        assert!(
            live == again,
            "the facts lead to another state:\n live {live}\nagain {again}\nfacts {facts:#?}",
        );
    }
}

#[cfg(any(test, feature = "testing"))]
fn written(state: &State) -> String {
    serde_json::to_string(state).expect("a state can be written")
}

impl Inner {
    fn add(&mut self, place: PlaceId, fact: Fact) -> After {
        self.add_and_tell(place, fact, None)
    }

    /// Adds a fact to the run, and applies it to the state. The events that follow go into the list of `audience`, if
    /// there is one. Does nothing if the run was dropped or put down.
    fn add_and_tell(
        &mut self,
        place: PlaceId,
        fact: Fact,
        audience: Option<(&Audience, &mut Vec<Event>)>,
    ) -> After {
        // The run was dropped, and goes on from its journal: work that is dropped with it has not ended.
        let is_gone = |(writer, _): &(Arc<Writer>, u32)| writer.is_gone();
        if self.writer.as_ref().is_some_and(is_gone) {
            return After::ignored();
        }
        let at = self.clock.now();
        #[cfg(any(test, feature = "testing"))]
        let said = self.kept.is_some().then(|| serde_json::to_string(&fact));
        // Secrets in the fact are stored as references.
        let written = self.writer.as_ref().map(|(writer, _)| {
            writer.json(&fact).and_then(|fact| {
                match self.projection.masker.referenced(fact.as_str()) {
                    Cow::Borrowed(_) => Ok(fact),
                    Cow::Owned(text) => Json::parse(text),
                }
            })
        });
        let after = match audience {
            None => self.state.fold(place, fact, at, &self.projection),
            Some((audience, events)) => {
                let told = self.state.fold_and_tell(place, fact, at, &self.projection);
                let (after, told) = told;
                *events = audience.events(&self.state, place, told, at);
                after
            }
        };
        // A fact that changes nothing is no part of the run: a journal with it would be refused.
        if after.ignored {
            return after;
        }
        if let Some(doubt) = &after.doubt {
            self.past.doubt(&doubt.call, &doubt.tool);
        }
        if let Some(call) = &after.found_out {
            self.past.found_out(call);
        }
        if let Some(news) = &after.execution {
            self.past.note(news.clone());
        }
        #[cfg(any(test, feature = "testing"))]
        if let (Some(kept), Some(said)) = (&mut self.kept, said) {
            let said = said.expect("a fact can be written");
            kept.facts.push((place, at, said));
        }
        match (&self.writer, written) {
            (Some((writer, run)), Some(Ok(fact))) => writer.keep(*run, place, at, fact),
            (Some((writer, _)), Some(Err(error))) => {
                let writer = writer.clone();
                self.cannot_be_written(&writer, &error);
            }
            _ => {}
        }
        after
    }

    /// Ends the run because a fact cannot be written. Without the fact the journal would lead to another state, so
    /// nothing more is stored.
    fn cannot_be_written(&mut self, writer: &Writer, error: &serde_json::Error) {
        let reason = wording::fact_not_json(error);
        tracing::error!("{reason}");
        writer.refuse(JournalError::new(&*reason));
        if self.state.stop.is_none() {
            self.add(0, Fact::StoppedFromOutside(Stop::Journal { reason }));
        }
        self.notify.notify_one();
    }

    fn live(&mut self, place: PlaceId) -> &mut Live {
        let at = place as usize;
        if self.live.len() <= at {
            self.live.resize_with(at + 1, Live::default);
        }
        &mut self.live[at]
    }

    /// Returns the outermost bound that is passed, looked for from this place upwards.
    fn passed(
        &mut self,
        place: PlaceId,
        limit: impl Fn(PlaceId, &Place, &Live) -> Option<Limit>,
    ) -> Option<PassedLimit> {
        let mut passed = None;
        let mut at = Some(place);
        while let Some(id) = at {
            self.live(id);
            let place = self.state.place(id);
            if let Some(limit) = limit(id, place, &self.live[id as usize]) {
                passed = Some(PassedLimit {
                    agent: place.agent.clone(),
                    limit,
                    level: place.level,
                });
            }
            at = place.parent;
        }
        passed
    }
}

impl Live {
    /// Returns the tightest of the bounds on something that is shared: tokens, cost, depth.
    fn shared<T: Ord>(&self, bound: impl Fn(&Budget) -> Option<T>) -> Option<T> {
        let own = self.budget.iter().chain(&self.run_budget);
        own.chain(&self.places).filter_map(bound).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        context::{GivenJournal, Settings},
        journal::{Entry, Journal, MemoryJournal},
    };

    #[tokio::test]
    async fn a_fact_that_cannot_be_written_ends_the_run_and_nothing_more_is_stored() {
        let journal = MemoryJournal::new();
        let settings = Settings::default();
        let given = GivenJournal::new(journal.clone());
        let writer = given.open(&settings).await.unwrap();
        let notify = Arc::new(Notify::new());
        let machine = Machine::new(
            State::of(String::new(), "clerk"),
            settings.projection(),
            settings.clock.clone(),
            notify.clone(),
            settings.past.clone(),
            Some((writer.clone(), 0)),
            Audience::new("run-1".into(), Vec::new(), settings.masker.clone()),
        );
        machine.add(0, Fact::Partial);
        let error = serde_json::from_str::<u32>("no number").unwrap_err();
        machine.lock().cannot_be_written(&writer, &error);
        notify.notified().await;
        assert!(matches!(
            machine.look(|state| state.stop.clone()),
            Some(Stop::Journal { .. })
        ));
        machine.add(0, Fact::Anew);
        let refused = machine.store().await.unwrap_err().to_string();
        assert!(
            refused.starts_with("a fact of the run cannot be written as JSON"),
            "{refused}"
        );
        writer.close().await;
        let stored = journal.read().await.unwrap();
        let kinds: Vec<_> = stored.iter().map(Entry::kind).collect();
        assert_eq!(kinds, ["partial"], "what came before is stored");
    }
}
