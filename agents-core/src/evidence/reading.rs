//! Reading of a text against evidence. serde passes no context to a type, so the evidence is set for the thread.

use super::{Giver, Origin, search, wording};
use crate::{Json, json::canonical};
use serde_json::Value;
use std::{
    cell::{OnceCell, RefCell},
    rc::Rc,
    sync::{Arc, Weak},
};

thread_local! {
    /// Reading that goes on in this thread, since serde passes no context to the types that it reads. Readings may
    /// nest.
    static NOW: RefCell<Option<Rc<Reading>>> = const { RefCell::new(None) };
}

/// Reading of one text: whose text it is, and what is found out about its values.
pub(crate) struct Reading {
    by: By,
    origins: RefCell<Vec<Origin>>,
    /// Calls for which claims in the text stand, each as long as its claim lives.
    claimed: RefCell<Vec<(Arc<str>, Weak<()>)>>,
}

/// Call for which a claim stands. As long as the second value lives, no other claim stands for the call.
pub(super) type Claimed = (Arc<Success>, Arc<()>);

/// Author of a text that is read, which decides how its values are checked.
enum By {
    /// A model: its values are checked against the evidence of its run, which is collected when a value first needs it.
    Model(Box<dyn Fn() -> Evidence>, OnceCell<Evidence>),
    /// A person who approves a call with other arguments, and vouches for their values.
    Approver,
    /// The values are stored ones of the run itself, which have been checked before.
    Stored,
    /// A model that is still writing: nothing can be checked yet.
    Nobody,
}

/// Evidence of a run: the words of the user, the calls that have succeeded, and the outputs in earlier messages.
pub(crate) struct Evidence {
    /// Words of the user, as JSON or as texts: the input, earlier messages, instructions, and answers to questions.
    pub(crate) said: Vec<Value>,
    /// Outputs of tools in earlier messages of the conversation, each with the name of its tool.
    pub(crate) earlier: Vec<(String, Value)>,
    /// Calls of this run that have succeeded, in their order, as evidence for values.
    pub(crate) calls: Vec<Arc<Success>>,
}

/// Call of the run that has succeeded, as in its receipt.
pub(crate) struct Success {
    pub(crate) call_id: Arc<str>,
    pub(crate) tool: String,
    pub(crate) input: Json,
    pub(crate) output: Json,
}

impl Reading {
    fn new(by: By) -> Self {
        Reading {
            by,
            origins: RefCell::default(),
            claimed: RefCell::default(),
        }
    }

    /// Prepares the reading of a model's text; `evidence` collects the evidence of its run when a value asks for it.
    pub(crate) fn of_model(evidence: impl Fn() -> Evidence + 'static) -> Self {
        Reading::new(By::Model(Box::new(evidence), OnceCell::new()))
    }

    /// Prepares the reading of arguments that an approver has edited.
    pub(crate) fn of_approver() -> Self {
        Reading::new(By::Approver)
    }

    /// Prepares the reading of a value that the run has stored, and has checked before.
    pub(crate) fn of_the_run() -> Self {
        Reading::new(By::Stored)
    }

    /// Runs `read` while this reading is in force in the thread. Returns its result, and the origins of the known
    /// values that were read.
    pub(crate) fn read<R>(self, read: impl FnOnce() -> R) -> (R, Vec<Origin>) {
        /// Guard that puts the outer reading back into force, also if user code panics.
        struct Back(Option<Rc<Reading>>);
        impl Drop for Back {
            fn drop(&mut self) {
                NOW.set(self.0.take());
            }
        }
        let reading = Rc::new(self);
        let back = Back(NOW.replace(Some(reading.clone())));
        let result = read();
        drop(back);
        (result, reading.origins.take())
    }

    /// Returns the reading that is in force in this thread; `None` outside of a reading.
    pub(super) fn now() -> Option<Rc<Reading>> {
        NOW.with_borrow(Clone::clone)
    }

    /// Finds who has given a value, and records it as the value's origin. A stored value is accepted as it is, without
    /// an origin. The error tells the model where values may come from.
    pub(super) fn find(&self, value: &Value, user: bool, tools: &[&str]) -> Result<(), String> {
        let giver = match &self.by {
            By::Stored => return Ok(()),
            By::Nobody => return Err(wording::NO_EVIDENCE.to_owned()),
            By::Approver => Some((Giver::Person, false)),
            By::Model(collect, evidence) => {
                let evidence = evidence.get_or_init(collect);
                evidence.giver(value, user, tools)
            }
        };
        let value = Json::of(value).map_err(|error| error.to_string())?;
        let Some((giver, in_text)) = giver else {
            return Err(wording::unknown(value.as_str(), user, tools));
        };
        let origin = Origin {
            value,
            giver,
            in_text,
        };
        let mut origins = self.origins.borrow_mut();
        if !origins.contains(&origin) {
            origins.push(origin);
        }
        Ok(())
    }

