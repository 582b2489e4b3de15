//! Parts of an envelope that are no JSON, kept for the reader that repairs them.

use super::{ARGUMENTS, Member, NAMES, OTHERS, json};

/// Returns the arguments with the text behind them that can be nothing else: `Vega, 0.03` in
/// `{"name": "f", "arguments": Vega, 0.03}`.
pub(super) fn of_arguments<'t>(members: &[Member<'t>], at: usize, object: &'t str) -> &'t str {
    let Member { value, end, .. } = members[at];
    if value.starts_with('{') {
        return value;
    }
    let is_json = json::intact(value);
    let keys = [NAMES, ARGUMENTS, OTHERS];
    // Text may run into words that look like a key.
    let ends = |m: &&Member<'_>| is_json || keys.iter().any(|keys| keys.contains(&&*m.key));
    let to = match members[at + 1..].iter().find(ends) {
        Some(next) => next.start,
        None => inside(object).max(end),
    };
    match said(&object[end..to]) {
        Some(_) => trimmed(&object[end - value.len()..to]),
        None => value,
    }
}

/// Returns the text beside the name, if it is not all members.
pub(super) fn beside(members: &[Member<'_>], name: usize, object: &str) -> Option<String> {
    let end = inside(object);
    said(object.get(members.last()?.end..end)?)?;
    let before = &object[usize::from(object.starts_with('{'))..members[name].start];
    let after = &object[members[name].end..end];
    Some(trimmed(&format!("{before}{}", trimmed(after))).to_owned())
}

/// Returns the place of the object's own closing brace, or the end of the object.
fn inside(object: &str) -> usize {
    let object = object.trim_end();
    object.strip_suffix('}').unwrap_or(object).len()
}

/// Returns the text if it is more than brackets and commas.
fn said(text: &str) -> Option<&str> {
    text.contains(char::is_alphanumeric).then_some(text)
}

fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == ',')
}
