//! A name and pairs of tags: `f<arg_key>n</arg_key><arg_value>5</arg_value>`.
//!
//! Any one tag of a pair may be missing; the others tell what a piece is. Values are not escaped: a value ends at an
//! end tag behind which the call goes on or ends.

use super::Declared;
use super::call::{Call, doubt};
use super::object::Object;
use super::schema::{Types, property};
use super::table::{KEY, KEY_END, VALUE, VALUE_END, Wrapper};
use super::text::Cursor;
use super::tools::Tools;
use super::wording;
use crate::{ChangeKind, Changes};

pub(super) fn call(
    cursor: &mut Cursor<'_, '_>,
    wrapper: &Wrapper,
    tools: Tools<'_>,
) -> Option<Call> {
    let tool = tools.eat_name(cursor)?;
    let mut object = Object::default();
    let mut changes = Changes::default();
    let mut key: Option<&str> = None;
    let mut before = "";
    loop {
        let Some(Next { end, tag, unsure }) = next_tag(*cursor, before, wrapper, tool) else {
            cursor.skip_space();
            // A call that was cut off is good if it has all that it needs.
            let whole = key.is_none()
                && !object.is_empty()
                && before == VALUE_END
                && !tool.misses_required_in(&object);
            return (whole && cursor.ends_in_part_of(&[wrapper.close]))
                .then(|| Call::new(tool.name, object.into_json()).changed(changes));
        };
        let piece = cursor.text.slice(cursor.at, end);
        cursor.at = end + tag.len();
        cursor.text.count(piece.len() + tag.len());
        let blank = piece.trim().is_empty();
        let is_stray = blank
            && (key.is_none() && tag == VALUE_END && before != VALUE
                || key.is_some() && tag == KEY_END && before == KEY_END);
        if is_stray {
            continue;
        }
        if before == VALUE || tag == VALUE_END || before == KEY_END && !blank {
            // Between its own two tags a value is exact.
            let exact = before == VALUE && tag == VALUE_END;
            let key = key.take()?;
            let types = Types::of(tool.schema, key);
            let raw = match piece.split_once(VALUE_END) {
                // Only text can hold tags. The end tag of another value may be printed twice.
                Some((first, rest))
                    if !types.takes_text() && rest.replace(VALUE_END, "").trim().is_empty() =>
                {
                    first
                }
                _ if exact => piece,
                _ => piece.trim(),
            };
            object.set(key, types.json(raw));
            if unsure {
                let note = wording::TAG_IN_VALUE;
                changes.extend(doubt(ChangeKind::Located, key, note).into());
            }
        } else if before == KEY || tag == KEY_END || tag == VALUE && !blank {
            key = Some(piece.trim()).filter(|key| !key.is_empty());
        } else if before.is_empty() && !blank {
            return None;
        }
        if tag == wrapper.close {
            cursor.at = end;
            return key
                .is_none()
                .then(|| Call::new(tool.name, object.into_json()).changed(changes));
        }
        before = tag;
    }
}

/// Tag that ends a piece of a call.
struct Next {
    end: usize,
    tag: &'static str,
    /// `true` if the piece is a value that may end elsewhere.
    unsure: bool,
}

/// Returns the next tag that is no part of a value. A value may contain tags and the wrapper's closing marker, if its
/// own end tag follows.
fn next_tag(
    cursor: Cursor<'_, '_>,
    before: &str,
    wrapper: &Wrapper,
    tool: &Declared<'_>,
) -> Option<Next> {
    let text = cursor.text;
    let mut after = cursor;
    let mut unsure = false;
    while before == VALUE && !text.is_endless() {
        let next = text.find_first(after.at, &[VALUE_END, KEY, wrapper.open]);
        let Some((end, tag)) = next else {
            text.count(text.len() - cursor.at);
            text.set_endless();
            break;
        };
        after.at = end + tag.len();
        if tag == VALUE_END && ends_value(after, wrapper) {
            return Some(Next { end, tag, unsure });
        }
        unsure |= tag != VALUE_END;
        // The value lacks its end tag if another call or a parameter of the tool begins.
        let mut key = after;
        let key = key.take_word(MAX_KEY, |c| c != '<').trim();
        let is_key = tag == KEY && (tool.is_open() || property(tool.schema, key).is_some());
        if is_key || tag == wrapper.open {
            break;
        }
    }
    let tags = [KEY, KEY_END, VALUE, VALUE_END, wrapper.close];
    let (end, tag) = text.find_first(cursor.at, &tags)?;
    after.at = end + tag.len();
    unsure |= before == VALUE && tag == VALUE_END && !ends_value(after, wrapper);
    Some(Next { end, tag, unsure })
}

/// Returns true if the call goes on or ends behind the end tag of a value. The opening tag of the next key may be
/// missing.
fn ends_value(mut after: Cursor<'_, '_>, wrapper: &Wrapper) -> bool {
    after.skip_space();
    if after.looking_at(KEY)
        || after.looking_at(wrapper.close)
        || after.ends_in_part_of(&[wrapper.close])
    {
        return true;
    }
    let key = after.take_word(MAX_KEY, |c| c != '<');
    !key.trim().is_empty() && (after.looking_at(KEY_END) || after.looking_at(VALUE))
}

/// Maximum length in bytes of a key whose opening tag is missing.
const MAX_KEY: usize = 200;
