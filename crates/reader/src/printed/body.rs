//! Contents of a wrapper, recognised by their beginning.

use super::call::Calls;
use super::envelope;
use super::gemma;
use super::named_json;
use super::pairs;
use super::params;
use super::python;
use super::syntax::{Body, Syntax};
use super::table::{DIALECTS, Wrapper};
use super::text::Cursor;
use super::tools::Tools;

/// Reads the calls inside a wrapper, such as `<tool_call>`, in whatever syntax they are. The cursor stops before the
/// wrapper's closing marker.
pub(super) fn read(
    cursor: &mut Cursor<'_, '_>,
    wrapper: &Wrapper,
    tools: Tools<'_>,
) -> Option<(Body, Calls)> {
    cursor.skip_space();
    if let Some(dialect) = DIALECTS
        .iter()
        .find(|dialect| cursor.looking_at(dialect.call))
    {
        return Some((Body::Params, params::calls(cursor, dialect, wrapper, tools)));
    }
    let gemma = matches!(
        wrapper.syntax,
        Syntax::Gemma4Call | Syntax::FunctionGemmaCall
    );
    if gemma || cursor.looking_at(gemma::PREFIX) {
        return Some((Body::Gemma, gemma::calls(cursor, wrapper.close, tools)?));
    }
    // Some models print JSON in a fence inside of the wrapper.
    let fenced = cursor.eat("```");
    if fenced {
        cursor.skip_while(char::is_alphanumeric);
        cursor.skip_space();
    }
    let found = untagged(cursor, wrapper, tools)?;
    if fenced {
        cursor.skip_space();
        cursor.eat("```");
    }
    Some(found)
}

/// Reads calls without tags inside a wrapper: JSON, a name with JSON or with pairs, or Python.
fn untagged(
    cursor: &mut Cursor<'_, '_>,
    wrapper: &Wrapper,
    tools: Tools<'_>,
) -> Option<(Body, Calls)> {
    match cursor.peek()? {
        b'{' => Some((Body::Json, envelope::in_wrapper(cursor, wrapper, tools))),
        b'[' => {
            let mut inside = *cursor;
            inside.at += 1;
            inside.skip_space();
            if matches!(inside.peek()?, b'{' | b']') {
                return Some((Body::Json, envelope::in_wrapper(cursor, wrapper, tools)));
            }
            Some((Body::Python, python::calls(cursor, tools)))
        }
        _ => {
            let start = *cursor;
            if let Some(found) = named_json::call(cursor, wrapper, tools) {
                return Some(found);
            }
            *cursor = start;
            if let Some(call) = pairs::call(cursor, wrapper, tools) {
                return Some((Body::Pairs, call.into()));
            }
            *cursor = start;
            Some((Body::Python, python::calls(cursor, tools)))
        }
    }
}
