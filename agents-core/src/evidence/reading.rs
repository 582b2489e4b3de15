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
    known: RefCell<KnownValues>,
    /// Calls for which claims in the text stand, each as long as its claim lives.
    claimed: RefCell<Vec<(Arc<str>, Weak<()>)>>,
}

/// Known values of a text.
#[derive(Default)]
pub(crate) struct KnownValues {
    /// Origin of each value.
    pub(crate) origins: Vec<Origin>,
    /// Values whose author spells them otherwise than the evidence does.
    pub(crate) respelled: Vec<Respelled>,
}

/// Text that stands for a known value, although the evidence spells the value in another way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Respelled {
    pub(crate) written: String,
    /// Spelling of the evidence.
    pub(crate) spelling: String,
}

/// Where a value was found: its origin, and the value in the spelling of the evidence if that is another.
pub(super) struct Given {
    origin: Option<Origin>,
    respelled: Option<Respelled>,
}

impl Given {
    /// Returns the spelling of the evidence, if it is another than that of the text.
    pub(super) fn spelling(&self) -> Option<&str> {
        let respelled = self.respelled.as_ref();
        respelled.map(|respelled| &*respelled.spelling)
    }

    /// Keeps the spelling of the text.
    pub(super) fn into_written(mut self) -> Self {
        self.respelled = None;
        self
    }
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
            known: RefCell::default(),
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

    /// Runs `read` while this reading is in force in the thread. Returns its result, and the known values that were
    /// read.
    pub(crate) fn read<R>(self, read: impl FnOnce() -> R) -> (R, KnownValues) {
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
        (result, reading.known.take())
    }

    /// Returns the reading that is in force in this thread; `None` outside of a reading.
    pub(super) fn now() -> Option<Rc<Reading>> {
        NOW.with_borrow(Clone::clone)
    }

    /// Finds who has given a value, and how the evidence spells it. A stored value is accepted as it is, without an
    /// origin. The error tells the model where values may come from.
    pub(super) fn find(&self, value: &Value, user: bool, tools: &[&str]) -> Result<Given, String> {
        let as_it_is = |giver| Found {
            giver,
            in_text: false,
            spelling: None,
        };
        let found = match &self.by {
            By::Stored => {
                return Ok(Given {
                    origin: None,
                    respelled: None,
                });
            }
            By::Nobody => return Err(wording::NO_EVIDENCE.to_owned()),
            By::Approver => as_it_is(Giver::Person),
            By::Model(collect, evidence) => {
                let found = evidence.get_or_init(collect).find(value, user, tools);
                found.map_err(|spellings| wording::unknown(value, &spellings, user, tools))?
            }
        };
        let origin = Origin {
            value: Json::of(value).map_err(|error| error.to_string())?,
            giver: found.giver,
            in_text: found.in_text,
        };
        let written = value.as_str().zip(found.spelling);
        Ok(Given {
            origin: Some(origin),
            respelled: written.map(|(written, spelling)| Respelled {
                written: written.to_owned(),
                spelling,
            }),
        })
    }

    /// Records a known value that was read.
    pub(super) fn record(&self, given: Given) {
        let Given { origin, respelled } = given;
        let mut known = self.known.borrow_mut();
        known.respelled.extend(respelled);
        if let Some(origin) = origin.filter(|origin| !known.origins.contains(origin)) {
            known.origins.push(origin);
        }
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

    /// Finds a value in the allowed sources: in its own spelling, or else in the only other one that they have. The
    /// error has the other spellings, if there are several.
    fn find(&self, value: &Value, user: bool, tools: &[&str]) -> Result<Found, Vec<String>> {
        let said = self.said.iter().filter(|_| user);
        let said = said.map(|said| (Giver::User, search::find(value, said)));
        let calls = tools.iter().flat_map(|tool| self.successes(tool));
        let now = calls.filter_map(|call| {
            let giver = Giver::Tool {
                name: call.tool.clone(),
                call_id: Some(call.call_id.clone()),
            };
            Some((giver, search::find(value, &call.output.to_value().ok()?)))
        });
        let earlier = self.earlier.iter();
        let earlier = earlier.filter(|(name, _)| tools.contains(&name.as_str()));
        let earlier = earlier.map(|(name, output)| {
            let giver = Giver::Tool {
                name: name.clone(),
                call_id: None,
            };
            (giver, search::find(value, output))
        });
        let all = said.chain(now).chain(earlier);
        let all = all.flat_map(|(giver, matches)| {
            matches.into_iter().map(move |found| Found {
                // Whoever wrote a text of the user is the user.
                in_text: found.found == search::Place::InText && giver != Giver::User,
                giver: giver.clone(),
                spelling: found.spelling,
            })
        });
        let mut all: Vec<_> = all.collect();
        // The user says more than a tool, and a value by itself more than a part of a text, which anybody may have
        // written. The sort is stable.
        all.sort_by_key(|found| {
            (
                found.spelling.is_some(),
                found.giver != Giver::User,
                found.in_text,
            )
        });
        let other = |found: &Found| found.spelling.clone();
        let mut spellings: Vec<_> = all.iter().filter_map(other).collect();
        spellings.sort();
        spellings.dedup();
        let best = all.into_iter().next();
        match best {
            Some(found) if found.spelling.is_none() || spellings.len() == 1 => Ok(found),
            _ => Err(spellings),
        }
    }
}

/// Value that a source has given.
struct Found {
    giver: Giver,
    /// Is `true` if the value is a part of a longer text in a tool's output.
    in_text: bool,
    /// Spelling of the source, if it is another than the one looked for.
    spelling: Option<String>,
}
