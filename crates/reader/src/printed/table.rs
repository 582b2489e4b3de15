//! Markers of all families. A new family is, as a rule, a new row here.

use super::syntax::Syntax;
use super::text::Cursor;

/// Pair of markers that a family of models prints around calls.
pub(super) struct Wrapper {
    pub(super) open: &'static str,
    pub(super) close: &'static str,
    pub(super) syntax: Syntax,
    /// `true` if the opening marker is itself the first part of the call inside.
    pub(super) keep_open: bool,
}

const fn wrapper(open: &'static str, close: &'static str, syntax: Syntax) -> Wrapper {
    Wrapper {
        open,
        close,
        syntax,
        keep_open: false,
    }
}

/// Wrappers of all families. The body of a wrapper is recognised by its beginning: see [`body`](super::body).
pub(super) const WRAPPERS: &[Wrapper] = &[
    wrapper("<tool_call>", "</tool_call>", Syntax::HermesJson),
    wrapper("<|tool_call>", "<tool_call|>", Syntax::Gemma4Call),
    wrapper(
        "<start_function_call>",
        "<end_function_call>",
        Syntax::FunctionGemmaCall,
    ),
    wrapper(
        "<|tool_call_start|>",
        "<|tool_call_end|>",
        Syntax::Lfm2Pythonic,
    ),
    wrapper(
        "<function_calls>",
        "</function_calls>",
        Syntax::OlmoPythonic,
    ),
    wrapper(
        "<atem:function_calls>",
        "</atem:function_calls>",
        Syntax::AtemXml,
    ),
    wrapper(
        "<｜tool▁call▁begin｜>",
        "<｜tool▁call▁end｜>",
        Syntax::DeepseekSep,
    ),
    wrapper(
        "<|tool▁call▁begin|>",
        "<|tool▁call▁end|>",
        Syntax::DeepseekSep,
    ),
    wrapper("<|START_ACTION|>", "<|END_ACTION|>", Syntax::CohereAction),
    wrapper("[TOOL_CALLS]", "[/TOOL_CALLS]", Syntax::MistralArgs),
    wrapper("<TOOLCALL>", "</TOOLCALL>", Syntax::HermesJson),
    wrapper("[TOOL_CALL]", "[/TOOL_CALL]", Syntax::HermesJson),
    wrapper("<function_call>", "</function_call>", Syntax::HermesJson),
    wrapper("<tool_calls>", "</tool_calls>", Syntax::HermesJson),
    wrapper(
        "<|action_start|><|plugin|>",
        "<|action_end|>",
        Syntax::HermesJson,
    ),
    wrapper("<seed:tool_call>", "</seed:tool_call>", Syntax::HermesJson),
    wrapper(
        "<minimax:tool_call>",
        "</minimax:tool_call>",
        Syntax::OlmoPythonic,
    ),
    wrapper(
        "<｜DSML｜function_calls>",
        "</｜DSML｜function_calls>",
        Syntax::OlmoPythonic,
    ),
    wrapper(
        "<｜DSML｜tool_calls>",
        "</｜DSML｜tool_calls>",
        Syntax::OlmoPythonic,
    ),
    wrapper(
        "<||DSML||tool_calls>",
        "</||DSML||tool_calls>",
        Syntax::OlmoPythonic,
    ),
    wrapper("<|tools_prefix|>", "<|tools_suffix|>", Syntax::HermesJson),
    wrapper("<|python_start|>", "<|python_end|>", Syntax::Lfm2Pythonic),
    wrapper(
        "<|tool_call_begin|>",
        "<|tool_call_end|>",
        Syntax::DeepseekSep,
    ),
    wrapper("<|tool_call|>", "<|/tool_call|>", Syntax::HermesJson),
    wrapper("<user>", "</user>", Syntax::UserTagGlm),
    wrapper("[tool]", "[end]", Syntax::ToolTokenArgs),
    // Qwen's coders forget the outer tag.
    Wrapper {
        open: "<function=",
        close: "</tool_call>",
        syntax: Syntax::QwenXml,
        keep_open: true,
    },
    Wrapper {
        open: "<invoke name=\"",
        close: "</function_calls>",
        syntax: Syntax::OlmoPythonic,
        keep_open: true,
    },
];

/// Tags around the names and the values of arguments: `<arg_key>n</arg_key><arg_value>5</arg_value>`.
pub(super) const KEY: &str = "<arg_key>";
pub(super) const KEY_END: &str = "</arg_key>";
pub(super) const VALUE: &str = "<arg_value>";
pub(super) const VALUE_END: &str = "</arg_value>";

/// Separators that models print between a name and its JSON arguments.
pub(super) const SEPARATORS: &[&str] = &[
    "<｜tool▁sep｜>",
    "<|tool▁sep|>",
    "<|tool_call_argument_begin|>",
    "[ARGS]",
    "[args]",
];

/// Marker that opens Python calls, which reach to the end of a message; `CALL_METHOD` is the method that calls a tool
/// there.
pub(super) const PYTHON_TAG: &str = "<|python_tag|>";
pub(super) const CALL_METHOD: &str = ".call";

/// Markers that may end a message with Python calls.
pub(super) const PYTHON_TAG_END: &[&str] = &["<|eom_id|>", "<|eot_id|>", "<|end|>", PYTHON_TAG];

/// Language of a fenced block whose Python is a call, and not an example.
pub(super) const CALLS_LANGUAGE: &str = "tool_code";

/// Beginnings of the two lines of a call in words: `Action: f`, then `Action Input: {…}`.
pub(super) const ACTION: &str = "Action:";
pub(super) const ACTION_INPUT: &str = "Action Input:";

