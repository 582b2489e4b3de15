//! Calls of a streamed reply as they arrive: an item that begins, fragments of its arguments, all of them, and the item.
//!
//! Servers do not always send all of that, and what they send does not always agree. The last word is the item, unless
//! it says less than what came before.

use super::wire::{FunctionCall, StreamEvent};
use agents_core::model::{ToolCall, prompted};
use agents_http::arguments_text;

/// Calls that are arriving piece by piece, in the order in which they began.
#[derive(Default)]
pub(super) struct Pieces(Vec<Arriving>);

#[derive(Default)]
struct Arriving {
    item: String,
    position: Option<u64>,
    id: String,
    name: String,
    /// Arguments with which the call began, by their fragments, and as a whole behind these; empty if they have not
    /// come.
    begun: String,
    fragments: String,
    whole: String,
    is_taken: bool,
}

impl Pieces {
    /// Begins a call with the item of an event, whose arguments are mostly empty yet.
    pub(super) fn begin(&mut self, item: &FunctionCall<'_>, position: Option<u64>) {
        let ToolCall {
            id,
            name,
            arguments,
        } = item.call();
        // Some servers begin an item twice.
        let is_held = |held: &Arriving| !id.is_empty() && held.id == id;
        if self.0.iter().any(is_held) {
            return;
        }
        self.0.push(Arriving {
            item: item.id.as_deref().unwrap_or_default().to_owned(),
            position,
            id,
            name,
            begun: arguments,
            ..Arriving::default()
        });
    }

    /// Adds a fragment of the arguments of the call that the event names.
    pub(super) fn add(&mut self, event: &StreamEvent<'_>) {
        let fragment = arguments_text(event.delta);
        self.named(event).fragments.push_str(&fragment);
    }

    /// Sets the arguments of the call that the event names.
    pub(super) fn set(&mut self, event: &StreamEvent<'_>) {
        self.named(event).whole = arguments_text(event.arguments).into_owned();
    }

    /// Returns the call that the event names, or the last one; begins a call if there is none.
    fn named(&mut self, event: &StreamEvent<'_>) -> &mut Arriving {
        let item = event.item_id.as_deref().unwrap_or_default();
        let found = self.find(item, event.output_index);
        let is_unnamed = item.is_empty() && event.output_index.is_none();
        let at = found.or_else(|| self.0.len().checked_sub(1).filter(|_| is_unnamed));
        let at = at.unwrap_or_else(|| {
            self.0.push(Arriving {
                item: item.to_owned(),
                position: event.output_index,
                ..Arriving::default()
            });
            self.0.len() - 1
        });
        &mut self.0[at]
    }

    fn find(&self, item: &str, position: Option<u64>) -> Option<usize> {
        let is_it = |held: &Arriving| !item.is_empty() && held.item == item;
        let is_there = |held: &Arriving| position.is_some() && held.position == position;
        let by_item = self.0.iter().rposition(is_it);
        by_item.or_else(|| self.0.iter().rposition(is_there))
    }

    /// Returns the call of an item that has arrived as a whole. If its arguments say less than its pieces, the pieces
    /// count.
    pub(super) fn complete(&mut self, item: &FunctionCall<'_>, position: Option<u64>) -> ToolCall {
        let mut call = item.call();
        let by_id = |held: &Arriving| !call.id.is_empty() && held.id == call.id;
        let found = self.find(item.id.as_deref().unwrap_or_default(), None);
        let found = found.or_else(|| self.0.iter().rposition(by_id));
        let found = found.or_else(|| {
            self.find("", position)
                .filter(|at| self.0[*at].id.is_empty())
        });
        if let Some(at) = found {
            let held = &mut self.0[at];
            held.is_taken = true;
            if call.name.is_empty() {
                call.name.clone_from(&held.name);
            }
            if call.id.is_empty() {
                call.id.clone_from(&held.id);
            }
            call.arguments = fullest([&call.arguments, &held.whole, &held.fragments, &held.begun]);
        }
        call
    }

    /// Forgets which calls had an item.
    pub(super) fn reset(&mut self) {
        self.0.iter_mut().for_each(|held| held.is_taken = false);
    }

    /// Returns the calls whose items have never arrived as a whole.
    pub(super) fn left(&mut self) -> impl Iterator<Item = ToolCall> {
        let left = self
            .0
            .iter_mut()
            .filter(|held| !held.is_taken && !held.name.is_empty());
        left.map(|held| {
            held.is_taken = true;
            ToolCall {
                id: held.id.clone(),
                name: held.name.clone(),
                arguments: fullest([&held.whole, &held.fragments, &held.begun, ""]),
            }
        })
    }
}

impl FunctionCall<'_> {
    fn call(&self) -> ToolCall {
        ToolCall {
            id: self.call_id.as_deref().unwrap_or_default().to_owned(),
            name: self.name.as_deref().unwrap_or_default().to_owned(),
            arguments: arguments_text(self.arguments).into_owned(),
        }
    }
}

/// Returns the first of these arguments that is an object with something in it. If none is, the first that is anything,
/// of which the last word is the first.
fn fullest(arguments: [&str; 4]) -> String {
    let is_nothing = |text: &str| matches!(text.trim(), "" | "{}" | "null");
    let mut said = arguments.into_iter().filter(|text| !is_nothing(text));
    let first = said.clone().next();
    let whole = said.find(|text| prompted::is_object(text));
    whole.or(first).unwrap_or(arguments[0]).to_owned()
}
