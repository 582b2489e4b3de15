//! Calls that arrive piece by piece.

use super::wire;
use agents_core::model::{ToolCall, prompted};

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
        let function = call.function.as_ref();
        self.0.push(Building {
            index: call.index,
            call: ToolCall {
                id: call.id.text.to_string(),
                name: function.map_or_else(String::new, |function| function.name.text.to_string()),
                arguments: function.map_or_else(String::new, |function| {
                    function.arguments_text().into_owned()
                }),
            },
        });
    }

    /// Adds a fragment to the tool call that it belongs to, or begins a call with it.
    pub(super) fn add(&mut self, piece: &wire::Call<'_>) {
        let function = piece.function.as_ref();
        let name = function.map_or("", |function| &*function.name.text);
        let arguments = function
            .map(wire::Function::arguments_text)
            .unwrap_or_default();
        let id = &*piece.id.text;
        let found = match piece.index {
            Some(index) => self
                .0
                .iter_mut()
                .rfind(|held| held.index == Some(index))
                .filter(|held| !is_another(&held.call, id, name, &arguments)),
            // Servers without an index: a name begins a call, unless the id says otherwise.
            None => match (id, name) {
                ("", "") => self.0.last_mut(),
                ("", _) => None,
                _ => self
                    .0
                    .iter_mut()
                    .rfind(|held| held.call.id == id)
                    .filter(|held| !is_another(&held.call, id, name, &arguments)),
            },
        };
        let Some(held) = found else {
            return self.push(piece);
        };
        let call = &mut held.call;
        if call.id.is_empty() {
            call.id.push_str(id);
        }
        // A name may be repeated with each piece, or come in pieces itself.
        if call.name != name && call.arguments.is_empty() {
            call.name.push_str(name);
        }
        call.arguments.push_str(&arguments);
    }

    /// Returns all calls of the reply. If the reply is not complete, it returns only the calls whose end is certain.
    pub(super) fn finish(self, is_complete: bool) -> Vec<ToolCall> {
        let count = self.0.len();
        let calls = self.0.into_iter().enumerate();
        let ended = |(at, held): &(usize, Building)| {
            is_complete || (at + 1 < count && prompted::is_object(&held.call.arguments))
        };
        calls.filter(ended).map(|(_, held)| held.call).collect()
    }
}

/// Returns `true` if a fragment with the index of `held` begins another call. Some servers give every call the same
/// index, and some give no ids.
fn is_another(held: &ToolCall, id: &str, name: &str, arguments: &str) -> bool {
    if name.is_empty() || held.name.is_empty() {
        return false;
    }
    let other_id = !id.is_empty() && !held.id.is_empty() && held.id != id;
    let other_name = held.name != name && !held.arguments.is_empty();
    let is_whole = !arguments.is_empty() && prompted::is_object(&held.arguments);
    other_id || other_name || is_whole
}