/// Signs of a call; a text without any of them holds no call.
pub(super) const SIGNS: &[&str] = &["<", "{", "[", CALLS_LANGUAGE];

/// Spelling of calls in a family of models that prints them as tags, like XML.
pub(super) struct Dialect {
    pub(super) call: &'static str,
    pub(super) call_end: &'static str,
    pub(super) param: &'static str,
    pub(super) param_end: &'static str,
    /// Text that ends the name in an opening tag. Attributes may stand between it and the end of the tag.
    pub(super) name_end: &'static str,
    /// `true` if the family of models prints a line break on both sides of a parameter's value.
    pub(super) padded: bool,
}

pub(super) const DIALECTS: &[Dialect] = &[
    Dialect {
        call: "<function=",
        call_end: "</function>",
        param: "<parameter=",
        param_end: "</parameter>",
        name_end: ">",
        padded: true,
    },
    Dialect {
        call: "<atem:invoke name=\"",
        call_end: "</atem:invoke>",
        param: "<atem:parameter name=\"",
        param_end: "</atem:parameter>",
        name_end: "\"",
        padded: false,
    },
    Dialect {
        call: "<｜DSML｜invoke name=\"",
        call_end: "</｜DSML｜invoke>",
        param: "<｜DSML｜parameter name=\"",
        param_end: "</｜DSML｜parameter>",
        name_end: "\"",
        padded: false,
    },
    Dialect {
        call: "<||DSML||invoke name=\"",
        call_end: "</||DSML||invoke>",
        param: "<||DSML||parameter name=\"",
        param_end: "</||DSML||parameter>",
        name_end: "\"",
        padded: false,
    },
    Dialect {
        call: "<invoke name=\"",
        call_end: "</invoke>",
        param: "<parameter name=\"",
        param_end: "</parameter>",
        name_end: "\"",
        padded: false,
    },
];

/// Pairs of markers with which thinking opens and closes.
pub(super) const THINKING: &[(&str, &str)] = &[
    ("<think>", "</think>"),
    ("<|channel>thought\n", "<channel|>"),
    ("[THINK]", "[/THINK]"),
    ("<seed:think>", "</seed:think>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
];

/// Markers that are no content: those around messages and around groups of calls, and closing markers of thinking that
/// no marker opened.
pub(super) const FRAMING: &[&str] = &[
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁calls▁end｜>",
    "<|tool▁calls▁begin|>",
    "<|tool▁calls▁end|>",
    "<|tool_calls_section_begin|>",
    "<|tool_calls_section_end|>",
    "<|tool_call_section_begin|>",
    "<|tool_call_section_end|>",
    "<｜tool▁output▁begin｜>",
    "<｜tool▁output▁end｜>",
    "<｜tool▁outputs▁begin｜>",
    "<｜tool▁outputs▁end｜>",
    "<｜end▁of▁sentence｜>",
    "<|end▁of▁sentence|>",
    "<|tool_response>",
    "<|START_RESPONSE|>",
    "<|END_RESPONSE|>",
    "<|python_tag|>",
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|eot|>",
    "<|eom|>",
    "<|end|>",
    "<|call|>",
    "<|return|>",
    "</think>",
    "<channel|>",
    "[/THINK]",
    "<|END_THINKING|>",
];

/// Marker that ends the header of a message, in a family whose messages have headers:
/// `<|start|>assistant to=NAME<|message|>BODY<|eot|>`.
pub(super) const MESSAGE: &str = "<|message|>";
pub(super) const START: &str = "<|start|>";
pub(super) const CHANNEL: &str = "<|channel|>";
pub(super) const MESSAGE_END: &[&str] = &["<|eot|>", "<|eom|>", "<|call|>", "<|start|>"];

/// Markers that end thinking whose opening marker was in the prompt, and not in the answer.
pub(super) const ANY_THOUGHT_END: &[&str] =
    &["</think>", "<channel|>", "[/THINK]", "<|END_THINKING|>"];

/// Returns true if a marker stands here that belongs before a call, or into one.
pub(super) fn opens_call(cursor: Cursor<'_, '_>) -> bool {
    let inside = [KEY, KEY_END, VALUE, VALUE_END];
    let wrappers = WRAPPERS.iter().map(|wrapper| wrapper.open);
    let tags = DIALECTS.iter().flat_map(Dialect::tags);
    let mut markers = wrappers
        .chain(tags)
        .chain(SEPARATORS.iter().copied())
        .chain(inside);
    markers.any(|marker| cursor.looking_at(marker))
}

impl Dialect {
    /// Returns the tags of calls and of parameters.
    fn tags(&self) -> [&'static str; 4] {
        [self.call, self.call_end, self.param, self.param_end]
    }
}

/// Returns all markers of the tables, for tests that have to know each of them.
#[cfg(test)]
pub(super) fn markers() -> Vec<&'static str> {
    let wrappers = WRAPPERS
        .iter()
        .flat_map(|wrapper| [wrapper.open, wrapper.close]);
    let thinking = THINKING.iter().flat_map(|(open, close)| [*open, *close]);
    let lists = [
        SEPARATORS,
        FRAMING,
        SIGNS,
        MESSAGE_END,
        PYTHON_TAG_END,
        super::gemma::QUOTES,
    ];
    let single = [
        PYTHON_TAG,
        CALL_METHOD,
        ACTION,
        ACTION_INPUT,
        MESSAGE,
        START,
        CHANNEL,
        KEY,
        KEY_END,
        VALUE,
        VALUE_END,
        super::gemma::PREFIX,
    ];
    wrappers
        .chain(thinking)
        .chain(DIALECTS.iter().flat_map(Dialect::tags))
        .chain(lists.into_iter().flatten().copied())
        .chain(single)
        .collect()
}
