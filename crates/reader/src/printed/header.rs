//! Messages with headers: `<|start|>assistant to=f<|message|>{"n":5}<|eot|>`.

use super::Declared;
use super::call::Call;
use super::detection::{Look, Step};
use super::named_json;
use super::syntax::Syntax;
use super::table::{MESSAGE, MESSAGE_END};
use super::text::Cursor;

/// Maximum length of a message's header in bytes; a longer text that begins like a header is content, and is not held
/// back.
const MAX_LEN: usize = 256;

impl Look<'_> {
    pub(super) fn starts_header(&self, mut cursor: Cursor<'_, '_>) -> bool {
        cursor.eat(" ");
        cursor.looking_at("to=")
    }

    pub(super) fn header(&self, mut cursor: Cursor<'_, '_>) -> Option<Step> {
        let from = cursor.at;
        while !cursor.looking_at(MESSAGE) {
            let char = cursor.next_char()?;
            if char == '\n' || cursor.at - from > MAX_LEN {
                return None;
            }
        }
        let header = cursor.text.slice(from, cursor.at);
        cursor.eat(MESSAGE);
        let recipient = header.split_once("to=").map(|(_, to)| {
            let end = to.find(|c: char| c.is_whitespace() || c == '<');
            &to[..end.unwrap_or(to.len())]
        });
        let called = recipient.and_then(|name| self.tools.get(name));
        let is_thought = called.is_none() && header.starts_with("analysis");
        if recipient == Some("self") || is_thought {
            return Some(Step::Think {
                to: cursor.at,
                close: MESSAGE_END,
            });
        }
        let to = cursor.at;
        let called = called.filter(|_| !self.exhausted);
        let lost = called.is_some() && !holds_tags(cursor);
        let call = called.filter(|_| lost);
        let step = call.and_then(|tool| addressed(cursor, tool));
        Some(step.unwrap_or(Step::Header { to, lost }))
    }
}

/// Returns true if a message holds a call in tags.
fn holds_tags(mut cursor: Cursor<'_, '_>) -> bool {
    cursor.skip_space();
    cursor.looking_at("<atem:")
}

/// Reads a message that its header addresses to a tool as a call of that tool.
fn addressed(mut cursor: Cursor<'_, '_>, tool: &Declared<'_>) -> Option<Step> {
    cursor.skip_space();
    let arguments = match named_json::arguments(&mut cursor, MESSAGE_END) {
        Some(arguments) => arguments,
        None if cursor.looking_at("{") => return None,
        None => {
            let end = cursor
                .text
                .find_first(cursor.at, MESSAGE_END)
                .map(|(at, _)| at);
            let end = end.unwrap_or(cursor.text.len());
            let said = cursor.text.slice(cursor.at, end).trim_end();
            cursor.at = end;
            if said.is_empty() { "{}" } else { said }.to_owned()
        }
    };
    Some(Step::Calls {
        to: cursor.at,
        syntax: Syntax::GlimmerHeader,
        calls: Call::new(tool.name, arguments).into(),
    })
}