    /// Finds the call that a claim stands for: the last call of the tool with these arguments that no other claim of
    /// the text stands for. Returns `None` if no model wrote the text, so that the claim is a stored value. The error
    /// is for the model.
    pub(super) fn claim(&self, tool: &str, claimed: &Value) -> Option<Result<Claimed, String>> {
        match &self.by {
            By::Stored | By::Approver => None,
            By::Nobody => Some(Err(wording::NO_CLAIMS.to_owned())),
            By::Model(collect, evidence) => {
                let evidence = evidence.get_or_init(collect);
                Some(self.call(evidence, tool, claimed))
            }
        }
    }

    fn call(&self, evidence: &Evidence, tool: &str, claimed: &Value) -> Result<Claimed, String> {
        let fits = |call: &Success| search::has_fields(&call.input, claimed);
        let is_claim = claimed.is_object() || claimed == &Value::Bool(true);
        let calls: Vec<_> = evidence.successes(tool).collect();
        if !is_claim {
            return Err(wording::no_claim(tool));
        }
        if calls.is_empty() {
            return Err(wording::not_done(tool));
        }
        let mut meant = calls.iter().filter(|call| fits(call)).peekable();
        if meant.peek().is_none() {
            let inputs = calls.iter().map(|call| canonical(call.input.as_str()));
            let inputs: Vec<_> = inputs.collect();
            return Err(wording::done_otherwise(
                tool,
                &claimed.to_string(),
                &inputs[inputs.len().saturating_sub(3)..],
            ));
        }
        let mut taken = self.claimed.borrow_mut();
        taken.retain(|(_, claim)| claim.strong_count() > 0);
        let is_free = |call: &&&Arc<Success>| !taken.iter().any(|(id, _)| *id == call.call_id);
        let free = meant.rfind(is_free);
        let call = free.ok_or_else(|| wording::claimed_twice(tool))?;
        let claim = Arc::new(());
        taken.push((call.call_id.clone(), Arc::downgrade(&claim)));
        Ok(((*call).clone(), claim))
    }
}

/// Runs `read` on a value that the run has stored: claims and known values in it count as checked.
pub(crate) fn stored<R>(read: impl FnOnce() -> R) -> R {
    Reading::of_the_run().read(read).0
}

/// Runs `read` on the incomplete text of a model: no claim or known value in it is accepted.
pub(crate) fn nobody<R>(read: impl FnOnce() -> R) -> R {
    Reading::new(By::Nobody).read(read).0
}

impl Evidence {
    /// Returns the calls of a tool that have succeeded, in their order.
    fn successes(&self, tool: &str) -> impl DoubleEndedIterator<Item = &Arc<Success>> {
        self.calls.iter().filter(move |call| call.tool == tool)
    }

    /// Returns the giver of a value, and whether the value is a part of a longer text of a tool. `None` if none of the
    /// allowed sources has given it.
    fn giver(&self, value: &Value, user: bool, tools: &[&str]) -> Option<(Giver, bool)> {
        if user
            && self
                .said
                .iter()
                .any(|said| search::find(value, said).is_some())
        {
            return Some((Giver::User, false));
        }
        let calls = tools.iter().flat_map(|tool| self.successes(tool));
        let now = calls.filter_map(|call| {
            let output = call.output.to_value().ok()?;
            let call_id = Some(call.call_id.clone());
            Some((call.tool.clone(), call_id, search::find(value, &output)?))
        });
        let earlier = self.earlier.iter();
        let earlier = earlier.filter(|(name, _)| tools.contains(&name.as_str()));
        let earlier = earlier
            .filter_map(|(name, output)| Some((name.clone(), None, search::find(value, output)?)));
        // A value by itself says more than a part of a text, which anybody may have written.
        let found = now.chain(earlier).min_by_key(|(.., found)| *found);
        found.map(|(name, call_id, found)| {
            let in_text = found == search::Found::InText;
            (Giver::Tool { name, call_id }, in_text)
        })
    }
}
