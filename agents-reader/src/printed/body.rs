//! Contents of a wrapper, recognised by their beginning.

use super::envelope;
use super::gemma;
use super::named_json;
use super::pairs;
use super::params;
use super::python;
use super::syntax::Syntax;
use super::table::{DIALECTS, Wrapper};
use super::text::Cursor;
use super::tools::Tools;

/// Grammars of bodies. Families combine them freely with wrappers, and models confuse them, so any wrapper may hold
/// any body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// A JSON object, or several, or a list of them: `{"name":"f","arguments":{}}`
    Json,
    /// A JSON object with the name as its key: `{"f":{}}`
    NameKeyed,
    /// A name, a separator or line break, and its arguments as JSON.
    Named,
    /// A name and its arguments as JSON in a fenced block.
    Fenced,
    /// Opening and closing tags around each parameter.
    Params,
    /// A name and `<arg_key>`, `<arg_value>` in turn.
    Pairs,
    /// Python calls: `[f(n=5)]`
    Python,
    /// A call in Gemma's syntax: `call:f{n:5}`
    Gemma,
}

/// Call of a declared tool; its arguments are JSON unless they came damaged.
pub(super) struct Call {
    pub(super) name: String,
    pub(super) arguments: String,
    /// `true` if the arguments are the text of the whole call, since it holds more than arguments of the tool.
    pub(super) in_full: bool,
}

impl Call {
    pub(super) fn new(name: &str, arguments: String) -> Self {
        Self {
            name: name.to_owned(),
            arguments,
            in_full: false,
        }
    }

    /// Creates a call that keeps its whole text, since it holds more than arguments and nothing may be dropped here.
    pub(super) fn in_full(name: &str, text: &str) -> Self {
        Self {
            in_full: true,
            ..Self::new(name, text.to_owned())
        }
    }
}

/// Reads the calls inside a wrapper; the cursor stops before its closing marker.
pub(super) fn read(
    cursor: &mut Cursor<'_, '_>,
    wrapper: &Wrapper,
    tools: Tools<'_>,
) -> Option<(Body, Vec<Call>)> {
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
    if gemma || cursor.looking_at("call:") {
        return Some((Body::Gemma, gemma::call(cursor, wrapper.close, tools)?));
    }
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
                return Some((Body::Pairs, vec![call]));
            }
            *cursor = start;
            Some((Body::Python, python::calls(cursor, tools)))
        }
    }
}
