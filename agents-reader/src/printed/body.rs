//! What stands inside a wrapper, told by how it begins.

use super::envelope;
use super::gemma;
use super::named;
use super::pairs;
use super::params;
use super::python;
use super::syntax::Syntax;
use super::table::{DIALECTS, Wrapper};
use super::text::Cursor;
use super::tools::Tools;

/// The grammars of bodies. Families combine them freely with wrappers, and
/// models confuse them, so any wrapper may hold any body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// `{"name":"f","arguments":{}}`, also several or a list.
    Json,
    /// `{"f":{}}`
    NameKeyed,
    /// A name, a separator or line break, and its arguments as JSON.
    Named,
    /// The same with the JSON in a fenced block.
    Fenced,
    /// Opening and closing tags around each parameter.
    Params,
    /// A name and `<arg_key>`, `<arg_value>` in turn.
    Pairs,
    /// `[f(n=5)]`
    Python,
    /// `call:f{n:5}`
    Gemma,
}

/// A call of a declared tool; its arguments are JSON unless they came damaged.
pub(super) struct Call {
    pub(super) name: String,
    pub(super) arguments: String,
    /// The arguments are the text of the whole call, since not all of it is arguments that the tool has.
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

    /// A call of which more was said than its arguments: nothing of that is to be dropped here.
    pub(super) fn in_full(name: &str, text: &str) -> Self {
        Self {
            in_full: true,
            ..Self::new(name, text.to_owned())
        }
    }
}

/// The calls inside a wrapper; the cursor ends up before its closing marker.
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
            if let Some(found) = named::call(cursor, wrapper, tools) {
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
