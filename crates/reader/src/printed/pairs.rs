//! A name and pairs of tags: `f<arg_key>n</arg_key><arg_value>5</arg_value>`.
//!
//! Any one tag of a pair may be missing; the others tell what a piece is.

use super::call::Call;
use super::object::Object;
use super::schema::Types;
use super::table::Wrapper;
use super::text::Cursor;
use super::tools::Tools;

const KEY: &str = "<arg_key>";
const KEY_END: &str = "</arg_key>";
const VALUE: &str = "<arg_value>";
const VALUE_END: &str = "</arg_value>";

pub(super) fn call(
    cursor: &mut Cursor<'_, '_>,
    wrapper: &Wrapper,
    tools: Tools<'_>,
) -> Option<Call> {
    let tool = tools.eat_name(cursor)?;
    let mut object = Object::default();
    let mut key: Option<&str> = None;
    let mut before = "";
    loop {
        let Some((end, tag)) = next_tag(*cursor, before, wrapper) else {
            cursor.skip_space();
            // A call that was cut off is good if it has all that it needs.
            let whole = key.is_none()
                && !object.is_empty()
                && before == VALUE_END
                && !tool.misses_required_in(&object);
            return (whole && cursor.ends_in_part_of(&[wrapper.close]))
                .then(|| Call::new(tool.name, object.into_json()));
        };
        let piece = cursor.text.slice(cursor.at, end);
        cursor.at = end + tag.len();
        cursor.text.count(piece.len() + tag.len());
        let blank = piece.trim().is_empty();
        if before == VALUE || tag == VALUE_END || before == KEY_END && !blank {
            // Between its own two tags a value is exact.
            let exact = before == VALUE && tag == VALUE_END;
            let raw = if exact { piece } else { piece.trim() };
            let key = key.take()?;
            object.set(key, Types::of(tool.schema, key).json(raw));
        } else if before == KEY || tag == KEY_END || tag == VALUE && !blank {
            key = Some(piece.trim()).filter(|key| !key.is_empty());
        } else if before.is_empty() && !blank {
            return None;
        }
        if tag == wrapper.close {
            cursor.at = end;
            return key
                .is_none()
                .then(|| Call::new(tool.name, object.into_json()));
        }
        before = tag;
    }
}

/// Returns the next tag that is no part of a value. A value may contain the wrapper's closing marker: the marker
/// belongs to the value if the end tag of the value follows, before the next key or call.
fn next_tag(
    cursor: Cursor<'_, '_>,
    before: &str,
    wrapper: &Wrapper,
) -> Option<(usize, &'static str)> {
    let text = cursor.text;
    if before == VALUE
        && let Some((end, VALUE_END)) = text.find_first(cursor.at, &[VALUE_END, KEY, wrapper.open])
    {
        return Some((end, VALUE_END));
    }
    let tags = [KEY, KEY_END, VALUE, VALUE_END, wrapper.close];
    text.find_first(cursor.at, &tags)
}
