//! Calls that arrive piece by piece.

use super::wire;
use agents_core::model::{DistinctCalls, ToolCall, prompted};

/// The tool calls of a reply that is being read.
#[derive(Default)]
pub(super) struct Calls(Vec<Building>);

struct Building {
    index: Option<u64>,
    call: ToolCall,
}

impl Calls {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a tool call that the server sent as a whole.
    pub(super) fn push(&mut self, call: &wire::Call<'_>) {
        self.0.push(Building {
            index: call.index,
            call: ToolCall {
                id: call.id.text.to_string(),
                name: call.name().to_owned(),
                arguments: call.arguments().into_owned(),
            },
        });
    }

    /// Adds a tool call of a message that a stream repeats while it grows: it takes the place of what it continues.
    pub(super) fn grow(&mut self, call: &wire::Call<'_>) {
        let arguments = call.arguments();
        let continues = |held: &&mut Building| {
            held.call.id == *call.id.text
                && held.call.name == call.name()
                && arguments.starts_with(&held.call.arguments)
        };
        match self.0.iter_mut().find(continues) {
            Some(held) => held.call.arguments = arguments.into_owned(),
            None => self.push(call),
        }
    }

    /// Adds a fragment to the tool call that it belongs to, or begins a call with it.
    pub(super) fn add(&mut self, piece: &wire::Call<'_>) {
        let (id, name, arguments) = (&*piece.id.text, piece.name(), piece.arguments());
        let calls = &mut self.0;
        let last = calls.len().checked_sub(1);
        let is_it = |at: &usize| !is_another(&calls[*at].call, id, name, &arguments);
        let found = match piece.index {
            Some(index) => calls
                .iter()
                .rposition(|held| held.index == Some(index))
                .filter(is_it),
            // Servers without an index: a name begins a call, unless the id says otherwise, the last call has no name, or
            // its arguments go on.
            None => match (id, name) {
                ("", "") => last,
                ("", _) => last.filter(|at| calls[*at].call.name.is_empty()),
                _ => match calls.iter().rposition(|held| held.call.id == id) {
                    Some(at) => Some(at).filter(is_it),
                    None => last.filter(|at| goes_on(&calls[*at].call, name, &arguments)),
                },
            },
        };
        let found = found.map(|at| &mut calls[at]);
        let Some(held) = found else {
            return self.push(piece);
        };
        let call = &mut held.call;
        if call.id.is_empty() {
            call.id.push_str(id);
        }
        // A name may be repeated with each piece, come in pieces itself, or come behind the arguments.
        if call.name != name && (call.arguments.is_empty() || call.name.is_empty()) {
            call.name.push_str(name);
        }
        if is_placeholder(call, id, name, &arguments) {
            call.arguments.clear();
        }
        call.arguments.push_str(&arguments);
    }

    /// Returns all calls of the reply, each once. If the reply is not complete, it returns only the calls whose end is
    /// certain.
    pub(super) fn finish(self, is_complete: bool) -> Vec<ToolCall> {
        let count = self.0.len();
        let mut calls = DistinctCalls::default();
        for (at, Building { call, .. }) in self.0.into_iter().enumerate() {
            if is_complete || (at + 1 < count && prompted::is_object(&call.arguments)) {
                calls.add(call);
            }
        }
        calls.into_calls()
    }
}

/// Returns `true` if a fragment with the index of `held` begins another call. Some servers give every call the same
/// index, some give no ids, and some give each fragment an id of its own.
fn is_another(held: &ToolCall, id: &str, name: &str, arguments: &str) -> bool {
    if name.is_empty() || held.name.is_empty() || is_placeholder(held, id, name, arguments) {
        return false;
    }
    let is_whole = prompted::is_object(&held.arguments);
    let other_id = !id.is_empty() && !held.id.is_empty() && held.id != id;
    if held.name != name {
        return other_id || !held.arguments.is_empty();
    }
    let has_nothing = arguments.is_empty() && held.arguments.is_empty();
    is_whole && (other_id || !arguments.is_empty()) || other_id && has_nothing
}

/// Returns `true` if a fragment of this name can only be the rest of the call's arguments.
fn goes_on(held: &ToolCall, name: &str, arguments: &str) -> bool {
    held.name == name
        && held.arguments.trim_start().starts_with('{')
        && !arguments.is_empty()
        && !arguments.trim_start().starts_with('{')
        && !prompted::is_object(&held.arguments)
}

/// Returns `true` if the call has the empty object as its arguments until the real ones come: the fragment with them
/// has the same id, or neither id nor name.
fn is_placeholder(held: &ToolCall, id: &str, name: &str, arguments: &str) -> bool {
    let is_of_held = match id {
        "" => name.is_empty(),
        id => held.id == id,
    };
    is_of_held && held.arguments.trim() == "{}" && arguments.trim_start().starts_with('{')
}
